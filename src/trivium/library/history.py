"""The interpretations (versions) of documents: list, compare, restore, prune."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import unified_diff

from trivium.core.errors import BadSetting, DocumentNotFound, OriginalMissing
from trivium.core.history import Difference, Interpretation
from trivium.core.types import OWNER, Compare, Document, DocumentId, Where
from trivium.ingest.embedding import Embedding
from trivium.library.documents import Documents
from trivium.library.model import CurrentModel
from trivium.ports import Backend, Waiting
from trivium.text.values import check_scalar

_AROUND = 3  # unchanged lines around each change, as people are used to
_COMPARED = ("title", "media_type", "language", "size", "content_hash", "fingerprint", "chunks")


@dataclass(eq=False)
class History:
    _backend: Backend
    _model: CurrentModel
    _documents: Documents

    def of(self, document: DocumentId | str, within: Where = OWNER) -> list[Interpretation]:
        """Every stored interpretation of a document, the active one last."""
        return self._backend.documents.history(self._documents.get(document, within).id, within)

    def original(
        self,
        document: DocumentId | str,
        within: Where = OWNER,
        *,
        interpretation: int | None = None,
    ) -> bytes:
        """The original bytes of an interpretation; without a number, of the active one."""
        return self._backend.originals.get(self._address(document, within, interpretation))

    def part(
        self,
        document: DocumentId | str,
        start: int,
        end: int,
        within: Where = OWNER,
        *,
        interpretation: int | None = None,
    ) -> bytes:
        """Some of those bytes, for a player that asks for them as it goes."""
        address = self._address(document, within, interpretation)
        return self._backend.originals.part(address, start, end)

    def link(
        self,
        document: DocumentId | str,
        seconds: int,
        within: Where = OWNER,
        *,
        interpretation: int | None = None,
    ) -> str | None:
        """A URL at which anyone can read the same bytes for so long; None where the archive is no
        object store."""
        return self._backend.originals.link(
            self._address(document, within, interpretation), seconds
        )

    def _address(
        self, document: DocumentId | str, within: Where, interpretation: int | None
    ) -> str:
        """Raises OriginalMissing."""
        stored = self._documents.get(document, within)
        past = self._documents.versions(stored, within)
        number = stored.interpretation if interpretation is None else interpretation
        address = _numbered(past, number, stored).original
        if not address:
            raise OriginalMissing(f"The library didn't keep the original of {stored.title}.")
        return address

    def diff(
        self,
        document: DocumentId | str,
        old: int | None = None,
        new: int | None = None,
        within: Where = OWNER,
    ) -> Difference:
        """The difference between two interpretations: by default the active one (`new`) and the
        one before `new` (`old`)."""
        stored = self._documents.get(document, within)
        past = self._documents.versions(stored, within)
        last = stored.interpretation if new is None else new
        first = max((n for n in past if n < last), default=0) if old is None else old
        if old is None and not first:
            raise DocumentNotFound(
                f"{stored.title} has no interpretation before {last}.",
                fix="The document has only one version.",
            )
        a, b = (_numbered(past, number, stored) for number in (first, last))
        texts = (
            self._backend.documents.text(stored.id, within, version.number) or ""
            for version in (a, b)
        )
        before, after = (text.splitlines() for text in texts)
        lines = list(unified_diff(before, after, n=_AROUND, lineterm=""))[2:]  # no file names
        return Difference(a, b, dict(_facts(a, b)), tuple(lines))

    def restore(
        self,
        document: DocumentId | str,
        number: int,
        *,
        within: Where = OWNER,
        on_wait: Waiting | None = None,
    ) -> Document:
        """Make an old interpretation's text the active one again, as a new interpretation. Nothing
        is read. The labels stay, except that a text that was not for all then is not for all now.
        Adding the unchanged file again leaves it so."""
        check_scalar("number", number)
        with self._backend.writer.writing(on_wait):
            stored = self._documents.get(document, within)
            _numbered(self._documents.versions(stored, within), number, stored)
            self._model.follow()
            restored = self._backend.writer.restore(stored.id, number)
            embedding = Embedding(self._backend, self._model.embedder)
            # If the model fails, the next `add` embeds what is missing.
            self._backend.models.embed_missing(
                embedding.model, lambda t: embedding.embed(t).vectors
            )
        return restored

    def prune(
        self,
        document: DocumentId | str | None = None,
        *,
        keep: int | None = None,
        older_than: timedelta | None = None,
        on_wait: Waiting | None = None,
    ) -> int:
        """Delete interpretations for good: all but the newest `keep` of each document, and of
        those only the ones retired longer ago than `older_than`. Active ones stay."""
        check_scalar("keep", keep or 0)
        if keep is None and older_than is None:
            raise BadSetting("You didn't say what to prune.", fix="Give `keep` or `older_than`.")
        if keep is not None and keep < 1:
            raise BadSetting(
                f"`keep` can't be {keep}.", fix="Give 1 or more: the active one stays."
            )
        where = OWNER
        if document is not None:
            named = Compare("source", "eq", f"#{self._documents.get(document, OWNER).id}")
            where = OWNER.narrowed(named)
        with self._backend.writer.writing(on_wait):
            return self._backend.writer.prune(where, keep=keep or 1, before=_before(older_than))


def _numbered(past: dict[int, Interpretation], number: int, document: Document) -> Interpretation:
    if number not in past:
        numbers = ", ".join(map(str, past))
        raise DocumentNotFound(
            f"{document.title} has no interpretation {number}.", fix=f"It has: {numbers}."
        )
    return past[number]


def _facts(old: Interpretation, new: Interpretation) -> Iterator[tuple[str, tuple[object, object]]]:
    for name in _COMPARED:
        pair = (getattr(old, name), getattr(new, name))
        if pair[0] != pair[1]:
            yield name, pair
    for name in sorted({*old.metadata, *new.metadata}):
        values = (old.metadata.get(name), new.metadata.get(name))
        if values[0] != values[1]:
            yield f"metadata.{name}", values


def _before(age: timedelta | None) -> str:
    if age is None:
        return ""
    instant = datetime.now(UTC) - age
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
