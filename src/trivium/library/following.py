"""Which folders a server is to follow: kept in the library, so that every process knows them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex

from trivium.errors import BadSetting, PathNotFound, SourceNotFound
from trivium.library.parts import Parts
from trivium.store.clock import now
from trivium.text.values import check_labels, check_text
from trivium.types import Labels
from trivium.work import WatchedFolder


class Following(Parts):
    def watched_folders(self) -> list[WatchedFolder]:
        """In the order they were added."""
        return self._store.folders()

    def watch_folder(
        self,
        path: str | os.PathLike[str],
        *,
        collection: str = "default",
        category: str | None = None,
        audience: str | None = None,
        ignore: Sequence[str] = (),
    ) -> WatchedFolder:
        """Let whoever serves this library add what lies in a folder, and follow its changes."""
        check_labels(Labels(collection, category, audience))
        for rule in (os.fspath(path), *ignore):
            check_text("folder", rule)
        folder = Path(os.path.abspath(os.path.expanduser(path)))
        if not folder.is_dir():
            raise PathNotFound(f"There is no folder {folder}.")
        for known in self._store.folders():
            if (known.path, known.collection) == (str(folder), collection):
                raise BadSetting(f"{folder} is watched already.", fix="")
        watched = WatchedFolder(
            token_hex(6), str(folder), collection, category, audience, tuple(ignore), now()
        )
        self._store.keep_folder(watched)
        return watched

    def unwatch_folder(self, id_: str) -> None:
        """Follow it no longer. Its documents stay."""
        if not self._store.forget_folder(id_):
            raise SourceNotFound(f"There is no source {id_!r}.")
