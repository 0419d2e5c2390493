"""Everything the reference stores besides documents: tokens, conversations, watched folders,
sources, originals, uploads, leases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Condition, Lock
from time import monotonic
from typing import BinaryIO

from trivium.core.access import AccessToken
from trivium.core.answers import Conversation, KeptTurn
from trivium.core.errors import FileUnreadable, LibraryBusy, OriginalMissing, ServerBusy
from trivium.core.queries import Alert, AlertHit, Asked, LoggedQuery, LogPage
from trivium.core.types import Where
from trivium.core.work import KeptSource, SyncFailure, SyncPoint, SyncRun, WatchedFolder
from trivium.ports import Waiting
from trivium.store.clock import now
from trivium.store.memory.documents import MemoryDocuments
from trivium.store.memory.held import Held
from trivium.store.where import holds


class MemoryTokens:
    def __init__(self) -> None:
        self._tokens: dict[str, AccessToken] = {}

    def keep(self, token: AccessToken) -> None:
        self._tokens[token.id] = token

    def get(self, id_: str) -> AccessToken | None:
        return self._tokens.get(id_)

    def all(self) -> list[AccessToken]:
        return sorted(self._tokens.values(), key=lambda t: (t.created_at, t.id))

    def forget(self, id_: str) -> bool:
        return self._tokens.pop(id_, None) is not None


class MemoryFolders:
    def __init__(self) -> None:
        self._folders: dict[str, WatchedFolder] = {}

    def keep(self, folder: WatchedFolder) -> None:
        self._folders[folder.id] = folder

    def all(self) -> list[WatchedFolder]:
        return sorted(self._folders.values(), key=lambda f: (f.added_at, f.id))

    def forget(self, id_: str) -> bool:
        return self._folders.pop(id_, None) is not None


class MemorySources:
    def __init__(self, held: Held) -> None:
        self._held = held

    def keep(self, source: KeptSource) -> None:
        self._held.sources[source.name] = source
        self._held.failures.setdefault(source.name, {})

    def get(self, name: str) -> KeptSource | None:
        return self._held.sources.get(name)

    def all(self) -> list[KeptSource]:
        return sorted(self._held.sources.values(), key=lambda s: (s.added_at, s.name))

    def forget(self, name: str) -> bool:
        self._held.failures.pop(name, None)
        return self._held.sources.pop(name, None) is not None

    def advance(self, point: SyncPoint) -> None:
        self._held.advance(point)

    def record(self, name: str, run: SyncRun) -> None:
        if name in self._held.sources:
            self._held.sources[name] = replace(self._held.sources[name], run=run)

    def pause(self, name: str, paused: bool) -> None:
        if name in self._held.sources:
            self._held.sources[name] = replace(self._held.sources[name], paused=paused)

    def failures(self, name: str) -> list[SyncFailure]:
        return [one for _, one in sorted(self._held.failures.get(name, {}).items())]

    def settle(self, name: str, failed: Sequence[SyncFailure], done: Sequence[str] | None) -> None:
        if name not in self._held.sources:
            return
        kept = self._held.failures[name] if done is not None else {}
        kept = {item: one for item, one in kept.items() if item not in (done or ())}
        fresh = {one.item: replace(one, at=one.at or now()) for one in failed}
        self._held.failures[name] = kept | fresh


class MemoryQueryLog:
    def __init__(self) -> None:
        self._queries: list[LoggedQuery] = []

    def note(self, queries: Sequence[LoggedQuery]) -> None:
        self._queries += queries

    def count(self, queries: Sequence[LoggedQuery]) -> None:
        for query in queries:
            self._count(query)

    def _count(self, query: LoggedQuery) -> None:
        for at, known in enumerate(self._queries):
            if (known.at, known.text, known.caller) == (query.at, query.text, query.caller):
                self._queries[at] = replace(
                    known,
                    asked=known.asked + query.asked,
                    empty=known.empty + query.empty,
                    took_ms=max(known.took_ms, query.took_ms),
                )
                return
        self._queries.append(query)

    def all(self, since: str = "") -> list[LoggedQuery]:
        newest = [query for query in reversed(self._queries) if query.at >= since]
        return sorted(newest, key=lambda query: query.at, reverse=True)

    def totals(self, since: str = "", page: LogPage = LogPage()) -> list[Asked]:
        found: dict[str, list[LoggedQuery]] = {}
        for query in self.all(since):
            found.setdefault(query.text, []).append(query)
        totals = [
            Asked(
                text,
                sum(one.asked for one in entries),
                sum(one.empty for one in entries),
                max(one.took_ms for one in entries),
                max(one.at for one in entries),
            )
            for text, entries in found.items()
        ]
        wanted = [
            one
            for one in sorted(totals, key=lambda one: (-one.asked, one.text))
            if one.took_ms >= page.slower_than and (one.empty or not page.unfound)
        ]
        return wanted[page.offset :][: page.limit]

    def trim(self, most: int) -> int:
        gone = self.all()[most:]
        self._queries = [query for query in self._queries if query not in gone]
        return len(gone)

    def forget(self, before: str) -> int:
        kept = [query for query in self._queries if query.at >= before]
        gone, self._queries = len(self._queries) - len(kept), kept
        return gone


class MemoryAlerts:
    def __init__(self) -> None:
        self._alerts: dict[str, Alert] = {}
        self._hits: dict[tuple[str, int], AlertHit] = {}

    def keep(self, alert: Alert) -> None:
        self._alerts[alert.id] = alert

    def all(self) -> list[Alert]:
        return sorted(self._alerts.values(), key=lambda alert: (alert.created_at, alert.id))

    def forget(self, id_: str) -> bool:
        self._hits = {key: hit for key, hit in self._hits.items() if hit.alert != id_}
        return self._alerts.pop(id_, None) is not None

    def note(self, hits: Sequence[AlertHit]) -> None:
        self._hits |= {(hit.alert, hit.document): hit for hit in hits}

    def hits(self, limit: int | None = None) -> list[AlertHit]:
        ordered = sorted(self._hits.values(), key=lambda hit: (hit.alert, -hit.document))
        return sorted(ordered, key=lambda hit: hit.at, reverse=True)[:limit]


class MemoryConversations:
    def __init__(self, held: Held) -> None:
        self._held = held
        self._documents = MemoryDocuments(held)

    def keep(self, conversation: str, kept: KeptTurn) -> None:
        self._held.turns.append((conversation, replace(kept, at=now())))

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        named = [kept for name, kept in self._held.turns if name == conversation]
        return [kept for kept in named if self._shows(kept, where)]

    def all(self, where: Where) -> list[Conversation]:
        names = sorted({name for name, _ in self._held.turns})
        seen = {name: self.turns(name, where) for name in names}
        return [Conversation(n, len(t), t[0].at, t[-1].at) for n, t in seen.items() if t]

    def forget(self, conversation: str, where: Where) -> int:
        before = len(self._held.turns)
        self._held.turns = [
            (name, t)
            for name, t in self._held.turns
            if name != conversation or not self._shows(t, where)
        ]
        return before - len(self._held.turns)

    def _shows(self, kept: KeptTurn, where: Where) -> bool:
        passing = {document.id for document in self._documents.all(where)}
        return holds(where.audiences, kept.audiences) and kept.documents <= passing


class MemoryOriginals:
    def __init__(self, held: Held) -> None:
        self._held = held

    def keep(self, data: bytes) -> str:
        address = f"sha256:{sha256(data).hexdigest()}"
        self._held.originals[address] = data
        return address

    def put_back(self, address: str, data: bytes) -> None:
        """Memory loses nothing."""

    def get(self, address: str) -> bytes:
        if address not in self._held.originals:
            raise OriginalMissing(f"The archive doesn't have {address}.")
        return self._held.originals[address]

    def part(self, address: str, start: int, end: int) -> bytes:
        return self.get(address)[start:end]

    def link(self, address: str, seconds: int) -> str | None:
        return None

    def place(self, address: str) -> str:
        return address


class MemorySpool:
    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._files: dict[str, tuple[bytes, float]] = {}  # with the time they came

    def keep(self, file: BinaryIO, *, limited: bool = True) -> str:
        data, name = file.read(), token_hex(16)
        held = sum(len(one) for one, _ in self._files.values()) + len(data)
        if limited and self._most is not None and held > self._most:
            raise ServerBusy(
                f"Waiting uploads would take {held:,} bytes; the limit is {self._most:,}."
            )
        self._files[name] = (data, monotonic())
        return name

    def size(self, name: str) -> int:
        return len(self._files[name][0]) if name in self._files else 0

    def read(self, name: str) -> bytes:
        if name not in self._files:
            raise FileUnreadable("The upload is gone.")
        return self._files[name][0]

    def drop(self, name: str) -> None:
        self._files.pop(name, None)

    def sweep(self, needed: Collection[str], older: float) -> int:
        old = [n for n, (_, at) in self._files.items() if monotonic() - at > older]
        gone = [name for name in old if name not in needed]
        for name in gone:
            self.drop(name)
        return len(gone)

    def sizes(self) -> dict[str, int]:
        return {name: len(data) for name, (data, _) in self._files.items()}

    def put_back(self, name: str, data: bytes) -> None:
        self._files.setdefault(name, (data, monotonic()))


class MemoryLeases:
    """Between threads: there is one process."""

    def __init__(self, wait: float = 3600) -> None:
        self._wait = wait
        self._held: set[str] = set()
        self._changed = Condition()

    @contextmanager
    def hold(
        self,
        name: str,
        doing: str,
        *,
        waiting: Waiting | None = None,
        patience: float | None = None,
    ) -> Iterator[None]:
        seconds = self._wait if patience is None else patience
        with self._changed:
            if name in self._held:
                if waiting:
                    waiting(f"Another process is {doing}; waiting for it to finish.")
                if not self._changed.wait_for(lambda: name not in self._held, seconds):
                    raise LibraryBusy(f"Another process has been {doing} for {seconds:.0f} s.")
            self._held.add(name)
        try:
            yield
        finally:
            with self._changed:
                self._held.discard(name)
                self._changed.notify_all()

    def is_held(self, name: str) -> bool:
        return name in self._held


class MemoryShelf:
    """Files in dictionaries, written to a folder while someone reads them."""

    def __init__(self) -> None:
        self._sets: dict[str, dict[str, bytes]] = {}  # by name, by path within
        self._turn = Lock()

    def names(self) -> list[str]:
        return sorted(self._sets)

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        with TemporaryDirectory(prefix="trivium-shelf-") as aside:
            folder = Path(aside) / name
            for path, data in self._sets.get(name, {}).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
            yield folder

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        with self._turn, self.reading(name) as folder:
            yield folder
            files = [path for path in folder.rglob("*") if path.is_file()]
            self._sets[name] = {str(p.relative_to(folder)): p.read_bytes() for p in files}
