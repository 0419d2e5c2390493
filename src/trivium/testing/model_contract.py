"""What every store must do while a library comes to another embedding model."""

from __future__ import annotations

import pytest

from trivium.errors import ModelChanged, NotEmbedded, ReembedStopped
from trivium.ports import Backend
from trivium.testing.samples import OTHER, TOY, ToyEmbedder, embed_beside, probe, sample
from trivium.types import OWNER, Signal, Where


def switch(store: Backend) -> None:
    store.models.begin(OTHER.fingerprint, {"embed.model": "other"})
    embed_beside(store, OTHER)
    store.models.prepare(OTHER.fingerprint)
    with store.writer.writing():
        store.models.switch(OTHER.fingerprint)
    store.models.drop_others()


def ids(store: Backend, query: str, embedder: ToyEmbedder = TOY) -> list[int]:
    asked = probe(query, embedder=embedder)
    return [hit.chunk_id for hit in store.signals.search(Signal.VECTOR, asked, OWNER, 100)]


class ModelContract:
    def test_vectors_of_another_model_are_refused(self, store: Backend) -> None:
        assert store.signals.search(Signal.VECTOR, probe("bell", embedder=OTHER), OWNER, 5) == []
        with store.writer.writing():
            store.writer.put([sample("a.md", "Amber bell.")], TOY.fingerprint)
            with pytest.raises(ModelChanged):
                store.writer.put(
                    [sample("b.md", "Copper bell.", embedder=OTHER)], OTHER.fingerprint
                )
            store.writer.put([sample("c.md", "Fog.", embedded=False)], OTHER.fingerprint)
        assert {d.uri for d in store.documents.all(OWNER)} == {"a.md", "c.md"}
        with pytest.raises(ModelChanged):
            store.signals.search(Signal.VECTOR, probe("bell", embedder=OTHER), OWNER, 5)

    def test_the_manifest_says_how_to_load_the_model_it_names(self, store: Backend) -> None:
        store.models.describe(TOY.fingerprint, {"embed.folder": "toys"})
        assert store.models.manifest().settings == {}  # nothing is embedded with it yet
        with store.writer.writing():
            store.writer.put([sample("a.md", "Amber bell.")], TOY.fingerprint)
        assert store.models.manifest().settings == {"embed.folder": "toys"}

    def test_the_old_vectors_serve_until_the_switch_and_the_new_ones_after(
        self, store: Backend
    ) -> None:
        with store.writer.writing():
            store.writer.put(
                [sample(f"{n}.md", f"bell {n}", f"fog {n}") for n in range(5)], "toy-64"
            )
        store.models.begin(OTHER.fingerprint, {"embed.model": "other"})
        assert store.models.manifest().next_model == OTHER.fingerprint
        assert store.models.count_unembedded(OTHER.fingerprint) == 10
        assert embed_beside(store, OTHER, limit=4) == 4
        assert [one.id for one in store.models.unembedded(OTHER.fingerprint, 5, 2)] == [6, 7]
        before = ids(store, "bell 3")
        with store.writer.writing(), pytest.raises(NotEmbedded):
            store.models.switch(OTHER.fingerprint)
        assert embed_beside(store, OTHER) == 6
        store.models.prepare(OTHER.fingerprint)
        with store.writer.writing():  # meanwhile others add and remove
            store.writer.put([sample("new.md", "bell new")], TOY.fingerprint)
            store.writer.remove([1])
        kept = [chunk for chunk in before if chunk > 2]
        assert [chunk for chunk in ids(store, "bell 3") if chunk < 11] == kept
        assert embed_beside(store, OTHER) == 1
        with store.writer.writing():
            store.models.switch(OTHER.fingerprint)
        manifest = store.models.manifest()
        assert (manifest.model, manifest.dimensions) == (OTHER.fingerprint, OTHER.dimensions)
        assert (manifest.settings, manifest.next_model) == ({"embed.model": "other"}, "")
        with pytest.raises(ModelChanged):
            ids(store, "bell 3")
        assert sorted(ids(store, "bell 3", OTHER)) == [*range(3, 12)]
        assert ids(store, "bell new", OTHER)[0] == 11

    def test_after_the_switch_the_library_lives_on(self, store: Backend) -> None:
        with store.writer.writing():
            store.writer.put([sample("a.md", "amber bell", "copper bell")], TOY.fingerprint)
        switch(store)
        with store.writer.writing():
            store.writer.put([sample("b.md", "silver bell", embedder=OTHER)], OTHER.fingerprint)
        assert ids(store, "silver bell", OTHER)[0] == 3
        assert len(store.signals.vectors([1, 2, 3], OWNER)) == 3
        assert set(store.signals.token_vectors([1, 2, 3], OWNER, OTHER.fingerprint)) == {1, 2}
        with pytest.raises(ModelChanged), store.writer.writing():
            store.writer.put([sample("c.md", "bell")], TOY.fingerprint)

    def test_nothing_is_left_of_the_old_model(self, store: Backend) -> None:
        document = sample("a.md", "amber bell")
        with store.writer.writing():
            store.writer.put([document], TOY.fingerprint)
        switch(store)
        assert store.models.known(TOY.fingerprint, document.hashes) == {}
        assert set(store.models.known(OTHER.fingerprint, document.hashes)) == {*document.hashes}

    def test_what_is_removed_meanwhile_is_not_kept(self, store: Backend) -> None:
        document = sample("a.md", "amber bell")
        with store.writer.writing():
            store.writer.put([document, sample("b.md", "fog")], TOY.fingerprint)
        store.models.begin(OTHER.fingerprint, {})
        (lacking, _) = store.models.unembedded(OTHER.fingerprint, 0, 10)
        with store.writer.writing():
            store.writer.remove([1])
        vectors = OTHER.embed_documents([lacking.text])
        store.models.keep_beside(
            OTHER.fingerprint, {lacking.hash: vectors[0]}, {lacking.hash: b"\x01"}
        )
        assert store.models.known(OTHER.fingerprint, [lacking.hash]) == {}

    def test_a_change_can_be_given_up(self, store: Backend) -> None:
        document = sample("a.md", "amber bell")
        with store.writer.writing():
            store.writer.put([document], TOY.fingerprint)
        store.models.begin(OTHER.fingerprint, {})
        embed_beside(store, OTHER)
        store.models.abandon()
        assert store.models.manifest().next_model == ""
        assert store.models.known(OTHER.fingerprint, document.hashes) == {}
        with pytest.raises(ReembedStopped):
            store.models.keep_beside(OTHER.fingerprint, {}, {})
        assert ids(store, "amber bell") == [1]

    def test_an_empty_library_changes_its_model_too(self, store: Backend) -> None:
        switch(store)
        assert store.models.manifest().settings == {"embed.model": "other"}
        with store.writer.writing():
            store.writer.put([sample("b.md", "silver bell", embedder=OTHER)], OTHER.fingerprint)
        assert ids(store, "silver", OTHER) == [1]
        assert store.models.manifest().dimensions == OTHER.dimensions
        hidden = Where(frozenset())
        asked = probe("silver", embedder=OTHER)
        assert [h.chunk_id for h in store.signals.search(Signal.VECTOR, asked, hidden, 5)] == [1]
