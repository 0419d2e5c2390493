"""Random histories of a source: items come, change and go, requests fail, runs are killed.

After each history the library must equal the source, and nothing unchanged may have been embedded
again. `World` is what a history needs to know of a service: bring your own, or take `ToyWorld`,
which is small but has the ways of real ones: pages with cursors, the same item twice, pages out of
order, pauses it asks for, errors in the middle, items that can't be read for a while.

Whatever is written at a service has a word of its own (`Life.word`), so that the library can be
compared with it without knowing how a connector names its items.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal, Protocol, TypeAlias, get_args

from trivium.config import Settings
from trivium.core.errors import (
    FileUnreadable,
    ReadError,
    SourceEmpty,
    SourceError,
    SourceUnreachable,
)
from trivium.core.types import EVERYONE, OWNER, Element, Extraction, Vectors
from trivium.core.work import KeptSource
from trivium.library.model import CurrentModel
from trivium.library.sync import Sync, SyncOptions
from trivium.ports import (
    Backend,
    Change,
    Checkpoint,
    Failed,
    Gone,
    Put,
    RetryingSource,
    SyncSource,
    Wait,
)
from trivium.ports.sync import Deletions
from trivium.testing.samples import ToyEmbedder

NAME = "world"
_COLLECTION = "talk"
_WORD = re.compile(r"\bw\d+x\b")
# What a call answers instead: a status, half a body, a sign-in page, or nothing until the caller
# gives up.
Trouble: TypeAlias = Literal["400", "403", "404", "429", "500", "cut", "page", "hang"]
TROUBLES: tuple[Trouble, ...] = get_args(Trouble)


class Killed(KeyboardInterrupt):
    """The process ends here, whatever it does."""


@dataclass
class Life:
    """State of a history: random choices, moods, and which items exist."""

    random: Random
    mood: float = 0.0  # how often something goes wrong; 0: never
    kills: int = 0
    is_dead: bool = False
    words: int = 0
    # Words of items that went and may come back as they were: these may be embedded again.
    returned: Counter[str] = field(default_factory=Counter)

    def word(self) -> str:
        """A word that was never written before."""
        self.words += 1
        return f"w{self.words}x"

    def happens(self, chance: float) -> bool:
        return bool(self.mood) and self.random.random() < self.mood * chance

    def maybe_die(self, chance: float) -> None:
        if self.happens(chance):
            self.die()

    def die(self) -> None:
        self.is_dead = True
        raise Killed


class World(Protocol):
    """A service, and what happens there."""

    kind: str
    runs: int  # after which a source has looked everywhere
    changes_by_itself: bool  # also between two items: it has no requests that could bring changes

    def open(self) -> SyncSource:
        """As a new process does."""

    def change(self) -> None:
        """Something new, an edit, a deletion, ..."""

    def calm(self) -> None:
        """Everything can be read again, and time has passed."""

    def expected(self) -> Mapping[str, str | None]:
        """The word of each existing item, and its audience as the source reports it."""


class CalledWorld(World, Protocol):
    """A service that is asked by calls, each of which can be made to fail."""

    def spoil(self, call: int, trouble: Trouble) -> None:
        """From now on one of the different calls fails, however often it is made. They are counted
        from 0; a call that nobody makes (-1) spoils nothing."""

    def called(self) -> int:
        """How many different calls were made since then."""


# --- a process that may be killed


class _Mortal:
    """A source as a process sees it that may die at any item. Pauses are over at once, and bytes
    are read here: what reads files has tests of its own, and takes longer than all the rest."""

    def __init__(self, source: SyncSource, world: World, life: Life) -> None:
        self._source = source
        self._world = world
        self._life = life
        self.deletions: Deletions = source.deletions

    def changes(self, cursor: str) -> Iterator[Change]:
        return self._each(self._source.changes(cursor))

    def ids(self) -> Iterator[str | Wait | Failed]:
        for id_ in self._source.ids():
            self._life.maybe_die(0.02)
            yield Wait(0.0, id_.reason) if isinstance(id_, Wait) else id_

    def _each(self, changes: Iterator[Change]) -> Iterator[Change]:
        for change in changes:
            self._life.maybe_die(0.02)
            if self._world.changes_by_itself and self._life.happens(0.06):
                self._world.change()
            if isinstance(change, Wait):
                yield Wait(0.0, change.reason)
            elif isinstance(change, Put) and not isinstance(change.content, Extraction):
                yield _read(change)
            else:
                yield change


class _MortalRetrying(_Mortal):
    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        assert isinstance(self._source, RetryingSource)
        return self._each(self._source.again(ids))


def _read(put: Put) -> Put:
    assert not isinstance(put.content, Extraction)
    try:
        text = put.content().decode("utf-8", "replace")
    except ReadError as reason:
        return replace(put, content=_raising(reason))
    element = Element("paragraph", 0, len(text))
    return replace(put, content=Extraction(text, (element,), put.title or put.id, "text/plain"))


def _raising(reason: ReadError) -> Callable[[], bytes]:
    def read() -> bytes:
        raise reason

    return read


class _Dying:
    """A part of a backend in a process that may die before and after it writes; a dead one writes
    nothing, whatever code still runs."""

    def __init__(self, part: Any, life: Life, deadly: Sequence[str], writes: Sequence[str]) -> None:
        self._part = part
        self._life = life
        self._deadly = deadly
        self._writes = writes

    def __getattr__(self, name: str) -> Any:
        part = getattr(self._part, name)
        return self._guarded(name, part) if name in (*self._deadly, *self._writes) else part

    def _guarded(self, name: str, write: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **named: Any) -> Any:
            if self._life.is_dead:
                return None
            if name in self._deadly:
                self._life.maybe_die(0.12)
            done = write(*args, **named)
            if name in self._deadly:
                self._life.maybe_die(0.12)
            return done

        return act


def _mortal(backend: Backend, life: Life) -> Backend:
    writer: Any = _Dying(backend.writer, life, ("put",), ("forget", "relabel"))
    sources: Any = _Dying(backend.sources, life, ("advance", "settle"), ("record",))
    return replace(backend, writer=writer, sources=sources)


class CountingEmbedder(ToyEmbedder):
    """Knows how often it was asked for each text."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked.update(texts)
        return super().embed_documents(texts)


# --- one history


def live(life: Life, world: World, open_backend: Callable[[], Backend]) -> None:
    """One history. Raises AssertionError where library and source aren't the same at its end."""
    random = life.random
    real = open_backend()
    try:
        backend = _mortal(real, life)
        sync, embedder = _begun(life, world, backend)
        for _ in range(random.randint(2, 5)):
            for _ in range(random.randint(0, 9)):
                world.change()
            life.mood = random.choice((0.0, 0.5, 1.5))
            options = SyncOptions(full=random.random() < 0.1, compare=random.random() < 0.2)
            try:
                with suppress(SourceError, SourceEmpty):
                    sync.run(NAME, options)
            except Killed:
                life.kills += 1
                life.is_dead = False
        life.mood = 0.0
        world.calm()
        _check(sync, backend, world)
        before = embedder.asked.total()
        sync.run(NAME)
        sync.run(NAME, SyncOptions(full=True, force=True))
        assert embedder.asked.total() == before, "something unchanged was embedded again"
        _compare(backend, world, sync.verify(NAME).differences)
        for text, times in embedder.asked.items():
            most = 1 + life.kills + sum(life.returned[word] for word in _WORD.findall(text))
            assert times <= most, f"{text!r} was embedded {times} times, at most {most} are needed"
    finally:
        real.close()


def _begun(life: Life, world: World, backend: Backend) -> tuple[Sync, CountingEmbedder]:
    embedder = CountingEmbedder()

    def make(source: KeptSource) -> SyncSource:
        opened = world.open()
        kind = _MortalRetrying if isinstance(opened, RetryingSource) else _Mortal
        return kind(opened, world, life)

    sync = Sync(backend, CurrentModel(backend, embedder, Settings()), make)
    sync.add(KeptSource(NAME, world.kind, collection=_COLLECTION))
    return sync, embedder


def fail_call(
    world: CalledWorld,
    life: Life,
    open_backend: Callable[[], Backend],
    *,
    call: int = -1,
    trouble: Trouble = "500",
    first: bool = False,
) -> int:
    """Sync, change the service, and sync again while one of its calls fails; `first`: while the
    first sync runs. The failure removes nothing that still exists, and after the next good run
    library and source are the same. Returns how many different calls the failing run made. Raises
    AssertionError."""
    backend = open_backend()
    try:
        sync, _ = _begun(life, world, backend)
        for is_last in (False, True):
            for _ in range(6):
                world.change()
            if is_last != first:
                break
            sync.run(NAME)
        before = set(_here(backend))
        world.spoil(call, trouble)
        with suppress(SourceError, SourceEmpty):
            sync.run(NAME, SyncOptions(compare=not first))
        calls, after = world.called(), set(_here(backend))
        world.spoil(-1, trouble)
        world.calm()
        _check(sync, backend, world)
        lost = (before - after) & set(_here(backend))
        assert not lost, f"{sorted(lost)} went with the failure, and came back"
        return calls
    finally:
        backend.close()


def _here(backend: Backend) -> Sequence[str]:
    source = backend.sources.get(NAME)
    assert source is not None
    return backend.documents.below(source.uri_prefix, _COLLECTION)


def _check(sync: Sync, backend: Backend, world: World) -> None:
    """Reading only changes must be enough; if a service reports no deletions, with a comparison of
    ids."""
    source = world.open()
    failed = sync.failures(NAME)
    for _ in range(world.runs):
        sync.run(NAME, SyncOptions(force=True))
    if source.deletions == "compared":
        sync.run(NAME, SyncOptions(compare=True, force=True))
    if failed and not isinstance(source, RetryingSource):
        sync.run(NAME, SyncOptions(full=True, force=True))
    assert sync.failures(NAME) == []
    _compare(backend, world, sync.verify(NAME).differences)


def _compare(backend: Backend, world: World, differences: Sequence[object]) -> None:
    here: dict[str, str] = {}
    for uri in _here(backend):
        document = backend.documents.find(uri, _COLLECTION)
        assert document is not None
        text = backend.documents.text(document.id, OWNER)
        words = _WORD.findall(text or "")
        is_whole = len(words) == 1 or (words and getattr(world, "is_joined", False))
        assert is_whole, f"{uri} says {text!r}"
        assert not here.keys() & set(words), f"{words} are there twice"
        here |= dict.fromkeys(words, document.audience)
    there = {word: NAME if label is None else label for word, label in world.expected().items()}
    if world.open().deletions == "kept":
        here = {word: label for word, label in here.items() if word in there}
    assert here == there, (
        f"the library lacks {sorted(there.items() - here.items())},"
        f" and has {sorted(here.items() - there.items())} beside"
    )
    assert list(differences) == []


# --- a small service


@dataclass
class _Item:
    word: str
    author: str
    audience: str | None


class ToyWorld:
    """A service with a list of changes."""

    kind = "world"
    runs = 1
    changes_by_itself = True

    def __init__(self, life: Life) -> None:
        self._life = life
        self._deletions: Deletions = life.random.choice(("told", "compared"))
        self._retries = life.random.random() < 0.5
        self._items: dict[str, _Item] = {}
        self._log: list[str] = []  # ids, in the order of their changes
        self._bad: set[str] = set()  # items that can't be read for now

    def open(self) -> SyncSource:
        kind = _RetryingToy if self._retries else _Toy
        return kind(self._life, self._deletions, self._items, self._log, self._bad)

    def expected(self) -> Mapping[str, str | None]:
        return {item.word: item.audience for item in self._items.values()}

    def calm(self) -> None:
        self._bad.clear()

    def change(self) -> None:
        random = self._life.random
        kinds = {"new": 6, "edit": 4, "move": 2, "delete": 3, "bad": 1, "heal": 1}
        (kind,) = random.choices(list(kinds), list(kinds.values()))
        ids = sorted(self._items)
        id_ = random.choice(ids) if ids else ""
        if kind == "new" or not ids:
            id_ = f"{random.choice('ab')}/{random.randrange(60)}"
            label = random.choice((EVERYONE, None))
            self._items[id_] = _Item(self._life.word(), random.choice(("ada", "bob")), label)
        elif kind == "edit":
            self._items[id_] = replace(self._items[id_], word=self._life.word())
        elif kind == "move":  # nothing but its audience changes
            label = random.choice((EVERYONE, None, "team"))
            self._items[id_] = replace(self._items[id_], audience=label)
        elif kind == "delete":
            del self._items[id_]
        elif kind == "bad":
            self._bad.add(id_)
            return
        else:
            self._bad.clear()
            return
        self._log.append(id_)


@dataclass
class _Toy:
    life: Life
    deletions: Deletions
    items: dict[str, _Item]
    log: list[str]
    bad: set[str]

    def changes(self, cursor: str) -> Iterator[Change]:
        at, random = int(cursor or 0), self.life.random
        while True:
            yield from self._trouble()
            page = self.log[at : at + random.randint(1, 4)]
            reported = [*page, *page[:1]] if self.life.happens(0.3) else list(page)
            if self.life.mood:
                random.shuffle(reported)
            for id_ in reported:
                if change := self._gone(id_):
                    yield change
                yield from self._trouble()
            at += len(page)
            yield Checkpoint(str(at), at, len(self.log))
            if not page:
                return

    def ids(self) -> Iterator[str | Wait]:
        yield from self._trouble()
        yield from sorted(self.items)

    def _gone(self, id_: str) -> Change | None:
        if id_ not in self.items:
            return Gone(id_) if self.deletions == "told" else None
        if id_ in self.bad and self.life.random.random() < 0.5:
            return Failed(id_, "It can't be read today.")
        item = self.items[id_]
        text = f"{item.author} says {item.word}."
        read = Extraction(text, (Element("message", 0, len(text)),), id_, "message/world", "en")
        content = _raising(FileUnreadable("Not today.")) if id_ in self.bad else read
        about = {"authors": (item.author,)}
        return Put(id_, f"{id_}.txt", content, metadata=about, audience=item.audience)

    def _trouble(self) -> Iterator[Wait]:
        if self.life.happens(0.05):
            raise SourceUnreachable("The service answers 500.")
        if self.life.happens(0.05):
            yield Wait(0.0, "The service asks for a pause.")


class _RetryingToy(_Toy):
    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        for id_ in ids:
            yield self._gone(id_) or Gone(id_)
