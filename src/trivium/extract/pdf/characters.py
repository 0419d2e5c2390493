"""What a page's characters mean: ligatures, separate accents, kinds of spaces. Knows nothing of
words or lines."""

from __future__ import annotations

import re

_SPACES = re.compile(r"[\s\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]+")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
# TeX's old fonts print an accent before the letter it belongs on. A hat or a tilde between letters
# may as well be mathematics: they count only on letters that commonly have them.
ACCENTS = {"´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303"}
ACCENTS |= {"ˇ": "\u030c", "˚": "\u030a"}
ACCENTED = re.compile(r"([´`¨ˇ˚]) ?([^\W\d_])|(?<=[^\W\d_])(ˆ|˜)([aeiou](?=[^\W\d_])|[no])")
_STRAY = re.compile(rf"(?<=[^\W\d_])[{''.join(ACCENTS)}](?![^\W\d_])|(?:^| )[´`¨ˇ˚](?= |$)")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
# What fonts without a mapping leave of ligatures: pdfium's replacement for ffi, an arrow for ff.
_LOST_FFI = re.compile(r"(?<=[^\W\d_])\ufffd ?(?=[^\W\d_])")
_LOST_FF = re.compile(r"(?<=[^\W\d_])↵ ?(?=[^\W\d_]|$|-)|(?<=^)↵(?=[^\W\d_])")


def clean(text: str) -> str:
    """Ligatures taken apart, accents put on their letters, every kind of space one space."""
    if text.isascii() and text.isprintable() and "  " not in text and "`" not in text:
        return text.strip()  # nothing to do for nine of ten lines of an English paper
    text = _CONTROLS.sub("", _SPACES.sub(" ", text)).translate(_LIGATURES).strip()
    if "\ufffd" in text or "↵" in text:
        text = _LOST_FF.sub("ff", _LOST_FFI.sub("ffi", text)).replace("\ufffd", "").strip()
    if any(accent in text for accent in ACCENTS):
        text = _STRAY.sub("", ACCENTED.sub(compose, text)).strip()
    return _SPACES.sub(" ", text) if "  " in text else text  # where something was taken out


def compose(match: re.Match[str]) -> str:
    from unicodedata import normalize

    accent, letter = match[1] or match[3], match[2] or match[4]
    composed = normalize("NFC", {"ı": "i", "ȷ": "j"}.get(letter, letter) + ACCENTS[accent])
    return composed if len(composed) == 1 else match[0]
