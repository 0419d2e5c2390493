"""Which words a language has, from pyspellchecker's lists: MIT, 7 MB, no network.

Knows nothing of libraries or models. Compounds and rare names are in no list: a word that is not
here may still be right.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from trivium.text.normalise import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANGUAGES = frozenset({"ar", "de", "en", "es", "eu", "fa", "fr", "it", "lv", "nl", "pt", "ru"})


def in_dictionary(word: str, language: str) -> bool:
    """Whether the language has this folded word. Of a language without a list: no."""
    if language not in LANGUAGES:
        return False
    listed, wanted = _listed(language), crc32(word.encode())
    at = int(np.searchsorted(listed, np.uint32(wanted)))
    return at < len(listed) and int(listed[at]) == wanted


@cache
def _listed(language: str) -> NDArray[np.uint32]:
    """Checksums of all words, folded and in order: 1.4 MB for the 339,000 of German, where a set of
    the words takes 36. One word in 13,000 that is not listed seems to be."""
    packed = files("spellchecker").joinpath("resources", f"{language}.json.gz").read_bytes()
    unpacked = gzip.decompress(packed).decode()
    # The words are what is quoted. Parsing the JSON takes seven times as long: .31 s for German.
    words = json.loads(unpacked) if "\\" in unpacked else unpacked.split('"')[1::2]
    folded = fold("\n".join(words)).encode().split(b"\n")
    return np.sort(np.fromiter(map(crc32, folded), np.uint32, len(folded)))
