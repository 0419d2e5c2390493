"""Whether two sentences about the same thing may disagree: by numbers, dates, names and negation.

Rules without a language model. They give hints, never proofs: "two hands" and "one hand" may both
be true of different axes. Two sentences are about the same thing if they share most of their words,
and if their documents and sections have the same subject or the shared words name it. Without the
subject, a rulebook gave 3,411 pairs for 668 passages, and none of 40 read was one (docs/log.md).
Pure; knows nothing of stores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from trivium.text import boundaries
from trivium.text.lexicon.conditions import are_apart
from trivium.text.lexicon.dates import months
from trivium.text.lexicon.negation import ALLOWS, denies, negation
from trivium.text.lexicon.quantities import Quantity, quantities
from trivium.text.lexicon.words import lexicon as lexicon_of
from trivium.text.normalise import fold, words
from trivium.text.roles import (
    Alike,
    Statement,
    apart_in_time,
    both_name_it,
    differing,
    is_one,
    never,
    shared_names,
    statement,
)
from trivium.text.stems import content_words, stem

# Of all words that carry the topic of two sentences, the share that both must have. A denial or
# another name needs more: with .6 most pairs of these kinds spoke of different things.
SAME_TOPIC = 0.6
NEARLY_THE_SAME = 0.75
_FEWEST_SHARED = 3
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
_LINE = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}: \S")
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
    found = [_of_row(label, cell, language, title, section) for label, cell in _cells(text, header)]
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
        points = before if _POINTS.match(sentence) else form if _LINE.match(sentence) else ""
        known = f"{title}. {section}. {points}"
        claim = _claim(sentence, language, *about, known)
        said = claim.statement
        before = sentence if said.names or said.first else before
        named = claim.topic and (said.names or said.first or said.about)
        enough = named or len(claim.topic) >= _FEWEST_SHARED - bool(said.values)
        if enough and len(claim.numbers) <= _MOST_NUMBERS:
            found.append(claim)
    return found


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
    said = [fold(word) for word in _WORD.findall(sentence)]
    names = frozenset(name.casefold() for name in _NAME.findall(sentence))
    of_names = {fold(word) for name in names for word in _WORD.findall(name)}
    lexicon = lexicon_of(language)
    apart = {*lexicon.numbers, *lexicon.months, *of_names}
    plain = [
        word
        for word in said
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
        tuple(one for one in quantities(sentence, language) if one.readings),
        frozenset(word for word in said if word in lexicon.months),
        names,
        denies(sentence, language),
        bool(ALLOWS.search(sentence)),
        statement(sentence, language, about),
    )


def disagreement(one: Claim, other: Claim, alike: Alike = never, *, certain: bool = False) -> str:
    """Why two claims may disagree, in a few words; empty: they don't. `alike`: whether two texts
    mean nearly the same. `certain`: only in what never changes, such as a birth."""
    if one.statement.row and other.statement.row:
        return ""  # two sheets of one form, two price lists
    named = shared_names(one.statement, other.statement)
    if (
        one.title != other.title
    ):  # a line of two forms, such as "Speed 30 ft.", is about their titles
        labels = one.statement.label, other.statement.label
        named = tuple(name for name in named if not all(is_one(name, label) for label in labels))
    if certain:
        return differing(one.statement, other.statement, certain=True) if named else ""
    if named:
        return _of_one_name(one, other, len(named), alike)
    return _of_one_topic(one, other) or _of_one_sentence(one, other)


def _of_one_sentence(one: Claim, other: Claim) -> str:
    """Neither names anything, and all words of the shorter are in the longer but for a value."""
    if one.statement.names or other.statement.names or one.negated != other.negated:
        return ""
    shared, fewer = len(one.topic & other.topic), min(len(one.topic), len(other.topic))
    if shared < max(_FEWEST_SHARED - 1, fewer) or _LINE.match(one.text) or _LINE.match(other.text):
        return ""
    return differing(one.statement, other.statement) if _same_subject(one, other) else ""


def _of_one_topic(one: Claim, other: Claim) -> str:
    """They name nothing in common, so most of their words must be the same."""
    shared = one.topic & other.topic
    share = len(shared) / len(one.topic | other.topic)
    first, second = one.statement, other.statement
    if first.only_names and second.only_names and share >= NEARLY_THE_SAME and len(shared) >= 2:
        return f"names differ: {first.may_name[0]} and {second.may_name[0]}"  # "The capital is …"
    if first.names and second.names and (one.numbers or other.numbers or one.months):
        return ""  # each names another subject
    if len(shared) < _FEWEST_SHARED or share < SAME_TOPIC or not _same_subject(one, other):
        return ""
    if one.negated != other.negated:
        return "one says the opposite of the other" if share >= NEARLY_THE_SAME else ""
    if one.numbers and other.numbers and not _some_equal(one.numbers, other.numbers):
        if apart_in_time(first, second) and not _only_years(one, other):
            return ""
        listed = (_listed(number.text for number in some.numbers) for some in (one, other))
        return f"numbers differ: {' and '.join(listed)}"
    for told, mine, theirs, least in (
        ("dates", one.months, other.months, SAME_TOPIC),
        ("names", one.names, other.names, NEARLY_THE_SAME),
    ):
        if mine and theirs and not mine & theirs and share >= least:
            return f"{told} differ: {_listed(mine)} and {_listed(theirs)}"
    return ""


def _of_one_name(one: Claim, other: Claim, named: int, alike: Alike) -> str:
    """The names that both have are the subject, and count as words that they share."""
    shared, every = len(one.topic & other.topic), len(one.topic | other.topic)
    both = both_name_it(one.statement, other.statement)
    if told := differing(one.statement, other.statement, certain=True):
        return told
    if not both and shared / every < SAME_TOPIC:
        return ""
    fewer = min(len(one.topic), len(other.topic))
    same = (shared + named) / (every + named) >= NEARLY_THE_SAME or 1 < fewer == shared
    same = same or (one.allows and (other.allows or other.negated) and fewer == shared)
    if one.negated != other.negated and same and shared:
        apart = are_apart(one.statement.conditions, other.statement.conditions)
        return "" if apart else "one says the opposite of the other"
    return differing(one.statement, other.statement, alike)


def _only_years(*those: Claim) -> bool:
    """Whether the numbers of one of them are years."""
    return any({number.text for number in one.numbers} <= one.statement.times for one in those)


def _some_equal(some: Iterable[Quantity], others: Sequence[Quantity]) -> bool:
    return any(one.same(other) or other.same(one) for one in some for other in others)


def says(those: Iterable[Claim], one: Claim) -> bool:
    """Whether one of those claims says the same: about the same, with the same facts."""
    facts = one.months, one.names, one.negated
    return any(
        (other.months, other.names, other.negated) == facts
        and all(_some_equal([number], other.numbers) for number in one.numbers)
        and all(_some_equal([number], one.numbers) for number in other.numbers)
        and len(one.topic & other.topic) / len(one.topic | other.topic) >= NEARLY_THE_SAME
        for other in those
    )


def are_of_a_series(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two documents (title and text) differ in digits and months alone: minutes, budgets,
    chapters; "Invoice 31 to …" and "Invoice 32 to …". Each is about its own time, so only what
    never changes can differ."""
    mine, theirs = _undated(one[0]), _undated(other[0])
    if not mine or mine != theirs:
        return False
    numbers, others = (set(_numbers_of(title, text)) for title, text in (one, other))
    return one[0] != other[0] or bool(numbers and others and not numbers & others)


def _numbers_of(title: str, text: str) -> list[str]:
    named = "|".join(_WORD.findall(title))
    return re.findall(rf"(?i)\b(?:{named})\s*(?:no|nr|number|#)?[.:]?\s*(\w*\d[\w/-]*)", text)


def _undated(title: str) -> list[str]:
    return [word for word in words(title) if word[0].isalpha() and word not in months(None)]


def _same_subject(one: Claim, other: Claim) -> bool:
    """Under the same title and heading; under a heading that is the other's title; or if the words
    that both sentences share name what only one of the two is about ("crown" in The Drowned Crown).
    Words that both titles have, such as "dragon", do not tell two dragons apart."""
    if (one.title, one.section) == (other.title, other.section):
        return True
    if one.title and one.title in (other.title, other.section) and not one.section - one.title:
        return True
    if other.title and other.title == one.section:
        return True
    mine, theirs = one.title | one.section, other.title | other.section
    named = {fold(word) for name in one.names & other.names for word in _WORD.findall(name)}
    return bool(((one.topic & other.topic) | named) & (mine ^ theirs))


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(values)[:3])
