"""Hashes of texts: equal hashes mean equal texts."""

from __future__ import annotations

import hashlib

from trivium.types import Extraction, Metadata


def hash_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def text_digest(read: Extraction, metadata: Metadata) -> str:
    """The hash of a text that needed no extraction, with its source's metadata. Not its audience:
    that may change without a new interpretation."""
    said = sorted((name, value) for name, value in metadata.items() if name != "audience")
    parts = (read.title, read.text, repr(said)) if said else (read.title, read.text)
    return hash_of("\n".join(parts))
