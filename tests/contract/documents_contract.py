"""What every backend must tell of its documents, to whom."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.contract.part import PartContract

from trivium.core.types import (
    OWNER,
    AllOf,
    AnyOf,
    Collection,
    Compare,
    Condition,
    Exists,
    Not,
    Place,
    Signal,
    Where,
)
from trivium.ports import Backend, SenderUsage, Summarised
from trivium.testing.samples import ALL, TOY, copy, found, probe, put, sample, writer
from trivium.text.nearness import keys, sketch


def uris(
    backend: Backend, condition: Condition, audiences: frozenset[str] | None = None
) -> set[str]:
    return {document.uri for document in backend.documents.all(Where(audiences, condition))}


class DocumentsContract(PartContract):
    """Reading, by filters and by names. Callers learn nothing of documents they may not see."""

    def test_what_senders_have_in_collections(self, backend: Backend) -> None:
        sent = [
            sample("u1.md", "One.", collection="used", sender="a"),
            sample("u2.md", "Two, longer.", collection="used", sender="a"),
            sample("u3.md", "Three.", collection="used", sender="b"),
            sample("u4.md", "Four.", collection="used too", sender="a"),
        ]
        document, two, three, four = writer(backend).put(sent, TOY.fingerprint)
        first = SenderUsage("a", "used", 2, document.size + two.size)
        second, third = (
            SenderUsage("a", "used too", 1, four.size),
            SenderUsage("b", "used", 1, three.size),
        )
        assert backend.documents.usage(sender="a") == [first, second]
        assert backend.documents.usage(collection="used") == [first, third]
        assert [u for u in backend.documents.usage() if u.sender] == [first, second, third]
        writer(backend).remove([two.id, four.id])
        assert backend.documents.usage(sender="a") == [SenderUsage("a", "used", 1, document.size)]

    def test_changes_are_numbered_as_they_become_visible(self, backend: Backend) -> None:
        last, _ = backend.documents.changed(0, OWNER)
        first, second = writer(backend).put(
            [sample("n1.md", "One."), sample("n2.md", "Two.")], TOY.fingerprint
        )
        upto, fresh = backend.documents.changed(last, OWNER)
        assert {document.id for _, document in fresh} == {first.id, second.id}
        assert all(last < number <= upto for number, _ in fresh)
        assert backend.documents.changed(upto, OWNER) == (upto, [])
        writer(backend).put([sample("n1.md", "One, changed.")], TOY.fingerprint)
        later, changed = backend.documents.changed(upto, OWNER)
        assert [document.id for _, document in changed] == [first.id]
        assert later > upto

    def test_documents_are_counted_by_label_as_far_as_they_may_be_seen(
        self, backend: Backend
    ) -> None:
        put(
            backend,
            sample("a.md", "lamp", collection="rules", category="core"),
            sample("b.md", "lamp", collection="rules"),
            sample("c.md", "lamp", collection="vault", category="core", audience="dm-only"),
        )
        assert backend.documents.counts("collection", OWNER) == {"rules": 2, "vault": 1}
        assert backend.documents.counts("category", OWNER) == {"core": 2, "": 1}
        player = Where(frozenset())
        assert backend.documents.counts("collection", player) == {"rules": 2}
        assert backend.documents.counts("category", player) == {"core": 1, "": 1}
        core = player.narrowed(Compare("category", "eq", "core"))
        assert sum(backend.documents.counts("type", core).values()) == 1
        (kind,) = backend.documents.counts("type", OWNER)
        assert len(backend.documents.all(OWNER.narrowed(Compare("type", "eq", kind)))) == 3
        assert sum(backend.documents.counts("language", OWNER).values()) == 3

    def test_a_file_without_text_of_its_own_is_neither_listed_nor_counted(
        self, backend: Backend
    ) -> None:
        """A list of references holds papers, and is none."""
        put(backend, sample("refs.bib"), sample("refs.bib!/reed.csl.json", "lamp"))
        assert len(backend.documents.all(OWNER)) == 2
        (paper,) = backend.documents.all(OWNER, listed=True)
        assert paper.uri == "refs.bib!/reed.csl.json"
        assert [collection.documents for collection in backend.documents.collections(OWNER)] == [1]
        assert backend.documents.counts("collection", OWNER) == {"default": 1}

    def test_what_is_called_something_below_a_folder(self, backend: Backend) -> None:
        put(
            backend,
            sample("/notes/a.md", "Amber."),
            sample("/notes/a.zip!/b.md", "Inner."),
            sample("/Notes/c.md", "Other case."),
            sample("/notes%/d.md", "No wildcard."),
            sample("/notes-old/e.md", "Beside it."),
            sample("/notes/f.md", "Elsewhere.", collection="other"),
        )
        writer(backend).add_name(3, "/notes/z.md")
        inside = ["/notes/a.md", "/notes/a.zip!/b.md", "/notes/z.md"]
        assert backend.documents.below("/notes/", "default") == inside
        assert backend.documents.below("/notes/", "other") == ["/notes/f.md"]
        assert backend.documents.below("/notes/a.md/", "default") == []
        since = backend.documents.below("/notes/", "default", since="/notes/a.zip!/b.md")
        assert since == inside[1:]
        assert backend.documents.below("/notes/", "default", before="/notes/z.md") == inside[:2]
        between = {"since": "/notes/a.n", "before": "/notes/b"}
        assert backend.documents.below("/notes/", "default", **between) == inside[1:2]

    def test_alike_are_those_with_the_same_bytes(self, backend: Backend) -> None:
        first, second = put(backend, copy("a.md", "Amber."), copy("b.md", "Amber.", audience="x"))
        digest = copy("a.md", "Amber.").content_hash
        assert [d.id for d in backend.documents.alike([digest, "?"], "default")] == [first, second]
        assert (
            backend.documents.alike([digest], "other")
            == backend.documents.alike(["?"], "default")
            == []
        )
        assert backend.documents.alike([], "default") == []

    def test_a_summary_is_known_by_its_bytes_and_its_summariser(self, backend: Backend) -> None:
        document = replace(
            sample("a.md", "Amber.", "Bell."), summary="Of bells.", summarised_by="x/1"
        )
        (id_,) = put(backend, document)
        assert backend.documents.summary(document.content_hash, "x/1") == "Of bells."
        assert backend.documents.summary(document.content_hash, "x/2") is None
        assert backend.documents.summary("unknown", "x/1") is None
        put(backend, replace(sample("a.md", "Copper."), summarised_by="x/1"))
        assert (
            backend.documents.summary(document.content_hash, "x/1") == "Of bells."
        )  # it may be chunked again
        writer(backend).remove([id_])
        assert backend.documents.summary(document.content_hash, "x/1") is None

    def test_what_a_document_is_embedded_under_is_kept(self, backend: Backend) -> None:
        first = replace(sample("a.md", "Amber.", "Bell."), summary="Of bells.")
        put(backend, first)
        assert backend.documents.summarised(1) == Summarised("Of bells.", frozenset(first.hashes))
        second = replace(sample("a.md", "Copper."), summary="Of metals.")
        put(backend, second)
        assert backend.documents.summarised(1) == Summarised("Of metals.", frozenset(second.hashes))
        writer(backend).restore(1, 1)
        assert backend.documents.summarised(1) == Summarised("Of bells.", frozenset(first.hashes))
        assert backend.documents.summarised(2) is None

    def test_sketches_are_of_the_active_texts_that_may_be_seen(self, backend: Backend) -> None:
        text = "The old lamp burns over the harbour tonight."
        first, second, third = put(
            backend,
            sample("a.md", text),
            sample("b.md", text, audience="dm-only"),
            sample("c.md", "Fog on the quiet mill."),
        )
        sketches = backend.documents.sketches(OWNER)
        assert sketches == {first: sketch(text), second: sketch(text), third: sketches[third]}
        assert set(backend.documents.sketches(OWNER, [first])) == {first, second}
        assert set(backend.documents.sketches(Where(frozenset()), [first])) == {first}
        assert set(backend.documents.sketches(OWNER, [99])) == set()
        put(backend, sample("b.md", "Nothing alike at all here."))
        assert set(backend.documents.sketches(OWNER, [first])) == {first}
        writer(backend).restore(second, 1)
        assert set(backend.documents.sketches(OWNER, [first])) == {first, second}
        writer(backend).remove([second])
        assert set(backend.documents.sketches(OWNER)) == {first, third}

    def test_what_merely_has_a_sentence_in_common_is_not_compared(self, backend: Backend) -> None:
        common = "Sent from the harbour office."
        first, second, third = put(
            backend,
            sample("a.md", f"{common} The old lamp burns all night over the quiet black water."),
            sample("b.md", f"{common} Nobody crossed the square while the bells rang for noon."),
            sample("c.md", f"{common} The old lamp burns all night over the quiet dark water."),
        )
        known = backend.documents.sketches(OWNER)
        assert set(keys(known[first])) & set(keys(known[second])), "found by a key"
        assert set(backend.documents.sketches(OWNER, [first])) == {first, third}
        assert set(backend.documents.sketches(OWNER, [second])) == {second}

    def test_neighbours_come_from_the_same_document_only(self, backend: Backend) -> None:
        put(backend, sample("a.md", "One.", "Two.", "Three."), sample("b.md", "Four."))
        first, second, third, fourth = [
            c.id for d in (1, 2) for c in backend.documents.passages(d, OWNER)
        ]
        around = backend.documents.around([second, third, fourth, 999], 1, 1, OWNER)
        assert {i: [c.id for c in n.before + n.after] for i, n in around.items()} == {
            second: [first, third],
            third: [second],
            fourth: [],
        }
        assert [c.id for c in backend.documents.around([third], 2, 0, OWNER)[third].before] == [
            first,
            second,
        ]

    def test_documents_beside_one_are_those_before_and_after_by_their_uris(
        self, backend: Backend
    ) -> None:
        put(
            backend,
            sample("s:a/C1/3", "Five.", "Six."),
            sample("s:a/C1/1", "One."),
            sample("s:a/C1/1/2", "Three.", audience="dm-only"),
            sample("s:a/C2/2", "Elsewhere."),
            sample("s:a/C1/2", "Four."),
            sample("s:a/C1/1/1", "Two."),
            sample("s:a/C1/4", "Seven.", collection="other"),
        )

        def beside(uri: str, most: int, where: Where) -> tuple[list[str], list[str]]:
            document = backend.documents.find(uri, "default")
            assert document is not None
            near = backend.documents.beside(document, "s:a/C1/", most, where)
            return [c.chunk.text for c in near.before], [c.chunk.text for c in near.after]

        assert beside("s:a/C1/1/2", 9, OWNER) == (["One.", "Two."], ["Four.", "Five.", "Six."])
        assert beside("s:a/C1/2", 1, OWNER) == (["Three."], ["Five."])
        assert beside("s:a/C1/2", 2, Where(frozenset())) == (["One.", "Two."], ["Five.", "Six."])
        assert beside("s:a/C1/1", 1, OWNER) == ([], ["Two."])

    def test_neighbours_and_vectors_obey_the_filter(self, backend: Backend) -> None:
        (secret,) = put(backend, sample("a.md", "One.", "Two.", audience="dm-only"))
        ids = [c.id for c in backend.documents.passages(secret, OWNER)]
        assert set(backend.signals.vectors([*ids, 999], OWNER)) == set(ids)
        assert backend.signals.vectors(ids, Where(frozenset({"player"}))) == {}
        assert backend.documents.around(ids, 1, 1, Where(frozenset({"player"}))) == {}

    def test_field_names_are_those_a_caller_may_see(self, backend: Backend) -> None:
        put(backend, sample("a.md", "One.", metadata={"year": 2020}))
        put(backend, sample("b.md", "Two.", metadata={"plot": "x"}, audience="dm-only"))
        assert backend.documents.field_names(OWNER) == {"year", "plot"}
        assert backend.documents.field_names(Where(frozenset())) == {"year"}

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
            (AnyOf((Compare("year", "eq", 2019), Compare("year", "eq", 2020))), {"a.md", "/b.md"}),
        ],
    )
    def test_filters(self, backend: Backend, condition: Condition, expected: set[str]) -> None:
        put(
            backend,
            sample("a.md", "lamp", category="rules", metadata={"year": 2019, "authors": ("Kim",)}),
            sample(
                "/b.md", "lamp", collection="lore", metadata={"year": 2020, "authors": ("B", "Kim")}
            ),
            sample("c.md", "lamp", category="rules", language="de", metadata={"year": 2021}),
        )
        assert uris(backend, condition) == expected
        where = Where(None, condition)
        for signal in Signal:
            hits = backend.signals.search(signal, probe("lamp"), where, ALL)
            chunks = backend.documents.chunks([hit.chunk_id for hit in hits], where)
            assert {c.document.uri for c in chunks} == expected

    @pytest.mark.parametrize(
        ("condition", "documents", "passages"),
        [
            (Compare("sheet", "eq", "übersicht"), {"a.xlsx"}, {"lamp one", "lamp two"}),
            (Compare("row", "eq", "12"), {"a.xlsx", "b.xlsx"}, {"lamp two", "lamp four"}),
            (Compare("row", "ge", 20), {"a.xlsx"}, {"lamp two"}),
            (Compare("row", "lt", 10), {"a.xlsx", "b.xlsx"}, {"lamp one", "lamp three"}),
            (Compare("row", "eq", "x"), set(), set()),
            (Exists("sheet"), {"a.xlsx", "b.xlsx"}, {"lamp one", "lamp two", "lamp three"}),
            (
                AllOf((Compare("sheet", "eq", "Übersicht"), Compare("row", "le", 9))),
                {"a.xlsx"},
                {"lamp one"},
            ),
            (
                Not(Compare("sheet", "eq", "Notes")),
                {"a.xlsx", "c.md"},
                {"lamp one", "lamp two", "lamp four", "lamp five"},
            ),
            (Not(Exists("row")), {"c.md"}, {"lamp five"}),
            (Compare("at", "eq", 75.0), {"c.md"}, {"lamp five"}),
            (Compare("at", "gt", 90.0), set(), set()),
            (AllOf((Compare("at", "ge", 80.0), Exists("at"))), {"c.md"}, {"lamp five"}),
        ],
    )
    def test_filters_by_sheet_row_and_time_find_passages(
        self, backend: Backend, condition: Condition, documents: set[str], passages: set[str]
    ) -> None:
        """Of documents those that have such a passage."""
        summary, notes = Place(sheet="Übersicht", rows=(1, 9)), Place(sheet="Notes", rows=(2, 9))
        more = Place(sheet="Übersicht", rows=(10, 20))
        put(
            backend,
            sample("a.xlsx", "lamp one", "lamp two", places=[summary, more]),
            sample("b.xlsx", "lamp three", "lamp four", places=[notes, Place(rows=(10, 12))]),
            sample("c.md", "lamp five", places=[Place(seconds=(60.0, 90.0))]),
        )
        assert uris(backend, condition) == documents
        where = Where(None, condition)
        for signal in Signal:
            hits = backend.signals.search(signal, probe("lamp"), where, ALL)
            ids = [hit.chunk_id for hit in hits]
            chunks = backend.documents.chunks(ids, where)
            assert {c.chunk.text for c in chunks} == passages
            assert backend.signals.vectors(ids, where).keys() == set(ids)
            all_ids = backend.signals.sample(ALL, OWNER)[1]
            assert {c.id for c in backend.documents.chunks(all_ids, where)} == set(ids)

    def test_no_caller_sees_beyond_their_audiences(self, backend: Backend) -> None:
        secret, _ = put(
            backend,
            sample("s.md", "the lamp is a trap", audience="dm-only"),
            sample("p.md", "lamp"),
        )
        player, master = Where(frozenset({"player"})), Where(frozenset({"dm-only"}))
        for signal in Signal:
            assert found(backend, signal, "lamp trap", player) == ["lamp"]
            assert len(found(backend, signal, "lamp trap", master)) == 2
            hits = backend.signals.search(signal, probe("lamp trap"), OWNER, ALL)
            assert len(backend.documents.chunks([hit.chunk_id for hit in hits], player)) == 1
        assert backend.documents.text(secret, player) is None
        assert backend.documents.passages(secret, player) == []
        assert [d.uri for d in backend.documents.all(player)] == ["p.md"]

    def test_chunks_come_in_the_order_asked(self, backend: Backend) -> None:
        put(backend, sample("a.md", "one", "two", "three"))
        assert [c.chunk.text for c in backend.documents.chunks([3, 1, 99, 2], OWNER)] == [
            "three",
            "one",
            "two",
        ]

    def test_passages_are_the_document_in_order(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "one", "two", title="Numbers"))
        passages = backend.documents.passages(id_, OWNER)
        text = backend.documents.text(id_, OWNER) or ""
        assert [text[p.chunk.start : p.chunk.end] for p in passages] == ["one", "two"]
        assert [p.chunk.headings for p in passages] == [("Numbers",)] * 2

    def test_documents_can_be_paged(self, backend: Backend) -> None:
        put(backend, *(sample(f"{n}.md", "x") for n in range(5)))
        assert [d.uri for d in backend.documents.all(OWNER, after=2, limit=2)] == ["2.md", "3.md"]

    def test_an_upload_is_found_by_its_name_alone(self, backend: Backend) -> None:
        put(backend, sample("upload:boat.md", "Amber."), sample("oar.md", "Bell."))
        for name in ("boat.md", "upload:boat.md"):
            where = Where(None, Compare("source", "eq", name))
            assert [document.uri for document in backend.documents.all(where)] == ["upload:boat.md"]

    def test_find_knows_a_document_by_source_and_collection(self, backend: Backend) -> None:
        put(backend, sample("a.md", "x", metadata={"tags": ("red", "blue"), "year": 3}))
        document = backend.documents.find("a.md", "default")
        assert document is not None
        assert document.metadata == {"tags": ("red", "blue"), "year": 3}
        assert backend.documents.find("a.md", "other") is None

    def test_several_are_found_at_once_by_any_of_their_names(self, backend: Backend) -> None:
        put(backend, sample("a.md", "Amber."), sample("b.md", "Silver."))
        writer(backend).add_name(1, "c.md")
        documents = backend.documents.find_all(["c.md", "b.md", "gone.md"], "default")
        assert {uri: document.id for uri, document in documents.items()} == {"c.md": 1, "b.md": 2}
        assert (
            backend.documents.find_all(["a.md"], "other")
            == backend.documents.find_all([], "default")
            == {}
        )

    def test_collections_count_what_the_caller_may_see(self, backend: Backend) -> None:
        put(
            backend,
            sample("a.md", "One.", "Two.", collection="game"),
            sample("b.md", "Three.", collection="game", audience="dm-only"),
            sample("c.md", "Four.", collection="vault", audience="dm-only"),
        )
        assert backend.documents.collections(OWNER) == [
            Collection("game", 2, 3, ""),
            Collection("vault", 1, 1, ""),
        ]
        players = Where(frozenset({"players"}))
        assert backend.documents.collections(players) == [Collection("game", 1, 2, "")]

    def test_a_collection_keeps_its_chunker(self, backend: Backend) -> None:
        assert backend.documents.chunker("papers") == ""
        with backend.writer.writing():
            backend.writer.set_chunker("papers", "sections")
            backend.writer.set_chunker("papers", "abstract")
        assert (backend.documents.chunker("papers"), backend.documents.chunker("default")) == (
            "abstract",
            "",
        )
        assert backend.documents.collections(OWNER) == [Collection("papers", 0, 0, "abstract")]
        assert backend.documents.collections(Where(frozenset())) == [], "nothing of it may be seen"
        put(backend, sample("a.md", "One.", collection="papers"))
        assert backend.documents.collections(OWNER) == [Collection("papers", 1, 1, "abstract")]
