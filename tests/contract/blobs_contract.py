"""What everything that keeps the bytes of originals must do."""

from __future__ import annotations

import hashlib

import pytest

from trivium.core.errors import OriginalMissing
from trivium.ports import Blobs


class BlobsContract:
    @pytest.fixture
    def blobs(self) -> Blobs:
        raise NotImplementedError("give the suite blobs")

    @pytest.mark.parametrize("data", [b"", b"the bytes of a file", bytes(range(256)) * 40_000])
    def test_bytes_come_back_under_their_hash(self, blobs: Blobs, data: bytes) -> None:
        address = blobs.put(data)
        assert address == blobs.address(data) == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert (blobs.get(address), blobs.size(address)) == (data, len(data))
        assert blobs.put(data) == address
        assert address.removeprefix("sha256:") in blobs.place(address)

    def test_a_player_asks_for_a_part(self, blobs: Blobs) -> None:
        address = blobs.put(bytes(range(100)))
        assert blobs.part(address, 4, 9) == bytes(range(4, 9))
        with pytest.raises(OriginalMissing):
            blobs.part(blobs.address(b"never kept"), 0, 1)

    def test_what_is_not_there(self, blobs: Blobs) -> None:
        address = blobs.address(b"never kept")
        assert blobs.size(address) is None
        with pytest.raises(OriginalMissing):
            blobs.get(address)
        blobs.delete(address)

    @pytest.mark.parametrize("address", ["", "sha256:../../etc/passwd", "other:abc", "sha256:"])
    def test_an_address_of_another_kind_is_nowhere(self, blobs: Blobs, address: str) -> None:
        assert blobs.size(address) is None
        blobs.delete(address)
        with pytest.raises(OriginalMissing):
            blobs.get(address)

    def test_all_of_them_are_listed_with_their_age(self, blobs: Blobs) -> None:
        present = {blobs.put(b"one"), blobs.put(b"two"), blobs.put(b"three")}
        gone = blobs.put(b"four")
        blobs.delete(gone)
        ages = dict(blobs.addresses())
        assert present <= ages.keys()
        assert gone not in ages
        assert all(-60 < age < 600 for age in ages.values())
