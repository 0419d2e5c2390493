"""Times in a recording, as people read and type them, and where else a passage is. Knows nothing of
players."""

from __future__ import annotations

import re
from typing import Protocol

_MOST_AUTHORS = 3
_CLOCK = re.compile(r"(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,6}(?:\.\d{1,3})?)s?")


def clock(seconds: float) -> str:
    """12:41, or 1:12:41, as players show it."""
    whole = int(seconds)
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:0{2 if hours else 1}}:{whole % 60:02}"


def span(seconds: tuple[float, float]) -> str:
    """12:41–13:05."""
    first, last = map(clock, seconds)
    return first if first == last else f"{first}–{last}"


class Placed(Protocol):
    """A passage's place, or a citation."""

    @property
    def sheet(self) -> str | None: ...
    @property
    def rows(self) -> tuple[int, int] | None: ...
    @property
    def pages(self) -> tuple[int, ...]: ...
    @property
    def seconds(self) -> tuple[float, float] | None: ...
    @property
    def authors(self) -> tuple[str, ...] | None: ...
    @property
    def time(self) -> str | None: ...


def place_parts(of: Placed) -> list[str]:
    """Sheet and rows, pages, when it is said in a recording, who wrote it and when."""
    parts = [f"sheet {of.sheet}"] if of.sheet else []
    if of.rows:
        first, last = of.rows
        parts.append(f"row {first}" if first == last else f"rows {first}–{last}")
    if of.pages:
        first, last = of.pages[0], of.pages[-1]
        parts.append(f"p. {first}" if first == last else f"pp. {first}–{last}")
    parts += [span(of.seconds)] if of.seconds else []
    parts += [", ".join(of.authors[:_MOST_AUTHORS])] if of.authors else []
    return [*parts, of.time[:16].replace("T", " ")] if of.time else parts


def seconds_of(text: str) -> float | None:
    """The seconds of `12:41`, `1:12:41` or `761`; None if it is no time."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hours, minutes, seconds = match.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds)
