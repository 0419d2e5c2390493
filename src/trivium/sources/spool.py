"""Uploads as a source that any process can open again.

A key names the bytes in the spool, and their file name. Knows nothing of jobs or formats.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from trivium.ports import SourceItem, Spool


def spool_key(name: str, uri: str, called: str) -> bytes:
    """`name`: in the spool."""
    return json.dumps({"file": name, "uri": uri, "name": called}).encode()


def spool_name(key: bytes) -> str:
    return str(json.loads(key)["file"])


class SpoolSource:
    kind = "spool"

    def __init__(self, spool: Spool, keys: Sequence[bytes] = ()) -> None:
        self._spool = spool
        self._keys = keys

    def options(self) -> Mapping[str, Any]:
        return {}  # the spool is where the library is

    def again(self, key: bytes) -> SourceItem:
        address, name = json.loads(key), spool_name(key)
        read = partial(self._spool.read, name)
        return SourceItem(address["uri"], address["name"], read, self._spool.size(name), key=key)

    def items(self) -> Iterator[SourceItem]:
        return map(self.again, self._keys)
