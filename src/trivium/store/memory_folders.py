"""The watched folders of the reference store."""

from __future__ import annotations

from trivium.work import WatchedFolder


class MemoryFolders:
    def __init__(self) -> None:
        super().__init__()
        self._watched: dict[str, WatchedFolder] = {}

    def keep_folder(self, folder: WatchedFolder) -> None:
        self._watched[folder.id] = folder

    def folders(self) -> list[WatchedFolder]:
        return sorted(self._watched.values(), key=lambda f: (f.added_at, f.id))

    def forget_folder(self, id_: str) -> bool:
        return self._watched.pop(id_, None) is not None
