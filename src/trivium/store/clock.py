"""The one clock of the registry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now(later: float = 0.0) -> str:
    """The time now, or this many seconds later, as ISO 8601 in UTC, to the millisecond: sorts as
    text."""
    at = datetime.now(UTC) + timedelta(seconds=later)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
