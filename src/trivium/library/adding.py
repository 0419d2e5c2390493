"""How documents get into a library, are labelled, and leave it again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter

from trivium.ingest.outcomes import Outcome
from trivium.ingest.way import clean_item
from trivium.library.assembly import chunker_for
from trivium.library.report import Report, Tally
from trivium.library.working import Working
from trivium.library.workshop import check, options_for
from trivium.ports import LastingSource, Source, Waiting
from trivium.sources.folder import FolderSource
from trivium.text.values import check_labels, check_text, clean_text
from trivium.types import (
    OWNER,
    Document,
    DocumentId,
    Labels,
    Metadata,
    Where,
)
from trivium.work import ADD, Job, Offered, Priority

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
# Documents of a job that a person is taken to wait for, where nobody says: 100 notes of one chunk
# are embedded in 2 seconds on 2 cores, 100 papers in 5 minutes.
FEW = 100
_SHOWN = 3  # folders that the line about a job names


class Adding(Working):
    def add(
        self,
        paths: Paths,
        *,
        collection: str = "default",
        category: str | None = None,
        audience: str | None = None,
        metadata: Metadata | None = None,
        ignore: Sequence[str] = (),
        priority: Priority | None = None,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_wait: Waiting | None = None,
    ) -> Report:
        """Add files, folders or patterns. What is there already and unchanged costs no work.

        A label that is not given is taken from the document's front matter, else from what it had.
        `ignore`: rules as in a .gitignore file, beside those of .triviumignore files.
        It is a job: if the process dies, `work` goes on with it, in any process.
        """
        listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        labels = Labels(collection, category, audience, metadata or {})
        source = FolderSource(listed, ignore, [self._store.folder])
        job = self.enqueue(source, labels, what=line(listed), priority=priority)
        return self.work(job.id, on_outcome=on_outcome, on_wait=on_wait)

    def enqueue(
        self,
        source: LastingSource,
        labels: Labels,
        *,
        what: str = "",
        priority: Priority | None = None,
        kind: str = ADD,
        by: str = "",
    ) -> Job:
        """A job that adds what a source offers, for `work` in this process or another. Without a
        priority, few documents go before many. `by`: the id of the token that asks for it."""
        check(self._settings, self._embedder)
        labels = check_labels(labels)
        items = map(clean_item, source.items())
        offered = [Offered(i.uri, i.name, i.size, i.key) for i in items]
        if priority is None:
            priority = Priority.INTERACTIVE if len(offered) <= FEW else Priority.BULK
        options = options_for(labels, self._settings, source, by)
        what = clean_text(what) or f"add {len(offered):,} documents"
        return self.job(self._store.queue.create(kind, what, options, priority, offered))

    def add_from(
        self,
        source: Source,
        labels: Labels,
        *,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_wait: Waiting | None = None,
    ) -> Report:
        """Add whatever a source offers. What only this process can offer waits until no other
        one writes, and is not gone on with if it dies."""
        if isinstance(source, LastingSource):
            job = self.enqueue(source, labels)
            return self.work(job.id, on_outcome=on_outcome, on_wait=on_wait)
        check(self._settings, self._embedder)
        labels = check_labels(labels)
        started, tally = perf_counter(), Tally(on_outcome)
        with self._store.writing(on_wait):
            self._store.queue.recover()
            options, bulk = options_for(labels, self._settings, None), Priority.BULK
            number = self._store.queue.create(ADD, f"add {_name(source)}", options, bulk, None)
            spent = self._work_on(self.job(number), source, tally)
        return self._report(number, tally, perf_counter() - started, spent)

    def set_chunker(self, collection: str, chunker: str, *, on_wait: Waiting | None = None) -> None:
        """How documents are cut that are added to this collection from now on, whatever the
        settings say. One that is there is cut anew when it is added again."""
        check_text("collection", collection)
        chunker_for(self._settings, self._embedder, chunker)  # raises BadSetting
        with self._store.writing(on_wait):
            self._store.set_chunker(collection, chunker)

    def remove(
        self,
        documents: Iterable[DocumentId | str],
        *,
        within: Where = OWNER,
        on_wait: Waiting | None = None,
    ) -> list[Document]:
        """Remove documents, their chunks, vectors and text. Every one must exist, or none goes."""
        found = {d.id: d for one in documents for d in (self._one(one, within),)}
        with self._store.writing(on_wait):
            self._store.remove(found)
        return list(found.values())


def line(paths: Sequence[str | os.PathLike[str]]) -> str:
    """What is added, for people. Of several files only where they are: a document that is removed
    later is not to be named here."""
    files = [Path(path) for path in paths if Path(path).expanduser().is_file()]
    if len(files) == len(paths) == 1:
        return f"add {files[0]}"
    places = [os.fspath(path) for path in paths if Path(path) not in files]
    if files:
        places.append(f"{len(files):,} files")
    more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
    return f"add {', '.join(places[:_SHOWN])}{more}"


def _name(source: Source) -> str:
    return f"from {type(source).__name__}"
