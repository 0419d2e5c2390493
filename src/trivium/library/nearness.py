"""Documents that are nearly equal: all of them in groups, and those that were just added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trivium.errors import BadSetting
from trivium.library.parts import Parts
from trivium.text.nearness import groups, near
from trivium.types import OWNER, Document, DocumentId, Where

NEARLY_EQUAL = 0.8  # a word in thirty changed; drafts of one letter, yes; letters of one form, no
_NAMED = 5  # in a note
_SLICE = 500  # documents at a time, so that a large import needs no more memory than a small one


@dataclass(frozen=True, slots=True)
class Alike:
    """A document, and how much of its text it shares with the first of its group."""

    document: Document
    similarity: float  # 0 to 1


class Nearness(Parts):
    def duplicates(
        self,
        threshold: float = NEARLY_EQUAL,
        within: Where = OWNER,
        *,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> list[tuple[Alike, ...]]:
        """Groups of documents whose texts are nearly equal, each led by its oldest. It takes a
        second for 10,000 documents; `on_progress` is told how many are compared, and of how
        many."""
        if not 0 < threshold <= 1:
            raise BadSetting(f"`threshold` is {threshold}.", fix="It takes more than 0, up to 1.")
        known = {document.id: document for document in self._store.documents(within)}
        found = groups(self._store.sketches(within), threshold, on_progress)
        return [
            tuple(Alike(known[id_], score) for id_, score in group if id_ in known)
            for group in found
        ]

    def _near_notes(self, new: Sequence[DocumentId], within: Where = OWNER) -> list[str]:
        """What a person should know about documents that were just added, among those that they
        may see."""
        found: dict[DocumentId, DocumentId] = {}
        for start in range(0, len(new), _SLICE):
            ids = new[start : start + _SLICE]
            found |= near(ids, self._store.sketches(within, ids), NEARLY_EQUAL)
        if not found:
            return []
        pairs = dict.fromkeys((min(pair), max(pair)) for pair in found.items())  # each once
        named = ", ".join(f"#{one} and #{other}" for one, other in [*pairs][:_NAMED])
        few = "1 document is" if len(found) == 1 else f"{len(found):,} documents are"
        return [f"{few} nearly equal to others ({named}); `trivium duplicates` lists all."]
