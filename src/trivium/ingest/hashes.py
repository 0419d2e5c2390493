"""What a text is known by: equal hashes mean equal texts."""

from __future__ import annotations

import hashlib


def hash_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
