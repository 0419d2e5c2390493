"""Why two claims may disagree: by numbers, dates, names and negation.

Rules without a language model. They give hints, never proofs: "two hands" and "one hand" may both
be true of different axes. Two sentences are about the same thing if they share most of their words,
and if their documents and sections have the same subject or the shared words name it. Without the
subject, a rulebook gave 3,411 pairs for 668 passages, and none of 40 read was one (docs/log.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trivium.text.disagreement.claims import FEWEST_SHARED, LINE, Claim
from trivium.text.disagreement.differing import (
    Alike,
    apart_in_time,
    both_name_it,
    differing,
    never,
    shared_names,
)
from trivium.text.disagreement.statement import is_one
from trivium.text.lexicon.conditions import are_apart
from trivium.text.lexicon.dates import months
from trivium.text.lexicon.quantities import Quantity
from trivium.text.normalise import fold, words

_WORD = re.compile(r"[^\W\d_]+")
# Of all words that carry the topic of two sentences, the share that both must have. A denial or
# another name needs more: with .6 most pairs of these kinds spoke of different things.
SAME_TOPIC = 0.6
NEARLY_THE_SAME = 0.75


def disagreement(claim: Claim, other: Claim, alike: Alike = never, *, certain: bool = False) -> str:
    """Why two claims may disagree, in a few words; empty: they don't. `alike`: whether two texts
    mean nearly the same. `certain`: only in what never changes, such as a birth."""
    if claim.statement.row and other.statement.row:
        return ""  # two sheets of one form, two price lists
    named = shared_names(claim.statement, other.statement)
    if (
        claim.title != other.title
    ):  # a line of two forms, such as "Speed 30 ft.", is about their titles
        labels = claim.statement.label, other.statement.label
        named = tuple(name for name in named if not all(is_one(name, label) for label in labels))
    if certain:
        return differing(claim.statement, other.statement, certain=True) if named else ""
    if named:
        return _of_one_name(claim, other, len(named), alike)
    return _of_one_topic(claim, other) or _of_one_sentence(claim, other)


def _of_one_sentence(claim: Claim, other: Claim) -> str:
    """Neither names anything, and all words of the shorter are in the longer but for a value."""
    if claim.statement.names or other.statement.names or claim.negated != other.negated:
        return ""
    shared, fewer = len(claim.topic & other.topic), min(len(claim.topic), len(other.topic))
    if shared < max(FEWEST_SHARED - 1, fewer) or LINE.match(claim.text) or LINE.match(other.text):
        return ""
    return differing(claim.statement, other.statement) if _same_subject(claim, other) else ""


def _of_one_topic(claim: Claim, other: Claim) -> str:
    """They name nothing in common, so most of their words must be the same."""
    shared = claim.topic & other.topic
    share = len(shared) / len(claim.topic | other.topic)
    first, second = claim.statement, other.statement
    if first.only_names and second.only_names and share >= NEARLY_THE_SAME and len(shared) >= 2:
        return f"names differ: {first.may_name[0]} and {second.may_name[0]}"  # "The capital is …"
    if first.names and second.names and (claim.numbers or other.numbers or claim.months):
        return ""  # each names another subject
    if len(shared) < FEWEST_SHARED or share < SAME_TOPIC or not _same_subject(claim, other):
        return ""
    if claim.negated != other.negated:
        return "one says the opposite of the other" if share >= NEARLY_THE_SAME else ""
    if claim.numbers and other.numbers and not _some_equal(claim.numbers, other.numbers):
        if apart_in_time(first, second) and not _only_years(claim, other):
            return ""
        listed = (_listed(number.text for number in some.numbers) for some in (claim, other))
        return f"numbers differ: {' and '.join(listed)}"
    for kind, mine, theirs, least in (
        ("dates", claim.months, other.months, SAME_TOPIC),
        ("names", claim.names, other.names, NEARLY_THE_SAME),
    ):
        if mine and theirs and not mine & theirs and share >= least:
            return f"{kind} differ: {_listed(mine)} and {_listed(theirs)}"
    return ""


def _of_one_name(claim: Claim, other: Claim, named: int, alike: Alike) -> str:
    """The names that both have are the subject, and count as words that they share."""
    shared, every = len(claim.topic & other.topic), len(claim.topic | other.topic)
    both = both_name_it(claim.statement, other.statement)
    if difference := differing(claim.statement, other.statement, certain=True):
        return difference
    if not both and shared / every < SAME_TOPIC:
        return ""
    fewer = min(len(claim.topic), len(other.topic))
    same = (shared + named) / (every + named) >= NEARLY_THE_SAME or 1 < fewer == shared
    same = same or (claim.allows and (other.allows or other.negated) and fewer == shared)
    if claim.negated != other.negated and same and shared:
        apart = are_apart(claim.statement.conditions, other.statement.conditions)
        return "" if apart else "one says the opposite of the other"
    return differing(claim.statement, other.statement, alike)


def _only_years(*those: Claim) -> bool:
    """Whether the numbers of one of them are years."""
    return any(
        {number.text for number in claim.numbers} <= claim.statement.times for claim in those
    )


def _some_equal(some: Iterable[Quantity], others: Sequence[Quantity]) -> bool:
    return any(
        quantity.same(other) or other.same(quantity) for quantity in some for other in others
    )


def says(those: Iterable[Claim], claim: Claim) -> bool:
    """Whether one of those claims says the same: about the same, with the same facts."""
    facts = claim.months, claim.names, claim.negated
    return any(
        (other.months, other.names, other.negated) == facts
        and all(_some_equal([number], other.numbers) for number in claim.numbers)
        and all(_some_equal([number], claim.numbers) for number in other.numbers)
        and len(claim.topic & other.topic) / len(claim.topic | other.topic) >= NEARLY_THE_SAME
        for other in those
    )


def are_of_a_series(first: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two documents (title and text) differ in digits and months alone: minutes, budgets,
    chapters; "Invoice 31 to …" and "Invoice 32 to …". Each is about its own time, so only what
    never changes can differ."""
    mine, theirs = _undated(first[0]), _undated(other[0])
    if not mine or mine != theirs:
        return False
    numbers, others = (set(_numbers_of(title, text)) for title, text in (first, other))
    return first[0] != other[0] or bool(numbers and others and not numbers & others)


def _numbers_of(title: str, text: str) -> list[str]:
    named = "|".join(_WORD.findall(title))
    return re.findall(rf"(?i)\b(?:{named})\s*(?:no|nr|number|#)?[.:]?\s*(\w*\d[\w/-]*)", text)


def _undated(title: str) -> list[str]:
    return [word for word in words(title) if word[0].isalpha() and word not in months(None)]


def _same_subject(claim: Claim, other: Claim) -> bool:
    """Under the same title and heading; under a heading that is the other's title; or if the words
    that both sentences share name what only one of the two is about ("crown" in The Drowned Crown).
    Words that both titles have, such as "dragon", do not tell two dragons apart."""
    if (claim.title, claim.section) == (other.title, other.section):
        return True
    if (
        claim.title
        and claim.title in (other.title, other.section)
        and not claim.section - claim.title
    ):
        return True
    if other.title and other.title == claim.section:
        return True
    mine, theirs = claim.title | claim.section, other.title | other.section
    named = {fold(word) for name in claim.names & other.names for word in _WORD.findall(name)}
    return bool(((claim.topic & other.topic) | named) & (mine ^ theirs))


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(values)[:3])
