"""The distinct spellings of a library in a file that only grows, one word a line.

Derived like the word index, and allowed to have words that no chunk has any more: they resemble a
query word and then find nothing. The next word's line break ends a line cut off by a crash. After
the words of each write comes `=CHECKSUM LENGTH`, which every reader verifies: no word begins with
that sign. A rebuild writes another file and renames it to this one.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from trivium.text.trigrams import Vocabulary

_SUM = re.compile(rb"^=([0-9a-f]{8}) (\d{1,12})\n", re.MULTILINE)


class VocabularyFile:
    """`words` follows the file: `refresh` reads what any process has appended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._file = 0  # its inode
        self._anew: VocabularyFile | None = None
        self._damaged = False
        self.words = Vocabulary()

    @property
    def is_lost(self) -> bool:
        """Whether words are missing. Whoever appends leaves a file, even without words."""
        return self._damaged or not self._path.exists()

    def refresh(self) -> None:
        try:
            found = self._path.stat()
            size, file = found.st_size, found.st_ino
        except FileNotFoundError:
            size, file = 0, 0
        if size < self._read or file != self._file:  # the file was replaced
            self._read, self._file, self.words = 0, file, Vocabulary()
            self._damaged = False
        if size == self._read:
            return
        with self._path.open("rb") as stream:
            stream.seek(self._read)
            tail = stream.read(size - self._read)
            whole = tail.rfind(b"\n") + 1  # another process may be in the middle of a line
            for line in _SUM.finditer(tail, 0, whole):
                length = int(line[2])
                stream.seek(max(0, self._read + line.start() - length))
                self._damaged |= zlib.crc32(stream.read(length)) != int(line[1], 16)
        self.words.add(_SUM.sub(b"", tail[:whole]).decode("utf-8", "replace").split())
        self._read += whole

    def append(self, words: Iterable[str]) -> None:
        if self._anew is not None:
            self._anew.append(words)
            return
        self.refresh()
        fresh = self.words.add(words)
        if fresh or self.is_lost:
            lines = ("\n" + "\n".join(fresh) + "\n").encode()
            lines += b"=%08x %d\n" % (zlib.crc32(lines), len(lines))
            with self._path.open("ab") as stream:
                stream.write(lines)
                stream.flush()
                os.fsync(stream.fileno())
                self._read, self._file = stream.tell(), os.fstat(stream.fileno()).st_ino

    def begin_anew(self) -> None:
        """Append to a new file from now on, which nobody sees yet."""
        path = self._path.with_suffix(".new")
        path.write_bytes(b"")
        self._anew = VocabularyFile(path)

    def finish_anew(self) -> None:
        """Replace the old file with the new one."""
        if self._anew is not None:
            self._anew.refresh()
            self._anew._path.replace(self._path)
            self.words, self._read = self._anew.words, self._anew._read
            self._file, self._anew, self._damaged = self._anew._file, None, False

    def abandon(self) -> None:
        """Keep the old file."""
        if self._anew is not None:
            self._anew._path.unlink(missing_ok=True)
            self._anew = None
