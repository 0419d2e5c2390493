"""The originals of a store's documents: stored before the document is registered, deleted with the
last use.

In between, any thread may prepare a document whose bytes are already in the archive, while the
writer removes the last document that refers to them. So an original stays pinned until its document
is registered. Knows nothing of tables.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from trivium.ports import Blobs


class KeptOriginals:
    def __init__(self, blobs: Blobs) -> None:
        self.blobs = blobs
        self._pinned: Counter[str] = Counter()
        self._turn = threading.Lock()

    def keep(self, data: bytes) -> str:
        """Bytes that are about to be registered; their address comes back."""
        address = self.blobs.address(data)
        with self._turn:  # pinned first, so that nobody deletes it meanwhile
            self._pinned[address] += 1
        try:
            return self.blobs.put(data)
        except BaseException:
            self.registered([address])
            raise

    def put_back(self, address: str, data: bytes) -> None:
        if self.blobs.size(address) != len(data) and self.blobs.address(data) == address:
            self.blobs.put(data)  # of a document removed this instant it is left to `compact`

    def get(self, address: str) -> bytes:
        return self.blobs.get(address)

    def part(self, address: str, start: int, end: int) -> bytes:
        return self.blobs.part(address, start, end)

    def link(self, address: str, seconds: int) -> str | None:
        return self.blobs.link(address, seconds)

    def place(self, address: str) -> str:
        return self.blobs.place(address)

    def registered(self, addresses: Iterable[str]) -> None:
        """They are referred to now, or never will be."""
        with self._turn:
            self._pinned -= Counter(address for address in addresses if address)

    def drop(self, addresses: Iterable[str]) -> None:
        """Delete originals that nothing refers to, except pinned ones."""
        for address in addresses:
            with self._turn:
                if address not in self._pinned:
                    self.blobs.delete(address)
