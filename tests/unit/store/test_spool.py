"""Uploaded files: space is checked and reserved in one step."""

from io import BytesIO
from pathlib import Path
from threading import Barrier, Thread

from trivium.core.errors import ServerBusy
from trivium.store.embedded.backup import DATABASE
from trivium.store.embedded.spool import FolderSpool


def test_of_two_at_once_exactly_one_finds_the_room_for_one(tmp_path: Path) -> None:
    for turn in range(20):
        folder, begin = tmp_path / str(turn), Barrier(2)
        folder.mkdir()
        (folder / DATABASE).touch()  # as where a library is
        kept: list[str] = []
        refused: list[ServerBusy] = []

        def send(
            spool: FolderSpool,
            begin: Barrier = begin,
            kept: list[str] = kept,
            refused: list[ServerBusy] = refused,
        ) -> None:
            begin.wait()
            try:
                kept.append(spool.keep(BytesIO(b"x" * 60)))
            except ServerBusy as error:
                refused.append(error)

        threads = [Thread(target=send, args=(FolderSpool(folder, 100),)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(kept), len(refused)) == (1, 1)
        assert sum(path.stat().st_size for path in (folder / "incoming").iterdir()) == 60
