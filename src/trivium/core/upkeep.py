"""Nouns for a library's state and repairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

# Called with what is being copied, bytes done and total.
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of a library, and what a repair would do."""

    name: str
    ok: bool
    message: str
    repair: str = ""  # empty if nothing is wrong, or nothing here can repair it


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the rows of a library in a database are."""

    nodes: tuple[str, ...]  # that can hold some; none: the database is one server
    shards: int  # of each large table; 0: all rows are on one server


@dataclass(frozen=True, slots=True)
class Compacted:
    """What rewriting a library gave back."""

    before: int  # bytes of its folder
    after: int
    originals: int  # that nothing referred to
    held_back: bool  # a reader still looks at the old database pages; the next compaction gets them


@dataclass(frozen=True, slots=True)
class Backup:
    """The contents of a backup."""

    documents: int
    interpretations: int
    originals: int
    schema: int
    bytes: int = 0  # of the file


@dataclass(frozen=True, slots=True)
class LostDocument:
    """A document with lost rows, and what is still known of it."""

    id: int
    uri: str = ""
    collection: str = ""
    category: str | None = None
    audience: str | None = None  # None: nobody knows who may see it
    sender: str = ""
    original: str = ""  # where the archive keeps its bytes
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Salvaged:
    documents: int  # that are whole
    lost: tuple[LostDocument, ...]
    past: int  # retired interpretations that are lost
    kept: Path | None = None  # where the damaged file is now

    def told(self) -> str:
        """A sentence for people."""
        text = f"The database is damaged. {self.documents:,} documents can be read"
        if self.lost:
            named = ", ".join(f"#{lost.id} {lost.uri}".strip() for lost in self.lost[:5])
            more = f" and {len(self.lost) - 5:,} more" if len(self.lost) > 5 else ""
            text += f"; {len(self.lost):,} can't: {named}{more}"
        if self.past:
            text += f"; {self.past:,} earlier versions are lost"
        return f"{text}."
