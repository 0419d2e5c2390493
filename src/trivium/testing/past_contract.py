"""What every store must do about the past: interpretations listed, read, restored and pruned.

Part of `StoreContract`, which is what to inherit.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from trivium.errors import DocumentNotFound, OriginalMissing
from trivium.ports import Backend, Summarised
from trivium.testing.samples import TOY, sample
from trivium.testing.search_contract import found, put
from trivium.text.nearness import keys, sketch
from trivium.types import OWNER, Compare, Signal, Where


def numbers(store: Backend, document: int, where: Where = OWNER) -> list[int]:
    return [one.number for one in store.documents.history(document, where)]


class PastContract:
    def test_a_summary_is_known_by_its_bytes_and_its_summariser(self, store: Backend) -> None:
        told = replace(sample("a.md", "Amber.", "Bell."), summary="Of bells.", summarised_by="x/1")
        (id_,) = put(store, told)
        assert store.documents.summary(told.content_hash, "x/1") == "Of bells."
        assert store.documents.summary(told.content_hash, "x/2") is None
        assert store.documents.summary("unknown", "x/1") is None
        put(store, replace(sample("a.md", "Copper."), summarised_by="x/1"))
        assert (
            store.documents.summary(told.content_hash, "x/1") == "Of bells."
        )  # it may be cut anew
        with store.writer.writing():
            store.writer.remove([id_])
        assert store.documents.summary(told.content_hash, "x/1") is None

    @pytest.fixture
    def store(self) -> Backend:
        raise NotImplementedError("give the suite a store")

    def test_every_interpretation_is_kept_with_its_numbers(self, store: Backend) -> None:
        first = sample("a.md", "Amber.", "Copper.", title="Old", metadata={"year": 2001})
        first = replace(first, timings={"extract": 0.5}, original="sha256:1")
        (id_,) = put(store, first)
        put(store, sample("a.md", "Silver.", title="New", fingerprint="newer"))
        old, new = store.documents.history(id_, OWNER)
        assert (old.document, old.number, old.active) == (id_, 1, False)
        assert (new.number, new.active, new.retired_at) == (2, True, "")
        assert old.created_at <= new.created_at <= old.retired_at
        assert (old.title, old.metadata, old.chunks, old.elements) == ("Old", {"year": 2001}, 2, 2)
        assert (old.media_type, old.language, old.size) == ("text/plain", "en", first.size)
        assert (old.content_hash, old.fingerprint) == (first.content_hash, "sample")
        assert (old.timings, old.original, old.restored_from) == (
            {"extract": 0.5},
            "sha256:1",
            None,
        )
        assert (new.title, new.fingerprint, new.metadata) == ("New", "newer", {})

    def test_an_old_text_and_its_passages_can_be_read(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber.", "Copper."))
        put(store, sample("a.md", "Silver."))
        assert store.documents.text(id_, OWNER, 1) == "Amber.\n\nCopper."
        assert store.documents.text(id_, OWNER, 2) == store.documents.text(id_, OWNER) == "Silver."
        assert store.documents.text(id_, OWNER, 3) is None
        assert [p.chunk.text for p in store.documents.passages(id_, OWNER, 1)] == [
            "Amber.",
            "Copper.",
        ]
        assert [p.chunk.text for p in store.documents.passages(id_, OWNER, 2)] == ["Silver."]
        assert store.documents.passages(id_, OWNER, 3) == []
        old = [p.id for p in store.documents.passages(id_, OWNER, 1)]
        assert store.documents.chunks(old, OWNER) == [], "only the active one is found"

    def test_who_may_not_see_a_document_does_not_see_its_past(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber."))  # was for all, once
        put(store, sample("a.md", "Silver.", audience="dm-only"))
        player = Where(frozenset({"player"}))
        assert store.documents.history(id_, player) == []
        assert store.documents.text(id_, player, 1) is None
        assert store.documents.passages(id_, player, 1) == []
        assert numbers(store, id_, Where(frozenset({"dm-only"}))) == [1, 2]

    def test_a_past_interpretation_is_seen_by_who_holds_both_labels(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber.", audience="dm-only"))
        put(store, sample("a.md", "Silver."))
        put(store, sample("a.md", "Copper.", audience="player"))
        dm, player, both = (
            Where(frozenset(held)) for held in ({"dm-only"}, {"player"}, {"dm-only", "player"})
        )
        assert [one.audience for one in store.documents.history(id_, OWNER)] == [
            "dm-only",
            "all",
            "player",
        ]
        for where, seen in ((dm, []), (player, [2, 3]), (both, [1, 2, 3]), (OWNER, [1, 2, 3])):
            assert numbers(store, id_, where) == seen
            for number in (1, 2, 3):
                assert (store.documents.text(id_, where, number) is not None) == (number in seen)
                assert bool(store.documents.passages(id_, where, number)) == (number in seen)
        with store.writer.writing():
            assert store.writer.prune(player) == 1, "what one cannot see one does not prune"
        assert numbers(store, id_) == [1, 3]

    def test_an_interpretation_keeps_the_last_label_it_had(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber.", audience="dm-only"))
        with store.writer.writing():
            store.writer.relabel(id_, category="", audience="all", metadata={})
        put(store, sample("a.md", "Silver.", audience="all"))
        assert numbers(store, id_, Where(frozenset())) == [1, 2], "somebody said it is for all"

    def test_restoring_brings_back_text_and_signals(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber.", "Copper.", metadata={"year": 2001}))
        put(store, sample("a.md", "Silver.", metadata={"year": 2002}, language="de"))
        last = store.documents.passages(id_, OWNER)[-1].id
        with store.writer.writing():
            document = store.writer.restore(id_, 1)
        assert store.documents.all(OWNER) == [document]
        assert (document.id, document.interpretation, document.chunks) == (id_, 3, 2)
        assert (document.metadata, document.language) == ({"year": 2001}, "en")
        assert store.documents.text(id_, OWNER) == "Amber.\n\nCopper."
        assert all(p.id > last for p in store.documents.passages(id_, OWNER)), (
            "ids rise, for the indexes"
        )
        for signal in Signal:
            assert sorted(found(store, signal, "amber copper silver")) == ["Amber.", "Copper."]
        year = Where(None, Compare("year", "eq", 2001))
        assert len(store.documents.all(year)) == 1
        restored = store.documents.history(id_, OWNER)[-1]
        assert (restored.number, restored.restored_from, restored.active) == (3, 1, True)

    def test_restoring_widens_no_audience(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber."))
        put(store, sample("a.md", "Silver.", audience="dm-only", category="secret"))
        with store.writer.writing():
            document = store.writer.restore(id_, 1)
        assert (document.audience, document.category) == ("dm-only", "secret")
        assert found(store, Signal.KEYWORD, "amber", Where(frozenset())) == []

    def test_restoring_shows_no_text_to_who_could_not_see_it(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber.", audience="dm-only"))
        put(store, sample("a.md", "Silver.", audience="all"))
        with store.writer.writing():
            document = store.writer.restore(id_, 1)
        assert document.audience == "dm-only"
        assert store.documents.history(id_, OWNER)[-1].audience == "dm-only"
        assert found(store, Signal.KEYWORD, "amber", Where(frozenset())) == []
        assert found(store, Signal.KEYWORD, "amber", Where(frozenset({"dm-only"}))) == ["Amber."]
        put(store, sample("a.md", "Copper.", audience="player"))
        with store.writer.writing():
            assert store.writer.restore(id_, 1).audience == "dm-only", "the text's own"

    def test_a_restored_document_remembers_what_its_source_holds(self, store: Backend) -> None:
        old, new = sample("a.md", "Amber."), sample("a.md", "Silver.", fingerprint="newer")
        (id_,) = put(store, old)
        put(store, new)
        with store.writer.writing():
            document = store.writer.restore(id_, 1)
        assert (document.content_hash, document.fingerprint) == (old.content_hash, "sample")
        assert (document.seen_hash, document.seen_fingerprint) == (new.content_hash, "newer")
        assert [d.id for d in store.documents.alike([new.content_hash], "default")] == [id_]

    def test_restoring_what_is_not_there(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber."))
        for document, number in ((id_, 2), (id_, 0), (99, 1)):
            with store.writer.writing(), pytest.raises(DocumentNotFound):
                store.writer.restore(document, number)
        assert numbers(store, id_) == [1]

    def test_restoring_what_has_no_vectors(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber.", embedded=False))
        put(store, sample("a.md", "Silver."))
        with store.writer.writing():
            store.writer.restore(id_, 1)
        assert found(store, Signal.KEYWORD, "amber") == ["Amber."]
        assert found(store, Signal.VECTOR, "amber") == []

    def test_pruning_keeps_the_newest_and_the_active_one(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber."))
        (other,) = put(store, sample("b.md", "Fog."))
        for text in ("Copper.", "Silver.", "Golden."):
            put(store, sample("a.md", text))
        put(store, sample("b.md", "Mist."))
        with store.writer.writing():
            assert store.writer.prune(Where(None, Compare("source", "eq", "b.md")), keep=2) == 0
            assert store.writer.prune(Where(None, Compare("source", "eq", "a.md")), keep=3) == 1
            assert numbers(store, id_) == [2, 3, 4]
            assert store.writer.prune(OWNER, keep=2, before="2000") == 0, "nothing is that old"
            assert store.writer.prune(OWNER, keep=0) == 3, "never the active one"
        assert (numbers(store, id_), numbers(store, other)) == ([4], [2])
        assert store.documents.text(id_, OWNER, 3) is None
        assert found(store, Signal.KEYWORD, "golden silver") == ["Golden."]
        assert put(store, sample("a.md", "Brass.")) == [id_]
        assert numbers(store, id_) == [4, 5], "no number is used twice"

    def test_pruning_frees_the_vectors_that_nothing_else_uses(self, store: Backend) -> None:
        old = sample("a.md", "Amber.", "Copper.")
        amber, copper = old.hashes
        put(store, replace(old, tokens={amber: b"a", copper: b"c"}))
        put(store, sample("b.md", "Copper."))
        put(store, sample("a.md", "Silver."))
        assert set(store.models.known(TOY.fingerprint, old.hashes)) == {amber, copper}
        with store.writer.writing():
            store.writer.prune(OWNER)
        assert set(store.models.known(TOY.fingerprint, old.hashes)) == {copper}
        (kept,) = store.documents.passages(2, OWNER)
        assert store.signals.token_vectors([kept.id], OWNER, TOY.fingerprint) == {kept.id: b"c"}

    def test_what_a_document_is_embedded_under_is_kept(self, store: Backend) -> None:
        first = replace(sample("a.md", "Amber.", "Bell."), summary="Of bells.")
        put(store, first)
        assert store.documents.summarised(1) == Summarised("Of bells.", frozenset(first.hashes))
        second = replace(sample("a.md", "Copper."), summary="Of metals.")
        put(store, second)
        assert store.documents.summarised(1) == Summarised("Of metals.", frozenset(second.hashes))
        with store.writer.writing():
            store.writer.restore(1, 1)
        assert store.documents.summarised(1) == Summarised("Of bells.", frozenset(first.hashes))
        assert store.documents.summarised(2) is None

    def test_relabelling_reaches_the_active_interpretation(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "Amber.", metadata={"year": 2001}))
        with store.writer.writing():
            store.writer.relabel(id_, category="", audience="all", metadata={"year": 2002})
        assert [one.metadata for one in store.documents.history(id_, OWNER)] == [{"year": 2002}]

    def test_sketches_are_of_the_active_texts_that_may_be_seen(self, store: Backend) -> None:
        text = "The old lamp burns over the harbour tonight."
        one, two, three = put(
            store,
            sample("a.md", text),
            sample("b.md", text, audience="dm-only"),
            sample("c.md", "Fog on the quiet mill."),
        )
        sketches = store.documents.sketches(OWNER)
        assert sketches == {one: sketch(text), two: sketch(text), three: sketches[three]}
        assert set(store.documents.sketches(OWNER, [one])) == {one, two}
        assert set(store.documents.sketches(Where(frozenset()), [one])) == {one}
        assert set(store.documents.sketches(OWNER, [99])) == set()
        put(store, sample("b.md", "Nothing alike at all here."))
        assert set(store.documents.sketches(OWNER, [one])) == {one}
        with store.writer.writing():
            store.writer.restore(two, 1)
        assert set(store.documents.sketches(OWNER, [one])) == {one, two}
        with store.writer.writing():
            store.writer.remove([two])
        assert set(store.documents.sketches(OWNER)) == {one, three}

    def test_what_merely_has_a_sentence_in_common_is_not_compared(self, store: Backend) -> None:
        common = "Sent from the harbour office."
        one, two, three = put(
            store,
            sample("a.md", f"{common} The old lamp burns all night over the quiet black water."),
            sample("b.md", f"{common} Nobody crossed the square while the bells rang for noon."),
            sample("c.md", f"{common} The old lamp burns all night over the quiet dark water."),
        )
        known = store.documents.sketches(OWNER)
        assert set(keys(known[one])) & set(keys(known[two])), "found by a key"
        assert set(store.documents.sketches(OWNER, [one])) == {one, three}
        assert set(store.documents.sketches(OWNER, [two])) == {two}

    # originals

    def test_an_original_goes_with_its_last_use(self, store: Backend) -> None:
        address = store.originals.keep(b"amber")
        assert store.originals.keep(b"amber") == address
        first, second = put(
            store,
            sample("a.md", "Amber.", original=address),
            sample("b.md", "Amber again.", original=address),
        )
        assert store.documents.all(OWNER)[0].original == address
        with store.writer.writing():
            store.writer.remove([first])
        assert store.originals.get(address) == b"amber"
        put(store, sample("b.md", "Silver."))
        with store.writer.writing():
            store.writer.restore(second, 1)
            assert store.documents.all(OWNER)[0].original == address
            store.writer.prune(OWNER)
        assert store.originals.get(address) == b"amber", "the restored one refers to it"
        with store.writer.writing():
            store.writer.remove([second])
        with pytest.raises(OriginalMissing):
            store.originals.get(address)
        with pytest.raises(OriginalMissing):
            store.originals.get("")
