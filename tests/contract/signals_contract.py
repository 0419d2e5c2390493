"""What every backend must answer to each of the three signals."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest
from tests.contract.part import PartContract

from trivium.core.types import OWNER, Compare, Metadata, Signal, Spelled, Where
from trivium.ports import Backend
from trivium.testing.samples import ALL, TOY, found, probe, put, sample, writer


class SignalsContract(PartContract):
    """Which chunks are found, in which order, and that callers learn nothing of hidden ones."""

    def test_no_caller_sees_beyond_their_collections(self, backend: Backend) -> None:
        secret, _ = put(
            backend,
            sample("s.md", "the lamp is a trap", collection="vault", metadata={"trap": 1}),
            sample("p.md", "lamp", collection="rules"),
        )
        player = Where(frozenset(), collections=frozenset({"rules"}))
        for signal in Signal:
            assert found(backend, signal, "lamp trap", player) == ["lamp"]
            hits = backend.signals.search(signal, probe("lamp trap"), OWNER, ALL)
            assert len(backend.documents.chunks([hit.chunk_id for hit in hits], player)) == 1
            asking = player.narrowed(Compare("collection", "eq", "vault"))
            assert backend.signals.search(signal, probe("lamp"), asking, ALL) == []
        assert backend.documents.text(secret, player) is None
        assert backend.documents.passages(secret, player) == []
        assert backend.documents.field_names(player) == frozenset()
        assert [c.name for c in backend.documents.collections(player)] == ["rules"]
        assert backend.signals.spellings(["trap"], player) == {"trap": ()}
        assert [d.uri for d in backend.documents.all(player)] == ["p.md"]
        assert backend.documents.all(Where(None, collections=frozenset())) == []

    @pytest.mark.parametrize("act", ["rebuild", "compact"])
    def test_upkeep_changes_no_score(self, backend: Backend, act: str) -> None:
        """Words that only removed documents have take part in nothing, rebuilt or not."""
        put(backend, sample("a.md", "the harbour at night"), sample("b.md", "a lamp, a die"))
        (gone,) = put(backend, sample("c.md", "harbor harbours lampe dice"))
        backend.writer.remove([gone])
        queries = ("harbor", "harbr lampe", "lamp dice", "harbour -lamp")

        def answers() -> list[object]:
            return [
                *(
                    backend.signals.search(signal, probe(query), OWNER, ALL)
                    for query in queries
                    for signal in Signal
                ),
                backend.signals.spellings(["harbor", "lampe", "dice"], OWNER),
                backend.signals.completions("har", OWNER, 5),
            ]

        before = answers()
        with backend.writer.writing():
            getattr(backend.upkeep, act)()
        assert answers() == before

    def test_hidden_documents_change_no_score(self, backend: Backend) -> None:
        put(backend, sample("a.md", "the harbour at night", "take it over there", "a lamp, a die"))
        player = Where(frozenset())
        queries = ("takeover", "harbour takeover", "harbr", "die lamp", "harbour -lamp")

        def answers() -> list[object]:
            hits = [
                backend.signals.search(signal, probe(query), player, ALL)
                for signal in Signal
                for query in queries
            ]
            words = ["takeover", "lamp", "harbr", "ha"]
            spelled = (
                backend.signals.spellings(words, player),
                backend.signals.completions("ha", player, 1),
            )
            return [*hits, *spelled, list(backend.signals.rarities(words, player))]

        before = answers()
        hidden = "takeover of harbours, harbour lamp"
        put(backend, sample("b.md", hidden, "die harbr", audience="dm-only", language="de"))
        assert answers() == before

    def test_documents_are_found_by_what_is_known_of_them(self, backend: Backend) -> None:
        about: Metadata = {
            "authors": ("Jane Smith", "Omar Haddad"),
            "year": 2023,
            "keywords": ("ebb",),
        }
        first, other = put(
            backend,
            sample("x/gauge.md", "A float.", "A well.", title="Tides", metadata=about),
            sample("x/kelp.md", "Haddad and Smith wrote about kelp in 2023.", title="Kelp"),
        )
        (top, second, *_) = backend.signals.search(Signal.KEYWORD, probe("haddad"), OWNER, ALL)
        rare = log(1 + (3 - 2 + 0.5) / (2 + 0.5))  # in one text, and as an author of another
        assert top.score == pytest.approx(rare * 2.2 * (1 - (1 / 3) ** 4))
        assert second.score == pytest.approx(top.score * 0.9)  # the second passage
        assert found(backend, Signal.TRIGRAM, "hadad")[0] == "A float."
        assert found(backend, Signal.KEYWORD, '"jane smith"') == ["A float.", "A well."]
        assert found(backend, Signal.KEYWORD, '"smith jane"') == []
        assert found(backend, Signal.KEYWORD, "ebb") == ["A float.", "A well."]
        assert found(backend, Signal.KEYWORD, "+ebb gauge") == ["A float.", "A well."]
        with backend.writer.writing():
            backend.writer.relabel(
                first, category="", audience="all", metadata={"authors": ("Ida Blom",)}
            )
            backend.writer.rename(other, "x/kelp.md", "y/seaweed.md")
        backend.signals.refresh()
        assert found(backend, Signal.KEYWORD, "ebb") == []
        assert found(backend, Signal.KEYWORD, "blom") == ["A float.", "A well."]
        assert found(backend, Signal.KEYWORD, "seaweed") == [
            "Haddad and Smith wrote about kelp in 2023."
        ]
        backend.upkeep.rebuild()
        backend.signals.refresh()
        assert found(backend, Signal.TRIGRAM, "blm") == ["A float.", "A well."]

    def test_what_is_known_of_hidden_documents_changes_nothing(self, backend: Backend) -> None:
        player = Where(frozenset())
        put(backend, sample("a.md", "A lamp.", metadata={"authors": ("Ann Reed",), "year": 1999}))

        def answers() -> list[object]:
            queries = ("reed 1999", "reid", "ann lamp", '"ann reed"', "haddad")
            hits = [
                backend.signals.search(signal, probe(query), player, ALL)
                for signal in (Signal.KEYWORD, Signal.TRIGRAM)
                for query in queries
            ]
            words = ["reed", "haddad", "reid"]
            return [
                *hits,
                list(backend.signals.rarities(words, player)),
                backend.signals.spellings(words, player),
                backend.signals.completions("re", player, 9),
            ]

        before = answers()
        secret: Metadata = {"authors": ("Omar Haddad", "Ann Reed", "Reid"), "year": 1999}
        put(backend, sample("reeds.md", "Dark.", audience="dm-only", metadata=secret))
        assert answers() == before

    def test_words_go_on_as_visible_chunks_have_them(self, backend: Backend) -> None:
        put(
            backend,
            sample("a.md", "crown", "crown", "cruel crow"),
            sample("b.md", "crocodile crown", audience="dm-only"),
        )
        player = Where(frozenset())
        assert backend.signals.completions("cr", player, 9) == (
            Spelled(("crown",), 2),
            Spelled(("crow",), 1),
            Spelled(("cruel",), 1),
        )
        assert backend.signals.completions("cr", OWNER, 1) == (Spelled(("crown",), 3),)
        assert backend.signals.completions("croc", player, 9) == ()
        assert backend.signals.completions("c", OWNER, 9) == (), "too short to begin anything"

    def test_every_signal_leaves_out_what_the_query_excludes(self, backend: Backend) -> None:
        put(backend, sample("a.md", "A foggy harbour.", "A sunny harbour.", "A harbour with fog."))
        for signal in Signal:
            texts = found(backend, signal, "harbour -fog")
            assert sorted(texts) == ["A foggy harbour.", "A sunny harbour."]
            texts = found(backend, signal, 'harbour -"sunny harbour" -foggy')
            assert texts == ["A harbour with fog."]

    def test_a_document_without_vectors_is_found_by_words(self, backend: Backend) -> None:
        put(backend, sample("a.md", "Plain words.", embedded=False))
        assert found(backend, Signal.VECTOR, "plain") == []
        assert found(backend, Signal.KEYWORD, "plain") == ["Plain words."]

    def test_a_sample_is_spread_over_the_active_chunks_that_a_caller_may_see(
        self, backend: Backend
    ) -> None:
        assert backend.signals.sample(5, OWNER) == (0, [])
        put(backend, sample("a.md", "One.", "Two.", audience="dm-only"))
        put(backend, sample("b.md", "Three.", "Four.", "Five."), sample("c.md", "Six."))
        writer(backend).remove([3])
        assert backend.signals.sample(9, OWNER) == (5, [1, 2, 3, 4, 5])
        assert backend.signals.sample(3, OWNER) == (5, [1, 3, 5])
        assert backend.signals.sample(9, Where(frozenset())) == (3, [3, 4, 5])

    def test_token_vectors_are_kept_for_chunks_and_go_with_them(self, backend: Backend) -> None:
        document = sample("a.md", "Amber bell.", "Copper bell.", audience="dm-only")
        amber, copper = document.hashes
        put(backend, replace(document, tokens={amber: b"\x01amber", copper: b"\x01copper"}))
        put(backend, sample("b.md", "Amber bell."), sample("c.md", "Fog."))
        assert backend.signals.token_vectors([2, 1, 3, 4, 99], OWNER, TOY.fingerprint) == {
            1: b"\x01amber",
            2: b"\x01copper",
            3: b"\x01amber",
        }
        assert backend.signals.token_vectors([1, 2, 3], Where(frozenset()), TOY.fingerprint) == {
            3: b"\x01amber"
        }
        writer(backend).remove([1])
        assert backend.signals.token_vectors([1, 2, 3], OWNER, TOY.fingerprint) == {3: b"\x01amber"}
        writer(backend).remove([2])
        put(backend, sample("d.md", "Amber bell.", "Copper bell."))
        assert backend.signals.token_vectors([5, 6], OWNER, TOY.fingerprint) == {}

    def test_token_vectors_of_another_model_are_not_given(self, backend: Backend) -> None:
        document = sample("a.md", "Amber bell.")
        put(backend, sample("b.md", "Fog."))
        writer(backend).put(
            [replace(document, vectors=None, tokens={document.hashes[0]: b"x"})], "other"
        )
        assert backend.signals.token_vectors([2], OWNER, TOY.fingerprint) == {}

    def test_rarer_words_are_rarer(self, backend: Backend) -> None:
        put(backend, *(sample(f"{n}.md", "lamp bell" if n else "lamp") for n in range(4)))
        lamp, bell, none = backend.signals.rarities(["lamp", "bell", "fog"], OWNER)
        assert 0 < lamp < bell < none
        assert backend.signals.rarities([], OWNER) == []

    def test_hits_are_ordered_by_score_then_chunk_id(self, backend: Backend) -> None:
        put(backend, *(sample(f"{n}.md", "twin lamp") for n in range(30)), sample("x.md", "lamp"))
        for signal in Signal:
            hits = backend.signals.search(signal, probe("twin lamp"), OWNER, 20)
            assert [(-h.score, h.chunk_id) for h in hits] == sorted(
                (-h.score, h.chunk_id) for h in hits
            )
            assert [h.chunk_id for h in hits] == list(range(1, 21))

    def test_vector_scores_are_cosines_above_the_threshold(self, backend: Backend) -> None:
        put(backend, sample("a.md", "amber bell"), sample("b.md", "fog"))
        hits = backend.signals.search(Signal.VECTOR, probe("amber bell"), OWNER, ALL)
        assert hits[0].score == pytest.approx(1.0, abs=1e-3)
        hits = backend.signals.search(Signal.VECTOR, probe("amber bell", threshold=0.5), OWNER, ALL)
        assert [hit.chunk_id for hit in hits] == [1]

    def test_keyword_stems_by_the_documents_language(self, backend: Backend) -> None:
        put(backend, sample("en.md", "The swords were drawn."))
        put(backend, sample("de.md", "Die Häuser brannten.", language="de"))
        assert found(backend, Signal.KEYWORD, "sword") == ["The swords were drawn."]
        assert found(backend, Signal.KEYWORD, "Haus") == ["Die Häuser brannten."]

    def test_keyword_looks_at_headings(self, backend: Backend) -> None:
        put(backend, sample("a.md", "It is heavy.", title="Warhammer"))
        assert found(backend, Signal.KEYWORD, "warhammer") == ["It is heavy."]

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
    def test_keyword_syntax(self, backend: Backend, query: str, texts: set[str]) -> None:
        put(backend, *(sample(t, t) for t in ("salt before silver", "silver before salt", "moon")))
        assert set(found(backend, Signal.KEYWORD, query)) == texts

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
        self, backend: Backend, query: str, text: str
    ) -> None:
        put(backend, sample("x.md", "Fog over the quiet mill."), sample("a.md", text))
        assert found(backend, Signal.TRIGRAM, query)[0] == text

    def test_trigram_scores_lie_between_0_and_1(self, backend: Backend) -> None:
        put(backend, sample("a.md", "crown crown crown"), sample("b.md", "crowns"))
        hits = backend.signals.search(Signal.TRIGRAM, probe("crown"), OWNER, ALL)
        assert len(hits) == 2
        assert all(0 < hit.score <= 1 for hit in hits)

    def test_spellings_know_a_word_or_what_was_meant(self, backend: Backend) -> None:
        put(backend, sample("a.md", "The harbour lies under fog.", "Two harbours, a battle axe."))
        spellings = backend.signals.spellings(
            ["harbour", "harbuor", "foggs", "battleaxe", "zzz"], OWNER
        )
        assert spellings["harbour"] == (Spelled(("harbour",), 1),)
        assert Spelled(("harbour",), 1) in spellings["harbuor"]
        assert Spelled(("battle", "axe"), 1) in spellings["battleaxe"]
        assert spellings["zzz"] == ()

    def test_spellings_say_which_are_other_endings(self, backend: Backend) -> None:
        put(backend, sample("a.md", "Die Häuser brannten.", language="de"))
        assert backend.signals.spellings(["hauses"], OWNER)["hauses"] == (
            Spelled(("hauser",), 1, True),
        )

    def test_spellings_keep_to_what_the_caller_may_see(self, backend: Backend) -> None:
        hidden, _ = put(
            backend,
            sample("s.md", "The lantern of Ysolde.", "Ysolde again.", audience="dm-only"),
            sample("p.md", "A lantern burns."),
        )
        player = Where(frozenset())
        words = ["ysolde", "ysolda", "lantern", "lanterm"]
        seen = backend.signals.spellings(words, player)
        assert seen["ysolde"] == seen["ysolda"] == ()
        assert [s.words for s in seen["lantern"]] == [s.words for s in seen["lanterm"]]
        assert seen["lanterm"] == (Spelled(("lantern",), 1),)
        assert backend.signals.spellings(words, OWNER)["ysolda"] == (Spelled(("ysolde",), 2),)
        writer(backend).remove([hidden])
        assert backend.signals.spellings(words, OWNER) == seen

    def test_an_empty_store_answers_with_nothing(self, backend: Backend) -> None:
        assert backend.signals.spellings(["anything"], OWNER) == {"anything": ()}
        for signal in Signal:
            assert backend.signals.search(signal, probe("anything"), OWNER, 10) == []
        assert backend.documents.all(OWNER) == []

    def test_a_narrow_filter_loses_nothing(self, backend: Backend) -> None:
        crowd = [sample(f"{n}.md", f"lamp number {n}", category="crowd") for n in range(300)]
        few = [sample(f"few{n}.md", f"dim lamp {n}", category="few") for n in range(3)]
        put(backend, *crowd, *few)
        where = Where(None, Compare("category", "eq", "few"))
        for signal in Signal:
            assert len(backend.signals.search(signal, probe("lamp"), where, 10)) == 3

    def test_every_signal_finds_only_what_the_query_requires(self, backend: Backend) -> None:
        put(
            backend,
            sample("a.md", "The crown lies in the harbour.", "The crown of fog.", "Two harbours."),
            sample("b.md", "A crown beside harbours.", audience="dm-only"),
        )
        seen = Where(frozenset())
        both = ["A crown beside harbours.", "The crown lies in the harbour."]
        for signal in Signal:
            assert sorted(found(backend, signal, "+crown +harbour fog")) == both
            assert found(backend, signal, "+crown +harbour fog", seen) == both[1:]
            either = found(backend, signal, 'fog +"the harbour" OR two', seen)
            assert set(either) <= {"Two harbours.", both[1]}
            assert found(backend, signal, "crown +lantern") == []

    def test_every_word_binds_the_keyword_signal_alone(self, backend: Backend) -> None:
        put(backend, sample("a.md", "The crown lies in the harbour.", "The crown of fog."))
        for where in (OWNER, Where(frozenset())):
            both = probe("the crown of the harbour")
            both = replace(both, query=replace(both.query, every_word=True))
            counts = {
                signal: len(backend.signals.search(signal, both, where, ALL)) for signal in Signal
            }
            assert counts == {Signal.VECTOR: 2, Signal.KEYWORD: 1, Signal.TRIGRAM: 2}
