"""Maintenance of a library: check, rebuild, rewrite, repair, back up."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.core.counting import counted
from trivium.core.errors import (
    BadSetting,
    DocumentNotFound,
    OriginalDamaged,
    OriginalMissing,
    TargetExists,
)
from trivium.core.types import OWNER, Compare, Document, DocumentId, Labels
from trivium.core.upkeep import Backup, Compacted, Finding, LostDocument, Progress, Spread
from trivium.ingest.embedding import Embedding
from trivium.ingest.outcomes import hash_of
from trivium.library.jobs import Jobs
from trivium.library.model import CurrentModel
from trivium.ports import Backend, Embedder, Nodes, SourceItem, Waiting
from trivium.store.where import name_of


class _Archived:
    """One document, as the archive holds it."""

    def __init__(self, uri: str, data: bytes) -> None:
        self._uri, self._data = uri, data

    def items(self) -> Iterator[SourceItem]:
        yield SourceItem(self._uri, name_of(self._uri), lambda: self._data, len(self._data))


@dataclass(eq=False)
class Upkeep:
    _backend: Backend
    _model: CurrentModel
    _jobs: Jobs

    def check_there(self) -> None:
        """Raises LibraryNotFound where the library's folder was moved or deleted meanwhile."""
        self._backend.upkeep.check_there()

    def health(self) -> Mapping[str, int]:
        """Documents, active chunks, and how many of those each index holds."""
        return self._backend.upkeep.health()

    def rebuild(self, *, on_wait: Waiting | None = None) -> None:
        """Rebuild the search indexes from the database."""
        with self._backend.writer.writing(on_wait):
            self._backend.upkeep.rebuild()

    def compact(self, *, on_wait: Waiting | None = None) -> Compacted:
        """Rewrite everything that may still hold bytes of removed or pruned documents. You can
        search meanwhile."""
        return self._backend.upkeep.compact(on_wait)

    def spread(self) -> Spread:
        """Where the library's rows are."""
        nodes = self._backend.nodes
        return nodes.spread() if nodes is not None else Spread((), 0)

    def distribute(self, shards: int | None = None) -> Spread:
        """Spread a library's rows over the nodes of its database. Searches continue meanwhile."""
        return self._nodes().distribute(shards)

    def gather(self) -> Spread:
        """Bring the rows back to one server."""
        return self._nodes().gather()

    def _nodes(self) -> Nodes:
        nodes = self._backend.nodes
        if nodes is None:
            raise BadSetting(
                "A library in a folder stays on one machine.",
                fix="Copy it into a database first: trivium copy FOLDER postgresql://HOST/DATABASE",
                on_page="Ask the person who runs this server to do this in a terminal.",
            )
        return nodes

    def backup(
        self,
        target: str | os.PathLike[str],
        *,
        force: bool = False,
        on_progress: Progress = lambda *_: None,
    ) -> Backup:
        """Write the library as of one moment to one file; you can search and add meanwhile."""
        path = Path(target).expanduser()
        if path.is_dir() or (path.exists() and not force):
            raise TargetExists(f"{path} already exists.")
        path.parent.mkdir(parents=True, exist_ok=True)
        return self._backend.upkeep.backup(path, on_progress)

    def examine(self, *, deep: bool = False) -> list[Finding]:
        """Check the library without changing anything. `deep` checks every byte of the indexes and
        every passage."""
        return self._backend.upkeep.examine(hash_of if deep else None)

    def repair(self, *, on_wait: Waiting | None = None) -> list[str]:
        """Repair what `examine` finds, if possible; returns what was done."""
        return repaired(self._backend, self._model.embedder, on_wait)

    def restore_original(self, document: DocumentId, *, on_wait: Waiting | None = None) -> Document:
        """Read a document again from its original in the archive, with the labels it has, in place
        of all that was read of it before. If reading fails, the document stays as it is, and the
        next `add` of its file reads it again. Raises DocumentNotFound, OriginalMissing and
        OriginalDamaged."""
        it = self._document(document)
        data = self._backend.originals.get(it.original)
        labels = Labels(it.collection, it.category, it.audience, it.metadata, sender=it.sender)
        with self._backend.writer.writing(on_wait):
            self._backend.upkeep.distrust(document, hashlib.sha256(data).hexdigest())
        report = self._jobs.add_from(_Archived(it.uri, data), labels, on_wait=on_wait)
        for outcome in report.failed:
            if outcome.error is not None:
                raise outcome.error
        with self._backend.writer.writing(on_wait):
            mine = Compare("source", "eq", f"#{document}")
            self._backend.writer.prune(OWNER.narrowed(mine), keep=1, before="")
        return self._document(document)

    def _document(self, document: DocumentId) -> Document:
        for stored in self._backend.documents.all(OWNER, after=document - 1, limit=1):
            if stored.id == document:
                return stored
        raise DocumentNotFound(f"There is no document #{document}.")

    def reread(self, lost: Sequence[LostDocument], *, on_wait: Waiting | None = None) -> list[str]:
        """Add documents again from their originals in the archive, with their old labels. Names
        those that can't be added."""
        done: list[LostDocument] = []
        left: list[LostDocument] = []
        for item in lost:
            labels = Labels(
                item.collection, item.category, item.audience, item.metadata, sender=item.sender
            )
            try:
                if not item.original or not item.uri or item.audience is None:
                    raise OriginalMissing(f"Document #{item.id} has no original.")
                data = self._backend.originals.get(item.original)
                report = self._jobs.add_from(_Archived(item.uri, data), labels, on_wait=on_wait)
                (left if report.failed else done).append(item)
            except (OriginalMissing, OriginalDamaged):
                left.append(item)
        texts = [f"Read {counted(len(done), 'document')} again from the archive."] if done else []
        return texts + [f"Lost #{item.id} {item.uri}: add it again." for item in left]


def repaired(
    backend: Backend, embedder: Embedder | None, on_wait: Waiting | None = None
) -> list[str]:
    """Repair a store; without an embedder nothing is embedded. Returns what was done."""
    done = backend.upkeep.repair(on_wait, hash_of)
    if embedder is None:
        return done
    embedding = Embedding(backend, embedder)
    with backend.writer.writing(on_wait):
        embedded = backend.models.embed_missing(
            embedding.model, lambda texts: embedding.embed(texts).vectors
        )
    done += [f"Embedded {embedded:,} passages."] if embedded else []
    if embedding.failed is not None:
        done.append(f"Some passages still have no vectors: {embedding.failed.message}")
    return done
