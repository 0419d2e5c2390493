"""What every store must answer beyond its three signals: exclusions, neighbours, vectors, fields.

Part of `StoreContract`, which is what to inherit.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from trivium.ports import Store
from trivium.testing.samples import TOY, probe, sample
from trivium.types import OWNER, Processed, Signal, Where

ALL = 1000


def put(store: Store, *batch: Processed) -> list[int]:
    with store.writing():
        return [document.id for document in store.put(batch, TOY.fingerprint)]


def found(
    store: Store, signal: Signal, query: str, where: Where = OWNER, k: int = ALL
) -> list[str]:
    """The texts of the chunks found, in order."""
    hits = store.search(signal, probe(query), where, k)
    return [c.chunk.text for c in store.chunks([hit.chunk_id for hit in hits], where)]


class SearchContract:
    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError("give the suite a store")

    # around a chunk

    def test_neighbours_come_from_the_same_document_only(self, store: Store) -> None:
        put(store, sample("a.md", "One.", "Two.", "Three."), sample("b.md", "Four."))
        first, second, third, fourth = [c.id for d in (1, 2) for c in store.passages(d, OWNER)]
        around = store.around([second, third, fourth, 999], 1, 1, OWNER)
        assert {i: [c.id for c in n.before + n.after] for i, n in around.items()} == {
            second: [first, third],
            third: [second],
            fourth: [],
        }
        assert [c.id for c in store.around([third], 2, 0, OWNER)[third].before] == [first, second]

    def test_neighbours_and_vectors_obey_the_filter(self, store: Store) -> None:
        (secret,) = put(store, sample("a.md", "One.", "Two.", audience="dm-only"))
        ids = [c.id for c in store.passages(secret, OWNER)]
        assert set(store.vectors([*ids, 999], OWNER)) == set(ids)
        assert store.vectors(ids, Where(frozenset({"player"}))) == {}
        assert store.around(ids, 1, 1, Where(frozenset({"player"}))) == {}

    def test_field_names_are_those_a_caller_may_see(self, store: Store) -> None:
        put(store, sample("a.md", "One.", metadata={"year": 2020}))
        put(store, sample("b.md", "Two.", metadata={"plot": "x"}, audience="dm-only"))
        assert store.field_names(OWNER) == {"year", "plot"}
        assert store.field_names(Where(frozenset())) == {"year"}

    def test_every_signal_leaves_out_what_the_query_excludes(self, store: Store) -> None:
        put(store, sample("a.md", "A foggy harbour.", "A sunny harbour.", "A harbour with fog."))
        for signal in Signal:
            kept = found(store, signal, "harbour -fog")
            assert sorted(kept) == ["A foggy harbour.", "A sunny harbour."]
            kept = found(store, signal, 'harbour -"sunny harbour" -foggy')
            assert kept == ["A harbour with fog."]

    def test_every_signal_finds_only_what_the_query_requires(self, store: Store) -> None:
        put(
            store,
            sample("a.md", "The crown lies in the harbour.", "The crown of fog.", "Two harbours."),
            sample("b.md", "A crown beside harbours.", audience="dm-only"),
        )
        seen = Where(frozenset())
        for signal in Signal:
            held = ["A crown beside harbours.", "The crown lies in the harbour."]
            assert sorted(found(store, signal, "+crown +harbour fog")) == held
            assert found(store, signal, "+crown +harbour fog", seen) == held[1:]
            assert found(store, signal, 'fog +"the harbour" OR two', seen)[0] in {
                "Two harbours.",
                held[1],
            }
            assert found(store, signal, "crown +lantern") == []

    def test_every_word_binds_the_keyword_signal_alone(self, store: Store) -> None:
        put(store, sample("a.md", "The crown lies in the harbour.", "The crown of fog."))
        for where in (OWNER, Where(frozenset())):
            both = probe("the crown of the harbour")
            both = replace(both, query=replace(both.query, every_word=True))
            counts = {signal: len(store.search(signal, both, where, ALL)) for signal in Signal}
            assert counts == {Signal.VECTOR: 2, Signal.KEYWORD: 1, Signal.TRIGRAM: 2}
