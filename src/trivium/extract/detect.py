"""Finds the extractor for a file by its bytes, then by its name, and runs it.

Knows the formats only as a list of extractors: a later format is one more entry. Knows nothing of
sandboxes; whoever distrusts a file calls this inside one.
"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.errors import FileEmpty, FileTooLarge, FormatUnknown
from trivium.extract.markdown import MarkdownExtractor
from trivium.extract.sniff import binary_kind
from trivium.extract.text import TextExtractor
from trivium.ports import Blob, Extractor
from trivium.types import Extraction

MAX_BYTES = 100 * 1024 * 1024  # of text: some 25 million tokens, 80,000 chunks

# The first that accepts a file reads it: specific formats first, plain text last.
BUILT_IN: tuple[Extractor, ...] = (MarkdownExtractor(), TextExtractor())


def choose(blob: Blob, extractors: Sequence[Extractor] = BUILT_IN) -> Extractor:
    """The first extractor that takes the file."""
    for extractor in extractors:
        if extractor.accepts(blob):
            return extractor
    kind = binary_kind(blob.data) or "in a format nobody knows"
    raise FormatUnknown(f"{blob.name} is {kind}, which cannot be read yet.")


def read(
    blob: Blob, *, extractors: Sequence[Extractor] = BUILT_IN, max_bytes: int = MAX_BYTES
) -> Extraction:
    """The text and structure of a file. Raises ReadError with a reason a person understands."""
    size = len(blob.data)
    if size > max_bytes:
        raise FileTooLarge(f"{blob.name} has {size:,} bytes, the limit is {max_bytes:,}.")
    if not blob.data.strip():
        raise FileEmpty(f"{blob.name} is empty.")
    return choose(blob, extractors).extract(blob)
