"""Reads the query syntax: words, "a phrase", a OR b, +required, -not.

A sign before a number that can't be a year belongs to the number: "+1 sword", "-20 degrees".
Never raises on odd punctuation. Whatever is not syntax is text: an unbalanced quote, a lone dash or
an OR at an end are ignored. Knows nothing of what a store does with the parsed query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trivium.core.types import Figure, Part, Phrase, Query, Term
from trivium.text.figures import figures
from trivium.text.normalise import clean, words

# Beyond this a query is a document: the signals look at its first so many words.
MOST_WORDS = 128

# "stabilizing +1 nucleosomes" of scifact asked for passages with a 1: .0015 of its nDCG@10.
_UNSIGNED = r"(?!\d{1,3}(?!\w))"
_TOKEN = re.compile(
    rf"""
    (?P<sign>(?<!\S)[-+]{_UNSIGNED}(?=["\w]))?    # before a word or phrase, after white space
    (?:
        "(?P<phrase>[^"]*)"            # balanced quotes
      | (?P<either>(?<!\S)OR(?!\S))    # OR alone, in capitals
      | (?P<word>[^\s"]+)
    )
    """,
    re.VERBOSE,
)
REQUIRED = rf'(?<!\S)\+{_UNSIGNED}(?=["\w])'  # the sign before a required word
EXCLUDED = rf'(?<!\S)-{_UNSIGNED}(?:"[^"]*"|[^\s"]+)'  # excluded words, as typed
_QUOTES = str.maketrans("“”„«»", '"""""')


def parse(text: str) -> Query:
    """The query in `text`. A text without any word gives a query without clauses."""
    text = clean(text).strip()
    clauses: list[tuple[Part, ...]] = []
    excluded: list[Term | Phrase] = []
    required: set[int] = set()  # places among the clauses
    joining = False  # an OR is between the last clause and the next
    room = MOST_WORDS
    for sign, asked_parts in _signed_parts(text.translate(_QUOTES)):
        if asked_parts is None:
            joining = bool(clauses)
            continue
        parts = asked_parts[:room]
        if not parts:
            continue
        room -= len(parts)
        if sign == "-":
            excluded += [part for part in parts if not isinstance(part, Figure)]
            joining = False
            continue
        first = len(clauses)
        if joining:
            first -= 1
            clauses[-1] += (parts[0],)
            clauses += [(part,) for part in parts[1:]]
        else:
            clauses += [(part,) for part in parts]
        if sign == "+":
            required.update(range(first, len(clauses)))
        joining = False
    return Query(
        text=text,
        clauses=tuple(clauses),
        excluded=tuple(excluded),
        required=tuple(clauses[at] for at in sorted(required)),
    )


def _signed_parts(text: str) -> Iterator[tuple[str, list[Part] | None]]:
    """What is asked for, each with its sign; None is an OR. A number, a date or a code is one
    part, unless it has a sign or stands in quotes, where every word counts as typed."""
    there, at = list(figures(text)), 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        if token["either"]:
            yield "", None
            continue
        begin = token.start("word")
        inside = [place for place in there if begin <= place[0] < at] if token["word"] else []
        if inside and not token["sign"]:
            start, at, figure = inside[0]
            yield "", [*_parts(None, text[begin:start]), figure]
        else:
            yield token["sign"] or "", [*_parts(token["phrase"], token["word"])]


def _parts(phrase: str | None, word: str | None) -> list[Term | Phrase]:
    if phrase is not None:
        inside = words(phrase)
        if len(inside) > 1:
            return [Phrase(tuple(inside[:MOST_WORDS]))]
        return [Term(w) for w in inside]
    return [Term(w) for w in words(word or "")]
