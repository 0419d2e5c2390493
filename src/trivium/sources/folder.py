"""Files and folders as a source. Knows names and bytes, nothing of formats."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from trivium.errors import FileUnreadable, PathNotFound
from trivium.ports import SourceItem


class FolderSource:
    """Files by name, by pattern (`notes/**/*.md`) or by folder, which is walked to the bottom.

    Hidden files and folders are left out, as `ls` does, unless they are named themselves.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        self._files = list(dict.fromkeys(f for path in paths for f in _files(os.fspath(path))))
        named = [Path(path).expanduser() for path in paths]
        self._roots = [os.path.realpath(path) for path in named if path.is_dir()]

    def __len__(self) -> int:
        return len(self._files)

    def items(self) -> Iterator[SourceItem]:
        for path in self._files:
            yield _item(path, partial(self._beside, path))

    def _beside(self, path: Path, named: str) -> SourceItem | None:
        """A file that another names, if it lies below that one's folder or a folder that was
        given. What a file says is not to be trusted: no way leads out of these, neither by steps
        upwards nor by links, and none to hidden files."""
        folder = os.path.abspath(path.parent)
        for way in dict.fromkeys((named, named.replace("\\", "/"))):
            # Opened as it is checked: by its shortest name, which is also what a walk calls it.
            found = os.path.normpath(os.path.join(folder, way))
            if self._allows(found, folder):
                return _item(Path(found))
        return None

    def _allows(self, path: str, folder: str) -> bool:
        try:
            real = os.path.realpath(path)
            roots = (os.path.realpath(folder), *self._roots)
            return os.path.isfile(real) and any(_is_visible_below(root, real) for root in roots)
        except (OSError, ValueError):  # a circle of links, a name with a zero in it
            return False


def _item(path: Path, beside: Callable[[str], SourceItem | None] | None = None) -> SourceItem:
    uri, name = _printable(os.path.abspath(path)), _printable(path.name)
    return SourceItem(uri, name, partial(_read, path), _size(path), beside=beside, exists=_exists)


def _exists(uri: str) -> bool:
    """Whether a file is still there; in doubt, it is: what is no path of ours, and names whose
    bytes are no text and stand escaped in the uri."""
    path = uri.partition("!/")[0]
    return not os.path.isabs(path) or "\\x" in path or os.path.lexists(path)


def _is_visible_below(root: str, path: str) -> bool:
    parts = os.path.relpath(path, root).split(os.sep)
    return parts[0] != os.pardir and not any(part.startswith(".") for part in parts)


def _files(path: str) -> Iterator[Path]:
    found = Path(path).expanduser()
    if found.is_dir():
        yield from _walk(found)
    elif found.exists() or found.is_symlink():
        yield found
    else:
        matches = sorted(glob.glob(str(found), recursive=True)) if glob.has_magic(path) else []
        if not matches:
            raise PathNotFound(f"There is no file or folder {path}.")
        for match in map(Path, matches):
            yield from _walk(match) if match.is_dir() else (match,)


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(files) if not name.startswith("."))


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():  # a pipe or a device would never end
            raise FileUnreadable(f"{_printable(path.name)} is not a regular file.", fix="")
        return path.read_bytes()
    except OSError as reason:
        said = reason.strerror or str(reason)
        raise FileUnreadable(f"{_printable(path.name)} cannot be read: {said}.") from reason


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _printable(name: str | os.PathLike[str]) -> str:
    """File names are bytes; those that are no text keep their bytes, escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
