"""What every backend must do about embedding models and their vectors."""

from collections.abc import Mapping

import pytest
from tests.contract.part import PartContract

from trivium.core.errors import ModelChanged, NotEmbedded, ReembedStopped
from trivium.core.types import OWNER, Signal, Vector, Where
from trivium.ports import Backend
from trivium.testing.samples import (
    OTHER,
    TOY,
    ToyEmbedder,
    embed_beside,
    found,
    probe,
    put,
    sample,
    writer,
)


def switch(backend: Backend) -> None:
    backend.models.begin(OTHER.fingerprint, {"embed.model": "other"})
    embed_beside(backend, OTHER)
    backend.models.prepare(OTHER.fingerprint)
    with backend.writer.writing():
        backend.models.switch(OTHER.fingerprint)
    backend.models.drop_others()


def ids(backend: Backend, query: str, embedder: ToyEmbedder = TOY) -> list[int]:
    wanted = probe(query, embedder=embedder)
    return [hit.chunk_id for hit in backend.signals.search(Signal.VECTOR, wanted, OWNER, 100)]


class ModelsContract(PartContract):
    """Vectors are kept, found again, and exchanged for those of another model at once."""

    def test_vectors_of_another_model_are_refused(self, backend: Backend) -> None:
        assert backend.signals.search(Signal.VECTOR, probe("bell", embedder=OTHER), OWNER, 5) == []
        with backend.writer.writing():
            backend.writer.put([sample("a.md", "Amber bell.")], TOY.fingerprint)
            with pytest.raises(ModelChanged):
                backend.writer.put(
                    [sample("b.md", "Copper bell.", embedder=OTHER)], OTHER.fingerprint
                )
            backend.writer.put([sample("c.md", "Fog.", embedded=False)], OTHER.fingerprint)
        assert {d.uri for d in backend.documents.all(OWNER)} == {"a.md", "c.md"}
        with pytest.raises(ModelChanged):
            backend.signals.search(Signal.VECTOR, probe("bell", embedder=OTHER), OWNER, 5)

    def test_the_manifest_says_how_to_load_the_model_it_names(self, backend: Backend) -> None:
        backend.models.describe(TOY.fingerprint, {"embed.folder": "toys"})
        assert backend.models.manifest().settings == {}  # nothing is embedded with it yet
        writer(backend).put([sample("a.md", "Amber bell.")], TOY.fingerprint)
        assert backend.models.manifest().settings == {"embed.folder": "toys"}

    def test_what_was_measured_of_the_model_is_kept(self, backend: Backend) -> None:
        assert backend.models.separation() == ""
        backend.models.keep_separation("one")
        backend.models.keep_separation("two")
        assert backend.models.separation() == "two"

    def test_the_old_vectors_serve_until_the_switch_and_the_new_ones_after(
        self, backend: Backend
    ) -> None:
        writer(backend).put(
            [sample(f"{n}.md", f"bell {n}", f"fog {n}") for n in range(5)], "toy-64"
        )
        backend.models.begin(OTHER.fingerprint, {"embed.model": "other"})
        assert backend.models.manifest().next_model == OTHER.fingerprint
        assert backend.models.count_unembedded(OTHER.fingerprint) == 10
        assert embed_beside(backend, OTHER, limit=4) == 4
        assert [row.id for row in backend.models.unembedded(OTHER.fingerprint, 5, 2)] == [6, 7]
        before = ids(backend, "bell 3")
        with backend.writer.writing(), pytest.raises(NotEmbedded):
            backend.models.switch(OTHER.fingerprint)
        assert embed_beside(backend, OTHER) == 6
        backend.models.prepare(OTHER.fingerprint)
        with backend.writer.writing():  # meanwhile others add and remove
            backend.writer.put([sample("new.md", "bell new")], TOY.fingerprint)
            backend.writer.remove([1])
        left = [chunk for chunk in before if chunk > 2]
        assert [chunk for chunk in ids(backend, "bell 3") if chunk < 11] == left
        assert embed_beside(backend, OTHER) == 1
        with backend.writer.writing():
            backend.models.switch(OTHER.fingerprint)
        manifest = backend.models.manifest()
        assert (manifest.model, manifest.dimensions) == (OTHER.fingerprint, OTHER.dimensions)
        assert (manifest.settings, manifest.next_model) == ({"embed.model": "other"}, "")
        with pytest.raises(ModelChanged):
            ids(backend, "bell 3")
        assert sorted(ids(backend, "bell 3", OTHER)) == [*range(3, 12)]
        assert ids(backend, "bell new", OTHER)[0] == 11

    def test_after_the_switch_the_library_lives_on(self, backend: Backend) -> None:
        writer(backend).put([sample("a.md", "amber bell", "copper bell")], TOY.fingerprint)
        switch(backend)
        writer(backend).put([sample("b.md", "silver bell", embedder=OTHER)], OTHER.fingerprint)
        assert ids(backend, "silver bell", OTHER)[0] == 3
        assert len(backend.signals.vectors([1, 2, 3], OWNER)) == 3
        assert set(backend.signals.token_vectors([1, 2, 3], OWNER, OTHER.fingerprint)) == {1, 2}
        with pytest.raises(ModelChanged), backend.writer.writing():
            backend.writer.put([sample("c.md", "bell")], TOY.fingerprint)

    def test_nothing_is_left_of_the_old_model(self, backend: Backend) -> None:
        document = sample("a.md", "amber bell")
        writer(backend).put([document], TOY.fingerprint)
        switch(backend)
        assert backend.models.known(TOY.fingerprint, document.hashes) == {}
        assert set(backend.models.known(OTHER.fingerprint, document.hashes)) == {*document.hashes}

    def test_what_is_removed_meanwhile_is_not_kept(self, backend: Backend) -> None:
        document = sample("a.md", "amber bell")
        writer(backend).put([document, sample("b.md", "fog")], TOY.fingerprint)
        backend.models.begin(OTHER.fingerprint, {})
        (lacking, _) = backend.models.unembedded(OTHER.fingerprint, 0, 10)
        writer(backend).remove([1])
        vectors = OTHER.embed_documents([lacking.text])
        backend.models.keep_beside(
            OTHER.fingerprint, {lacking.hash: vectors[0]}, {lacking.hash: b"\x01"}
        )
        assert backend.models.known(OTHER.fingerprint, [lacking.hash]) == {}

    def test_a_change_can_be_given_up(self, backend: Backend) -> None:
        document = sample("a.md", "amber bell")
        writer(backend).put([document], TOY.fingerprint)
        backend.models.begin(OTHER.fingerprint, {})
        embed_beside(backend, OTHER)
        backend.models.abandon()
        assert backend.models.manifest().next_model == ""
        assert backend.models.known(OTHER.fingerprint, document.hashes) == {}
        with pytest.raises(ReembedStopped):
            backend.models.keep_beside(OTHER.fingerprint, {}, {})
        assert ids(backend, "amber bell") == [1]

    def test_an_empty_library_changes_its_model_too(self, backend: Backend) -> None:
        switch(backend)
        assert backend.models.manifest().settings == {"embed.model": "other"}
        writer(backend).put([sample("b.md", "silver bell", embedder=OTHER)], OTHER.fingerprint)
        assert ids(backend, "silver", OTHER) == [1]
        assert backend.models.manifest().dimensions == OTHER.dimensions
        hidden = Where(frozenset())
        wanted = probe("silver", embedder=OTHER)
        assert [h.chunk_id for h in backend.signals.search(Signal.VECTOR, wanted, hidden, 5)] == [1]

    def test_embeddings_are_kept_by_model_and_hash(self, backend: Backend) -> None:
        document = sample("a.md", "Amber bell.", "Copper bell.")
        put(backend, document)
        assert set(backend.models.known(TOY.fingerprint, [*document.hashes, "?"])) == {
            *document.hashes
        }
        assert backend.models.known("another", document.hashes) == {}
        writer(backend).remove(d.id for d in backend.documents.all(OWNER))
        assert backend.models.known(TOY.fingerprint, document.hashes) == {}

    def test_vectors_of_a_document_that_lacks_others(self, backend: Backend) -> None:
        document = sample("a.md", "Amber bell.", "Copper bell.", embedded=False)
        put(backend, document)
        amber, copper = document.hashes
        vector = TOY.embed_query("Amber bell.")
        with backend.writer.writing():
            backend.models.keep(TOY.fingerprint, {amber: vector})
        vectors = backend.models.known(TOY.fingerprint, [amber, copper])
        assert list(vectors) == [amber]
        assert float(vectors[amber] @ vector) > 0.999
        assert backend.models.manifest().model == TOY.fingerprint
        writer(backend).remove([1])
        assert backend.models.known(TOY.fingerprint, [amber]) == {}

    def test_what_has_no_vector_gets_one(self, backend: Backend) -> None:
        (document,) = put(backend, sample("a.md", "A lantern burns.", embedded=False))
        assert backend.models.lacking(TOY.fingerprint, [document, 99]) == {document}
        embedded: list[str] = []

        def embed(texts: Mapping[str, str]) -> Mapping[str, Vector]:
            embedded.extend(texts.values())
            return {hash_: TOY.embed_query(text) for hash_, text in texts.items()}

        with backend.writer.writing():
            assert backend.models.embed_missing(TOY.fingerprint, embed) == 1
            assert backend.models.embed_missing(TOY.fingerprint, embed) == 0
        assert embedded == ["A lantern burns."]
        assert backend.models.lacking(TOY.fingerprint, [document]) == set()
        assert found(backend, Signal.VECTOR, "lantern") == ["A lantern burns."]
