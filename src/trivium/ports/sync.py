"""Sources that a library keeps in step with.

A source reports what changed since a cursor, item by item, with a new cursor now and then. It
stores nothing and never sleeps: if a service asks to wait, the source says so, and the caller waits
or comes back later with the last cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from trivium.core.types import Extraction, Metadata


@dataclass(frozen=True, slots=True)
class Put:
    """An item as it is now: new, changed or unchanged."""

    id: str  # of the item, unique and stable within its source
    name: str  # a file name; its ending helps to detect the type
    content: Callable[[], bytes] | Extraction  # called at most once; raises ReadError
    title: str = ""  # if the source knows it better than the file
    metadata: Metadata = field(default_factory=dict)  # what people can filter by
    # `all`: everyone who can read the library. A label: only callers with that label. None: the
    # source can't tell, so it is private.
    audience: str | None = None
    size: int = 0  # bytes; 0: unknown
    parts: tuple[Put, ...] = ()  # read with it, as one document: a paper's notes, its other files


@dataclass(frozen=True, slots=True)
class Gone:
    """An item that no longer exists, or that the library may no longer read."""

    id: str
    below: bool = False  # and every item whose id begins with this one and a slash

    def drops(self, id_: str) -> bool:
        """Whether an item is gone by this."""
        return id_ == self.id or (self.below and id_.startswith(f"{self.id}/"))


@dataclass(frozen=True, slots=True)
class Only:
    """The complete list of items whose ids begin with `prefix`: all others are gone. It doesn't
    cover ids below these, such as replies to a message, unless they are in `bare`."""

    prefix: str  # empty: of all items
    ids: frozenset[str]
    since: str = ""  # covers only ids that sort at or after this
    before: str = ""  # and only those that sort before this
    bare: frozenset[str] = frozenset()  # ids of these that have nothing below them

    def drops(self, id_: str) -> bool:
        """Whether an item is gone by this."""
        if not id_.startswith(self.prefix) or id_ < self.since or id_ in self.ids:
            return False
        if self.before and id_ >= self.before:
            return False
        above = id_.rpartition("/")[0]
        while above and above.startswith(self.prefix):
            if above in self.ids:
                return above in self.bare
            above = above.rpartition("/")[0]
        return True


@dataclass(frozen=True, slots=True)
class Failed:
    """An item that couldn't be read this time. The run continues; the next one tries it again."""

    id: str
    message: str
    code: str = "source.item_failed"
    hides: str = ""  # ids with this beginning are unknown now: the library keeps what it has
    partial: bool = False  # a listing: any item may exist that wasn't listed


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything before it has been reported: `changes(cursor)` continues from here."""

    cursor: str
    done: int = 0  # steps of the source, such as channels or pages ...
    of: int = 0  # ... of so many; 0: unknown


@dataclass(frozen=True, slots=True)
class Wait:
    """The service asks for a pause before the next request."""

    seconds: float
    reason: str  # for people: who asks, and why
    is_failing: bool = False  # nobody asks for it: the request failed, and may succeed later


Change: TypeAlias = Put | Gone | Only | Failed | Checkpoint | Wait
Deletions: TypeAlias = Literal["told", "shown", "compared", "kept"]


class SyncSource(Protocol):
    """A service, a mailbox or a folder of notes. Raises SourceError if nothing can be read at
    all."""

    # told: `changes` reports every deletion once; ids are compared after a run that was cut short.
    # shown: it reports again and again what exists (`Only`), so deletions show sooner or later.
    # compared: it misses some, so runs compare all ids once a day.
    # kept: items stay in the library after the source drops them, as with a feed of news.
    deletions: Deletions

    def changes(self, cursor: str) -> Iterator[Change]:
        """What changed since the cursor of a Checkpoint; empty: everything. The last change of an
        item counts; the same item may come twice."""

    def ids(self) -> Iterator[str | Wait | Failed]:
        """The id of every item that exists now. The library removes all others, so where a part
        can't be listed say so with Failed, and what it `hides`."""


@runtime_checkable
class RetryingSource(SyncSource, Protocol):
    """A source that can read single items again."""

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        """These items as they are now, each as Put, Gone or Failed."""


@dataclass(frozen=True, slots=True)
class SourceAsked:
    """What to sync: options by name, and secrets, already looked up."""

    options: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    without: Sequence[Path] = ()  # folders that a source of files leaves out: the library's own

    def option(self, name: str, default: str = "") -> str:
        return self.options.get(name, default)

    def several(self, name: str) -> tuple[str, ...]:
        """An option with commas between its values."""
        parts = (part.strip() for part in self.options.get(name, "").split(","))
        return tuple(part for part in parts if part)

    def on(self, name: str, default: bool = False) -> bool:
        value = self.options.get(name, "on" if default else "off").lower()
        return value in ("on", "yes", "true", "1")


@dataclass(frozen=True, slots=True)
class SourceKind:
    """One kind of source, as the entry point group `trivium.sources` names it."""

    name: str  # slack, notes, ...
    help: str  # one line
    make: Callable[[SourceAsked], SyncSource]  # raises BadSetting
    options: Mapping[str, str] = field(default_factory=dict)  # name and help
    required: Sequence[str] = ()
    secrets: Sequence[str] = ()  # names; each is given as env:NAME or file:PATH
    # Options that can send secrets, or our requests, to another machine, each with the option that
    # names the machine: over HTTP the operator must have allowed that address.
    guarded: Mapping[str, str] = field(default_factory=lambda: {"url": "url", "host": "host"})
    own: Sequence[str] = ()  # addresses of the service that need no permission
    # Options that name files or folders of this machine. The first is what the source reads: if a
    # file below it was also added as it is, the source's documents, whose ids begin with the file's
    # path below it, take its place.
    files: Sequence[str] = ()
    # A pattern of paths below it that hold parts of items. Narrow: whatever it matches is shown by
    # the source alone, and the folder may hold a person's other files, too.
    members: str = ""
