"""Bytes in a folder, by their hash."""

import os
import threading
from pathlib import Path

import pytest

from trivium.core.errors import OriginalDamaged, OriginalMissing
from trivium.store.blobs import FolderBlobs, KeptOriginals


def test_what_is_put_comes_back(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "archive")
    addresses = [blobs.put(data) for data in (b"amber", b"", b"amber")]
    assert addresses[0] == addresses[2] != addresses[1]
    assert [blobs.get(address) for address in addresses] == [b"amber", b"", b"amber"]
    assert {address for address, _ in blobs.addresses()} == set(addresses)
    moved = FolderBlobs((tmp_path / "archive").rename(tmp_path / "moved"))
    assert moved.get(addresses[0]) == b"amber"
    moved.delete(addresses[0])
    moved.delete(addresses[0])
    assert moved.size(addresses[0]) is None
    with pytest.raises(OriginalMissing):
        moved.get(addresses[0])


@pytest.mark.parametrize("address", ["", "sha256:../../etc/passwd", "s3://bucket/key", "sha256:"])
def test_no_other_address_reaches_the_disk(tmp_path: Path, address: str) -> None:
    blobs = FolderBlobs(tmp_path)
    assert blobs.size(address) is None
    blobs.delete(address)
    with pytest.raises(OriginalMissing):
        blobs.get(address)


def test_damage_is_noticed(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    address = blobs.put(b"amber")
    (path,) = (p for p in tmp_path.rglob("*") if p.is_file())
    path.write_bytes(b"ambex")
    with pytest.raises(OriginalDamaged):
        blobs.get(address)
    path.write_bytes(b"am")
    assert blobs.put(b"amber") == address
    assert blobs.get(address) == b"amber", "a torn file is written again"


def test_what_a_killed_writer_left_can_be_deleted(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    kept = blobs.put(b"amber")
    (tmp_path / "new-1234").write_bytes(b"half")
    found = dict(blobs.addresses())
    assert len(found) == 2
    assert all(age < 3600 for age in found.values())
    (left,) = found.keys() - {kept}
    assert blobs.size(left) is None
    blobs.delete(left)
    assert [address for address, _ in blobs.addresses()] == [kept]
    os.utime(next(tmp_path.glob("??/*")), (0, 0))
    assert [age > 3600 for _, age in blobs.addresses()] == [True]
    blobs.put(b"amber")
    assert [age > 3600 for _, age in blobs.addresses()] == [False], "it was put again"


def test_what_is_about_to_be_registered_is_not_dropped(tmp_path: Path) -> None:
    originals = KeptOriginals(FolderBlobs(tmp_path))
    address = originals.keep(b"amber")
    originals.drop([address])
    assert originals.blobs.size(address) is not None
    originals.registered([address, ""])
    originals.drop([address])
    assert originals.blobs.size(address) is None


def test_keeping_and_dropping_at_once_loses_nothing(tmp_path: Path) -> None:
    """Whoever was given an address finds its bytes there until it says that it is done."""
    originals = KeptOriginals(FolderBlobs(tmp_path))
    lost: list[str] = []
    done = threading.Event()

    def prepare() -> None:
        for _ in range(30):
            address = originals.keep(b"amber")
            if originals.blobs.size(address) is None:
                lost.append(address)
            originals.registered([address])

    def drop() -> None:
        address = originals.keep(b"amber")
        originals.registered([address])
        while not done.is_set():
            originals.drop([address])

    dropper = threading.Thread(target=drop, daemon=True)
    workers = [threading.Thread(target=prepare, daemon=True) for _ in range(3)]
    for thread in (dropper, *workers):
        thread.start()
    for thread in workers:
        thread.join()
    done.set()
    dropper.join()
    assert not lost
