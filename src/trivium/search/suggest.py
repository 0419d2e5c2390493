"""Suggests what someone may want to type: completions of the last word, or likely spellings.

Suggests only words from documents that the caller may see, and only if some passage has them
together with a word typed before. Knows stores only through their port.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Literal

from trivium.core.results import Suggestion
from trivium.core.types import Phrase, Probe, Query, Signal, Spelled, Term, Where
from trivium.operations.searching import LONGEST_TYPED
from trivium.ports import Backend
from trivium.search.correct import Taught, correct
from trivium.text.normalise import words
from trivium.text.query import parse
from trivium.text.stems import content_words

_LAST = re.compile(r"[^\s\"()]+\Z")
_LANGUAGES = ("en", "de")  # function words of these say nothing about a topic
_CONSIDERED = 4  # completions to try per suggestion; each costs a search for one passage


def suggest(
    backend: Backend,
    typed: str,
    limit: int,
    where: Where,
    lexicon: Callable[[], Taught | None] = lambda: None,
) -> tuple[Suggestion, ...]:
    """The typed text with its last word completed, or, if there is no completion, with the likely
    spelling. Empty if no passage has such a word together with one typed before it."""
    match = _LAST.search(typed[-LONGEST_TYPED:])
    split = words(match[0]) if match else []
    if not match or not split:
        return ()
    word, before = split[-1], typed[: len(typed) - len(match[0])]
    begun = match[0][0] if match[0].startswith(("-", "+")) else ""
    backend.signals.refresh()
    proposed: Sequence[Spelled] = backend.signals.completions(word, where, _CONSIDERED * limit)
    kind: Literal["completion", "spelling"] = "completion" if proposed else "spelling"
    proposed = proposed or _meant(backend, word, where, lexicon)
    fitting = proposed if begun == "-" else _beside(backend, before, proposed, where)

    def text(spelled: Spelled) -> str:
        if kind == "completion" and typed[-1].isalnum():
            # The index has folded words, so keep the capitals and accents that were typed.
            rest = spelled.words[0][len(word) :]
            return typed + (rest.upper() if match[0].isupper() else rest)
        return f"{before}{begun}{' '.join(spelled.words)}"

    other = (spelled for spelled in fitting if spelled.words != (word,))
    return tuple(
        Suggestion(text(spelled), kind, spelled.chunks) for spelled in islice(other, limit)
    )


def _meant(
    backend: Backend, word: str, where: Where, lexicon: Callable[[], Taught | None]
) -> Sequence[Spelled]:
    """How a search would read the word: as two words, another form, or a correction."""
    spellings = partial(backend.signals.spellings, where=where.access)
    languages = partial(backend.documents.counts, "language", where.access)
    corrected = correct(parse(word), spellings, lexicon, languages)
    meant = {tuple(words(correction.meant)) for correction in corrected.corrections}
    near = backend.signals.spellings([word], where)[word]
    inflected = {
        spelled.words for spelled in near[:1] if spelled.inflected or len(spelled.words) > 1
    }
    return [spelled for spelled in near if spelled.words in meant | inflected]


def _beside(
    backend: Backend, before: str, proposed: Sequence[Spelled], where: Where
) -> list[Spelled]:
    """Words that some passage has together with a topic word typed before; all words if no topic
    word was typed."""
    topics = tuple(Term(word) for word in content_words(parse(before).words, _LANGUAGES))
    if not topics:
        return list(proposed)

    def together(spelled: Spelled) -> bool:
        last = Term(spelled.words[0]) if len(spelled.words) == 1 else Phrase(spelled.words)
        query = Query(before, clauses=((last,), topics), every_word=True)
        return bool(backend.signals.search(Signal.KEYWORD, Probe(query), where, 1))

    return [spelled for spelled in proposed if together(spelled)]
