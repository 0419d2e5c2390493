"""Drives a backend and the reference side by side through random histories and compares them.

Both assign the same ids for the same history, so answers are compared id by id. A library may be
open in several processes: each step continues in one of them. Nothing that was
removed counts in a score.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.reference import open_memory

from trivium.core.access import mint
from trivium.core.answers import KeptTurn, Turn
from trivium.core.history import Interpretation
from trivium.core.types import (
    EVERYONE,
    OWNER,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Document,
    Exists,
    Metadata,
    Not,
    Place,
    Processed,
    Signal,
    Where,
)
from trivium.core.work import WatchedFolder
from trivium.ports import Backend, Writer
from trivium.testing.samples import (
    OTHER,
    TOY,
    ToyEmbedder,
    embed_beside,
    embedded_by,
    probe,
    sample,
)
from trivium.text.normalise import words as split

# Few words, so that documents share them, some alike in spelling and stem.
_SPELLINGS = ("sword", "swords", "shortsword", "short", "axe", "battle", "battleaxe", "crown")
_WORDS = st.sampled_from((*_SPELLINGS, "crowns", "drowned", "fog", "lamp"))
_TEXTS = st.lists(_WORDS, min_size=1, max_size=6).map(" ".join)
_PARAGRAPHS = st.lists(_TEXTS, min_size=1, max_size=4)
_URIS = st.sampled_from([f"{name}.md" for name in "abcde"])
_COLLECTIONS = st.sampled_from(["default", "lore"])
_AUDIENCES = st.sampled_from([EVERYONE, "dm-only", "finance"])
_CATEGORIES = st.sampled_from(["", "rules", "notes"])
_METADATA: st.SearchStrategy[Metadata] = st.fixed_dictionaries(
    {},
    optional={
        "year": st.integers(2018, 2022),
        "tags": st.lists(st.sampled_from(["red", "Blue"]), max_size=2).map(tuple),
    },
)
_LEAVES: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Compare, st.just("collection"), st.just("eq"), _COLLECTIONS),
    st.builds(Compare, st.just("category"), st.just("eq"), _CATEGORIES),
    st.builds(Compare, st.just("source"), st.just("eq"), _URIS),
    st.builds(
        Compare, st.just("year"), st.sampled_from(["eq", "lt", "ge"]), st.integers(2018, 2022)
    ),
    st.builds(Compare, st.just("tags"), st.just("eq"), st.sampled_from(["RED", "blue"])),
    st.builds(Exists, st.sampled_from(["year", "tags", "category", "sheet", "row"])),
    st.builds(Compare, st.just("sheet"), st.just("eq"), st.sampled_from(["c", "B", "x"])),
    st.builds(
        Compare, st.just("row"), st.sampled_from(["eq", "lt", "ge", "gt"]), st.integers(0, 4)
    ),
)
_CONDITIONS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(AllOf, st.lists(inner, max_size=2).map(tuple)),
        st.builds(AnyOf, st.lists(inner, max_size=2).map(tuple)),
    ),
    max_leaves=4,
)
_HELD = st.one_of(st.none(), st.frozensets(_AUDIENCES, max_size=2))
_MEMBER = st.one_of(st.none(), st.frozensets(_COLLECTIONS, max_size=2))
_WHERES = st.one_of(st.just(OWNER), st.builds(Where, _HELD, _CONDITIONS, _MEMBER))
_QUERIES = st.one_of(
    _TEXTS,
    st.sampled_from(["sord", "batleaxe", "shortsord", '"short sword" axe', "crown -fog", "drown"]),
    st.sampled_from(["+crown sord", '+"short sword" axe', "+crowns +fog -lamp"]),
)
# Read from bytes or not: of those that are, equal ones may be one document.
_READERS = st.sampled_from(["", "", "reader-1"])
_FINGERPRINTS = st.sampled_from(["sample", "sample", "newer"])
_DOCUMENTS: st.SearchStrategy[Processed] = st.builds(
    lambda uri, paragraphs, **options: sample(
        uri,
        *paragraphs,
        **options,
        places=[
            Place(sheet=text[:1].upper(), rows=(n, n + 2)) for n, text in enumerate(paragraphs)
        ],
    ),
    _URIS,
    _PARAGRAPHS,
    collection=_COLLECTIONS,
    audience=_AUDIENCES,
    category=_CATEGORIES,
    metadata=_METADATA,
    reader=_READERS,
    fingerprint=_FINGERPRINTS,
)
_COPIES: st.SearchStrategy[Processed] = st.builds(
    lambda uri, text, audience, fingerprint: sample(
        uri, text, audience=audience, reader="reader-1", fingerprint=fingerprint
    ),
    _URIS,
    st.sampled_from(["crown", "battle axe"]),
    st.sampled_from([EVERYONE, EVERYONE, "dm-only"]),
    _FINGERPRINTS,
)
_ALL = 1000


class BackendMachine(RuleBasedStateMachine):
    """Give `make` a function that returns an empty store, or the same one opened several times."""

    make: Callable[[], Backend | tuple[Backend, ...]]

    def __init__(self) -> None:
        super().__init__()
        made = type(self).make()
        self.stores = made if isinstance(made, tuple) else (made,)
        self.store = self.stores[0]
        self.reference = open_memory()
        self.embedder: ToyEmbedder = TOY

    @rule(at=st.integers(0, 1))
    def go_on_in_another_process(self, at: int) -> None:
        self.store = self.stores[at % len(self.stores)]
        self.store.signals.refresh()  # as every search does first

    @rule(
        batch=st.lists(
            _DOCUMENTS, min_size=1, max_size=3, unique_by=lambda d: (d.collection, d.uri)
        )
    )
    def put(self, batch: list[Processed]) -> None:
        self._put(batch)

    def _put(self, batch: list[Processed]) -> None:
        batch = [embedded_by(self.embedder, document) for document in batch]
        self._change(lambda writer: writer.put(batch, self.embedder.fingerprint))

    def _change(self, act: Callable[[Writer], object]) -> None:
        """In both, which must answer the same."""
        with self.store.writer.writing():
            ours = act(self.store.writer)
        assert _timeless(ours) == _timeless(act(self.reference.writer))

    def _chosen(self, at: int) -> Document | None:
        documents = self.reference.documents.all(OWNER)
        return documents[at % len(documents)] if documents else None

    @rule(batch=st.lists(_COPIES, min_size=1, max_size=4, unique_by=lambda d: d.uri))
    def put_copies(self, batch: list[Processed]) -> None:
        self._put(batch)

    @rule(at=st.integers(0, 9), uri=_URIS, other=st.integers(0, 9))
    def rename(self, at: int, uri: str, other: int) -> None:
        chosen = self._chosen(at)
        if chosen and self.reference.documents.find(uri, chosen.collection) is None:
            uris = (chosen.uri, *chosen.names, "never.md")
            old = uris[other % len(uris)]
            self._change(lambda writer: writer.rename(chosen.id, old, uri))

    @rule(uri=_URIS, collection=_COLLECTIONS)
    def forget(self, uri: str, collection: str) -> None:
        self._change(lambda writer: writer.forget(uri, collection))

    @rule(at=st.integers(0, 9), back=st.integers(0, 3))
    def restore(self, at: int, back: int) -> None:
        if chosen := self._chosen(at):
            past = self.reference.documents.history(chosen.id, OWNER)
            number = past[back % len(past)].number
            self._change(lambda writer: writer.restore(chosen.id, number))

    @rule(where=_WHERES, keep=st.integers(0, 3))
    def prune(self, where: Where, keep: int) -> None:
        self._change(lambda writer: writer.prune(where, keep=keep))

    @rule(adding=_DOCUMENTS, early=st.booleans())
    def change_the_model(self, adding: Processed, early: bool) -> None:
        """With a document that comes in between."""
        before, after = self.embedder, OTHER if self.embedder is TOY else TOY
        for store in (self.store, self.reference):
            store.models.begin(after.fingerprint, {"embed.model": after.fingerprint})
            embed_beside(store, after, limit=2)
            if early:
                store.models.prepare(after.fingerprint)
            with store.writer.writing():
                store.writer.put([embedded_by(before, adding)], before.fingerprint)
            embed_beside(store, after)
            with store.writer.writing():
                store.models.switch(after.fingerprint)
            store.models.drop_others()
        assert self.store.models.manifest().model == self.reference.models.manifest().model
        self.embedder = after

    @rule(ids=st.lists(st.integers(1, 12), max_size=3))
    def remove(self, ids: list[int]) -> None:
        self._change(lambda writer: writer.remove(ids))

    @rule(at=st.integers(0, 9), audience=_AUDIENCES, category=_CATEGORIES, metadata=_METADATA)
    def relabel(self, at: int, audience: str, category: str, metadata: Metadata) -> None:
        if chosen := self._chosen(at):
            self._change(
                lambda writer: writer.relabel(
                    chosen.id, category=category, audience=audience, metadata=metadata
                )
            )

    @rule(
        name=st.sampled_from(["one", "two"]),
        held=_HELD,
        documents=st.frozensets(st.integers(1, 12), max_size=2),
    )
    def keep_turn(self, name: str, held: frozenset[str] | None, documents: frozenset[int]) -> None:
        turn = KeptTurn(Turn("what?", "that"), held, documents)
        for store in (self.store, self.reference):
            store.conversations.keep(name, turn)

    @rule(name=st.sampled_from(["one", "two"]), where=_WHERES)
    def forget_conversation(self, name: str, where: Where) -> None:
        ours = self.store.conversations.forget(name, where)
        assert ours == self.reference.conversations.forget(name, where)

    @rule(where=_WHERES)
    def look_at_conversations(self, where: Where) -> None:
        seen = [
            [
                (
                    c.name,
                    [(t.audiences, t.documents) for t in store.conversations.turns(c.name, where)],
                )
                for c in store.conversations.all(where)
            ]
            for store in (self.store, self.reference)
        ]
        assert seen[0] == seen[1]

    @rule(query=_QUERIES, where=_WHERES, signal=st.sampled_from(list(Signal)))
    def search(self, query: str, where: Where, signal: Signal) -> None:
        ours = self.store.signals.search(signal, probe(query, embedder=self.embedder), where, _ALL)
        theirs = self.reference.signals.search(
            signal, probe(query, embedder=self.embedder), where, _ALL
        )
        assert {hit.chunk_id for hit in ours} == {hit.chunk_id for hit in theirs}
        assert ours == sorted(ours, key=lambda hit: (-hit.score, hit.chunk_id))
        expected = {hit.chunk_id: hit.score for hit in theirs}
        assert {h.chunk_id: h.score for h in ours} == pytest.approx(expected, abs=1e-3)
        ids = [hit.chunk_id for hit in ours]
        passages, wanted = (
            self.store.documents.chunks(ids, where),
            self.reference.documents.chunks(ids, where),
        )
        assert [(c.id, c.chunk) for c in passages] == [(c.id, c.chunk) for c in wanted]

    @rule(labels=_HELD, collections=_MEMBER, revoked=st.booleans())
    def let_in(
        self, labels: frozenset[str] | None, collections: frozenset[str] | None, revoked: bool
    ) -> None:
        token, _ = mint("", audiences=labels, collections=collections)
        for store in (self.store, self.reference):
            store.tokens.keep(token)
            if revoked:
                assert store.tokens.forget(token.id)
        assert self.store.tokens.all() == self.reference.tokens.all()

    @rule(path=st.sampled_from(["/a", "/b"]), forgotten=st.booleans())
    def watch_folder(self, path: str, forgotten: bool) -> None:
        for store in (self.store, self.reference):
            store.folders.keep(WatchedFolder(path[1:], path, "default"))
            if forgotten:
                assert store.folders.forget(path[1:])
        assert self.store.folders.all() == self.reference.folders.all()

    @rule(query=_QUERIES, where=_WHERES)
    def spellings(self, query: str, where: Where) -> None:
        words = probe(query).query.words
        spelled = self.store.signals.spellings(words, where)
        assert spelled == self.reference.signals.spellings(words, where)
        visible = {
            word
            for document in self.reference.documents.all(where)
            for stored in self.reference.documents.passages(document.id, where)
            for word in split(f"{stored.chunk.context}\n{stored.chunk.text}")
        }
        assert {w for near in spelled.values() for s in near for w in s.words} <= visible
        begun = words[0][:2] if words else "sw"
        going_on = self.store.signals.completions(begun, where, 5)
        assert going_on == self.reference.signals.completions(begun, where, 5)
        assert {w for s in going_on for w in s.words} <= visible

    @rule(act=st.sampled_from(["compact", "rebuild"]))
    def tidy(self, act: str) -> None:
        """Without a search afterwards: other processes find out by themselves."""
        with self.store.writer.writing():
            getattr(self.store.upkeep, act)()
        assert all(finding.ok for finding in self.store.upkeep.examine())

    @invariant()
    def the_registries_agree(self) -> None:
        ours, theirs = self.store.documents.all(OWNER), self.reference.documents.all(OWNER)
        assert _timeless(ours) == _timeless(theirs)
        for document in theirs:
            past = self.reference.documents.history(document.id, OWNER)
            assert list(map(_named, self.store.documents.history(document.id, OWNER))) == [
                _named(version) for version in past
            ]
            for number in (None, *(version.number for version in past)):
                text = self.store.documents.text(document.id, OWNER, number)
                assert text == self.reference.documents.text(document.id, OWNER, number)

    def teardown(self) -> None:
        for store in (*self.stores, self.reference):
            store.close()


def _named(past: Interpretation) -> tuple[object, ...]:
    return (
        past.number,
        past.active,
        past.title,
        past.content_hash,
        past.restored_from,
        past.chunks,
    )


_TIMELESS = attrgetter(
    "id", "uri", "names", "title", "seen_hash", "collection", "category", "audience",
    "content_hash", "interpretation", "chunks",
)  # fmt: skip


def _timeless(value: object) -> object:
    """Documents without their times; everything else as it is."""
    if isinstance(value, Document):
        return *_TIMELESS(value), dict(value.metadata)
    return list(map(_timeless, value)) if isinstance(value, list | tuple) else value
