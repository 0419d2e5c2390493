"""Reorders reranked candidates by a cross-encoder, as far as it knows better.

A cross-encoder reads query and passage together. The one in the catalogue learned from English web
passages: alone it is far ahead on short English passages (locomo10 .606 instead of .477 fused), and
ruins German (legalquad_de .658 instead of .876) and code (cosqa .492 instead of .598). So its share
of the score follows the candidates: none where they aren't English or look like code, little where
they are long, much where they are short. Of a long passage it reads the best stretch only: half the
time, and better than all of it (alone, mean of eleven sets .654 instead of .646).

nDCG@10 on eleven sets, with the share fitted on the others (`docs/log.md`): .699 with
all-MiniLM-L6-v2, fused .672, reranked .684, and no set below its fused order; .696 with bge-small,
fused .678. How far the two orders agree, and how well the model tells passages apart, say no more
once language and length are known.

Knows nothing of models and stores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from trivium.core.types import StoredChunk
from trivium.text.normalise import words
from trivium.text.snippet import snip

# 256 tokens of query and passage cost .0001 nDCG@10 as a mean, and half the time.
TOKENS = 256
STRETCH = 700  # characters of a passage: some 110 words. 70 words cost .0003, and less time
LOOKED_AT = 10  # candidates that decide the share
_LEAST = 0.15  # share with passages of _LONG characters or more
_SHORT_MORE = 0.65  # and so much more with those of _SHORT or fewer
_SHORT, _LONG = 200, 1200
_CODE = re.compile(r"[(){}\[\]=_;<>]")
# Share of such characters: prose has .001 to .007, functions with docstrings .06.
_PROSE, _MEANS_CODE = 0.02, 0.05
_ENGLISH = frozenset({"en", ""})
# Of the candidates in English: fewer get less, and those with the lowest nothing.
_FEWEST_ENGLISH, _MOSTLY_ENGLISH = 0.3, 0.7


def share_of(passages: Sequence[StoredChunk]) -> float:
    """How much of the score a cross-encoder for English prose decides among these, best first."""
    from statistics import median

    texted = [passage for passage in passages[:LOOKED_AT] if passage.chunk.text]
    if not texted:
        return 0.0
    texts = [passage.chunk.embedded_text for passage in texted]
    length = median(map(len, texts))
    short = _between(log(_LONG) - log(max(1, length)), 0, log(_LONG / _SHORT))
    english = sum((p.document.language or "") in _ENGLISH for p in texted) / len(texted)
    code = sum(len(_CODE.findall(text)) / len(text) for text in texts) / len(texts)
    language_share = _between(english, _FEWEST_ENGLISH, _MOSTLY_ENGLISH)
    return (
        (_LEAST + _SHORT_MORE * short) * language_share * (1 - _between(code, _PROSE, _MEANS_CODE))
    )


def best_stretches(passages: Sequence[StoredChunk], query: str) -> list[StoredChunk]:
    """The same with as much of each text as is read, from where it says most about the query."""
    query_words = tuple(words(query))
    return [
        replace(p, chunk=replace(p.chunk, text=_stretch(p, query_words)))
        if len(p.chunk.text) > STRETCH
        else p
        for p in passages
    ]


def _stretch(passage: StoredChunk, query_words: tuple[str, ...]) -> str:
    # As if every word were in some passage: looking for similar ones took ten times as long.
    return snip(
        passage.chunk.text, query_words, passage.document.language, STRETCH, query_words
    ).text


def scaled(judged: Sequence[float], wanted: int) -> list[float]:
    """Scores of a cross-encoder, as log odds from 0 (the worst) to 1; those it didn't get to count
    as the worst. By the odds and not the probabilities, which are all near 0 or 1: .6901 instead of
    .6790."""
    odds = [log(max(probability, _NEVER) / max(1 - probability, _NEVER)) for probability in judged]
    least, span = min(odds), max(odds) - min(odds)
    values = [(value - least) / span if span > 0 else 0.0 for value in odds]
    return values + [0.0] * (wanted - len(values))


_NEVER = exp(-60)


def _between(value: float, least: float, most: float) -> float:
    """0 at `least` or below, 1 at `most` or above."""
    return min(1.0, max(0.0, (value - least) / (most - least)))
