"""The memory store's originals. Part of `memory`."""

from __future__ import annotations

from collections.abc import Set
from hashlib import sha256

from trivium.errors import OriginalMissing


class MemoryOriginals:
    def __init__(self) -> None:
        super().__init__()
        self._originals: dict[str, bytes] = {}  # by address

    def archive(self, data: bytes) -> str:
        address = f"sha256:{sha256(data).hexdigest()}"
        self._originals[address] = data
        return address

    def rearchive(self, address: str, data: bytes) -> None:
        """Memory loses nothing."""

    def original(self, address: str) -> bytes:
        if address not in self._originals:
            raise OriginalMissing(f"The archive does not hold {address}.")
        return self._originals[address]

    def _keep_originals(self, kept: Set[str]) -> None:
        self._originals = {a: data for a, data in self._originals.items() if a in kept}
