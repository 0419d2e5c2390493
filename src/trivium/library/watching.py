"""How a library keeps up with folders for as long as someone lets it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from trivium.errors import FolderEmpty, PathNotFound, TriviumError
from trivium.ingest.outcomes import Fate, Outcome
from trivium.library.mirroring import Mirroring
from trivium.sources.folder import FolderSource, uri_of
from trivium.sources.ignore import IGNORE_FILE, Rules
from trivium.sources.watch import FolderWatch, Stir
from trivium.types import Labels

QUIET = 1.0  # seconds without a change, after which what was written is taken to be whole
_AGAIN = 10.0  # seconds until what went wrong is tried again, unless something happens


@dataclass(frozen=True, slots=True)
class Followed:
    """One thing that happened while folders were watched."""

    kind: str  # a fate, or: removed, watching, vanished, empty, problem
    uri: str
    message: str = ""


class Watching(Mirroring):
    def watch(
        self,
        folders: Sequence[str | os.PathLike[str]],
        labels: Labels | None = None,
        *,
        ignore: Sequence[str] = (),
        quiet: float = QUIET,
        force: bool = False,
        stop: Event | None = None,
        on_event: Callable[[Followed], None] = lambda event: None,
    ) -> None:
        """Mirror folders, then follow every change below them until `stop`. A folder that vanishes
        as a whole keeps its documents, and is mirrored anew when it is back; so does one that is
        empty at first, unless `force` says that it is meant so."""
        roots = [Path(os.path.abspath(Path(folder).expanduser())) for folder in folders]
        for root in roots:
            if not root.is_dir():
                raise PathNotFound(f"There is no folder {root}.")
        follower = _Follower(self, roots, labels or Labels(), ignore, force, on_event)
        for stir in FolderWatch(roots, quiet, stop or Event()).stirs():
            follower.take(stir)


@dataclass
class _Follower:
    """What is still to be done about the changes.

    Everything that is there is added before anything that is gone goes, in all folders: what is
    gone under one name and there under another has moved. And what is gone waits for the next
    stir: the two halves of a move may come in two of them.
    """

    library: Watching
    roots: list[Path]
    labels: Labels
    ignore: Sequence[str]
    force: bool
    tell: Callable[[Followed], None]
    unsettled: set[Path] = field(default_factory=set)  # folders to be mirrored as a whole
    changed: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)  # uris of documents
    not_before: float = 0.0
    told: dict[tuple[str, str], str] = field(default_factory=dict)  # problems: each is told once

    def take(self, stir: Stir) -> None:
        for root in stir.gone:
            if not root.is_dir():
                self.tell(Followed("vanished", uri_of(root), "Its documents stay."))
        self.unsettled |= {*stir.gone, *stir.back}
        self.changed |= stir.paths
        if stir.paths or stir.back:
            self.not_before = 0.0
        if (self.changed or self.unsettled or self.gone) and monotonic() >= self.not_before:
            self._act()

    def _act(self) -> None:
        """What went wrong is tried again later, with the rest: what was done costs nothing then."""
        waiting = frozenset(self.gone)
        went = [self._tried(uri_of(root), self._add_from, root) for root in self.roots]
        if not all(went):
            return
        self.changed.clear()
        for root in self.unsettled.copy():
            if root.is_dir():
                self._tried(uri_of(root), self._settle, root)
        self._tried("", self._drop, waiting)

    def _tried(self, uri: str, act: Callable[[Any], None], what: Any) -> bool:
        doing = (act.__name__, uri)
        try:
            act(what)
        except TriviumError as error:
            self.not_before = monotonic() + _AGAIN
            if self.told.get(doing) != str(error):
                self.told[doing] = str(error)
                kind = "empty" if isinstance(error, FolderEmpty) else "problem"
                self.tell(Followed(kind, uri, str(error)))
            return False
        self.told.pop(doing, None)
        return True

    def _add_from(self, root: Path) -> None:
        inside = {path for path in self.changed if Path(path).is_relative_to(root)}
        if any(os.path.basename(path) == IGNORE_FILE for path in inside):
            self.unsettled.add(root)
        if not root.is_dir():
            return
        if root in self.unsettled:
            self._add([root])
        elif inside:
            self._catch_up(root, inside)

    def _catch_up(self, root: Path, paths: set[str]) -> None:
        rules = Rules(root, self.ignore, [self.library.folder])
        wanted = [Path(path) for path in sorted(paths) if rules.allow(path)]
        found: list[Path] = []
        for path in wanted:
            found += rules.walk(path) if path.is_dir() and not path.is_symlink() else [path]
        files = [path for path in dict.fromkeys(found) if path.is_file()]
        if files:
            self._add(files)
        paths_below = (path for path in wanted if path != root)
        self.gone |= set(self.library.gone(paths_below, collection=self.labels.collection))

    def _settle(self, root: Path) -> None:
        dropped = self.library.drop_gone(
            [root], collection=self.labels.collection, ignore=self.ignore, force=self.force
        )
        self._say_removed(dropped)
        self.unsettled.discard(root)
        self.tell(Followed("watching", uri_of(root)))

    def _drop(self, uris: frozenset[str]) -> None:
        """But not where the whole folder went since: its documents stay."""
        here = [uri_of(root) for root in self.roots if root.is_dir()]
        sure = [uri for uri in uris if any(Path(uri).is_relative_to(root) for root in here)]
        dropped = self.library.drop_uris(sorted(sure), collection=self.labels.collection)
        self.gone -= uris
        self._say_removed(dropped)

    def _add(self, paths: Sequence[Path]) -> None:
        source = FolderSource(paths, self.ignore, [self.library.folder])
        self.library.add_from(source, self.labels, on_outcome=self._say)

    def _say(self, outcome: Outcome) -> None:
        if outcome.fate is not Fate.UNCHANGED:
            said = str(outcome.error) if outcome.error else ""
            self.tell(Followed(outcome.fate.value, outcome.uri, said))

    def _say_removed(self, uris: Sequence[str]) -> None:
        for uri in uris:
            self.tell(Followed("removed", uri))
