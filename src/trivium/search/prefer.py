"""What a caller prefers beyond relevance: recent documents, a collection, a field, a section.

Multiplies a result's score by one factor after another, and keeps what each adds as a part, so that
the parts still add up to the score. The match stays the same: a preference doesn't make a result
more relevant. Knows candidates, not where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from math import isfinite

from trivium.core.errors import BadSetting
from trivium.core.results import PreferencePart
from trivium.core.types import OWNER, Condition, StoredChunk
from trivium.operations.searching import MOST_BOOSTS
from trivium.search.match import Candidate
from trivium.store.where import matches
from trivium.text.filters import check_filter, parse_filter
from trivium.text.normalise import fold

RECENT = "recent"
_LARGEST = 100.0
_SECTION = re.compile(r'section:(?:"([^"]+)"|(\S+))')
_WRITTEN = re.compile(r"(?P<what>.+?)\s*\*\s*(?P<weight>[^*\s]+)")
_DATED = ("date", "published", "modified", "created")  # the first of these in the metadata counts


@dataclass(frozen=True, slots=True)
class DocumentBoost:
    """A factor for the scores of documents or passages that meet a condition."""

    told: str  # as the caller wrote it
    weight: float
    condition: Condition | None = None
    section: str = ""  # a kind of section, or a heading; folded

    def holds(self, passage: StoredChunk) -> bool:
        if self.condition is not None:
            return matches(
                passage.document, OWNER.narrowed(self.condition), lambda: (passage.chunk.place,)
            )
        return self.section in map(fold, (passage.chunk.section, *passage.chunk.headings))


@dataclass(frozen=True, slots=True)
class Preference:
    half_life: float | None = None  # days until the bonus halves; None: age doesn't matter
    boosts: tuple[DocumentBoost, ...] = ()
    today: date | None = None  # None: today

    def check(self) -> None:
        """Raises BadSetting."""
        days = self.half_life
        if days is not None and not (isfinite(days) and days > 0):
            raise BadSetting(f"`half_life` can't be {days}.", fix="Give a number of days above 0.")

    def ordered(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """By score with preferences; ties keep their order."""
        return sorted(map(self._preferred, candidates), key=lambda c: -c.score)

    def _preferred(self, candidate: Candidate) -> Candidate:
        score, parts = candidate.score, []
        for name, factor in self._factors(candidate.found):
            part = PreferencePart(name, factor, score * (factor - 1))
            parts.append(part)
            score += part.contribution
        return replace(candidate, score=score, preferences=tuple(parts))

    def _factors(self, passage: StoredChunk) -> Iterator[tuple[str, float]]:
        if self.half_life is not None:
            days = ((self.today or datetime.now(UTC).date()) - day_of(passage)).days
            yield f"recent ({_age(days)})", 1 + 0.5 ** (max(0, days) / self.half_life)
        for boost in self.boosts:
            if boost.holds(passage):
                yield boost.told, boost.weight


def plain(candidate: Candidate) -> Candidate:
    """The candidate without what preferences added."""
    added = sum(part.contribution for part in candidate.preferences)
    return replace(candidate, score=candidate.score - added, preferences=())


def day_of(passage: StoredChunk) -> date:
    """When a passage was written, as far as we know: the time of the message, or a date or year of
    its document, or else the day when the document was added."""
    metadata = passage.document.metadata
    dated = (passage.chunk.place.time, *(metadata.get(name) for name in _DATED))
    for value in (*dated, metadata.get("year"), passage.document.added_at):
        day = _day(value)
        if day is not None:
            return day
    return date.min


def _day(value: object) -> date | None:
    """The middle of a year, the first day of a month."""
    text = str(value[0] if isinstance(value, tuple) and value else value).strip()
    written = re.match(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?!\d)", text)
    if written is None:
        return None
    year, month, day = written.groups()
    try:
        return date(int(year), int(month or (1 if day else 7)), int(day or 1))
    except ValueError:
        return None


def _age(days: int) -> str:
    if days < 60:
        return f"{max(0, days)} days"
    return f"{days / 365.25:.1f} years" if days >= 730 else f"{days // 30} months"


def boosts_of(weights: Mapping[str, float]) -> tuple[DocumentBoost, ...]:
    """From filters, or `section:NAME`, and weights. Raises BadSetting and BadFilter."""
    if len(weights) > MOST_BOOSTS:
        raise BadSetting(
            f"`boosts` has {len(weights)} entries.", fix=f"Give {MOST_BOOSTS} at most."
        )
    return tuple(_boost(text, weight) for text, weight in weights.items())


def _boost(text: str, weight: float) -> DocumentBoost:
    if not isinstance(text, str) or not text.strip():
        raise BadSetting("`boosts` has an entry without a filter.", fix="Write `collection:rules`.")
    sensible = isinstance(weight, int | float) and isfinite(weight) and 0 < weight <= _LARGEST
    if not sensible or isinstance(weight, bool):
        raise BadSetting(
            f"`boosts` gives {text} the weight {weight!r}.",
            fix=f"Give a number above 0, {_LARGEST:g} at most.",
        )
    section = _SECTION.fullmatch(text.strip())
    if section:
        return DocumentBoost(text, float(weight), section=fold(section[1] or section[2]))
    condition = parse_filter(text)
    check_filter(condition)
    return DocumentBoost(text, float(weight), condition)


def boosts_written(texts: Iterable[str]) -> dict[str, float]:
    """From `collection:rules*2`, as people type them. Raises BadSetting."""
    boosts: dict[str, float] = {}
    for text in texts:
        written = _WRITTEN.fullmatch(text.strip())
        try:
            if written is None:
                raise ValueError
            boosts[written["what"]] = float(written["weight"])
        except ValueError:
            raise BadSetting(
                f"The boost {text!r} has no weight.", fix="Write it like `collection:rules*2`."
            ) from None
    return boosts
