"""Takes a question apart that no single passage answers: comparisons, differences, sums, two
questions in one, and one thing named by another ("the site that makes no lamps"). Rules, for
English. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from trivium.answer.followup import stand_alone
from trivium.core.answers import Turn
from trivium.text.lexicon.measures import ADJECTIVES, LESS
from trivium.text.lexicon.quantities import quantities


class Join(StrEnum):
    """What to do with the answers to the parts."""

    MORE = "more"
    LESS = "less"
    DIFFERENCE = "difference"
    SUM = "sum"
    GROWTH = "growth"  # of the second over the first, in percent
    RATIO = "ratio"  # of the first to the second
    SHARE = "share"  # the same in percent
    EACH = "each"  # all of them
    THEN = "then"  # the second asks about what the first one finds, written {}


@dataclass(frozen=True, slots=True)
class Plan:
    parts: tuple[str, ...]
    join: Join
    labels: tuple[str, ...] = ()  # what the parts are about

    @property
    def is_figured(self) -> bool:
        """Whether the answer is no sentence, but follows from two figures."""
        return self.join in (Join.GROWTH, Join.RATIO, Join.SHARE, Join.DIFFERENCE)


_OR = re.compile(
    r"(?i)^(?:which|what|who)(?: of (?:the two|them))?\s+(?P<does>.+?)[,:]\s*"
    r"(?P<a>.+?)\s+or\s+(?P<b>.+?)\s*\?*$"
)
_BETWEEN = re.compile(
    r"\bdifference (?:in|of) (?P<what>.+?) between (?P<a>.+?) and (?P<b>.+?)\s*\?*$", re.I
)
_THAN = re.compile(
    r"(?i)^(?:by )?how much (?P<does>is|are|was|were) (?P<a>.+?) (?P<how>\w+er|more expensive) than"
    r" (?P<b>.+?)\s*\?*$"
)
_MORE_THAN = re.compile(
    r"(?i)^(?:by )?how (?:much|many) (?:more|less|fewer) (?P<rest>.+?) (?P<p>in|for|at|on)"
    r" (?P<a>[^ ]+(?: [^ ]+)?) than (?:(?:in|for|at|on) )?(?P<b>.+?)\s*\?*$"
)
_TOGETHER = re.compile(
    r"(?i)^how (?P<many>much|many \w+) (?:do|does|did) (?P<a>.+?) and (?P<b>.+?)"
    r" (?P<verb>cost|weigh|have|make|hold|carry)"
    r"(?:\s+(?:together|in total|in all|altogether|combined))\s*\?*$"
)
_YEAR = r"(?:FY ?)?(?P<{}>(?:19|20)\d\d)"
_YEARS = rf"(?:from|between|in) {_YEAR.format('a')} (?:to|and|until) {_YEAR.format('b')}"
_GREW = re.compile(
    r"(?i)^(?:by (?:how much|what percentage|how many percent)|how much)\s+(?:did|has|have)\s+"
    r"(?P<what>.+?)\s+"
    r"(?P<how>grow|increase|rise|change|fall|decrease|decline|drop|shrink)n?d?\s+" + _YEARS
)
_CHANGE = re.compile(
    r"(?i)^what (?:is|was) the (?P<how>(?:percentage |percent )?(?:change|growth|increase"
    r"|decrease|decline)(?: rate)?)"
    r" (?:in|of) (?P<what>.+?) " + _YEARS
)
_PART = re.compile(
    r"(?i)^what (?:is|was|were) (?P<a>.+?) as an? (?:percentage|share|percent) of (?P<b>.+?)"
    r"(?P<when> (?:in|of|at) .+?)?\s*\?*$"
    r"|^what (?:is|was) the ratio of (?P<c>.+?) to (?P<d>.+?)(?P<then> (?:in|of|at) .+?)?\s*\?*$"
)
_AND = re.compile(r"\s*[,;]?\s+and\s+(?=(?:who|when|where|what|which|why|how)\b)", re.I)
_WHOSE = re.compile(
    r"^(?P<ask>.+?)\bthe (?P<what>[\w-]+) (?:that|which|who)\s+(?P<does>.+?)\s*\?*$", re.I
)


def decompose(question: str) -> Plan | None:
    """How to answer it in parts; None if it is one question."""
    text = " ".join(question.split())
    for pattern, planned in _PLANS:
        match = pattern.search(text)
        plan = planned(match) if match else None
        if plan is not None:
            return plan
    parts = tuple(_AND.split(text))
    if len(parts) > 1:
        return Plan(_standing(parts), Join.EACH)
    match = _WHOSE.match(text)
    if match is None:
        return None
    return Plan((f"Which {match['what']} {match['does']}?", f"{match['ask']}{{}}?"), Join.THEN)


def _of_two(match: re.Match[str], join: Join, part: str) -> Plan:
    """The same question about two things, which `part` calls {one}."""
    both = (match["a"].strip(" ?,."), match["b"].strip(" ?,."))
    return Plan(tuple(part.format(one=thing, **match.groupdict()) for thing in both), join, both)


def _changed(match: re.Match[str]) -> Plan:
    percent = re.search(r"percent|%|growth", match.string, re.I)
    return _of_two(match, Join.GROWTH if percent else Join.DIFFERENCE, "What was {what} in {one}?")


def _over(match: re.Match[str]) -> Plan:
    both = (match["a"] or match["c"], match["b"] or match["d"])
    when = match["when"] or match["then"] or ""
    join = Join.SHARE if match["a"] else Join.RATIO
    return Plan(tuple(f"What was {thing}{when}?" for thing in both), join, both)


def _either(match: re.Match[str]) -> Plan:
    join = Join.LESS if LESS.search(match["does"]) else Join.MORE
    both = _of_two(match, join, "{one}").labels
    return Plan(tuple(_about(match["does"], thing) for thing in both), join, both)


def _than(match: re.Match[str]) -> Plan | None:
    how = ADJECTIVES.get(match["how"].split()[-1].lower())
    return _of_two(match, Join.DIFFERENCE, f"How {how} {{does}} {{one}}?") if how else None


_PLANS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Plan | None]], ...] = (
    (_GREW, _changed),
    (_CHANGE, _changed),
    (_PART, _over),
    (_OR, _either),
    (_BETWEEN, partial(_of_two, join=Join.DIFFERENCE, part="What is the {what} of {one}?")),
    (_THAN, _than),
    (_MORE_THAN, partial(_of_two, join=Join.DIFFERENCE, part="How much {rest} {p} {one}?")),
    (_TOGETHER, partial(_of_two, join=Join.SUM, part="How {many} does {one} {verb}?")),
)


def _standing(parts: Sequence[str]) -> tuple[str, ...]:
    first, *others = (f"{part.rstrip(' ?')}?" for part in parts)
    return (first, *(stand_alone(other, [Turn(first, "")]) for other in others))


def _about(does: str, thing: str) -> str:
    """`weighs more` and `a pike`: how heavy is a pike?"""
    plain = re.sub(r"\b(?:more|less|fewer|the)\b\s*", "", does).strip()
    adjective = next((ADJECTIVES[w] for w in does.lower().split() if w in ADJECTIVES), None)
    if adjective:
        return f"How {adjective} is {thing}?"
    verb = re.match(r"(weighs?|costs?|makes?|holds?|carries)\b", plain, re.I)
    if verb:
        return f"How much does {thing} {verb[1].removesuffix('s')}?"
    has = re.match(
        r"(?:has|have|had)\s+(?:an? |the )?(?:higher|lower|larger|better)?\s*(.+)", plain, re.I
    )
    if has:
        return f"How many {has[1]} does {thing} have?"
    return f"{plain.capitalize()} of {thing}?"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure with its unit."""

    number: float
    unit: str

    def __str__(self) -> str:
        number = f"{self.number:,.4f}".rstrip("0").rstrip(".")
        return f"{number} {self.unit}".strip()


def measure(value: str) -> Measure | None:
    """The first figure of a value, and what follows it: `1,140 €`, `18 lb.`"""
    quantity = next(
        (
            candidate
            for candidate in quantities(value)
            if candidate.readings and not candidate.worded
        ),
        None,
    )
    if quantity is None:
        return None
    number, start = quantity.value / quantity.scale, quantity.start
    end = start + len(quantity.figure)
    unit = re.match(
        r"\s*((?:(?:thousand|million|billion)s?\s(?:of\s)?)?[^\W\d_]+\.?|[€$£%])?", value[end:]
    )
    before = re.search(r"([€$£])\s*$", value[:start])
    return Measure(number, (unit[1] if unit and unit[1] else "") or (before[1] if before else ""))


def joined(plan: Plan, values: Sequence[str]) -> str:
    """What the answers to the parts mean together; empty if their figures can't be combined."""
    measures = [measured for value in values if (measured := measure(value)) is not None]
    if len(values) != 2 or len(measures) != 2:
        return ""
    a, b = measures
    if a.unit.rstrip(".").casefold() != b.unit.rstrip(".").casefold():
        return ""
    if plan.join in (Join.MORE, Join.LESS):
        if a.number == b.number:
            return _ended(f"Both are the same: {a}")
        first = (a.number > b.number) == (plan.join is Join.MORE)
        label, mine, other = (plan.labels[0], a, b) if first else (plan.labels[1], b, a)
        return _ended(f"So the answer is {label}: {mine} against {other}")
    if plan.join is Join.DIFFERENCE:
        return _ended(f"The difference is {Measure(abs(a.number - b.number), a.unit)}")
    if plan.join in (Join.GROWTH, Join.RATIO, Join.SHARE):
        whole = a.number if plan.join is Join.GROWTH else b.number
        if not whole:
            return ""
        if plan.join is Join.GROWTH:
            grown = f"{_figure(b)} / {_figure(a)} - 1"
            return _ended(f"That is {100 * (b.number / whole - 1):,.1f} % = {grown}")
        ratio = a.number / whole
        figure = f"{ratio:,.2f}" if plan.join is Join.RATIO else f"{100 * ratio:,.1f} %"
        return _ended(f"That is {figure} = {_figure(a)} / {_figure(b)}")
    if plan.join is Join.SUM:
        return _ended(f"Together {Measure(a.number + b.number, a.unit)}")
    return ""


def _figure(measure: Measure) -> str:
    return f"{measure.number:,.10g}"


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
