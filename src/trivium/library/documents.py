"""A library's documents: lists, texts, passages, labels, duplicates, page images, removal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from trivium.core.errors import (
    BadSetting,
    DocumentNotFound,
    FormatUnknown,
    OriginalMissing,
    PageNotFound,
)
from trivium.core.history import Interpretation
from trivium.core.types import (
    OWNER,
    AnyOf,
    Box,
    Collection,
    Compare,
    Condition,
    Document,
    DocumentId,
    Label,
    Neighbours,
    StoredChunk,
    Where,
)
from trivium.library.asking import MOST_NAMES, Scope, names_of, nearest
from trivium.library.assembly import chunker_for
from trivium.library.model import CurrentModel
from trivium.operations.searching import Filters
from trivium.ports import Backend, Blob, Waiting
from trivium.search.expand import surrounding
from trivium.text.nearness import groups, near
from trivium.text.values import check_scalar, check_text

if TYPE_CHECKING:
    from trivium.extract.sandbox import Sandbox

NEARLY_EQUAL = 0.8  # a word in thirty changed; drafts of one letter, yes; letters of one form, no
_NAMED = 5  # in a note
_SLICE = 500  # documents at a time, so that a large import needs no more memory than a small one
_PAINTERS = 1  # a page takes 50 ms; readers turn pages one at a time


@dataclass(frozen=True, slots=True)
class Shown:
    """One document in full."""

    document: Document
    text: str
    passages: tuple[StoredChunk, ...]
    interpretation: Interpretation  # the interpretation of text and passages
    original: str = ""  # where its file is in the archive; empty: not kept


@dataclass(frozen=True, slots=True)
class Alike:
    """A document, and how much of its text it shares with the first of its group."""

    document: Document
    similarity: float  # 0 to 1


@dataclass(eq=False)
class Documents:
    _backend: Backend
    _model: CurrentModel
    _scope: Scope
    _painting: Sandbox | None = None
    _painting_lock: Lock = field(default_factory=Lock)  # of making the sandbox

    def all(
        self,
        within: Where = OWNER,
        *,
        where: Condition | str = "",
        after: DocumentId = 0,
        limit: int | None = None,
    ) -> list[Document]:
        """Documents by id, starting above `after`: a page continues where the last one ended,
        whatever was added or removed meanwhile."""
        if where:
            within = self._scope.within(within, Filters(where=where))
        check_scalar("after", after)
        check_scalar("limit", limit or 0)
        return self._backend.documents.all(within, after=after, limit=limit, listed=True)

    def get(self, document: DocumentId | str, within: Where = OWNER) -> Document:
        """One document by id, `#id`, path or file name. `56` is an id; if no document has that id,
        a file of that name."""
        name = f"#{document}" if isinstance(document, int) else document
        check_text("document", name)
        if name.isascii() and name.isdecimal():
            documents = self._named(f"#{name}", within)
            if documents:
                return documents[0]
        documents = self._named(name, within)
        if not documents:
            raise DocumentNotFound(f"There is no document {name}.{self._hint(name, within)}")
        if len(documents) > 1:
            choices = ", ".join(f"#{d.id} {d.uri}" for d in documents)
            raise DocumentNotFound(f"Several documents have the name {name}: {choices}.")
        return documents[0]

    def _named(self, name: str, within: Where) -> list[Document]:
        full = os.path.abspath(name)
        named = AnyOf((Compare("source", "eq", name), Compare("source", "eq", full)))
        return self._backend.documents.all(within.narrowed(named), limit=2)

    def _hint(self, name: str, within: Where) -> str:
        """The nearest file name; ids come from programs, so nobody mistypes them."""
        if name.startswith("#"):
            return ""
        names = names_of(self._backend.documents.all(within, limit=MOST_NAMES))
        near = nearest(os.path.basename(name), names)
        return f" Did you mean `{near}`?" if near else ""

    def slips(self, within: Where) -> tuple[str, ...]:
        """If a filter matches nothing: the value that no document has, and the nearest one that
        exists."""
        return self._scope.slips(within)

    def text(
        self, document: DocumentId, within: Where = OWNER, interpretation: int | None = None
    ) -> str:
        """The full text, now or in an earlier interpretation."""
        stored = self.get(document, within)
        text = self._backend.documents.text(stored.id, within, interpretation)
        if text is None:
            raise DocumentNotFound(
                f"{stored.title} has no interpretation {interpretation}.",
                fix="Its history lists its interpretations.",
            )
        return text

    def passages(self, document: DocumentId, within: Where = OWNER) -> list[StoredChunk]:
        """The passages of a document, in order."""
        return self._backend.documents.passages(self.get(document, within).id, within)

    def passage(
        self,
        document: DocumentId,
        index: int,
        *,
        before: int = 0,
        after: int = 0,
        within: Where = OWNER,
    ) -> tuple[StoredChunk, Neighbours]:
        """One passage, counted from 0, and its neighbours."""
        passage = self.numbered_passage(self.get(document, within), index, within)
        around = surrounding(
            self._backend.documents,
            [passage],
            within,
            before=before,
            after=after,
            messages=max(before, after),
        ).get(passage.id, Neighbours())
        return passage, Neighbours(
            around.before[-before:] if before else (), around.after[:after] if after else ()
        )

    def numbered_passage(self, document: Document, index: int, within: Where) -> StoredChunk:
        for chunk in self._backend.documents.passages(document.id, within):
            if chunk.chunk.index == index:
                return chunk
        raise DocumentNotFound(
            f"{document.title} has no passage {index}.",
            fix="`trivium show` lists its passages.",
            on_page="Open the document to see its passages.",
        )

    def collections(self, within: Where = OWNER) -> list[Collection]:
        """Collections by name, with counts of what the caller may see."""
        return self._backend.documents.collections(within)

    def counts(self, label: Label, within: Where = OWNER) -> dict[str, int]:
        """How many visible documents have each value of a label, most first. Documents without one
        count under the empty value."""
        totals = self._backend.documents.counts(label, within)
        return dict(sorted(totals.items(), key=lambda total: (-total[1], total[0])))

    def show(
        self,
        document: DocumentId | str,
        within: Where = OWNER,
        *,
        interpretation: int | None = None,
    ) -> Shown:
        """A document in full, named as for `document`, now or in the interpretation of this
        number."""
        stored = self.get(document, within)
        number = stored.interpretation if interpretation is None else interpretation
        past = self.versions(stored, within)
        text = self._backend.documents.text(stored.id, within, number)
        if number not in past or text is None:
            raise DocumentNotFound(
                f"{stored.title} has no interpretation {number}.",
                fix=f"`trivium history {stored.id}` lists them.",
                on_page="Its history lists its interpretations.",
            )
        passages = self._backend.documents.passages(stored.id, within, number)
        address = past[number].original
        original = self._backend.originals.place(address) if address else ""
        return Shown(stored, text, tuple(passages), past[number], original)

    def versions(self, document: Document, within: Where) -> dict[int, Interpretation]:
        """Its interpretations by number."""
        past = self._backend.documents.history(document.id, within)
        return {version.number: version for version in past}

    def set_chunker(self, collection: str, chunker: str, *, on_wait: Waiting | None = None) -> None:
        """Set how this collection splits documents from now on, whatever the settings say.
        Existing documents are split the new way when you add them again."""
        check_text("collection", collection)
        chunker_for(self._model.settings, self._model.embedder, chunker)  # raises BadSetting
        with self._backend.writer.writing(on_wait):
            self._backend.writer.set_chunker(collection, chunker)

    def remove(
        self,
        documents: Iterable[DocumentId | str],
        *,
        within: Where = OWNER,
        on_wait: Waiting | None = None,
    ) -> list[Document]:
        """Remove documents with chunks, vectors and text. If one doesn't exist, removes none."""
        stored = {d.id: d for document in documents for d in (self.get(document, within),)}
        with self._backend.writer.writing(on_wait):
            self._backend.writer.remove(stored)
        self._model.renew_separation()
        return list(stored.values())

    def duplicates(
        self,
        threshold: float = NEARLY_EQUAL,
        within: Where = OWNER,
        *,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> list[tuple[Alike, ...]]:
        """Groups of documents with nearly the same text, oldest first. Takes a second for 10,000
        documents; calls `on_progress` with how many are compared, and of how many."""
        if not 0 < threshold <= 1:
            raise BadSetting(f"`threshold` can't be {threshold}.", fix="Give more than 0, up to 1.")
        by_id = {document.id: document for document in self._backend.documents.all(within)}
        alike = groups(self._backend.documents.sketches(within), threshold, on_progress)
        return [
            tuple(Alike(by_id[id_], score) for id_, score in group if id_ in by_id)
            for group in alike
        ]

    def near_notes(self, new: Sequence[DocumentId], within: Where = OWNER) -> list[str]:
        """Notes about documents just added: those that are nearly the same as others the caller
        may see."""
        return near_told(self.near(new, within))

    def near(
        self, new: Sequence[DocumentId], within: Where = OWNER
    ) -> dict[DocumentId, DocumentId]:
        """For each document, if any that the caller may see is nearly the same: the first."""
        matches: dict[DocumentId, DocumentId] = {}
        for start in range(0, len(new), _SLICE):
            ids = new[start : start + _SLICE]
            matches |= near(ids, self._backend.documents.sketches(within, ids), NEARLY_EQUAL)
        return matches

    def page(
        self,
        document: DocumentId,
        number: int,
        *,
        width: int = 1000,
        passage: int | None = None,
        within: Where = OWNER,
    ) -> bytes:
        """A page, counted from 1, as PNG, optionally with a passage marked. Raises PageNotFound if
        the document has no such page."""
        boxes: tuple[Box, ...] = ()
        if passage is not None:
            boxes = self.passage(document, passage, within=within)[0].chunk.place.boxes
        from trivium.extract.pdf.picture import NO_PAGE, Order

        stored = self.get(document, within)
        if not stored.original:
            raise OriginalMissing(f"The library didn't keep the original of {stored.title}.")
        data = self._backend.originals.get(stored.original)
        try:
            drawn = self._painters().read(Blob(Order(number, width, boxes).as_name(), data))
        except FormatUnknown:
            raise PageNotFound(
                "Trivium can only draw pages of PDFs and scans.", fix="Read its text instead."
            ) from None
        if drawn.text == NO_PAGE or not drawn.enclosed:
            raise PageNotFound(f"The document has no page {number}.", fix="Pages count from 1.")
        return drawn.enclosed[0].data

    def _painters(self) -> Sandbox:
        from trivium.extract.pdf.picture import FACTORY
        from trivium.extract.sandbox import Sandbox

        s = self._model.settings
        with self._painting_lock:
            if self._painting is None:
                self._painting = Sandbox(
                    _PAINTERS,
                    s.read_seconds,
                    s.read_memory,
                    max_bytes=s.read_max_bytes,
                    extractors=FACTORY,
                    isolated=s.read_isolate,
                )
            return self._painting

    def close(self) -> None:
        if self._painting is not None:
            self._painting.close()


def near_told(matches: Mapping[DocumentId, DocumentId]) -> list[str]:
    if not matches:
        return []
    pairs = dict.fromkeys((min(pair), max(pair)) for pair in matches.items())  # each once
    named = ", ".join(f"#{first} and #{other}" for first, other in [*pairs][:_NAMED])
    few = "1 document is" if len(matches) == 1 else f"{len(matches):,} documents are"
    return [f"{few} nearly the same as others ({named})."]
