"""The distinct spellings of a library in a file that only grows, one word a line.

Derived like the word index, and allowed to know words that are gone: they resemble a query word
and then find nothing. A line cut off by a crash is completed by the next word's line break. Made
anew it is another file that takes the name of the old one.
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
        self._file = 0  # its inode
        self._anew: VocabularyFile | None = None
        self.words = Vocabulary()

    @property
    def is_lost(self) -> bool:
        """Whoever appends leaves a file, though no word be in it."""
        return not self._path.exists()

    def refresh(self) -> None:
        try:
            found = self._path.stat()
            size, file = found.st_size, found.st_ino
        except FileNotFoundError:
            size, file = 0, 0
        if size < self._read or file != self._file:  # it was begun anew
            self._read, self._file, self.words = 0, file, Vocabulary()
        if size == self._read:
            return
        with self._path.open("rb") as stream:
            stream.seek(self._read)
            tail = stream.read(size - self._read)
        whole = tail.rfind(b"\n") + 1  # another process may be in the middle of a line
        self.words.add(tail[:whole].decode("utf-8", "replace").split())
        self._read += whole

    def append(self, words: Iterable[str]) -> None:
        if self._anew is not None:
            self._anew.append(words)
            return
        self.refresh()
        fresh = self.words.add(words)
        if fresh or self.is_lost:
            lines = ("\n" + "\n".join(fresh) + "\n").encode()
            with self._path.open("ab") as stream:
                stream.write(lines)
                stream.flush()
                os.fsync(stream.fileno())
                self._read, self._file = stream.tell(), os.fstat(stream.fileno()).st_ino

    def begin_anew(self) -> None:
        """What is appended from now on goes into another file, which nobody sees yet."""
        path = self._path.with_suffix(".new")
        path.write_bytes(b"")
        self._anew = VocabularyFile(path)

    def finish_anew(self) -> None:
        """That other file takes the place of this one."""
        if self._anew is not None:
            self._anew.refresh()
            self._anew._path.replace(self._path)
            self.words, self._read = self._anew.words, self._anew._read
            self._file, self._anew = self._anew._file, None

    def abandon(self) -> None:
        """The old file stays."""
        if self._anew is not None:
            self._anew._path.unlink(missing_ok=True)
            self._anew = None
