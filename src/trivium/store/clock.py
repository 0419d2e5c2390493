"""The one clock of the registry."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """This instant as ISO 8601 in UTC, to the millisecond: sorts as text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
