"""Which values of two sentences on one subject differ in one role.

Two sentences that share a name and give different values of one kind in one role may contradict
each other, however few other words they share. Knows nothing of the words that carry their topic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import TypeAlias

from trivium.text.disagreement.roles import TIMES, folded_name
from trivium.text.disagreement.statement import Statement, Value, is_one
from trivium.text.lexicon.conditions import are_apart
from trivium.text.lexicon.negation import denies

# What was so at one time only.
_ONCE = re.compile(
    r"(?i)\b(?:last (?:week|month|year|night|time|spring|summer|autumn|winter)|yesterday|gestern"
    r"|letzte[nsr]? (?:Woche|Monat|Jahr|Mal|Sommer|Winter))\b"
)
_AGENT = re.compile(r"\b(?:by|von|durch|par|por)\s(?:\w+\.?\s)?$")  # by Duke
_PLURALS = {
    "name": "names", "year": "dates", "date": "dates", "hour": "times", "day": "times",
    "interval": "times",
}  # fmt: skip
# Whether the meanings of two texts are this near, as the cosine of vectors.
Alike: TypeAlias = Callable[[str, str, float], bool]
# Of two sentences without their values: what they speak of is the same. "Sofia was born in" and
# "Sofia lives in" have .88.
NUMBERS, NAMES = 0.7, 0.9
_EXACT = (
    "name",
    "day",
    "interval",
)  # "Every ___ Ada walks" and "every ___ Ada buys bread" have .75


def never(_one: str, _other: str, _least: float) -> bool:
    """Without a model."""
    return False


class Same(Enum):
    """Why two values have one role."""

    ALONE = auto()  # a role that has one value
    WORDS = auto()  # the words around them
    MEANING = auto()  # the sentences without them mean the same


def differing(
    statement: Statement, other: Statement, alike: Alike = never, *, certain: bool = False
) -> str:
    """Which values of one kind and role differ, for people; empty: none. For two statements about
    something that both name. `certain`: only in a role that has one value."""
    if statement.is_span or other.is_span:
        return ""
    apart = apart_in_time(statement, other)
    subject = shared_names(statement, other)
    others = _others(statement, subject), _others(other, subject)
    elsewhere = bool(others[0]) and bool(others[1]) and not others[0] & others[1]
    apart |= is_once(statement) != is_once(other)
    is_other = of_other_things(statement, other)
    differences: dict[str, str] = {}  # by kind
    likeliest = ""
    for mine, theirs in _that_differ(statement, other, subject):
        why = _one_role(statement, mine, other, theirs, alike)
        if why is None:
            continue
        kind = _PLURALS.get(mine.kind, "numbers")
        difference = f"{kind} differ: {mine.text} and {theirs.text}"
        is_time = mine.kind in TIMES
        if why is Same.ALONE and (is_time or not apart) and not is_other:
            return difference
        differences.setdefault(mine.kind, difference)
        if is_other and mine.text not in statement.labels.values():
            return ""
        if mine.kind != "day" and are_apart(statement.conditions, other.conditions):
            return ""
        # As it was at another time, or other people's day.
        if not (elsewhere if is_time else apart):
            likeliest = likeliest or difference
    if "date" in differences:
        differences.pop("year", None)
    return "" if certain or len(differences) > 1 else likeliest


def compare_others(statement: Statement, other: Statement) -> bool:
    """Whether their values can't be compared: they are of other things or of other times, or each
    counts something else."""
    if of_other_things(statement, other) or are_apart(statement.conditions, other.conditions):
        return True
    if is_once(statement) != is_once(other):
        return True
    pairs = [(a, b) for a in statement.values for b in other.values if a.kind == b.kind != "name"]
    return bool(pairs) and all(a.counts_other(b) for a, b in pairs)


def of_other_things(statement: Statement, other: Statement) -> bool:
    """Whether they speak of flat 7 and of flat 9, of summer and of winter."""
    labels = any(
        other.labels.get(noun, number) != number for noun, number in statement.labels.items()
    )
    return labels or are_apart(statement.conditions, other.conditions, week=False)


def is_once(statement: Statement) -> bool:
    return bool(_ONCE.search(statement.text))


def apart_in_time(statement: Statement, other: Statement) -> bool:
    """Whether each says a year or a day, and none is the other's."""
    if statement.times and other.times and not statement.times & other.times:
        return True
    mine, theirs = ([v for v in some.values if v.kind == "date"] for some in (statement, other))
    return bool(mine) and bool(theirs) and not any(a.same(b) for a in mine for b in theirs)


def shared_names(statement: Statement, other: Statement) -> tuple[str, ...]:
    """The names that both have, and at least one of them in the sentence itself."""
    mine, theirs = (*statement.names, statement.first), (*other.names, other.first)
    shared = [name for name in mine if any(is_one(name, two) for two in (*theirs, *other.about))]
    shared += [name for name in theirs if any(is_one(name, two) for two in statement.about)]
    shared += [
        a.row for a, b in ((statement, other), (other, statement)) if a.row and _says(b, a.row)
    ]
    return tuple(dict.fromkeys(shared))


def both_name_it(statement: Statement, other: Statement) -> bool:
    """Whether both sentences have a name, which one of them at least uses as such: a first word
    has a capital anyway. Or one is a row of a table whose label the other says."""
    if any(a.row and _says(b, a.row) for a, b in ((statement, other), (other, statement))):
        return True
    return any(
        is_one(name, word)
        for some, others in ((statement, other), (other, statement))
        for name in some.names
        for word in (*others.names, others.first)
    )


def _says(statement: Statement, label: str) -> bool:
    return not statement.row and f" {label} " in f" {folded_name(statement.text)} "


def _that_differ(
    statement: Statement, other: Statement, subject: Sequence[str]
) -> Iterator[tuple[Value, Value]]:
    """Values of one kind that neither sentence has elsewhere."""
    for mine in statement.values:
        for theirs in other.values:
            if mine.kind != theirs.kind or mine.same(theirs):
                continue
            if subject and all(is_one(mine.kind, name) for name in subject):
                continue  # Python 3 and Python 4, and nothing else
            if mine.kind == "name":
                holds = (statement.holds and other.holds) or _did(statement, mine, theirs)
                holds = holds or _did(other, theirs, mine)
                if holds and _can_hold(mine, theirs, statement, other, subject):
                    yield mine, theirs
            elif not _has(other, mine) and not _has(statement, theirs):
                yield mine, theirs


def _one_role(
    statement: Statement, mine: Value, other: Statement, theirs: Value, alike: Alike
) -> Same | None:
    """Why two values have one role; None: they don't, or one of them is denied."""
    if denies(statement.around(mine), statement.language) != denies(
        other.around(theirs), other.language
    ):
        return None
    if mine.role.has_one_value(mine.kind) & theirs.role.has_one_value(mine.kind):
        return Same.ALONE
    if mine.counts_other(theirs):
        return None
    if mine.size or _did(statement, mine, theirs) or _did(other, theirs, mine):
        return Same.WORDS
    holds = mine.kind not in TIMES or (statement.holds and other.holds)
    if holds and mine.role.same(theirs.role):
        return Same.WORDS
    least = NAMES if mine.kind in _EXACT else NUMBERS
    return Same.MEANING if alike(statement.without(mine), other.without(theirs), least) else None


def _has(statement: Statement, value: Value) -> bool:
    return any(value.kind == own.kind and value.same(own) for own in statement.values)


def _others(claim: Statement, subject: Iterable[str]) -> frozenset[str]:
    """The names in a sentence that aren't its subject."""
    named = list(subject)
    return frozenset(n for n in claim.names if not any(is_one(n, name) for name in named))


def _did(passive: Statement, by: Value, active: Value) -> bool:
    """Whether it was burned by the one and the other burned it."""
    is_agent = _AGENT.search(passive.text[: by.start])
    return bool(is_agent) and by.role.before[:1] == (active.role.next,)


def _can_hold(
    mine: Value, theirs: Value, statement: Statement, other: Statement, subject: Sequence[str]
) -> bool:
    """Whether two names may have the role: neither is in both sentences, or all they speak of."""
    return (
        not any(is_one(mine.text, name) for name in (*other.names, other.first))
        and not any(is_one(theirs.text, name) for name in (*statement.names, statement.first))
        and not all(is_one(mine.text, name) or is_one(theirs.text, name) for name in subject)
    )
