"""Which files below a folder are left out: by .triviumignore files, by patterns, by being hidden.

The rules are git's own (`*.tmp`, `build/`, `/top.md`, `!keep.md`): a file applies to its folder and
everything below, the deepest file wins, and nothing in an ignored folder can be included again.
Reads names and the files with the rules, nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".triviumignore"


class IgnoreRules:
    """What to leave out below one folder. Reads an ignore file once: make a new one after a
    change."""

    def __init__(
        self, root: Path, patterns: Sequence[str] = (), without: Sequence[Path] = ()
    ) -> None:
        """`patterns` count as the last lines of the root's ignore file; `without`: folders to leave
        out, such as the library itself."""
        self.root = Path(os.path.abspath(root))
        self._patterns = tuple(patterns)
        self._without = {os.path.abspath(path) for path in without}
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def walk(self, start: Path | None = None) -> Iterator[Path]:
        """Every file that isn't left out, in all subfolders, by name; `start`: only below that."""
        for place, folders, files in os.walk(start or self.root):
            entered = (f for f in filter(_is_visible, folders) if not self._ignores(place, f, True))
            folders[:] = sorted(entered)
            for name in sorted(filter(_is_visible, files)):
                if not self._ignores(place, name, False):
                    yield Path(place, name)

    def allow(self, path: str | os.PathLike[str], *, hidden: bool = False) -> bool:
        """Whether a walk would find this file, if it exists or existed. Above the root: no.
        `hidden`: a name that begins with a dot is fine, as if a pattern had named it."""
        full = Path(os.path.abspath(path))
        if not full.is_relative_to(self.root):
            return False
        place = str(self.root)
        parts = full.relative_to(self.root).parts
        for depth, name in enumerate(parts, start=1):
            if not (hidden or _is_visible(name)) or self._ignores(place, name, depth < len(parts)):
                return False
            place = os.path.join(place, name)
        return True

    def _ignores(self, place: str, name: str, is_folder: bool) -> bool:
        full = os.path.join(place, name)
        if full in self._without:
            return True
        folder, end = place, "/" if is_folder else ""
        while True:  # from its own folder up to the root: the first rule that matches decides
            spec = self._spec(folder)
            if spec is not None:
                ignored = spec.check_file(os.path.relpath(full, folder) + end).include
                if ignored is not None:
                    return bool(ignored)
            if folder == str(self.root):
                return False
            folder = os.path.dirname(folder)

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            lines = _lines(Path(folder, IGNORE_FILE))
            if folder == str(self.root):
                lines += self._patterns
            self._specs[folder] = _compiled(lines)
        return self._specs[folder]


def _is_visible(name: str) -> bool:
    return not name.startswith(".")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []  # there is none, or it can't be read


def _compiled(lines: Sequence[str]) -> GitIgnoreSpec | None:
    wanted = [line for line in lines if line.strip() and not line.startswith("#")]
    if not wanted:
        return None
    from pathspec import GitIgnoreSpec  # 20 ms, so only if there are rules

    from trivium.core.errors import BadSetting

    try:
        return GitIgnoreSpec.from_lines(wanted)
    except ValueError as reason:
        raise BadSetting(f"An ignore rule is invalid: {reason}.", fix="Correct it.") from reason
