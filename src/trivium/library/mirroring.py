"""How a library follows what is gone from folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from trivium.errors import BadSetting, FolderEmpty
from trivium.library.adding import Adding
from trivium.ports import Waiting
from trivium.sources.folder import is_there, uri_of
from trivium.sources.ignore import Rules


class Mirroring(Adding):
    @property
    def folder(self) -> Path:
        """Where the library is kept."""
        return self._store.folder

    def drop_gone(
        self,
        folders: Sequence[str | os.PathLike[str]],
        *,
        collection: str = "default",
        ignore: Sequence[str] = (),
        force: bool = False,
        on_wait: Waiting | None = None,
    ) -> list[str]:
        """Forget what came from these folders, in this collection, and is no longer there or is
        ignored by now: the uris that went. To be called after they were added, so that what has
        only moved is known. A folder that is missing or empty is refused, unless `force` says that
        it is meant so."""
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
        return _files([*named, *self._store.below(f"{uri}/", collection)])

    def _is_known(self, uri: str, collection: str) -> bool:
        store = self._store
        return bool(store.find(uri, collection) or store.within(uri, collection))

    def _gone(self, root: Path, collection: str, ignore: Sequence[str], force: bool) -> list[str]:
        if root.exists() and not root.is_dir():
            raise BadSetting(f"{root} is no folder.", fix="Only folders can be mirrored.")
        held = _files(self._store.below(f"{uri_of(root).rstrip('/')}/", collection))
        rules = Rules(root, ignore, [self.folder])
        if held and not force and next(rules.walk(), None) is None:
            raise FolderEmpty(
                f"{root} is missing or holds no file that is not ignored,"
                f" and the library holds {len(held):,} of it."
            )
        # A hidden file was named by someone: it stays for as long as it is there.
        return [uri for uri in held if not is_there(uri) or not rules.allow(uri, hidden=True)]

    def _forget(self, uris: list[str], collection: str, on_wait: Waiting | None) -> list[str]:
        if uris:
            with self._store.writing(on_wait):
                for uri in uris:
                    self._store.forget(uri, collection)
        return uris


def _files(uris: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(uri.partition("!/")[0] for uri in uris))
