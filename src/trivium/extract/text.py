"""Reads plain text, whatever its encoding, into paragraphs. Knows nothing of markup."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePath

from trivium.core.errors import FileEmpty, FormatUnknown
from trivium.core.types import Element, Extraction
from trivium.extract.charsets import decode_text
from trivium.extract.sniff import binary_kind, is_text_with_slips
from trivium.ports import Blob, reads
from trivium.text.boundaries import paragraphs
from trivium.text.languages import detect_language
from trivium.text.titles import names

MAX_TITLE_CHARS = 100  # a longer first line is a paragraph, not a title

MAX_WRAPPED = 3  # words over a line that begins small: a title still, and no half of a sentence


@reads("text/3", lambda blob: not binary_kind(blob.data))
def read_text(blob: Blob) -> Extraction:
    """Takes everything that is text: list it last."""
    text = decode(blob)
    elements = tuple(
        Element(kind="paragraph", start=start, end=end, paragraph=number)
        for number, (start, end) in enumerate(_paragraphs(text), start=1)
    )
    first_line, second_line, *_ = (*(line.strip() for line in text.split("\n", 2)), "")
    is_title = len(first_line) <= MAX_TITLE_CHARS and names(first_line)
    is_wrapped = second_line[:1].islower() and len(first_line.split()) > MAX_WRAPPED
    is_title = is_title and not is_wrapped and "\t" not in first_line
    return Extraction(
        text=text,
        elements=elements,
        title=first_line if is_title else stem(blob),
        media_type="text/plain",
        language=detect_language(text),
    )


def decode(blob: Blob) -> str:
    """The characters of a text file: newlines are \\n, no blank lines or spaces at either end."""
    if kind := binary_kind(blob.data):
        raise FormatUnknown(f"{blob.name} is {kind}, not text.")
    text = decode_text(blob.data)
    if not is_text_with_slips(text):
        raise FormatUnknown(f"{blob.name} is a binary file, not text.")
    text = text.replace("\x00", "")
    text = text.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    text = re.sub(r"\A\s*\n", "", text)  # the first line keeps its indentation
    if not text.strip():
        raise FileEmpty(f"{blob.name} is empty.")
    return text


def stem(blob: Blob) -> str:
    """The name of the file without folders and its last suffix."""
    return PurePath(blob.name).stem


def _paragraphs(text: str) -> list[tuple[int, int]]:
    starts = [0, *paragraphs(text), len(text)]
    return [(start, start + len(text[start:end].rstrip())) for start, end in pairwise(starts)]
