"""What every store must do, as a pytest class: inherit it and give it a `store` fixture."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trivium.ports import Backend
from trivium.testing.access_contract import AccessContract
from trivium.testing.conversation_contract import ConversationContract
from trivium.testing.model_contract import ModelContract
from trivium.testing.names_contract import NamesContract
from trivium.testing.past_contract import PastContract
from trivium.testing.samples import TOY, probe, sample
from trivium.testing.search_contract import ALL, SearchContract, found, put
from trivium.types import (
    OWNER,
    AllOf,
    AnyOf,
    Collection,
    Compare,
    Condition,
    Exists,
    Not,
    Signal,
    Spelled,
    Where,
)


def uris(store: Backend, condition: Condition, audiences: frozenset[str] | None = None) -> set[str]:
    return {document.uri for document in store.documents.all(Where(audiences, condition))}


class StoreContract(
    AccessContract, SearchContract, NamesContract, PastContract, ModelContract, ConversationContract
):
    """Override `store`; see tests/contract for an example."""

    @pytest.fixture
    def store(self) -> Backend:
        raise NotImplementedError("give the suite a store")

    # putting and removing

    def test_put_makes_a_document_that_every_signal_finds(self, store: Backend) -> None:
        put(store, sample("a.md", "The harbour lies under fog."))
        for signal in Signal:
            assert found(store, signal, "harbour") == ["The harbour lies under fog."]

    def test_a_new_interpretation_replaces_the_old_one_everywhere(self, store: Backend) -> None:
        (first,) = put(store, sample("a.md", "A lantern burns.", "A second lantern."))
        (second,) = put(store, sample("a.md", "A candle burns."))
        assert first == second
        assert [d.interpretation for d in store.documents.all(OWNER)] == [2]
        assert store.documents.text(second, OWNER) == "A candle burns."
        for signal in Signal:
            assert found(store, signal, "candle lantern burns") == ["A candle burns."]

    def test_the_same_uri_in_two_collections_is_two_documents(self, store: Backend) -> None:
        ids = put(store, sample("a.md", "One."), sample("a.md", "Two.", collection="other"))
        assert len(set(ids)) == 2

    def test_removal_leaves_nothing_to_find(self, store: Backend) -> None:
        gone, kept = put(store, sample("a.md", "Amber bell."), sample("b.md", "Copper bell."))
        with store.writer.writing():
            assert store.writer.remove([gone, 999_999]) == 1
            assert store.writer.remove([gone]) == 0
        assert [d.id for d in store.documents.all(OWNER)] == [kept]
        assert store.documents.text(gone, OWNER) is None
        for signal in Signal:
            assert found(store, signal, "amber bell") == ["Copper bell."]

    def test_ids_are_never_used_again(self, store: Backend) -> None:
        (first,) = put(store, sample("a.md", "Amber."))
        with store.writer.writing():
            store.writer.remove([first])
        (second,) = put(store, sample("a.md", "Amber."))
        assert second > first

    def test_relabelling_changes_who_sees_a_document(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "The vault is empty.", metadata={"year": 2001}))
        with store.writer.writing():
            store.writer.relabel(id_, category="lore", audience="dm-only", metadata={"year": 2002})
        for signal in Signal:
            assert found(store, signal, "vault", Where(frozenset())) == []
            assert found(store, signal, "vault", Where(frozenset({"dm-only"})))
        assert uris(store, Compare("year", "eq", 2002)) == {"a.md"}
        assert uris(store, Compare("year", "eq", 2001)) == set()

    def test_a_document_without_vectors_is_found_by_words(self, store: Backend) -> None:
        put(store, sample("a.md", "Plain words.", embedded=False))
        assert found(store, Signal.VECTOR, "plain") == []
        assert found(store, Signal.KEYWORD, "plain") == ["Plain words."]

    def test_embeddings_are_kept_by_model_and_hash(self, store: Backend) -> None:
        document = sample("a.md", "Amber bell.", "Copper bell.")
        put(store, document)
        assert set(store.models.known(TOY.fingerprint, [*document.hashes, "?"])) == {
            *document.hashes
        }
        assert store.models.known("another", document.hashes) == {}
        with store.writer.writing():
            store.writer.remove(d.id for d in store.documents.all(OWNER))
        assert store.models.known(TOY.fingerprint, document.hashes) == {}

    def test_vectors_of_a_document_that_lacks_others(self, store: Backend) -> None:
        document = sample("a.md", "Amber bell.", "Copper bell.", embedded=False)
        put(store, document)
        amber, copper = document.hashes
        vector = TOY.embed_query("Amber bell.")
        with store.writer.writing():
            store.models.keep(TOY.fingerprint, {amber: vector})
        found = store.models.known(TOY.fingerprint, [amber, copper])
        assert list(found) == [amber]
        assert float(found[amber] @ vector) > 0.999
        assert store.models.manifest().model == TOY.fingerprint
        with store.writer.writing():
            store.writer.remove([1])
        assert store.models.known(TOY.fingerprint, [amber]) == {}

    def test_token_vectors_are_kept_for_chunks_and_go_with_them(self, store: Backend) -> None:
        document = sample("a.md", "Amber bell.", "Copper bell.", audience="dm-only")
        amber, copper = document.hashes
        put(store, replace(document, tokens={amber: b"\x01amber", copper: b"\x01copper"}))
        put(store, sample("b.md", "Amber bell."), sample("c.md", "Fog."))
        assert store.signals.token_vectors([2, 1, 3, 4, 99], OWNER, TOY.fingerprint) == {
            1: b"\x01amber",
            2: b"\x01copper",
            3: b"\x01amber",
        }
        assert store.signals.token_vectors([1, 2, 3], Where(frozenset()), TOY.fingerprint) == {
            3: b"\x01amber"
        }
        with store.writer.writing():
            store.writer.remove([1])
        assert store.signals.token_vectors([1, 2, 3], OWNER, TOY.fingerprint) == {3: b"\x01amber"}
        with store.writer.writing():
            store.writer.remove([2])
        put(store, sample("d.md", "Amber bell.", "Copper bell."))
        assert store.signals.token_vectors([5, 6], OWNER, TOY.fingerprint) == {}

    def test_token_vectors_of_another_model_are_not_given(self, store: Backend) -> None:
        document = sample("a.md", "Amber bell.")
        put(store, sample("b.md", "Fog."))
        with store.writer.writing():
            store.writer.put(
                [replace(document, vectors=None, tokens={document.hashes[0]: b"x"})], "other"
            )
        assert store.signals.token_vectors([2], OWNER, TOY.fingerprint) == {}

    def test_rarer_words_are_rarer(self, store: Backend) -> None:
        put(store, *(sample(f"{n}.md", "lamp bell" if n else "lamp") for n in range(4)))
        lamp, bell, none = store.signals.rarities(["lamp", "bell", "fog"], OWNER)
        assert 0 < lamp < bell < none
        assert store.signals.rarities([], OWNER) == []

    # signals

    def test_hits_are_ordered_by_score_then_chunk_id(self, store: Backend) -> None:
        put(store, *(sample(f"{n}.md", "twin lamp") for n in range(30)), sample("x.md", "lamp"))
        for signal in Signal:
            hits = store.signals.search(signal, probe("twin lamp"), OWNER, 20)
            assert [(-h.score, h.chunk_id) for h in hits] == sorted(
                (-h.score, h.chunk_id) for h in hits
            )
            assert [h.chunk_id for h in hits] == list(range(1, 21))

    def test_vector_scores_are_cosines_above_the_threshold(self, store: Backend) -> None:
        put(store, sample("a.md", "amber bell"), sample("b.md", "fog"))
        hits = store.signals.search(Signal.VECTOR, probe("amber bell"), OWNER, ALL)
        assert hits[0].score == pytest.approx(1.0, abs=1e-3)
        hits = store.signals.search(Signal.VECTOR, probe("amber bell", threshold=0.5), OWNER, ALL)
        assert [hit.chunk_id for hit in hits] == [1]

    def test_keyword_stems_by_the_documents_language(self, store: Backend) -> None:
        put(store, sample("en.md", "The swords were drawn."))
        put(store, sample("de.md", "Die Häuser brannten.", language="de"))
        assert found(store, Signal.KEYWORD, "sword") == ["The swords were drawn."]
        assert found(store, Signal.KEYWORD, "Haus") == ["Die Häuser brannten."]

    def test_keyword_looks_at_headings(self, store: Backend) -> None:
        put(store, sample("a.md", "It is heavy.", title="Warhammer"))
        assert found(store, Signal.KEYWORD, "warhammer") == ["It is heavy."]

    @pytest.mark.parametrize(
        ("query", "texts"),
        [
            ('"salt before silver"', {"salt before silver"}),
            ('"salt before silver" silver', {"salt before silver"}),
            ("salt OR moon", {"salt before silver", "silver before salt", "moon"}),
            ('"salt before" OR moon', {"salt before silver", "moon"}),
            ("salt -before", set()),
            ('salt -"before silver"', {"silver before salt"}),
            ("silver the and", {"salt before silver", "silver before salt"}),
            ('"unbalanced moon', {"moon"}),
            ("moon -", {"moon"}),
            ("nothing", set()),
        ],
    )
    def test_keyword_syntax(self, store: Backend, query: str, texts: set[str]) -> None:
        put(store, *(sample(t, t) for t in ("salt before silver", "silver before salt", "moon")))
        assert set(found(store, Signal.KEYWORD, query)) == texts

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("battleaxe", "A battle axe hangs there."),
            ("Shortsord", "A short sword hangs there."),
            ("short sword", "A shortsword hangs there."),
            ("axe", "A battleaxe hangs there."),
            ("lonbow", "A longbow hangs there."),
            ("Yrsa", "Old Ýrsa hangs there."),
        ],
    )
    def test_trigram_finds_what_is_spelled_alike(
        self, store: Backend, query: str, text: str
    ) -> None:
        put(store, sample("x.md", "Fog over the quiet mill."), sample("a.md", text))
        assert found(store, Signal.TRIGRAM, query)[0] == text

    def test_trigram_scores_lie_between_0_and_1(self, store: Backend) -> None:
        put(store, sample("a.md", "crown crown crown"), sample("b.md", "crowns"))
        hits = store.signals.search(Signal.TRIGRAM, probe("crown"), OWNER, ALL)
        assert len(hits) == 2
        assert all(0 < hit.score <= 1 for hit in hits)

    def test_spellings_know_a_word_or_what_was_meant(self, store: Backend) -> None:
        put(store, sample("a.md", "The harbour lies under fog.", "Two harbours, a battle axe."))
        found = store.signals.spellings(["harbour", "harbuor", "foggs", "battleaxe", "zzz"], OWNER)
        assert found["harbour"] == (Spelled(("harbour",), 1),)
        assert Spelled(("harbour",), 1) in found["harbuor"]
        assert Spelled(("battle", "axe"), 1) in found["battleaxe"]
        assert found["zzz"] == ()

    def test_spellings_say_which_are_other_endings(self, store: Backend) -> None:
        put(store, sample("a.md", "Die Häuser brannten.", language="de"))
        assert store.signals.spellings(["hauses"], OWNER)["hauses"] == (
            Spelled(("hauser",), 1, True),
        )

    def test_spellings_keep_to_what_the_caller_may_see(self, store: Backend) -> None:
        hidden, _ = put(
            store,
            sample("s.md", "The lantern of Ysolde.", "Ysolde again.", audience="dm-only"),
            sample("p.md", "A lantern burns."),
        )
        player = Where(frozenset())
        words = ["ysolde", "ysolda", "lantern", "lanterm"]
        seen = store.signals.spellings(words, player)
        assert seen["ysolde"] == seen["ysolda"] == ()
        assert [s.words for s in seen["lantern"]] == [s.words for s in seen["lanterm"]]
        assert seen["lanterm"] == (Spelled(("lantern",), 1),)
        assert store.signals.spellings(words, OWNER)["ysolda"] == (Spelled(("ysolde",), 2),)
        with store.writer.writing():
            store.writer.remove([hidden])
        assert store.signals.spellings(words, OWNER) == seen

    def test_an_empty_store_answers_with_nothing(self, store: Backend) -> None:
        assert store.signals.spellings(["anything"], OWNER) == {"anything": ()}
        for signal in Signal:
            assert store.signals.search(signal, probe("anything"), OWNER, 10) == []
        assert store.documents.all(OWNER) == []

    # filters

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (AllOf(), {"a.md", "/b.md", "c.md"}),
            (AnyOf(), set()),
            (Compare("collection", "eq", "lore"), {"/b.md"}),
            (Compare("category", "eq", "rules"), {"a.md", "c.md"}),
            (Compare("source", "eq", "b.md"), {"/b.md"}),
            (Compare("source", "eq", "/b.md"), {"/b.md"}),
            (Compare("source", "eq", "#3"), {"c.md"}),
            (Compare("type", "eq", "text"), {"a.md", "/b.md", "c.md"}),
            (Compare("language", "eq", "de"), {"c.md"}),
            (Compare("year", "ge", 2020), {"/b.md", "c.md"}),
            (Compare("year", "lt", 2020), {"a.md"}),
            (Compare("authors", "eq", "KIM"), {"a.md", "/b.md"}),
            (Exists("authors"), {"a.md", "/b.md"}),
            (Exists("category"), {"a.md", "c.md"}),
            (Not(Exists("authors")), {"c.md"}),
            (Not(Compare("category", "eq", "rules")), {"/b.md"}),
            (Compare("unknown", "eq", "x"), set()),
            (AllOf((Compare("category", "eq", "rules"), Compare("year", "eq", 2021))), {"c.md"}),
            (
                AnyOf((Compare("year", "eq", 2019), Compare("year", "eq", 2020))),
                {"a.md", "/b.md"},
            ),
        ],
    )
    def test_filters(self, store: Backend, condition: Condition, expected: set[str]) -> None:
        put(
            store,
            sample("a.md", "lamp", category="rules", metadata={"year": 2019, "authors": ("Kim",)}),
            sample(
                "/b.md",
                "lamp",
                collection="lore",
                metadata={"year": 2020, "authors": ("B", "Kim")},
            ),
            sample("c.md", "lamp", category="rules", language="de", metadata={"year": 2021}),
        )
        assert uris(store, condition) == expected
        where = Where(None, condition)
        for signal in Signal:
            hits = store.signals.search(signal, probe("lamp"), where, ALL)
            chunks = store.documents.chunks([hit.chunk_id for hit in hits], where)
            assert {c.document.uri for c in chunks} == expected

    def test_no_caller_sees_beyond_their_audiences(self, store: Backend) -> None:
        secret, _ = put(
            store,
            sample("s.md", "the lamp is a trap", audience="dm-only"),
            sample("p.md", "lamp"),
        )
        player, master = Where(frozenset({"player"})), Where(frozenset({"dm-only"}))
        for signal in Signal:
            assert found(store, signal, "lamp trap", player) == ["lamp"]
            assert len(found(store, signal, "lamp trap", master)) == 2
            hits = store.signals.search(signal, probe("lamp trap"), OWNER, ALL)
            assert len(store.documents.chunks([hit.chunk_id for hit in hits], player)) == 1
        assert store.documents.text(secret, player) is None
        assert store.documents.passages(secret, player) == []
        assert [d.uri for d in store.documents.all(player)] == ["p.md"]

    def test_a_narrow_filter_loses_nothing(self, store: Backend) -> None:
        crowd = [sample(f"{n}.md", f"lamp number {n}", category="crowd") for n in range(300)]
        few = [sample(f"few{n}.md", f"dim lamp {n}", category="few") for n in range(3)]
        put(store, *crowd, *few)
        where = Where(None, Compare("category", "eq", "few"))
        for signal in Signal:
            assert len(store.signals.search(signal, probe("lamp"), where, 10)) == 3

    # reading back

    def test_chunks_come_in_the_order_asked(self, store: Backend) -> None:
        put(store, sample("a.md", "one", "two", "three"))
        assert [c.chunk.text for c in store.documents.chunks([3, 1, 99, 2], OWNER)] == [
            "three",
            "one",
            "two",
        ]

    def test_passages_are_the_document_in_order(self, store: Backend) -> None:
        (id_,) = put(store, sample("a.md", "one", "two", title="Numbers"))
        passages = store.documents.passages(id_, OWNER)
        text = store.documents.text(id_, OWNER) or ""
        assert [text[p.chunk.start : p.chunk.end] for p in passages] == ["one", "two"]
        assert [p.chunk.headings for p in passages] == [("Numbers",)] * 2

    def test_documents_can_be_paged(self, store: Backend) -> None:
        put(store, *(sample(f"{n}.md", "x") for n in range(5)))
        assert [d.uri for d in store.documents.all(OWNER, after=2, limit=2)] == ["2.md", "3.md"]

    def test_find_knows_a_document_by_source_and_collection(self, store: Backend) -> None:
        put(store, sample("a.md", "x", metadata={"tags": ("red", "blue"), "year": 3}))
        document = store.documents.find("a.md", "default")
        assert document is not None
        assert document.metadata == {"tags": ("red", "blue"), "year": 3}
        assert store.documents.find("a.md", "other") is None

    def test_several_are_found_at_once_by_any_of_their_names(self, store: Backend) -> None:
        put(store, sample("a.md", "Amber."), sample("b.md", "Silver."))
        with store.writer.writing():
            store.writer.add_name(1, "c.md")
        found = store.documents.find_all(["c.md", "b.md", "gone.md"], "default")
        assert {uri: document.id for uri, document in found.items()} == {"c.md": 1, "b.md": 2}
        assert (
            store.documents.find_all(["a.md"], "other")
            == store.documents.find_all([], "default")
            == {}
        )

    # collections

    def test_collections_count_what_the_caller_may_see(self, store: Backend) -> None:
        put(
            store,
            sample("a.md", "One.", "Two.", collection="game"),
            sample("b.md", "Three.", collection="game", audience="dm-only"),
            sample("c.md", "Four.", collection="vault", audience="dm-only"),
        )
        assert store.documents.collections(OWNER) == [
            Collection("game", 2, 3, ""),
            Collection("vault", 1, 1, ""),
        ]
        players = Where(frozenset({"players"}))
        assert store.documents.collections(players) == [Collection("game", 1, 2, "")]

    def test_a_collection_keeps_its_chunker(self, store: Backend) -> None:
        assert store.documents.chunker("papers") == ""
        with store.writer.writing():
            store.writer.set_chunker("papers", "sections")
            store.writer.set_chunker("papers", "abstract")
        assert (store.documents.chunker("papers"), store.documents.chunker("default")) == (
            "abstract",
            "",
        )
        assert store.documents.collections(OWNER) == [Collection("papers", 0, 0, "abstract")]
        assert store.documents.collections(Where(frozenset())) == [], "nothing of it may be seen"
        put(store, sample("a.md", "One.", collection="papers"))
        assert store.documents.collections(OWNER) == [Collection("papers", 1, 1, "abstract")]
