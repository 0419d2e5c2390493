"""Where a library is stored: a backend, which consists of small parts.

`documents`, `work`, `files` and `records` have the parts that callers use every day; here are its
upkeep and the backend itself. Each part is a Protocol with a suite in tests/contract. A backend
stores documents and answers *one signal at a time*; it never fuses. Everything that reads documents
takes a `Where` without a default, so nobody can forget access control.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from trivium.core.types import (
    DocumentId,
    Where,
)
from trivium.ports.documents import Documents, Models, Signals, Waiting, Writer
from trivium.ports.files import Originals, Shelf, Spool
from trivium.ports.records import (
    AccessTokens,
    Alerts,
    Conversations,
    KeptSources,
    QueryLog,
    WatchedFolders,
)
from trivium.ports.work import Jobs, Leases, Queue

if TYPE_CHECKING:
    from trivium.core.upkeep import Backup, Compacted, Finding, Progress, Spread

Hash: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Meters:
    """How this process uses its store."""

    connections_open: int = 0
    connections_used: int = 0
    cache_hits: int = 0  # words whose passages were in memory, since the process began
    cache_misses: int = 0


class Upkeep(Protocol):
    """Checks, repairs and backups."""

    def meters(self) -> Meters: ...

    def health(self) -> Mapping[str, int]:
        """How many active chunks the database and each derived index have: equal if all is well."""

    def check_there(self) -> None:
        """Raises LibraryNotFound if the library was moved or deleted after it was opened."""

    def examine(self, hash_of: Hash | None = None) -> list[Finding]:
        """Check everything and change nothing. With the function that hashes embedded texts, also
        check every byte of indexes and passages."""

    def repair(self, waiting: Waiting | None = None, hash_of: Hash | None = None) -> list[str]:
        """Repair what can be repaired without a model; returns what was done."""

    def distrust(self, document: DocumentId, digest: str) -> None:
        """Take a damaged document's labels as they are, and forget how it was read: adding the
        bytes with this hash reads them again."""

    def rebuild(self) -> None:
        """Rebuild everything that is derived. Only inside `writing()`."""

    def compact(self, waiting: Waiting | None = None) -> Compacted:
        """Rewrite everything that may still hold bytes of removed documents."""

    def backup(self, target: Path, on_progress: Progress = lambda *_: None) -> Backup:
        """Write everything that can't be rebuilt to one file, while searches and changes
        continue."""


class Views(Protocol):
    """Documents as they were on an earlier day."""

    def as_of(self, when: int | str, where: Where) -> tuple[str, Callable[[], Backend]]:
        """The documents that pass `where`, in the interpretation with this number (or the last one
        before it), or at a point in time. Returns a name for this view, and a function that opens
        it."""


class Nodes(Protocol):
    """Several servers that share a library's rows."""

    def spread(self) -> Spread: ...

    def distribute(self, shards: int | None = None) -> Spread:
        """Spread large tables over all nodes, in this many parts (None: as many as now, or by the
        number of nodes). Continues where an earlier call stopped. Searches continue meanwhile;
        changes of documents wait. Raises DatabaseUnsuitable and LibraryBusy."""

    def gather(self) -> Spread:
        """Bring everything back to one server."""


@dataclass(frozen=True)
class Backend:
    """The parts of one library's backend. `trivium.store.open_backend` opens the one at an
    address."""

    documents: Documents
    writer: Writer
    signals: Signals
    models: Models
    jobs: Jobs
    queue: Queue
    leases: Leases
    originals: Originals
    spool: Spool
    shelf: Shelf
    upkeep: Upkeep
    tokens: AccessTokens
    conversations: Conversations
    folders: WatchedFolders
    sources: KeptSources
    queries: QueryLog
    alerts: Alerts
    views: Views | None  # None: it can't show an earlier day
    folder: Path | None  # on this machine, so sources skip it; None: elsewhere
    close: Callable[[], None]
    nodes: Nodes | None = None  # None: it stays on one machine
    is_elsewhere: bool = False  # a server computes the signals, not this process
