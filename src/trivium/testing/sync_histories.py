"""Random histories of a source: items come, change and go, requests fail, runs are killed.

After each history the library must equal the source, and nothing unchanged may have been embedded
again. The service is small, but has the ways of real ones: pages with cursors, the same item twice,
pages out of order, pauses it asks for, errors in the middle, items that can't be read for a while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

from trivium.config import Settings
from trivium.errors import FileUnreadable, SourceUnreachable
from trivium.library.current import CurrentModel
from trivium.library.sync import Sync, SyncOptions, uri_prefix
from trivium.ports import (
    Backend,
    Change,
    Checkpoint,
    Failed,
    Gone,
    Put,
    Wait,
    Writer,
)
from trivium.ports.sync import Deletions
from trivium.testing.samples import ToyEmbedder
from trivium.types import EVERYONE, OWNER, Document, Element, Extraction, Place, Processed
from trivium.work import KeptSource

if TYPE_CHECKING:
    from trivium.types import Vectors

NAME = "world"
_PEOPLE = ("ada", "bob", "cyn")
_WORDS = ("fog", "lamp", "rain", "tower", "map", "ship", "bell", "salt")


class Killed(KeyboardInterrupt):
    """The process ends here, whatever it does."""


@dataclass
class Item:
    text: str
    author: str
    audience: str | None


@dataclass
class World:
    """A service with a list of changes, and moods."""

    random: Random
    deletions: Deletions
    can_retry: bool
    items: dict[str, Item] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)  # ids, in the order of their changes
    bad: set[str] = field(default_factory=set)  # items that can't be read for now
    mood: float = 0.0  # how often something goes wrong
    removed: Counter[str] = field(default_factory=Counter)  # texts, by how often they went

    def change(self) -> None:
        kinds = {"new": 6, "edit": 4, "move": 2, "delete": 3, "bad": 1, "heal": 1}
        (kind,) = self.random.choices(list(kinds), list(kinds.values()))
        known = sorted(self.items)
        if kind == "new" or not known:
            id_ = f"{self.random.choice('ab')}/{self.random.randrange(60)}"
            self._write(id_, self._text(), self.random.choice(_PEOPLE))
            return
        id_ = self.random.choice(known)
        match kind:
            case "edit":
                self._write(id_, self._text(), self.items[id_].author)
            case "move":  # nothing but its audience changes
                label = self.random.choice((EVERYONE, None, "team"))
                self.items[id_] = replace(self.items[id_], audience=label)
                self.log.append(id_)
            case "delete":
                self.removed[self.items.pop(id_).text] += 1
                self.log.append(id_)
            case "bad":
                self.bad.add(id_)
            case "heal":
                self.bad.clear()

    def _write(self, id_: str, text: str, author: str) -> None:
        if id_ in self.items:
            self.removed[self.items[id_].text] += 1
        self.items[id_] = Item(text, author, self.random.choice((EVERYONE, None)))
        self.log.append(id_)

    def _text(self) -> str:
        return " ".join(self.random.choices(_WORDS, k=5)) + f" {self.random.randrange(10**6)}."

    # --- as a source

    def changes(self, cursor: str) -> Iterator[Change]:
        at = int(cursor or 0)
        while True:
            yield from self._trouble()
            page = self.log[at : at + self.random.randint(1, 4)]
            told = [*page, *page[:1]] if self.mood and self.random.random() < 0.3 else list(page)
            if self.mood:
                self.random.shuffle(told)
            for id_ in told:
                if one := self._told(id_):
                    yield one
                yield from self._trouble()
            at += len(page)
            yield Checkpoint(str(at), at, len(self.log))
            if not page:
                return

    def _told(self, id_: str) -> Change | None:
        if id_ not in self.items:
            return Gone(id_) if self.deletions == "told" else None
        if id_ in self.bad and self.random.random() < 0.5:
            return Failed(id_, "It can't be read today.")
        return Put(
            id_,
            f"{id_}.txt",
            self._read(id_) if id_ in self.bad else self._extraction(id_),
            metadata={"authors": (self.items[id_].author,)},
            audience=self.items[id_].audience,
        )

    def _read(self, id_: str) -> Callable[[], bytes]:
        def read() -> bytes:
            raise FileUnreadable(f"{id_} can't be read today.")

        return read

    def _extraction(self, id_: str) -> Extraction:
        text, author = self.items[id_].text, self.items[id_].author
        element = Element("message", 0, len(text), place=Place(authors=(author,)))
        return Extraction(text, (element,), id_, "message/world", "en")

    def _trouble(self) -> Iterator[Wait]:
        throw = self.random.random()
        if throw < self.mood * 0.05:
            raise SourceUnreachable("The service answers 500.")
        if throw < self.mood * 0.10:
            raise Killed
        if throw < self.mood * 0.15:
            yield Wait(0.0, "The service asks for a pause.")

    def ids(self) -> Iterator[str | Wait]:
        yield from self._trouble()
        yield from sorted(self.items)


class RetryingWorld(World):
    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        for id_ in ids:
            yield self._told(id_) or Gone(id_)


class CountingEmbedder(ToyEmbedder):
    """Knows how often it was asked for each text."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked.update(texts)
        return super().embed_documents(texts)


class KillingWriter:
    """Ends the process before or after a batch is put, now and then."""

    def __init__(self, writer: Writer, world: World) -> None:
        self._writer = writer
        self._world = world

    def __getattr__(self, name: str) -> object:
        return getattr(self._writer, name)

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        throw = self._world.random.random()
        if throw < self._world.mood * 0.15:
            raise Killed
        done = self._writer.put(batch, model)
        if throw < self._world.mood * 0.3:
            raise Killed
        return done


def live(seed: int, open_backend: Callable[[], Backend]) -> None:
    """One history. Raises AssertionError where library and source aren't the same at its end."""
    random = Random(seed)
    kind = RetryingWorld if random.random() < 0.5 else World
    world = kind(random, random.choice(("told", "compared")), kind is RetryingWorld)
    real = open_backend()
    try:
        backend = replace(real, writer=KillingWriter(real.writer, world))  # type: ignore[arg-type]
        embedder = CountingEmbedder()
        sync = Sync(backend, CurrentModel(backend, embedder, Settings()), lambda kept: world)
        sync.add(KeptSource(NAME, "world", collection="talk", audience="staff"))
        kills = 0
        for _ in range(random.randint(1, 4)):
            for _ in range(random.randint(0, 8)):
                world.change()
            world.mood = random.choice((0.0, 0.5, 1.5))
            options = SyncOptions(full=random.random() < 0.15, compare=random.random() < 0.3)
            try:
                with suppress(SourceUnreachable):
                    sync.run(NAME, replace(options, force=True))
            except Killed:
                kills += 1
        world.mood = 0.0
        world.bad.clear()
        failed = {one.item for one in sync.failures(NAME)}
        sync.run(NAME)  # only what changed: it must not need more to have everything
        here, there = _states(backend, world)
        left = set() if world.can_retry else failed
        lost = {id_ for id_, one in there.items() if here.get(id_) != one} - left
        assert not lost, f"the library lacks {sorted(lost)}, or has them as they were"
        sync.run(NAME, SyncOptions(compare=world.deletions == "compared", force=True))
        if left:
            sync.run(NAME, SyncOptions(full=True, force=True))
        _compare(sync, backend, world)
        before = embedder.asked.total()
        sync.run(NAME)
        sync.run(NAME, SyncOptions(full=True, force=True))
        assert embedder.asked.total() == before, "something unchanged was embedded again"
        for text, times in embedder.asked.items():
            most = 1 + kills + world.removed[text]
            assert times <= most, f"{text!r} was embedded {times} times, at most {most} are needed"
    finally:
        real.close()


def _compare(sync: Sync, backend: Backend, world: World) -> None:
    here, there = _states(backend, world)
    assert here == there
    assert sync.get(NAME).cursor == str(len(world.log))
    assert sync.failures(NAME) == []
    assert sync.verify(NAME).in_step


def _states(backend: Backend, world: World) -> tuple[dict[str, object], dict[str, object]]:
    """What the library and the source say of each item."""
    source = backend.sources.get(NAME)
    assert source is not None
    prefix = uri_prefix(source)
    here: dict[str, object] = {}
    for uri in backend.documents.below(prefix, "talk"):
        document = backend.documents.find(uri, "talk")
        assert document is not None
        text = backend.documents.text(document.id, OWNER)
        here[uri.removeprefix(prefix)] = (text, document.metadata["authors"], document.audience)
    labels = {None: "staff", EVERYONE: "staff", "team": "team"}
    there: dict[str, object] = {
        id_: (one.text, (one.author,), labels[one.audience]) for id_, one in world.items.items()
    }
    return here, there
