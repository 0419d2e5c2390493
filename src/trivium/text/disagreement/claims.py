"""The sentences of a passage that state something, and the cells of its tables, with the parts
that can contradict another.

Knows nothing of other passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from trivium.text import boundaries
from trivium.text.disagreement.statement import Statement, statement
from trivium.text.lexicon.negation import ALLOWS, denies, negation
from trivium.text.lexicon.quantities import Quantity, quantities
from trivium.text.lexicon.words import lexicon as lexicon_of
from trivium.text.normalise import fold, words
from trivium.text.stems import content_words, stem

FEWEST_SHARED = 3
_MOST_NUMBERS = 3  # in a sentence: more make it a row of a table
# An address, a path or a hash: a program wrote the line, as of a commit or a stack trace.
_MACHINE = re.compile(r"://|(?<![\w.])(?:/|[A-Za-z]:\\)[\w.-]+[/\\]|\b(?=[a-f]*\d)[0-9a-f]{12,}\b")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_ARTICLES = frozenset(
    ["the", "a", "an", "of", "and", "der", "die", "das", "ein", "eine", "von", "und"]
)
_ADDED = re.compile(r"\([^)]*\)")
_WORD = re.compile(r"[^\W\d_]+")
# Begins with what the sentence before may name: "The mayor is …", "It lies …".
_POINTS = re.compile(
    r"(?:The|It|He|She|They|Its|His|Her|Their|Der|Die|Das|Er|Sie|Es|Sein|Seine|Ihr|Ihre"
    r"|Le|La|Les|Il|Elle|El|Los|Las)\b"
)
# A form: what it is about, and its other lines.
_CALLED = re.compile(r"(?:Name|Title|Titel|Project|Projekt|Nom|Nombre|Nome):\s*(?P<name>.+)")
LINE = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}: \S")
_LONGEST = 400  # characters of a sentence: longer ones are tables
_BAR = " | "  # between the cells of a row
_LONGEST_CELL = 40
_IN = re.compile(r"\s*(?:\bin (?P<unit>[^\W\d_]+|[%€$£])|[(\[](?:in )?(?P<also>[^)\]]+)[)\]])$")


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, and the parts that can contradict another."""

    text: str
    topic: frozenset[str]  # stems of the words that carry it
    title: frozenset[str]  # stems of its document's title
    section: frozenset[str]  # stems of the heading above it
    numbers: tuple[Quantity, ...]
    months: frozenset[str]
    names: frozenset[str]
    negated: bool
    allows: bool  # says that something is allowed, or with a denial that it isn't
    statement: Statement


def claims(
    text: str, language: str, title: str = "", section: str = "", header: str = ""
) -> list[Claim]:
    """The sentences of a passage that state something, and the cells of its tables. `section`: the
    heading above it; `header`: of a table that began in an earlier passage."""
    stated = [
        _of_row(label, cell, language, title, section) for label, cell in _cells(text, header)
    ]
    cuts = [0, *boundaries.sentences(text), len(text)]
    about = _stems(title, language), _stems(section, language)
    before = form = ""
    for start, end in pairwise(cuts):
        sentence = " ".join(text[start:end].split()).replace("’", "'")
        is_row = _BAR in sentence
        if len(sentence) > _LONGEST or is_row or sentence[-1:] == "?" or _MACHINE.search(sentence):
            continue
        if called := _CALLED.match(sentence):
            form = f"of {called['name']}"
        points = before if _POINTS.match(sentence) else form if LINE.match(sentence) else ""
        context = f"{title}. {section}. {points}"
        claim = _claim(sentence, language, *about, context)
        parsed = claim.statement
        before = sentence if parsed.names or parsed.first else before
        named = claim.topic and (parsed.names or parsed.first or parsed.about)
        enough = named or len(claim.topic) >= FEWEST_SHARED - bool(parsed.values)
        if enough and len(claim.numbers) <= _MOST_NUMBERS:
            stated.append(claim)
    return stated


def _cells(text: str, header: str) -> Iterator[tuple[str, str]]:
    """The label of a row, and each cell with the name of its column: "Mill Lane", "rent: 840"."""
    names = header.split(_BAR) if header else []
    for line in text.splitlines():
        label, *cells = line.split(_BAR)
        if not cells:
            names = []  # another table may follow
        elif not names:
            names = [label, *cells]
        elif _WORD.search(label):
            for name, cell in zip(names[1:], cells, strict=False):
                if name.strip() and any(map(str.isdigit, cell)) and len(cell) <= _LONGEST_CELL:
                    yield " ".join(label.split()), _measured(name.strip(), cell.strip())


def _measured(name: str, cell: str) -> str:
    """A cell with the unit that its column has: "depth in m", "hours per week"."""
    unit = _IN.search(name)
    if not cell.replace(".", "").replace(",", "").isdecimal():
        return f"{name}: {cell}"
    if unit:
        return f"{name[: unit.start()]}: {cell} {unit['unit'] or unit['also']}"
    counted = next(iter(quantities(f"{cell} {name}")), None)
    has_unit = counted is not None and counted.unit is not None
    return f"{cell} {name}" if has_unit else f"{name}: {cell}"


def _of_row(label: str, cell: str, language: str, title: str, section: str) -> Claim:
    about = _stems(title, language), _stems(section, language)
    claim = _claim(f"{label}, {cell}", language, *about, f"{title}. {section}")
    row = " ".join(fold(word) for word in words(label))
    return replace(claim, statement=replace(claim.statement, row=row))


def _stems(text: str, language: str) -> frozenset[str]:
    """A title or heading without its parentheses: they name a kind, not the subject."""
    plain = dict.fromkeys(fold(word) for word in _WORD.findall(_ADDED.sub(" ", text)))
    return frozenset(stem([word for word in plain if word not in _ARTICLES], language))


def _claim(
    sentence: str, language: str, title: frozenset[str], section: frozenset[str], about: str
) -> Claim:
    folded = [fold(word) for word in _WORD.findall(sentence)]
    names = frozenset(name.casefold() for name in _NAME.findall(sentence))
    of_names = {fold(word) for name in names for word in _WORD.findall(name)}
    lexicon = lexicon_of(language)
    apart = {*lexicon.numbers, *lexicon.months, *of_names}
    plain = [
        word
        for word in folded
        if word not in apart
        and not negation(language).fullmatch(word)
        and not ALLOWS.fullmatch(word)
    ]
    topic = frozenset(stem(content_words(dict.fromkeys(plain), {language}), language))
    return Claim(
        sentence,
        topic,
        title,
        section,
        tuple(number for number in quantities(sentence, language) if number.readings),
        frozenset(word for word in folded if word in lexicon.months),
        names,
        denies(sentence, language),
        bool(ALLOWS.search(sentence)),
        statement(sentence, language, about),
    )
