"""Turns texts into a model's tokens, with the model's own tokeniser. Knows nothing of sessions and
vectors. Imports tokenizers when a tokeniser is opened.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from string import ascii_letters, digits
from typing import TYPE_CHECKING

from trivium.core.errors import ModelDamaged, ModelUnsupported
from trivium.text.tokens import Remembered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

# Tokens of one run, padding included. Of documents each core runs its own, on one thread: texts of
# 100 words, 2 cores, a second: 24.7 when both cores share a run of 4096, 25.2 with a run each, 27.3
# with runs of 1024, 27.7 of 512, 27.8 of 256; of 40 words 56, 58, 65, 66, 67. What is computed
# stays in the cache, and no thread waits for another that something else keeps from its core.
BATCH_TOKENS = 512
_APART = 0.1  # of a model's tokens, by which those of its own tokeniser may differ
_COPY_AGAIN = "Copy the model there again."
_BETWEEN_BLANKS = re.compile(r"[^ \t\n\r]+")
# str.split parts words at these; tokenisers leave them out.
_CONTROLS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_PARTS = re.compile(r"[0-9A-Za-z]+|[^0-9A-Za-z]")
_LETTERS = ascii_letters + digits


class WordTokens:
    """The tokens of texts, without marks. Threads may share it.

    Most words come again and again, so each is read once where its tokens don't depend on its
    neighbours, as in all models like BERT: .07 ms for an abstract instead of .94.
    """

    def __init__(self, path: Path, *, lower: bool = False) -> None:
        """`lower`: make letters small first."""
        self.tokenizer = open_tokenizer(path, lower=lower)
        self.is_by_word = _is_by_word(self.tokenizer)
        self._known = Remembered(self._read_word)
        self._known_parts = Remembered(self._read_part)
        self._tokenise = self.tokenizer.model.tokenize
        normal = self.tokenizer.normalizer
        self._lowers = normal is not None and normal.normalize_str(_LETTERS) == _LETTERS.lower()
        added = [
            added_token.content
            for added_token in self.tokenizer.get_added_tokens_decoder().values()
        ]
        self._marks = re.compile("|".join(re.escape(mark.lower()) for mark in added) or "(?!)")

    def ids(self, text: str) -> list[int]:
        return array("i", self._packed(text)).tolist()

    def count(self, text: str) -> int:
        return len(self._packed(text)) // _SIZE

    def row(self, text: str) -> NDArray[np.int32]:
        """The same as `ids`."""
        import numpy as np

        return np.frombuffer(self._packed(text), np.int32)

    def _packed(self, text: str) -> bytes:
        if not self.is_by_word:
            return self._read(text)
        is_plain = not any(control in text for control in _CONTROLS)
        words = text.split() if is_plain else _BETWEEN_BLANKS.findall(text)
        return b"".join(map(self._known.__getitem__, words))

    def _read_word(self, word: str) -> bytes:
        """Plain words skip most of what the tokeniser does: 6 µs instead of 15 to 20."""
        small = word.lower()
        if not (word.isascii() and word.isprintable()) or self._marks.search(small):
            return self._read(word)
        parts = _PARTS.findall(small if self._lowers else word)
        return b"".join(map(self._known_parts.__getitem__, parts))

    def _read_part(self, part: str) -> bytes:
        return array("i", [token.id for token in self._tokenise(part)]).tobytes()

    def _read(self, text: str) -> bytes:
        ids = self.tokenizer.encode(encodable(text), add_special_tokens=False).ids
        return array("i", ids).tobytes()


_SIZE = array("i").itemsize


class Tokeniser:
    """Reads at most `max_tokens` of a text. Threads may share it."""

    def __init__(self, path: Path, words: WordTokens, max_tokens: int) -> None:
        """`path`: where the tokeniser is from, for errors."""
        self.max_tokens = max_tokens
        self._words = words
        self._tokenizer = words.tokenizer
        self._before, self._behind = _marks(self._tokenizer, path)
        self._room = max_tokens - len(self._before) - len(self._behind)
        self._lengths: dict[str, int] = {}  # of prompts, of which there are two

    def encode(self, text: str, prompt: str = "") -> list[int]:
        """`prompt`: the beginning of the text."""
        # Not encode_batch: it starts threads of its own, which warn on stderr after a fork.
        return self._cut(self._words.ids(text), prompt)

    def encode_all(self, texts: Sequence[str], prompt: str = "") -> list[NDArray[np.int32]]:
        """The same as `encode`, for a GPU, which reads faster than a processor tokenises."""
        import numpy as np

        if self._words.is_by_word:
            bare = [self._words.row(text) for text in texts]
        else:  # on every processor
            read = self._tokenizer.encode_batch_fast(
                [encodable(text) for text in texts], add_special_tokens=False
            )
            bare = [np.array(encoding.ids, np.int32) for encoding in read]
        before, behind = (np.array(m, np.int32) for m in (self._before, self._behind))
        return [
            np.concatenate((before, row, behind))
            if len(row) <= self._room
            else np.array(self._cut(row.tolist(), prompt), np.int32)
            for row in bare
        ]

    def encode_words(self, text: str) -> tuple[list[int], list[str]]:
        """The tokens, and of each the word that it is a part of; nothing for marks."""
        text = encodable(text)
        read = self._tokenizer.encode(text, add_special_tokens=False)
        spans: dict[int, tuple[int, int]] = {}
        for word, (start, end) in zip(read.word_ids, read.offsets, strict=True):
            if word is not None:
                spans[word] = (spans.get(word, (start, end))[0], end)
        belonging = ["" if w is None else text[slice(*spans[w])] for w in read.word_ids]
        belonging = belonging[max(0, len(belonging) - self._room) :]
        before, behind = ([""] * len(marks) for marks in (self._before, self._behind))
        return self._cut(read.ids, ""), before + belonging + behind

    def prompt_length(self, prompt: str) -> int:
        """How many tokens of a row are its prompt, with the mark in front."""
        if prompt not in self._lengths:
            own = len(self._words.ids(prompt))
            self._lengths[prompt] = len(self._before) + own if prompt else 0
        return self._lengths[prompt]

    def has_token(self, word: str) -> bool:
        return self._tokenizer.token_to_id(word) is not None

    def kept(self, row: list[int] | NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which tokens of a passage are; the mark that opens it, if no other is."""
        is_uncommon: NDArray[np.bool_] = self._uncommon[row]
        is_uncommon[0] |= not is_uncommon.any()
        return is_uncommon

    @cached_property
    def _uncommon(self) -> NDArray[np.bool_]:
        return uncommon(self._tokenizer.get_vocab(with_added_tokens=True))

    def _cut(self, ids: list[int], prompt: str) -> list[int]:
        """With the model's marks. Cuts the context in front; nothing of the passage or the prompt
        may be lost."""
        if len(ids) > self._room:
            room = min(len(self._words.ids(prompt)), self._room // 2) if prompt else 0
            ids = ids[:room] + ids[len(ids) - (self._room - room) :]
        return [*self._before, *ids, *self._behind]


class LocalTokens:
    """Counts tokens as a model's own tokeniser does, of the whole text, without the two that
    open and close what the model reads."""

    def __init__(self, name: str, words: WordTokens) -> None:
        self.name = name
        self.is_by_word = words.is_by_word
        self._words = words

    def count(self, text: str) -> int:
        return self._words.count(text)


def _is_by_word(tokenizer: Tokenizer) -> bool:
    """Whether the tokens of a text are those of one word after the other."""
    from tokenizers import normalizers
    from tokenizers.pre_tokenizers import BertPreTokenizer

    normal = tokenizer.normalizer
    steps = [normal]
    if isinstance(normal, normalizers.Sequence):
        steps = [normal[at] for at in range(len(normal))]
    plain = (normalizers.BertNormalizer, normalizers.Lowercase, type(None))
    added = tokenizer.get_added_tokens_decoder().values()
    return (
        isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and all(isinstance(step, plain) for step in steps)
        and not any(
            added_token.lstrip
            or added_token.rstrip
            or added_token.single_word
            or len(added_token.content.split()) != 1
            for added_token in added
        )
    )


def _marks(tokenizer: Tokenizer, path: Path) -> tuple[list[int], list[int]]:
    """The tokens before and after every text."""
    bare: list[int] = tokenizer.encode("a", add_special_tokens=False).ids
    marked: list[int] = tokenizer.encode("a").ids
    for start in range(len(marked)):
        if bare and marked[start : start + len(bare)] == bare:
            return marked[:start], marked[start + len(bare) :]
    raise ModelUnsupported(
        f"The tokeniser {path.name} in {path.parent.name} changes the text when it adds its marks.",
        fix="Choose another model.",
    )


def open_tokenizer(path: Path, *, lower: bool = False) -> Tokenizer:
    from tokenizers import Tokenizer, normalizers

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as reason:  # the library raises bare Exception
        raise ModelDamaged(
            f"Couldn't load the tokeniser {path}: {str(reason).rstrip('.')}.", fix=_COPY_AGAIN
        ) from reason
    check_vocabulary(tokenizer, path.with_name("config.json"))
    tokenizer.no_truncation()  # the file of the built-in model fixes both at 128
    tokenizer.no_padding()
    if lower:
        own = tokenizer.normalizer
        small = normalizers.Lowercase()
        tokenizer.normalizer = normalizers.Sequence([small, own]) if own else small
    return tokenizer


def check_vocabulary(tokenizer: Tokenizer, config: Path) -> None:
    """That a tokeniser is that of the model with this config.json: another model's has another
    number of tokens, and would find nonsense without an error. Some models have a few more numbers
    than tokens. Raises ModelDamaged."""
    try:
        wanted = int(json.loads(config.read_bytes())["vocab_size"])
    except (OSError, ValueError, TypeError, KeyError):
        return  # nothing to compare with
    there = tokenizer.get_vocab_size()
    if abs(there - wanted) > _APART * wanted:
        raise ModelDamaged(
            f"The tokenizer.json of the model {config.parent} belongs to another model: it has"
            f" {there:,} tokens, the model {wanted:,}.",
            fix="Put the model's own tokenizer.json into its folder.",
            on_page="Ask the person who runs this server to install the model again.",
        )


def encodable(text: str) -> str:
    """The text with halves of surrogate pairs joined, and U+FFFD for those left alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def batches(lengths: Sequence[int], tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Positions grouped by length, so that little padding is computed. Longest first: memory peaks
    in the first batch, not after an hour."""
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    start = 0
    while start < len(order):
        size = max(1, tokens // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


# Share of a vocabulary's words that are too common. Of 30,000 English ones a hundred, `the` to
# `music`: without them and punctuation passages take a third less space, and similarities stay
# what they were (within a query, r = .997 on long passages, .976 on ones of 50 tokens).
COMMON = 1 / 300


def uncommon(vocabulary: Mapping[str, int]) -> NDArray[np.bool_]:
    """Which tokens of a passage are worth keeping, by their number: words, letters and digits, but
    no punctuation, marks and common words. Vocabularies of language models list their words from
    common to rare, so a word's place stands for its frequency without counting any text."""
    import numpy as np

    spelled = {
        number: token.removeprefix("##").lstrip("▁Ġ")  # as tokenisers mark pieces and spaces
        for token, number in vocabulary.items()
    }
    is_uncommon = np.zeros(max(spelled) + 1, np.bool_)
    is_uncommon[[number for number, word in spelled.items() if word.isalnum()]] = True
    words = sorted(number for number, word in spelled.items() if word.isalnum() and len(word) > 1)
    is_uncommon[words[: int(len(words) * COMMON)]] = False
    return is_uncommon
