"""A source for Trivium in one file: bookmarks in a JSON file, kept in step.

Register it in the pyproject.toml of your package, and `trivium sync add bookmarks FILE` knows it:

    [project.entry-points."trivium.sources"]
    bookmarks = "bookmarks:KIND"
"""

import json
from collections.abc import Iterator
from pathlib import Path

from trivium.core.errors import SourceUnreachable
from trivium.core.types import EVERYONE, Element, Extraction
from trivium.ports import Change, Checkpoint, Gone, Put, SourceAsked, SourceKind


class BookmarksSource:
    deletions = "told"  # `changes` tells every deletion

    def __init__(self, file: Path) -> None:
        self._file = file

    def changes(self, cursor: str) -> Iterator[Change]:
        """The cursor is ours to choose: here, what was told so far."""
        before = json.loads(cursor) if cursor else {}
        now = self._read()
        for url in sorted(before.keys() - now.keys()):
            yield Gone(url)
        for url, mark in now.items():
            if before.get(url) != mark:
                yield self._put(url, mark)
        yield Checkpoint(json.dumps(now))

    def ids(self) -> Iterator[str]:
        yield from self._read()

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            return {mark["url"]: mark for mark in json.loads(self._file.read_text())}
        except (OSError, ValueError) as reason:
            raise SourceUnreachable(f"{self._file} can't be read: {reason}.") from reason

    def _put(self, url: str, mark: dict[str, str]) -> Put:
        text = mark.get("note") or mark["title"]
        read = Extraction(
            text, (Element("paragraph", 0, len(text)),), mark["title"], "text/x-bookmark"
        )
        return Put(url, "bookmark.txt", read, metadata={"link": url, **mark}, audience=EVERYONE)


def make(asked: SourceAsked) -> BookmarksSource:
    return BookmarksSource(Path(asked.option("path")).expanduser())


KIND = SourceKind("bookmarks", "bookmarks in a JSON file", make, {"path": "the file"}, ("path",))
