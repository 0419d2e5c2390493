"""Times in a recording, as people read and type them. Knows nothing of players."""

from __future__ import annotations

import re

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


def seconds_of(text: str) -> float | None:
    """The seconds of `12:41`, `1:12:41` or `761`; None if it is no time."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hours, minutes, seconds = match.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds)
