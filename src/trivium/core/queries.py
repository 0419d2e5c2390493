"""Nouns for what people ask: logged queries, and saved searches that notify about new matches.

Frozen dataclasses, standard library only. Knows nothing of where they are kept or who asks.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A query as the log has it: once each time, or all of one day together."""

    at: str  # ISO 8601, UTC: a time, or a day if the queries of a day are counted together
    text: str
    asked: int = 1  # how often
    empty: int = 0  # how often nothing fitted
    took_ms: float = 0.0  # the slowest
    caller: str = ""  # id of the token; empty: the owner, or nobody's business


@dataclass(frozen=True, slots=True)
class LogPage:
    """Which queries of the log to list."""

    limit: int | None = None
    offset: int = 0
    unfound: bool = False  # only those that found nothing relevant at least once
    slower_than: float = 0.0  # milliseconds; the slowest first, otherwise the most asked


@dataclass(frozen=True, slots=True)
class Asked:
    """One query, over all the days looked at."""

    text: str
    asked: int
    empty: int  # times that nothing relevant was found
    took_ms: float  # the slowest
    last: str


@dataclass(frozen=True, slots=True)
class Alert:
    """A saved search that notifies you when a new document matches."""

    id: str
    query: str
    webhook: str  # address to send hits to; empty: none
    created_at: str  # ISO 8601, UTC
    # The number of the last change that was looked at; of an earlier release, a time.
    seen_at: str


@dataclass(frozen=True, slots=True)
class AlertHit:
    """A document that matched an alert when it was added. Has none of its text."""

    alert: str
    document: int
    passage: int  # from 0
    match: float
    at: str  # ISO 8601, UTC
