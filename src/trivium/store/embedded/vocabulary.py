"""The distinct spellings of a library in a file that only grows, one word a line.

Derived like the word index, and allowed to know words that are gone: they resemble a query word
and then find nothing. A line cut off by a crash is completed by the next word's line break.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from trivium.text.trigrams import Vocabulary


class VocabularyFile:
    """`words` follows the file: `refresh` reads what any process has appended since."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self.words = Vocabulary()

    def refresh(self) -> None:
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            size = 0
        if size < self._read:  # it was begun anew
            self._read, self.words = 0, Vocabulary()
        if size == self._read:
            return
        with self._path.open("rb") as file:
            file.seek(self._read)
            tail = file.read(size - self._read)
        whole = tail.rfind(b"\n") + 1  # another process may be in the middle of a line
        self.words.add(tail[:whole].decode("utf-8", "replace").split())
        self._read += whole

    def append(self, words: Iterable[str]) -> None:
        self.refresh()
        fresh = self.words.add(words)
        if fresh:
            lines = ("\n" + "\n".join(fresh) + "\n").encode()
            with self._path.open("ab") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
                self._read = file.tell()

    def reset(self) -> None:
        self._path.unlink(missing_ok=True)
        self._read, self.words = 0, Vocabulary()
