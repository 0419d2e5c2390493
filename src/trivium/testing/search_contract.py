"""What every store must answer beyond its three signals: exclusions, neighbours, vectors, fields.

Part of `StoreContract`, which is what to inherit.
"""

from __future__ import annotations

import pytest

from trivium.ports import Backend
from trivium.testing.samples import TOY, probe, sample
from trivium.types import OWNER, Processed, Signal, Where

ALL = 1000


def put(store: Backend, *batch: Processed) -> list[int]:
    with store.writer.writing():
        return [document.id for document in store.writer.put(batch, TOY.fingerprint)]


def found(
    store: Backend, signal: Signal, query: str, where: Where = OWNER, k: int = ALL
) -> list[str]:
    """The texts of the chunks found, in order."""
    hits = store.signals.search(signal, probe(query), where, k)
    return [c.chunk.text for c in store.documents.chunks([hit.chunk_id for hit in hits], where)]


class SearchContract:
    @pytest.fixture
    def store(self) -> Backend:
        raise NotImplementedError("give the suite a store")

    # around a chunk

    def test_neighbours_come_from_the_same_document_only(self, store: Backend) -> None:
        put(store, sample("a.md", "One.", "Two.", "Three."), sample("b.md", "Four."))
        first, second, third, fourth = [
            c.id for d in (1, 2) for c in store.documents.passages(d, OWNER)
        ]
        around = store.documents.around([second, third, fourth, 999], 1, 1, OWNER)
        assert {i: [c.id for c in n.before + n.after] for i, n in around.items()} == {
            second: [first, third],
            third: [second],
            fourth: [],
        }
        assert [c.id for c in store.documents.around([third], 2, 0, OWNER)[third].before] == [
            first,
            second,
        ]

    def test_neighbours_and_vectors_obey_the_filter(self, store: Backend) -> None:
        (secret,) = put(store, sample("a.md", "One.", "Two.", audience="dm-only"))
        ids = [c.id for c in store.documents.passages(secret, OWNER)]
        assert set(store.signals.vectors([*ids, 999], OWNER)) == set(ids)
        assert store.signals.vectors(ids, Where(frozenset({"player"}))) == {}
        assert store.documents.around(ids, 1, 1, Where(frozenset({"player"}))) == {}

    def test_field_names_are_those_a_caller_may_see(self, store: Backend) -> None:
        put(store, sample("a.md", "One.", metadata={"year": 2020}))
        put(store, sample("b.md", "Two.", metadata={"plot": "x"}, audience="dm-only"))
        assert store.documents.field_names(OWNER) == {"year", "plot"}
        assert store.documents.field_names(Where(frozenset())) == {"year"}

    def test_every_signal_leaves_out_what_the_query_excludes(self, store: Backend) -> None:
        put(store, sample("a.md", "A foggy harbour.", "A sunny harbour.", "A harbour with fog."))
        for signal in Signal:
            kept = found(store, signal, "harbour -fog")
            assert sorted(kept) == ["A foggy harbour.", "A sunny harbour."]
            kept = found(store, signal, 'harbour -"sunny harbour" -foggy')
            assert kept == ["A harbour with fog."]
