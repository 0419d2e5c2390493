"""Files and folders as a source. Knows names and bytes, nothing of formats."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from trivium.core.errors import FileUnreadable, PathNotFound
from trivium.ports import SourceItem
from trivium.sources.ignore import IgnoreRules


def check_given(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Raises PathNotFound for an empty path, which would be the current folder: a shell writes one
    for a variable that isn't set."""
    if any(not os.fspath(path) for path in paths):
        raise PathNotFound("You gave an empty path.", fix="Write . for the current folder.")


class FolderSource:
    """Files by name, by pattern (`notes/**/*.md`) or by folder, with all its subfolders. Leaves out
    hidden files and folders, as `ls` does, and what `ignore` and .triviumignore files say (see
    `IgnoreRules`), unless you name them yourself."""

    kind = "folder"

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        ignore: Sequence[str] = (),
        without: Sequence[Path] = (),
    ) -> None:
        """`without`: folders to leave out, such as the library's own. Raises PathNotFound."""
        check_given(paths)
        files = (f for path in paths for f in _files(os.fspath(path), ignore, without))
        self._files = list(dict.fromkeys(files))
        named = [Path(path).expanduser() for path in paths]
        self._roots = [os.path.realpath(path) for path in named if path.is_dir()]

    @classmethod
    def made_again(cls, options: Mapping[str, Any]) -> FolderSource:
        """For the items of another day; `again` finds them by their keys."""
        source = cls(())
        source._roots = [os.fspath(root) for root in options.get("roots", ())]
        return source

    def options(self) -> Mapping[str, Any]:
        return {"roots": [_printable(root) for root in self._roots]}

    def again(self, key: bytes) -> SourceItem:
        path = Path(os.fsdecode(key))
        return _item(path, partial(self._beside, path))

    def __len__(self) -> int:
        return len(self._files)

    def items(self) -> Iterator[SourceItem]:
        for path in self._files:
            yield _item(path, partial(self._beside, path))

    def _beside(self, path: Path, named: str) -> SourceItem | None:
        """A file that another one names, if it is below that one's folder or a folder that you
        gave. Don't trust what a file says: no path leads out of these folders, neither upwards nor
        by links, and none to hidden files."""
        folder = os.path.abspath(path.parent)
        for way in dict.fromkeys((named, named.replace("\\", "/"))):
            # Opened under the name that was checked: its shortest, which a walk uses too.
            full = os.path.normpath(os.path.join(folder, way))
            if self._allows(full, folder):
                return _item(Path(full), partial(self._beside, Path(full)))
        return None

    def _allows(self, path: str, folder: str) -> bool:
        try:
            real = os.path.realpath(path)
            roots = (os.path.realpath(folder), *self._roots)
            return os.path.isfile(real) and any(_is_visible_below(root, real) for root in roots)
        except (OSError, ValueError):  # a loop of links, or a name with a zero byte
            return False


def _item(path: Path, beside: Callable[[str], SourceItem | None] | None = None) -> SourceItem:
    name, key = _printable(path.name), os.fsencode(os.path.abspath(path))
    content, size = partial(read, path), _size(path)
    return SourceItem(uri_of(path), name, content, size, beside=beside, exists=is_there, key=key)


def uri_of(path: str | os.PathLike[str]) -> str:
    return _printable(os.path.abspath(path))


def is_there(uri: str) -> bool:
    """Whether a file still exists and isn't a folder by now. If in doubt, it does: for uris that
    aren't our paths, and for names that aren't valid text and are escaped in the uri."""
    path = uri.partition("!/")[0]
    if not os.path.isabs(path) or "\\x" in path:
        return True
    return os.path.lexists(path) and not os.path.isdir(path)


def _is_visible_below(root: str, path: str) -> bool:
    parts = os.path.relpath(path, root).split(os.sep)
    return parts[0] != os.pardir and not any(part.startswith(".") for part in parts)


def _files(path: str, ignore: Sequence[str], without: Sequence[Path]) -> Iterator[Path]:
    named = Path(path).expanduser()
    if named.is_dir():
        yield from _below(named, IgnoreRules(named, ignore, without))
    elif named.exists() or named.is_symlink():
        yield named
    else:
        matches = sorted(glob.glob(str(named), recursive=True)) if glob.has_magic(path) else []
        if not matches:
            if path.startswith(("http://", "https://")):
                fix = "Type its address on the page, under Add, or save it and add the file."
                raise PathNotFound(f"{path} is a web address, not a file.", fix=fix)
            raise PathNotFound(f"There is no file or folder {path}.")
        rules = IgnoreRules(_start(named), ignore, without)
        for match in map(Path, matches):
            below = _below(match, IgnoreRules(match)) if match.is_dir() else (match,)
            yield from (path for path in below if rules.allow(path, hidden=True))


def _below(folder: Path, rules: IgnoreRules) -> Iterator[Path]:
    """Under the name that the folder was given by."""
    return (folder / path.relative_to(rules.root) for path in rules.walk())


def _start(pattern: Path) -> Path:
    """The folder that a pattern starts in."""
    return Path(*takewhile(lambda part: not glob.has_magic(part), pattern.parts))


def read(path: Path) -> bytes:
    """Raises FileUnreadable."""
    try:
        if not os.path.lexists(path):  # it existed when it was listed
            raise FileUnreadable(f"{_printable(path.name)} no longer exists.", fix="")
        if not path.is_file():  # reading a pipe or a device would never end
            raise FileUnreadable(f"{_printable(path.name)} isn't a regular file.", fix="")
        return path.read_bytes()
    except OSError as reason:
        why = reason.strerror or str(reason)
        raise FileUnreadable(f"{_printable(path.name)} cannot be read: {why}.") from reason


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _printable(name: str | os.PathLike[str]) -> str:
    """File names are bytes; if they aren't valid text, their bytes are escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
