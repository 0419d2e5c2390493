"""The reference as a backend. Nothing is kept when the process ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from trivium.core.errors import BadSetting
from trivium.core.types import DocumentId
from trivium.core.upkeep import Backup, Compacted, Finding, Progress
from trivium.ports import Backend, Hash, Meters, Waiting
from trivium.store.memory.beside import (
    MemoryAlerts,
    MemoryConversations,
    MemoryFolders,
    MemoryLeases,
    MemoryOriginals,
    MemoryQueryLog,
    MemoryShelf,
    MemorySources,
    MemorySpool,
    MemoryTokens,
)
from trivium.store.memory.documents import MemoryDocuments
from trivium.store.memory.held import Held
from trivium.store.memory.jobs import Books, MemoryJobs, MemoryQueue
from trivium.store.memory.models import MemoryModels
from trivium.store.memory.signals import MemorySignals
from trivium.store.memory.writer import MemoryWriter


def open_memory(*, incoming: int | None = None) -> Backend:
    """`incoming`: bytes that files that were sent in may take together."""
    held, books, leases = Held(), Books(), MemoryLeases()
    queue = MemoryQueue(books, leases)
    return Backend(
        documents=MemoryDocuments(held),
        writer=MemoryWriter(held, books, queue),
        signals=MemorySignals(held),
        models=MemoryModels(held),
        jobs=MemoryJobs(books, held),
        queue=queue,
        leases=leases,
        originals=MemoryOriginals(held),
        spool=MemorySpool(incoming),
        shelf=MemoryShelf(),
        upkeep=MemoryUpkeep(held),
        tokens=MemoryTokens(),
        conversations=MemoryConversations(held),
        folders=MemoryFolders(),
        sources=MemorySources(held),
        queries=MemoryQueryLog(),
        alerts=MemoryAlerts(),
        views=None,
        folder=None,
        close=lambda: None,
    )


class MemoryUpkeep:
    """Nothing to check or to rebuild: nothing is derived."""

    def __init__(self, held: Held) -> None:
        self._held = held

    def meters(self) -> Meters:
        return Meters()

    def check_there(self) -> None:
        """It exists as long as the process does."""

    def health(self) -> Mapping[str, int]:
        entries = self._held.entries.values()
        return {
            "documents": len(self._held.documents),
            "chunks": len(entries),
            "words": len(entries),
            "vectors": sum(entry.vector is not None for entry in entries),
            "leftovers": 0,
            "vocabulary": len({word for entry in entries for word in entry.spellings}),
        }

    def examine(self, hash_of: Hash | None = None) -> list[Finding]:
        return [Finding("documents", True, "Every document agrees with its rows.")]

    def repair(self, waiting: Waiting | None = None, hash_of: Hash | None = None) -> list[str]:
        return []

    def distrust(self, document: DocumentId, digest: str) -> None:
        """Memory doesn't rot."""

    def rebuild(self) -> None:
        """Nothing to do."""

    def compact(self, waiting: Waiting | None = None) -> Compacted:
        return Compacted(0, 0, 0, held_back=False)

    def backup(self, target: Path, on_progress: Progress = lambda *_: None) -> Backup:
        raise BadSetting("You can't back up a library in memory.", fix="Keep it in a folder.")
