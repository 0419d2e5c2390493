"""What a library keeps beside documents: tokens, conversations, folders, sources, queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from trivium.core.queries import Alert, AlertHit, Asked, LoggedQuery, LogPage
from trivium.core.types import (
    Where,
)

if TYPE_CHECKING:
    from trivium.core.access import AccessToken
    from trivium.core.answers import Conversation, KeptTurn
    from trivium.core.work import (
        KeptSource,
        SyncFailure,
        SyncPoint,
        SyncRun,
        WatchedFolder,
    )


class AccessTokens(Protocol):
    """Access tokens."""

    def keep(self, token: AccessToken) -> None: ...

    def get(self, id_: str) -> AccessToken | None: ...

    def all(self) -> list[AccessToken]:
        """In the order they were made."""

    def forget(self, id_: str) -> bool:
        """Whether there was one."""


class Conversations(Protocol):
    """Saved questions and answers."""

    def keep(self, conversation: str, kept_turn: KeptTurn) -> None:
        """Add a turn; the first one starts the conversation. A turn is deleted with any document it
        was made from."""

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        """In order: turns whose audiences the caller has and whose documents all pass `where`."""

    def all(self, where: Where) -> list[Conversation]:
        """By name: conversations with a turn that the caller may see."""

    def forget(self, conversation: str, where: Where) -> int:
        """Delete the turns that the caller may see; returns how many."""


class WatchedFolders(Protocol):
    """The folders that a server follows."""

    def keep(self, folder: WatchedFolder) -> None: ...

    def all(self) -> list[WatchedFolder]:
        """In the order they were added."""

    def forget(self, id_: str) -> bool:
        """Whether there was one. Its documents stay."""


class KeptSources(Protocol):
    """Synced sources: how far each got, and what failed."""

    def keep(self, source: KeptSource) -> None:
        """Add a source, or replace the one with this name and everything known about it."""

    def get(self, name: str) -> KeptSource | None: ...

    def all(self) -> list[KeptSource]:
        """In the order they were added."""

    def forget(self, name: str) -> bool:
        """Whether there was one. Its failures go too; its documents stay."""

    def advance(self, point: SyncPoint) -> None:
        """Save a cursor without a document. `Writer.put` saves the one that a document carries
        (`Processed.point`) in the same transaction."""

    def record(self, name: str, run: SyncRun) -> None:
        """What its last run did, or has done so far."""

    def pause(self, name: str, paused: bool) -> None: ...

    def failures(self, name: str) -> list[SyncFailure]:
        """By item."""

    def settle(self, name: str, failed: Sequence[SyncFailure], done: Sequence[str] | None) -> None:
        """Record failures, and clear those of `done` (None: of all other items)."""


class QueryLog(Protocol):
    """What people asked. Only for the owner."""

    def note(self, queries: Sequence[LoggedQuery]) -> None:
        """One more entry for each, in one transaction."""

    def count(self, queries: Sequence[LoggedQuery]) -> None:
        """Add each to the entry of the same day, text and caller, if there is one; in one
        transaction."""

    def all(self, since: str = "") -> list[LoggedQuery]:
        """The newest first."""

    def totals(self, since: str = "", page: LogPage = LogPage()) -> list[Asked]:
        """Each text once, over all its entries since then: the most asked first, then by text."""

    def forget(self, before: str) -> int:
        """Delete entries from before this time; how many."""

    def trim(self, most: int) -> int:
        """Delete the oldest entries beyond so many; how many."""


class Alerts(Protocol):
    """Saved searches, and what matched them."""

    def keep(self, alert: Alert) -> None:
        """Save a new alert, or a changed one."""

    def all(self) -> list[Alert]:
        """In the order they were made."""

    def forget(self, id_: str) -> bool:
        """Whether there was one. Its hits go with it."""

    def note(self, hits: Sequence[AlertHit]) -> None:
        """Record hits; an alert keeps the last one for each document."""

    def hits(self, limit: int | None = None) -> list[AlertHit]:
        """The newest first."""
