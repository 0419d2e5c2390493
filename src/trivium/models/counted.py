"""Token ids of texts that were counted and are about to be embedded, so that none is read twice.

A passage is counted when it is cut and embedded seconds later; reading it takes .2 ms of 40 words
and .5 of 100. It is embedded behind a few lines (title, headings, a summary): where a tokeniser
lets no word go beyond a line, the tokens of both are those of the one and then of the other.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from threading import Lock

# The oldest go first. That many wait to be embedded when 1,000 documents of 150 words do; 3 MB.
MOST_TOKENS = 1 << 18
MOST_LINES = 8  # in front of a passage; it is looked for behind each


class Counted:
    """Threads may share it."""

    def __init__(self) -> None:
        self._held: dict[str, array[int]] = {}
        self._tokens = 0
        self._turn = Lock()

    def keep(self, text: str, ids: Sequence[int]) -> None:
        packed = array("I", ids)
        with self._turn:
            self._forget(text)
            self._held[text] = packed
            self._tokens += 1 + len(packed)
            while self._tokens > MOST_TOKENS:
                self._forget(next(iter(self._held)))

    def take(self, text: str) -> tuple[str, list[int]] | None:
        """The lines in front of a passage that was counted, and its ids. Once: nobody embeds the
        same passage twice."""
        start = 0
        for _ in range(MOST_LINES):
            with self._turn:
                ids = self._forget(text[start:])
            if ids is not None:
                return text[:start], ids.tolist()
            start = text.find("\n", start) + 1
            if not start:
                break
        return None

    def _forget(self, text: str) -> array[int] | None:
        ids = self._held.pop(text, None)
        if ids is not None:
            self._tokens -= 1 + len(ids)
        return ids
