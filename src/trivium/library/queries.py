"""What people ask: a log that stays on the machine, and saved searches that report new matches.

Both are for the owner only: the log has what others typed.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from secrets import token_hex
from threading import Lock
from time import monotonic
from urllib.parse import urlsplit

from trivium.core.access import period
from trivium.core.answers import AnswerEvent, Done
from trivium.core.errors import AlertNotFound, BadSetting, DocumentNotFound
from trivium.core.queries import Alert, AlertHit, Asked, LoggedQuery, LogPage
from trivium.core.results import Results
from trivium.core.types import OWNER, Document
from trivium.core.work import now
from trivium.library.documents import Documents
from trivium.library.searching import Searching
from trivium.operations.searching import Filters, SearchOptions
from trivium.ports import Backend
from trivium.text.query import parse
from trivium.text.values import check_text

log = logging.getLogger("trivium.alerts")

SLOW_MS = 500.0  # people notice this
_SETTLED = 3.0  # seconds: typing that continues within them is one query, as it was in the end
_MOST_PENDING = 10_000  # queries waiting to be written: 2 MB
_TRIMMED_AFTER = 1_000  # entries
_LONGEST = 500  # characters of a query that the log keeps
_LONGEST_READING = timedelta(hours=1)  # of a document, until it is stored
_AT_ONCE = 100  # new documents that one search looks through
_WEBHOOK_SECONDS = 10.0


class LogMode(StrEnum):
    OFF = "off"
    COUNTS = "counts"  # each query once a day with its count, without who asked
    FULL = "full"  # each time, with the token that asked


@dataclass(eq=False)
class Queries:
    """The log. `mode`: what it keeps, `most` entries of `days` (0: no limit) at most. A query typed
    letter by letter counts once."""

    _backend: Backend
    mode: LogMode
    _most: int = 100_000
    _days: int = 365

    def __post_init__(self) -> None:
        self._since_trimmed = _TRIMMED_AFTER  # entries: the first flush trims
        self._typed: dict[str, tuple[float, LoggedQuery]] = {}  # by caller: the last, unsettled
        self._pending: list[LoggedQuery] = []  # so that no search waits for the database
        self._lock = Lock()

    def note(self, text: str, results: Results, caller: str = "") -> None:
        """Log a search. One with a mistyped filter doesn't count as one that found nothing: the
        library may well have the answer."""
        self._note(text, results.weak and not results.mistyped, results.took_ms, caller)

    def answering(
        self, question: str, events: Generator[AnswerEvent, None, None], caller: str = ""
    ) -> Generator[AnswerEvent, None, None]:
        """The events of an answer; logs the question when they end. A refusal found nothing."""
        refused, took_ms = False, 0.0
        try:
            for event in events:
                if isinstance(event, Done):
                    refused, took_ms = event.answer.refused, event.answer.took_ms
                yield event
        finally:
            events.close()
            self._note(question, refused, took_ms, caller)

    def _note(self, text: str, empty: bool, took_ms: float, caller: str) -> None:
        if self.mode is LogMode.OFF:
            return
        text = " ".join(text.split())[:_LONGEST]
        query = LoggedQuery(now(), text, 1, int(empty), round(took_ms, 1), caller)
        with self._lock:
            when, before = self._typed.get(caller, (0.0, None))
            goes_on = before is not None and monotonic() - when < _SETTLED
            if before is not None and not (goes_on and _is_one(before.text, text)):
                self._pending.append(before)
            self._typed[caller] = monotonic(), query
            del self._pending[:-_MOST_PENDING]

    def flush(self, *, settled: bool = True) -> None:
        """Write the log; `settled`: except queries that somebody may still be typing."""
        with self._lock:
            for caller, (when, query) in list(self._typed.items()):
                if not settled or monotonic() - when >= _SETTLED:
                    self._pending.append(query)
                    del self._typed[caller]
            pending, self._pending = self._pending, []
        if not pending:
            return
        if self.mode is LogMode.FULL:
            self._backend.queries.note(pending)
        else:
            self._backend.queries.count(_counted(pending))
        self._trim(len(pending))

    def _trim(self, written: int) -> None:
        """Drop what is too old or too much, after every thousand entries."""
        self._since_trimmed += written
        if self._since_trimmed >= _TRIMMED_AFTER:
            self._since_trimmed = 0
            if self._days:
                self._backend.queries.forget(_day(timedelta(days=self._days)))
            if self._most:
                self._backend.queries.trim(self._most)

    def all(self, days: int | None = None, page: LogPage = LogPage()) -> list[Asked]:
        """Each query once, the most asked first."""
        self.flush(settled=False)
        since = "" if days is None else _day(timedelta(days=days))
        return self._backend.queries.totals(since, page)

    def forget(self, older_than: str = "") -> int:
        """Delete entries older than `30d`, `12h` or `8w`; without an age, everything."""
        self.flush(settled=False)
        before = "9" if not older_than else _day(period(older_than))
        return self._backend.queries.forget(before)


def _counted(queries: Sequence[LoggedQuery]) -> list[LoggedQuery]:
    """Each text once a day, without who asked."""
    totals: dict[tuple[str, str], LoggedQuery] = {}
    for query in queries:
        key = query.at[:10], query.text
        total = totals.get(key, LoggedQuery(key[0], key[1], 0))
        totals[key] = replace(
            total,
            asked=total.asked + query.asked,
            empty=total.empty + query.empty,
            took_ms=max(total.took_ms, query.took_ms),
        )
    return list(totals.values())


def _day(ago: timedelta) -> str:
    return (datetime.now(UTC) - ago).date().isoformat()


def _is_one(before: str, after: str) -> bool:
    """Whether somebody continued typing, or deleted letters."""
    return after.startswith(before) or before.startswith(after)


@dataclass(eq=False)
class Alerts:
    """Saved searches. A document that is added or changed after one was made, and matches it above
    the floor (`search.floor`), is a hit."""

    _backend: Backend
    _searching: Searching
    _documents: Documents

    def add(self, query: str, *, webhook: str = "") -> Alert:
        check_text("query", query)
        if not parse(query).words:
            raise BadSetting("The alert has no words to search for.", fix="Give it a query.")
        if webhook and urlsplit(webhook).scheme not in ("http", "https"):
            raise BadSetting(
                f"`{webhook}` isn't a web address.", fix="Give one that begins with https://."
            )
        last, _ = self._backend.documents.changed(sys.maxsize, OWNER)
        made = Alert(token_hex(4), query.strip(), webhook, now(), str(last))
        self._backend.alerts.keep(made)
        return made

    def all(self) -> list[Alert]:
        return self._backend.alerts.all()

    def remove(self, id_: str) -> None:
        if not self._backend.alerts.forget(id_):
            raise AlertNotFound(f"There is no alert {id_}.")

    def hits(self, limit: int | None = None) -> list[tuple[AlertHit, Document]]:
        """The newest first, of documents that are still there."""
        hits = []
        for hit in self._backend.alerts.hits(limit):
            try:
                hits.append((hit, self._documents.get(hit.document)))
            except DocumentNotFound:
                continue
        return hits

    def check(
        self, on_hit: Callable[[Alert, AlertHit, Document], None] | None = None
    ) -> list[AlertHit]:
        """Check documents added since the last check; returns the new hits."""
        alerts, new = self._backend.alerts.all(), []
        if not alerts:
            return []
        last, fresh = self._backend.documents.changed(min(map(_seen, alerts)), OWNER)
        matched = {(hit.alert, hit.document): hit.at for hit in self._backend.alerts.hits()}
        for alert in alerts:
            # Changed labels aren't news: the text is, if it was read since the alert was made (or
            # a little before, and stored since), and hasn't matched yet.
            theirs = [
                document
                for number, document in fresh
                if number > _seen(alert)
                and document.updated_at > _earliest(alert)
                and matched.get((alert.id, document.id), "") <= document.updated_at
            ]
            hits = self._matching(alert, theirs)
            self._backend.alerts.note(hits)
            self._backend.alerts.keep(replace(alert, seen_at=str(last)))
            by_id = {document.id: document for document in theirs}
            for hit in hits:
                if on_hit is not None:
                    on_hit(alert, hit, by_id[hit.document])
                if alert.webhook:
                    _send(alert, hit, by_id[hit.document])
            new += hits
        return new

    def _matching(self, alert: Alert, documents: Sequence[Document]) -> list[AlertHit]:
        hits = []
        for start in range(0, len(documents), _AT_ONCE):
            some = documents[start : start + _AT_ONCE]
            results = self._searching.search(
                alert.query,
                options=SearchOptions(limit=len(some), by="document"),
                filters=Filters(source=[f"#{document.id}" for document in some]),
            )
            hits += [
                AlertHit(alert.id, r.found.document.id, r.found.chunk.index, r.match, now())
                for r in results
                if results.fits(r)
            ]
        return hits


def _seen(alert: Alert) -> int:
    """The number of the last change looked at. By its number and not by a clock: what is read now
    may be stored after a later change."""
    return int(alert.seen_at) if alert.seen_at.isdecimal() else 0


def _earliest(alert: Alert) -> str:
    """When a document that is news can have been read."""
    if not alert.seen_at.isdecimal():
        return alert.seen_at
    made = datetime.fromisoformat(alert.created_at) - _LONGEST_READING
    return made.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _send(alert: Alert, hit: AlertHit, document: Document) -> None:
    """What fails is said in the log: the hit is kept anyway."""
    from urllib.request import Request, urlopen

    fields = {
        "alert": alert.id,
        "query": alert.query,
        "document": {"id": document.id, "title": document.title, "uri": document.uri},
        "passage": hit.passage,
        "match": round(hit.match, 4),
        "at": hit.at,
    }
    body = json.dumps(fields).encode()
    request = Request(alert.webhook, body, {"Content-Type": "application/json"})
    try:
        urlopen(request, timeout=_WEBHOOK_SECONDS).close()
    except (OSError, ValueError) as reason:
        log.warning("The webhook of alert %s failed: %s", alert.id, reason)
