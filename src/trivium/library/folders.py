"""Folders that a library follows: once, until someone stops it, or while it is served.

A file that is gone is forgotten only after every existing file was added: a file that is gone under
one name and new under another has moved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from threading import Event
from time import monotonic
from typing import Any

from trivium.core.counting import counted
from trivium.core.errors import BadSetting, FolderEmpty, PathNotFound, SourceNotFound, TriviumError
from trivium.core.types import Labels
from trivium.core.work import WatchedFolder, now
from trivium.ingest.outcomes import Fate, Outcome
from trivium.library.jobs import Jobs
from trivium.ports import Backend, Waiting
from trivium.sources.folder import FolderSource, check_given, is_there, uri_of
from trivium.sources.ignore import IGNORE_FILE, IgnoreRules
from trivium.sources.watch import FolderWatch, Stir
from trivium.text.values import check_labels, check_text

QUIET = 1.0  # seconds without a change, after which a file counts as completely written
_SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev")))  # files without an end
_AGAIN = 10.0  # seconds until what went wrong is tried again, unless something happens


@dataclass(frozen=True, slots=True)
class Followed:
    """One thing that happened while folders were watched."""

    kind: str  # a fate, or: removed, watching, vanished, empty, problem
    uri: str
    message: str = ""


class Folders:
    def __init__(self, backend: Backend, jobs: Jobs) -> None:
        self._backend = backend
        self._jobs = jobs

    # --- those that whoever serves the library follows

    def all(self) -> list[WatchedFolder]:
        """In the order they were added."""
        return self._backend.folders.all()

    def add(
        self,
        path: str | os.PathLike[str],
        *,
        collection: str = "default",
        category: str | None = None,
        audience: str | None = None,
        ignore: Sequence[str] = (),
    ) -> WatchedFolder:
        """Let the server of this library add the files in a folder and follow changes."""
        check_labels(Labels(collection, category, audience))
        for rule in (os.fspath(path), *ignore):
            check_text("folder", rule)
        check_given([path])
        folder = Path(os.path.abspath(os.path.expanduser(path)))
        if not folder.is_dir():
            raise PathNotFound(f"There is no folder {folder}.")
        self._check_watchable(folder)
        for other in self._backend.folders.all():
            if (other.path, other.collection) == (str(folder), collection):
                raise BadSetting(f"{folder} is already watched.", fix="")
        watched = WatchedFolder(
            token_hex(6), str(folder), collection, category, audience, tuple(ignore), now()
        )
        self._backend.folders.keep(watched)
        return watched

    def _check_watchable(self, folder: Path) -> None:
        """Raises BadSetting for folders that hold no documents: the library's own, and those in
        which the system shows its state."""
        real = folder.resolve()
        own = [Path(path).resolve() for path in self._own]
        if any(real == path or path in real.parents for path in own):
            raise BadSetting(f"{folder} is the library's own folder.", fix="Choose another one.")
        if any(real == path or path in real.parents for path in _SYSTEM):
            raise BadSetting(
                f"{folder} holds the system's state, not documents.", fix="Choose another one."
            )

    def remove(self, id_: str) -> None:
        """Stop following a folder. Its documents stay."""
        if not self._backend.folders.forget(id_):
            raise SourceNotFound(f"There is no source {id_!r}.")

    # --- here and now

    def source(
        self, paths: Sequence[str | os.PathLike[str]], ignore: Sequence[str] = ()
    ) -> FolderSource:
        """The folder's files, except the library itself."""
        return FolderSource(paths, ignore, self._own)

    def rules(self, root: Path, ignore: Sequence[str] = ()) -> IgnoreRules:
        """Which files below a folder count."""
        return IgnoreRules(root, ignore, self._own)

    @property
    def _own(self) -> list[Path]:
        return [self._backend.folder] if self._backend.folder else []

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
        """Mirror folders, then follow every change below them until `stop`. If a whole folder
        disappears, its documents stay, and it is mirrored again when it is back. The same holds
        for a folder that is empty at the start, unless you give `force`."""
        check_given(folders)
        roots = [Path(os.path.abspath(Path(folder).expanduser())) for folder in folders]
        for root in roots:
            if not root.is_dir():
                raise PathNotFound(f"There is no folder {root}.")
        follower = _Follower(self, self._jobs, roots, labels or Labels(), ignore, force, on_event)
        for stir in FolderWatch(roots, quiet, stop or Event()).stirs():
            follower.take(stir)

    def drop_gone(
        self,
        folders: Sequence[str | os.PathLike[str]],
        *,
        collection: str = "default",
        ignore: Sequence[str] = (),
        force: bool = False,
        on_wait: Waiting | None = None,
    ) -> list[str]:
        """Remove documents of these folders, in this collection, whose files are gone or ignored by
        now; returns their uris. Call it after adding the folders, so that moved files are known.
        Refuses a folder that is missing or empty, unless you `force` it."""
        roots = [Path(folder).expanduser() for folder in folders]
        gone = [uri for root in roots for uri in self._gone(root, collection, ignore, force)]
        return self._forget(gone, collection, on_wait)

    def gone(
        self, paths: Iterable[str | os.PathLike[str]], *, collection: str = "default"
    ) -> list[str]:
        """The uris of documents that came from these files, or from below these folders, and are
        no longer there. A file may have become a folder, or a folder a file."""
        uris = [uri for path in paths for uri in self._named(uri_of(path), collection)]
        return [uri for uri in dict.fromkeys(uris) if not is_there(uri)]

    def drop_uris(self, uris: Iterable[str], *, collection: str = "default") -> list[str]:
        """Forget these, as far as they are known and still gone: the uris."""
        gone = [u for u in uris if not is_there(u) and self._is_known(u, collection)]
        return self._forget(gone, collection, None)

    def _named(self, uri: str, collection: str) -> list[str]:
        """This uri and those below it, as far as documents are called so; of an archive's members
        the archive."""
        named = [uri] if self._is_known(uri, collection) else []
        return _files([*named, *self._backend.documents.below(f"{uri}/", collection)])

    def _is_known(self, uri: str, collection: str) -> bool:
        return bool(
            self._backend.documents.find(uri, collection)
            or self._backend.documents.within(uri, collection)
        )

    def _gone(self, root: Path, collection: str, ignore: Sequence[str], force: bool) -> list[str]:
        if root.exists() and not root.is_dir():
            raise BadSetting(f"{root} isn't a folder.", fix="Name a folder.")
        files = _files(self._backend.documents.below(f"{uri_of(root).rstrip('/')}/", collection))
        rules = self.rules(root, ignore)
        if files and not force and next(rules.walk(), None) is None:
            raise FolderEmpty(
                f"{root} is missing, or has no files except ignored ones,"
                f" but the library has {counted(len(files), 'document')} from it."
            )
        # Someone named a hidden file: it stays as long as it exists.
        return [uri for uri in files if not is_there(uri) or not rules.allow(uri, hidden=True)]

    def _forget(self, uris: list[str], collection: str, on_wait: Waiting | None) -> list[str]:
        if uris:
            with self._backend.writer.writing(on_wait):
                for uri in uris:
                    self._backend.writer.forget(uri, collection)
        return uris


def _files(uris: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(uri.partition("!/")[0] for uri in uris))


@dataclass
class _Follower:
    """Changes that still have to be handled.

    All existing files are added before any document is removed, in all folders: a file that is gone
    under one name and new under another has moved. Removals wait for the next change, because the
    two halves of a move may come in two events.
    """

    folders: Folders
    jobs: Jobs
    roots: list[Path]
    labels: Labels
    ignore: Sequence[str]
    force: bool
    tell: Callable[[Followed], None]
    unsettled: set[Path] = field(default_factory=set)  # folders to be mirrored as a whole
    changed: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)  # uris of documents
    not_before: float = 0.0
    # problems: each is reported once
    told: dict[tuple[str, str], str] = field(default_factory=dict)

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
        """Retry failures later, with the rest: finished work costs nothing then."""
        waiting = frozenset(self.gone)
        went = [self._tried(uri_of(root), self._add_from, root) for root in self.roots]
        if not all(went):
            return
        self.changed.clear()
        for root in self.unsettled.copy():
            if root.is_dir():
                self._tried(uri_of(root), self._settle, root)
        self._tried("", self._drop, waiting)

    def _tried(self, uri: str, act: Callable[[Any], None], subject: Any) -> bool:
        doing = (act.__name__, uri)
        try:
            act(subject)
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
        rules = self.folders.rules(root, self.ignore)
        wanted = [Path(path) for path in sorted(paths) if rules.allow(path)]
        existing: list[Path] = []
        for path in wanted:
            existing += rules.walk(path) if path.is_dir() and not path.is_symlink() else [path]
        files = [path for path in dict.fromkeys(existing) if path.is_file()]
        if files:
            self._add(files)
        paths_below = (path for path in wanted if path != root)
        self.gone |= set(self.folders.gone(paths_below, collection=self.labels.collection))

    def _settle(self, root: Path) -> None:
        dropped = self.folders.drop_gone(
            [root], collection=self.labels.collection, ignore=self.ignore, force=self.force
        )
        self._say_removed(dropped)
        self.unsettled.discard(root)
        self.tell(Followed("watching", uri_of(root)))

    def _drop(self, uris: frozenset[str]) -> None:
        """But not where the whole folder went since: its documents stay."""
        here = [uri_of(root) for root in self.roots if root.is_dir()]
        sure = [uri for uri in uris if any(Path(uri).is_relative_to(root) for root in here)]
        dropped = self.folders.drop_uris(sorted(sure), collection=self.labels.collection)
        self.gone -= uris
        self._say_removed(dropped)

    def _add(self, paths: Sequence[Path]) -> None:
        source = self.folders.source(paths, self.ignore)
        self.jobs.add_from(source, self.labels, on_outcome=self._say)

    def _say(self, outcome: Outcome) -> None:
        if outcome.fate is not Fate.UNCHANGED:
            reason = str(outcome.error) if outcome.error else ""
            self.tell(Followed(outcome.fate.value, outcome.uri, reason))

    def _say_removed(self, uris: Sequence[str]) -> None:
        for uri in uris:
            self.tell(Followed("removed", uri))
