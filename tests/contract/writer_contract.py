"""What every backend must do with documents that come, change, move and go."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.contract.documents_contract import uris
from tests.contract.part import PartContract

from trivium.core.errors import DocumentNotFound, OriginalMissing
from trivium.core.types import OWNER, Compare, Enclosed, Processed, Signal, Where
from trivium.ports import Backend
from trivium.testing.samples import TOY, copy, found, probe, put, sample, writer


def called(backend: Backend) -> list[tuple[int, list[str]]]:
    return [(d.id, [d.uri, *d.names]) for d in backend.documents.all(OWNER)]


def numbers(backend: Backend, document: int, where: Where = OWNER) -> list[int]:
    return [version.number for version in backend.documents.history(document, where)]


class WriterContract(PartContract):
    """Putting, relabelling and removing."""

    def test_put_makes_a_document_that_every_signal_finds(self, backend: Backend) -> None:
        put(backend, sample("a.md", "The harbour lies under fog."))
        for signal in Signal:
            assert found(backend, signal, "harbour") == ["The harbour lies under fog."]

    def test_a_new_interpretation_replaces_the_old_one_everywhere(self, backend: Backend) -> None:
        (first,) = put(backend, sample("a.md", "A lantern burns.", "A second lantern."))
        (second,) = put(backend, sample("a.md", "A candle burns."))
        assert first == second
        assert [d.interpretation for d in backend.documents.all(OWNER)] == [2]
        assert backend.documents.text(second, OWNER) == "A candle burns."
        for signal in Signal:
            assert found(backend, signal, "candle lantern burns") == ["A candle burns."]

    def test_passages_of_a_conversation_are_numbered_through(self, backend: Backend) -> None:
        """A later message continues after the highest number, also of one that is gone; an edited
        one keeps its number unless it has more passages."""

        def say(time: int, *text: str, channel: str = "C1") -> list[int]:
            read = sample(f"slack:team/{channel}/{time}", *text)
            message = replace(read.extraction, media_type="message/slack")
            (id_,) = put(backend, replace(read, extraction=message))
            return [passage.chunk.index for passage in backend.documents.passages(id_, OWNER)]

        assert say(1, "A bell.") == [0]
        assert say(2, "Two bells,", "one of copper.") == [1, 2]
        assert say(1, "Elsewhere.", channel="C2") == [0]
        assert say(2, "Two copper bells,", "both loud.") == [1, 2]
        assert say(1, "A bell, edited,", "twice as long.") == [3, 4]
        last = next(d for d in backend.documents.all(OWNER) if d.uri.endswith("C1/1"))
        with backend.writer.writing():
            backend.writer.remove([last.id])
        assert say(3, "After it.") == [5]

    def test_the_same_uri_in_two_collections_is_two_documents(self, backend: Backend) -> None:
        ids = put(backend, sample("a.md", "One."), sample("a.md", "Two.", collection="other"))
        assert len(set(ids)) == 2

    def test_removal_leaves_nothing_to_find(self, backend: Backend) -> None:
        gone, stays = put(backend, sample("a.md", "Amber bell."), sample("b.md", "Copper bell."))
        with backend.writer.writing():
            assert backend.writer.remove([gone, 999_999]) == 1
            backend.writer.rest(0)  # others may write now, and we go on
            assert backend.writer.remove([gone]) == 0
        assert [d.id for d in backend.documents.all(OWNER)] == [stays]
        assert backend.documents.text(gone, OWNER) is None
        for signal in Signal:
            assert found(backend, signal, "amber bell") == ["Copper bell."]

    def test_ids_are_never_used_again(self, backend: Backend) -> None:
        (first,) = put(backend, sample("a.md", "Amber."))
        writer(backend).remove([first])
        (second,) = put(backend, sample("a.md", "Amber."))
        assert second > first

    def test_labels_that_nobody_gave_are_those_of_the_instant(self, backend: Backend) -> None:
        """Another process relabels a document while this one reads its new text."""
        (id_,) = put(backend, sample("a.md", "A lantern.", category="lore"))
        writer(backend).relabel(id_, category="plot", audience="dm-only", metadata={})
        read = sample("a.md", "A new lantern.", category="lore")
        put(backend, replace(read, inherits=frozenset({"category", "audience"})))
        (stored,) = backend.documents.all(OWNER)
        assert (stored.category, stored.audience, stored.interpretation) == ("plot", "dm-only", 2)
        put(backend, replace(read, inherits=frozenset({"audience"})))
        (stored,) = backend.documents.all(OWNER)
        assert (stored.category, stored.audience) == ("lore", "dm-only")

    def test_relabelling_changes_who_sees_a_document(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "The vault is empty.", metadata={"year": 2001}))
        writer(backend).relabel(id_, category="lore", audience="dm-only", metadata={"year": 2002})
        for signal in Signal:
            assert found(backend, signal, "vault", Where(frozenset())) == []
            assert found(backend, signal, "vault", Where(frozenset({"dm-only"})))
        assert uris(backend, Compare("year", "eq", 2002)) == {"a.md"}
        assert uris(backend, Compare("year", "eq", 2001)) == set()


class NamesContract(PartContract):
    """One document met in several places, moved, or gone."""

    def test_equal_bytes_are_one_document_with_all_names(self, backend: Backend) -> None:
        first, second = put(backend, copy("/x/a.md", "Amber."), copy("/y/b.md", "Amber."))
        (third,) = put(backend, copy("/z/c.md", "Amber."))
        assert first == second == third
        assert called(backend) == [(first, ["/x/a.md", "/y/b.md", "/z/c.md"])]
        assert [d.interpretation for d in backend.documents.all(OWNER)] == [1]
        for signal in Signal:
            assert found(backend, signal, "amber") == ["Amber."]
        for name in ("/x/a.md", "b.md", "/z/c.md", "C.MD", f"#{first}"):
            where = Where(None, Compare("source", "eq", name))
            assert [d.id for d in backend.documents.all(where)] == [first]
            assert len(backend.signals.search(Signal.KEYWORD, probe("amber"), where, 10)) == 1
        assert backend.documents.find("/z/c.md", "default") == backend.documents.find(
            "/x/a.md", "default"
        )
        assert backend.documents.find("/z/c.md", "other") is None

    def test_two_senders_of_equal_bytes_have_a_document_each(self, backend: Backend) -> None:
        mine, theirs, owners = (
            replace(copy(uri, "Amber."), sender=sender)
            for uri, sender in (("upload:a/x.md", "a"), ("upload:b/x.md", "b"), ("/x.md", ""))
        )
        a, b, owner = put(backend, mine, theirs, owners)
        assert called(backend) == [(a, [mine.uri]), (b, [theirs.uri]), (owner, ["/x.md"])]
        assert [d.sender for d in backend.documents.all(OWNER)] == ["a", "b", ""]
        again = replace(mine, uri="upload:a/y.md")
        assert put(backend, again, again) == [a, a], "one sender's copies are one document"

    def test_a_name_of_another_sender_parts(self, backend: Backend) -> None:
        """As in libraries of earlier releases, in which they were one document."""
        first = replace(copy("upload:a/x.md", "Amber."), sender="a")
        (id_,) = put(backend, first)
        writer(backend).add_name(id_, "upload:b/x.md")
        (own,) = put(backend, replace(first, uri="upload:b/x.md", sender="b"))
        assert called(backend) == [(id_, ["upload:a/x.md"]), (own, ["upload:b/x.md"])]

    def test_a_sender_uses_no_vector_or_summary_of_others(self, backend: Backend) -> None:
        hidden = replace(copy("a.md", "Amber."), summary="Of amber.", summarised_by="x/1")
        put(backend, hidden)
        model, hashes = TOY.fingerprint, list(hidden.hashes)
        for sender, known in (("", True), ("b", False)):
            assert bool(backend.models.known(model, hashes, sender)) is known
            assert bool(backend.documents.summary(hidden.content_hash, "x/1", sender)) is known
        put(backend, replace(hidden, uri="upload:b/x.md", sender="b"))
        for sender, known in (("", True), ("b", True), ("c", False)):
            assert bool(backend.models.known(model, hashes, sender)) is known
            assert bool(backend.documents.summary(hidden.content_hash, "x/1", sender)) is known

    @pytest.mark.parametrize(
        "other",
        [
            copy("b.md", "Amber.", audience="dm-only"),
            copy("b.md", "Amber.", fingerprint="another"),
            replace(copy("b.md", "Amber."), category="rules"),
            replace(copy("b.md", "Amber."), metadata={"year": 2020}),
            replace(copy("b.md", "Amber."), collection="other"),
            sample("b.md", "Amber.", title="Copy"),  # a text that came without bytes
        ],
    )
    def test_what_differs_in_more_than_its_name_is_another(
        self, backend: Backend, other: Processed
    ) -> None:
        first, second = put(backend, copy("a.md", "Amber."), other)
        assert first != second

    def test_a_paper_takes_over_its_file_that_came_alone(self, backend: Backend) -> None:
        """One paper is one document, whatever came first. Labels are kept: nobody sees more."""

        def paper(uri: str, year: int = 2020) -> Processed:
            return replace(copy(uri, "Amber."), metadata={"entry": uri, "year": year})

        put(backend, copy("/a.pdf", "Amber."), copy("/b.pdf", "Amber.", audience="dm-only"))
        (own, hidden), entry = called(backend), paper("zotero:a", year=2019)
        assert put(backend, entry) == [own[0]]
        assert called(backend) == [(own[0], ["zotero:a", "/a.pdf"]), hidden]
        assert uris(backend, Compare("year", "eq", 2019)) == {"zotero:a"}
        (other,) = put(backend, paper("zotero:b"))
        assert other not in (own[0], hidden[0]), "another entry is another paper"
        unlabelled = replace(paper("zotero:c"), inherits=frozenset({"audience"}))
        (private,) = put(backend, unlabelled)
        assert (private, ["zotero:c", "/b.pdf"]) in called(backend)
        assert "zotero:c" not in {d.uri for d in backend.documents.all(Where(frozenset()))}

    def test_what_encloses_others_stays_itself(self, backend: Backend) -> None:
        def archive(uri: str) -> Processed:
            plain = copy(uri, "Two files.")
            enclosed = (Enclosed("x.md", b"x"),)
            return replace(plain, extraction=replace(plain.extraction, enclosed=enclosed))

        assert len(set(put(backend, archive("a.zip"), archive("b.zip")))) == 2

    def test_a_name_whose_bytes_change_becomes_a_document(self, backend: Backend) -> None:
        (old,) = put(backend, copy("a.md", "Amber."))
        put(backend, copy("b.md", "Amber."), copy("c.md", "Amber."))
        (new,) = put(backend, copy("b.md", "Copper."))
        assert called(backend) == [(old, ["a.md", "c.md"]), (new, ["b.md"])]
        (newer,) = put(backend, copy("a.md", "Silver."))
        assert called(backend) == [(old, ["c.md"]), (new, ["b.md"]), (newer, ["a.md"])]
        assert put(backend, copy("c.md", "Golden.")) == [old], "the last name keeps the document"
        assert backend.documents.text(old, OWNER) == "Golden."

    def test_a_name_that_others_may_see_becomes_a_document(self, backend: Backend) -> None:
        (old,) = put(backend, copy("a.md", "Amber.", audience="dm-only"))
        put(backend, copy("b.md", "Amber.", audience="dm-only"))
        put(backend, copy("b.md", "Amber."))
        seen = backend.documents.all(Where(frozenset()))
        assert [(d.uri, d.names) for d in seen] == [("b.md", ())]
        assert backend.documents.find("a.md", "default") == backend.documents.all(OWNER)[0]
        assert called(backend)[0] == (old, ["a.md"])

    def test_reading_a_copy_anew_is_one_interpretation(self, backend: Backend) -> None:
        (id_,) = put(backend, copy("a.md", "Amber."))
        put(backend, copy("b.md", "Amber."))
        put(backend, *(copy(uri, "Amber.", fingerprint="new") for uri in ("a.md", "b.md")))
        (document,) = backend.documents.all(OWNER)
        assert (document.uri, document.names) == ("a.md", ("b.md",))
        assert document.fingerprint == "new"
        assert [version.number for version in backend.documents.history(id_, OWNER)] == [1, 2]

    def test_a_moved_document_keeps_all_but_its_name(self, backend: Backend) -> None:
        (id_,) = put(backend, replace(copy("/x/a.md", "Amber."), metadata={"year": 2020}))
        before = backend.documents.all(OWNER)[0]
        after = writer(backend).rename(id_, "/x/a.md", "/y/b.md")
        assert replace(after, uri=before.uri) == before
        assert backend.documents.all(OWNER) == [after]
        assert backend.documents.find("/x/a.md", "default") is None
        for name, count in (("a.md", 0), ("b.md", 1)):
            where = Where(None, Compare("source", "eq", name))
            assert len(found(backend, Signal.KEYWORD, "amber", where)) == count

    def test_a_title_from_the_file_name_follows_a_move(self, backend: Backend) -> None:
        plain, other = put(
            backend, sample("/x/a.md", "Amber.", title="a"), sample("/x/b.md", "Fog.", title="Fog")
        )
        with backend.writer.writing():
            backend.writer.rename(plain, "/x/a.md", "/x/c.md")
            backend.writer.rename(other, "/x/b.md", "/x/d.md")
        assert [d.title for d in backend.documents.all(OWNER)] == ["c", "Fog"]
        assert [backend.documents.history(d, OWNER)[-1].title for d in (plain, other)] == [
            "c",
            "Fog",
        ]

    def test_what_lies_within_moves_along(self, backend: Backend) -> None:
        outer, inner, _ = put(
            backend,
            sample("/x/a.zip", "Names."),
            sample("/x/a.zip!/n.md", "Amber."),
            sample("/x/a.zip2", "Fog."),
        )
        assert [d.id for d in backend.documents.within("/x/a.zip", "default")] == [inner]
        assert backend.documents.within("/x/a.zip", "other") == []
        writer(backend).rename(outer, "/x/a.zip", "/y/b.zip")
        assert [d.uri for d in backend.documents.all(OWNER)] == [
            "/y/b.zip",
            "/y/b.zip!/n.md",
            "/x/a.zip2",
        ]

    def test_names_of_an_unknown_document(self, backend: Backend) -> None:
        with backend.writer.writing(), pytest.raises(DocumentNotFound):
            backend.writer.add_name(99, "a.md")
        with backend.writer.writing(), pytest.raises(DocumentNotFound):
            backend.writer.rename(99, "a.md", "b.md")

    def test_a_move_that_was_made_already_leaves_a_name(self, backend: Backend) -> None:
        (id_,) = put(backend, copy("a.md", "Amber."))
        with backend.writer.writing():
            backend.writer.rename(id_, "a.md", "b.md")
            backend.writer.rename(id_, "a.md", "c.md")
            backend.writer.add_name(id_, "c.md")
        assert called(backend) == [(id_, ["b.md", "c.md"])]

    def test_forgetting_takes_names_and_with_the_last_the_document(self, backend: Backend) -> None:
        (id_,) = put(backend, copy("a.md", "Amber."))
        put(backend, copy("b.md", "Amber."))
        with backend.writer.writing():
            assert backend.writer.forget("a.md", "default") == []
            assert called(backend) == [(id_, ["b.md"])]
            assert backend.writer.forget("a.md", "default") == []
            assert [d.id for d in backend.writer.forget("b.md", "default")] == [id_]
        assert backend.documents.all(OWNER) == []
        assert found(backend, Signal.KEYWORD, "amber") == []

    def test_forgetting_a_file_forgets_what_lies_within(self, backend: Backend) -> None:
        put(backend, sample("a.zip", "Names."), copy("a.zip!/n.md", "Amber."))
        put(backend, copy("a.zip!/o.md", "Fog."), copy("p.md", "Fog."))
        assert [d.uri for d in writer(backend).forget("a.zip", "default")] == [
            "a.zip",
            "a.zip!/n.md",
        ]
        assert [names for _, names in called(backend)] == [["p.md"]]

    def test_a_removed_document_leaves_no_name(self, backend: Backend) -> None:
        (old,) = put(backend, copy("a.md", "Amber."))
        put(backend, copy("b.md", "Amber."))
        writer(backend).remove([old])
        assert backend.documents.find("b.md", "default") is None
        (new,) = put(backend, copy("b.md", "Amber."))
        assert called(backend) == [(new, ["b.md"])]


class HistoryContract(PartContract):
    """Interpretations: kept, read, restored and pruned."""

    def test_every_interpretation_is_kept_with_its_numbers(self, backend: Backend) -> None:
        first = sample("a.md", "Amber.", "Copper.", title="Old", metadata={"year": 2001})
        first = replace(first, timings={"extract": 0.5}, original="sha256:1")
        (id_,) = put(backend, first)
        put(backend, sample("a.md", "Silver.", title="New", fingerprint="newer"))
        old, new = backend.documents.history(id_, OWNER)
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

    def test_an_old_text_and_its_passages_can_be_read(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber.", "Copper."))
        put(backend, sample("a.md", "Silver."))
        assert backend.documents.text(id_, OWNER, 1) == "Amber.\n\nCopper."
        assert (
            backend.documents.text(id_, OWNER, 2) == backend.documents.text(id_, OWNER) == "Silver."
        )
        assert backend.documents.text(id_, OWNER, 3) is None
        assert [p.chunk.text for p in backend.documents.passages(id_, OWNER, 1)] == [
            "Amber.",
            "Copper.",
        ]
        assert [p.chunk.text for p in backend.documents.passages(id_, OWNER, 2)] == ["Silver."]
        assert backend.documents.passages(id_, OWNER, 3) == []
        old = [p.id for p in backend.documents.passages(id_, OWNER, 1)]
        assert backend.documents.chunks(old, OWNER) == [], "only the active one is found"

    def test_who_may_not_see_a_document_does_not_see_its_past(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber."))  # was for all, once
        put(backend, sample("a.md", "Silver.", audience="dm-only"))
        player = Where(frozenset({"player"}))
        assert backend.documents.history(id_, player) == []
        assert backend.documents.text(id_, player, 1) is None
        assert backend.documents.passages(id_, player, 1) == []
        assert numbers(backend, id_, Where(frozenset({"dm-only"}))) == [1, 2]

    def test_a_past_interpretation_is_seen_by_who_holds_both_labels(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber.", audience="dm-only"))
        put(backend, sample("a.md", "Silver."))
        put(backend, sample("a.md", "Copper.", audience="player"))
        dm, player, both = (
            Where(frozenset(labels)) for labels in ({"dm-only"}, {"player"}, {"dm-only", "player"})
        )
        assert [version.audience for version in backend.documents.history(id_, OWNER)] == [
            "dm-only",
            "all",
            "player",
        ]
        for where, seen in ((dm, []), (player, [2, 3]), (both, [1, 2, 3]), (OWNER, [1, 2, 3])):
            assert numbers(backend, id_, where) == seen
            for number in (1, 2, 3):
                assert (backend.documents.text(id_, where, number) is not None) == (number in seen)
                assert bool(backend.documents.passages(id_, where, number)) == (number in seen)
        assert writer(backend).prune(player) == 1, "what one cannot see one does not prune"
        assert numbers(backend, id_) == [1, 3]

    def test_an_interpretation_keeps_the_last_label_it_had(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber.", audience="dm-only"))
        writer(backend).relabel(id_, category="", audience="all", metadata={})
        put(backend, sample("a.md", "Silver.", audience="all"))
        assert numbers(backend, id_, Where(frozenset())) == [1, 2], "somebody said it is for all"

    def test_restoring_brings_back_text_and_signals(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber.", "Copper.", metadata={"year": 2001}))
        put(backend, sample("a.md", "Silver.", metadata={"year": 2002}, language="de"))
        last = backend.documents.passages(id_, OWNER)[-1].id
        document = writer(backend).restore(id_, 1)
        assert backend.documents.all(OWNER) == [document]
        assert (document.id, document.interpretation, document.chunks) == (id_, 3, 2)
        assert (document.metadata, document.language) == ({"year": 2001}, "en")
        assert backend.documents.text(id_, OWNER) == "Amber.\n\nCopper."
        assert all(p.id > last for p in backend.documents.passages(id_, OWNER)), (
            "ids rise, for the indexes"
        )
        for signal in Signal:
            assert sorted(found(backend, signal, "amber copper silver")) == ["Amber.", "Copper."]
        year = Where(None, Compare("year", "eq", 2001))
        assert len(backend.documents.all(year)) == 1
        restored = backend.documents.history(id_, OWNER)[-1]
        assert (restored.number, restored.restored_from, restored.active) == (3, 1, True)

    def test_restoring_widens_no_audience(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber."))
        put(backend, sample("a.md", "Silver.", audience="dm-only", category="secret"))
        document = writer(backend).restore(id_, 1)
        assert (document.audience, document.category) == ("dm-only", "secret")
        assert found(backend, Signal.KEYWORD, "amber", Where(frozenset())) == []

    def test_restoring_shows_no_text_to_who_could_not_see_it(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber.", audience="dm-only"))
        put(backend, sample("a.md", "Silver.", audience="all"))
        document = writer(backend).restore(id_, 1)
        assert document.audience == "dm-only"
        assert backend.documents.history(id_, OWNER)[-1].audience == "dm-only"
        assert found(backend, Signal.KEYWORD, "amber", Where(frozenset())) == []
        assert found(backend, Signal.KEYWORD, "amber", Where(frozenset({"dm-only"}))) == ["Amber."]
        put(backend, sample("a.md", "Copper.", audience="player"))
        assert writer(backend).restore(id_, 1).audience == "dm-only", "the text's own"

    def test_a_restored_document_remembers_what_its_source_holds(self, backend: Backend) -> None:
        old, new = sample("a.md", "Amber."), sample("a.md", "Silver.", fingerprint="newer")
        (id_,) = put(backend, old)
        put(backend, new)
        document = writer(backend).restore(id_, 1)
        assert (document.content_hash, document.fingerprint) == (old.content_hash, "sample")
        assert (document.seen_hash, document.seen_fingerprint) == (new.content_hash, "newer")
        assert [d.id for d in backend.documents.alike([new.content_hash], "default")] == [id_]

    def test_restoring_what_is_not_there(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber."))
        for document, number in ((id_, 2), (id_, 0), (99, 1)):
            with backend.writer.writing(), pytest.raises(DocumentNotFound):
                backend.writer.restore(document, number)
        assert numbers(backend, id_) == [1]

    def test_restoring_what_has_no_vectors(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber.", embedded=False))
        put(backend, sample("a.md", "Silver."))
        writer(backend).restore(id_, 1)
        assert found(backend, Signal.KEYWORD, "amber") == ["Amber."]
        assert found(backend, Signal.VECTOR, "amber") == []

    def test_pruning_keeps_the_newest_and_the_active_one(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber."))
        (other,) = put(backend, sample("b.md", "Fog."))
        for text in ("Copper.", "Silver.", "Golden."):
            put(backend, sample("a.md", text))
        put(backend, sample("b.md", "Mist."))
        with backend.writer.writing():
            assert backend.writer.prune(Where(None, Compare("source", "eq", "b.md")), keep=2) == 0
            assert backend.writer.prune(Where(None, Compare("source", "eq", "a.md")), keep=3) == 1
            assert numbers(backend, id_) == [2, 3, 4]
            assert backend.writer.prune(OWNER, keep=2, before="2000") == 0, "nothing is that old"
            assert backend.writer.prune(OWNER, keep=0) == 3, "never the active one"
        assert (numbers(backend, id_), numbers(backend, other)) == ([4], [2])
        assert backend.documents.text(id_, OWNER, 3) is None
        assert found(backend, Signal.KEYWORD, "golden silver") == ["Golden."]
        assert put(backend, sample("a.md", "Brass.")) == [id_]
        assert numbers(backend, id_) == [4, 5], "no number is used twice"

    def test_pruning_frees_the_vectors_that_nothing_else_uses(self, backend: Backend) -> None:
        old = sample("a.md", "Amber.", "Copper.")
        amber, copper = old.hashes
        put(backend, replace(old, tokens={amber: b"a", copper: b"c"}))
        put(backend, sample("b.md", "Copper."))
        put(backend, sample("a.md", "Silver."))
        assert set(backend.models.known(TOY.fingerprint, old.hashes)) == {amber, copper}
        writer(backend).prune(OWNER)
        assert set(backend.models.known(TOY.fingerprint, old.hashes)) == {copper}
        (left,) = backend.documents.passages(2, OWNER)
        assert backend.signals.token_vectors([left.id], OWNER, TOY.fingerprint) == {left.id: b"c"}

    def test_relabelling_reaches_the_active_interpretation(self, backend: Backend) -> None:
        (id_,) = put(backend, sample("a.md", "Amber.", metadata={"year": 2001}))
        writer(backend).relabel(id_, category="", audience="all", metadata={"year": 2002})
        assert [version.metadata for version in backend.documents.history(id_, OWNER)] == [
            {"year": 2002}
        ]


class OriginalsContract(PartContract):
    """The bytes that documents were read from."""

    def test_an_original_goes_with_its_last_use(self, backend: Backend) -> None:
        address = backend.originals.keep(b"amber")
        assert backend.originals.keep(b"amber") == address
        first, second = put(
            backend,
            sample("a.md", "Amber.", original=address),
            sample("b.md", "Amber again.", original=address),
        )
        assert backend.documents.all(OWNER)[0].original == address
        writer(backend).remove([first])
        assert backend.originals.get(address) == b"amber"
        put(backend, sample("b.md", "Silver."))
        with backend.writer.writing():
            backend.writer.restore(second, 1)
            assert backend.documents.all(OWNER)[0].original == address
            backend.writer.prune(OWNER)
        assert backend.originals.get(address) == b"amber", "the restored one refers to it"
        writer(backend).remove([second])
        with pytest.raises(OriginalMissing):
            backend.originals.get(address)
        with pytest.raises(OriginalMissing):
            backend.originals.get("")

    def test_what_is_not_there(self, backend: Backend) -> None:
        with pytest.raises(OriginalMissing):
            backend.originals.get("sha256:" + 64 * "0")
