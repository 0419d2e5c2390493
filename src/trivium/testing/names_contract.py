"""What every store must do about names: one document met in several places, moved, or gone.

Part of `StoreContract`, which is what to inherit.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from trivium.errors import DocumentNotFound
from trivium.ports import Backend
from trivium.testing.samples import TOY, probe, sample
from trivium.testing.search_contract import found, put
from trivium.types import (
    OWNER,
    Compare,
    Enclosed,
    Processed,
    Signal,
    Where,
)


def copy(uri: str, text: str, audience: str = "all", fingerprint: str = "sample") -> Processed:
    """Bytes that were read: equal texts may be one document."""
    return sample(
        uri, text, title="Copy", audience=audience, reader="sample", fingerprint=fingerprint
    )


def called(store: Backend) -> list[tuple[int, list[str]]]:
    return [(d.id, [d.uri, *d.names]) for d in store.documents.all(OWNER)]


class NamesContract:
    @pytest.fixture
    def store(self) -> Backend:
        raise NotImplementedError("give the suite a store")

    def test_equal_bytes_are_one_document_with_all_names(self, store: Backend) -> None:
        first, second = put(store, copy("/x/a.md", "Amber."), copy("/y/b.md", "Amber."))
        (third,) = put(store, copy("/z/c.md", "Amber."))
        assert first == second == third
        assert called(store) == [(first, ["/x/a.md", "/y/b.md", "/z/c.md"])]
        assert [d.interpretation for d in store.documents.all(OWNER)] == [1]
        for signal in Signal:
            assert found(store, signal, "amber") == ["Amber."]
        for name in ("/x/a.md", "b.md", "/z/c.md", "C.MD", f"#{first}"):
            where = Where(None, Compare("source", "eq", name))
            assert [d.id for d in store.documents.all(where)] == [first]
            assert len(store.signals.search(Signal.KEYWORD, probe("amber"), where, 10)) == 1
        assert store.documents.find("/z/c.md", "default") == store.documents.find(
            "/x/a.md", "default"
        )
        assert store.documents.find("/z/c.md", "other") is None

    def test_two_senders_of_equal_bytes_have_a_document_each(self, store: Backend) -> None:
        mine, theirs, owners = (
            replace(copy(uri, "Amber."), sender=sender)
            for uri, sender in (("upload:a/x.md", "a"), ("upload:b/x.md", "b"), ("/x.md", ""))
        )
        a, b, owner = put(store, mine, theirs, owners)
        assert called(store) == [(a, [mine.uri]), (b, [theirs.uri]), (owner, ["/x.md"])]
        assert [d.sender for d in store.documents.all(OWNER)] == ["a", "b", ""]
        again = replace(mine, uri="upload:a/y.md")
        assert put(store, again, again) == [a, a], "one sender's copies are one document"

    def test_a_name_of_another_sender_parts(self, store: Backend) -> None:
        """As in libraries of earlier releases, in which they were one document."""
        first = replace(copy("upload:a/x.md", "Amber."), sender="a")
        (id_,) = put(store, first)
        with store.writer.writing():
            store.writer.add_name(id_, "upload:b/x.md")
        (own,) = put(store, replace(first, uri="upload:b/x.md", sender="b"))
        assert called(store) == [(id_, ["upload:a/x.md"]), (own, ["upload:b/x.md"])]

    def test_a_sender_uses_no_vector_or_summary_of_others(self, store: Backend) -> None:
        hidden = replace(copy("a.md", "Amber."), summary="Of amber.", summarised_by="x/1")
        put(store, hidden)
        model, hashes = TOY.fingerprint, list(hidden.hashes)
        for sender, known in (("", True), ("b", False)):
            assert bool(store.models.known(model, hashes, sender)) is known
            assert bool(store.documents.summary(hidden.content_hash, "x/1", sender)) is known
        put(store, replace(hidden, uri="upload:b/x.md", sender="b"))
        for sender, known in (("", True), ("b", True), ("c", False)):
            assert bool(store.models.known(model, hashes, sender)) is known
            assert bool(store.documents.summary(hidden.content_hash, "x/1", sender)) is known

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
        self, store: Backend, other: Processed
    ) -> None:
        first, second = put(store, copy("a.md", "Amber."), other)
        assert first != second

    def test_what_encloses_others_stays_itself(self, store: Backend) -> None:
        def archive(uri: str) -> Processed:
            plain = copy(uri, "Two files.")
            enclosed = (Enclosed("x.md", b"x"),)
            return replace(plain, extraction=replace(plain.extraction, enclosed=enclosed))

        assert len(set(put(store, archive("a.zip"), archive("b.zip")))) == 2

    def test_a_name_whose_bytes_change_becomes_a_document(self, store: Backend) -> None:
        (old,) = put(store, copy("a.md", "Amber."))
        put(store, copy("b.md", "Amber."), copy("c.md", "Amber."))
        (new,) = put(store, copy("b.md", "Copper."))
        assert called(store) == [(old, ["a.md", "c.md"]), (new, ["b.md"])]
        (newer,) = put(store, copy("a.md", "Silver."))
        assert called(store) == [(old, ["c.md"]), (new, ["b.md"]), (newer, ["a.md"])]
        assert put(store, copy("c.md", "Golden.")) == [old], "the last name keeps the document"
        assert store.documents.text(old, OWNER) == "Golden."

    def test_a_name_that_others_may_see_becomes_a_document(self, store: Backend) -> None:
        (old,) = put(store, copy("a.md", "Amber.", audience="dm-only"))
        put(store, copy("b.md", "Amber.", audience="dm-only"))
        put(store, copy("b.md", "Amber."))
        seen = store.documents.all(Where(frozenset()))
        assert [(d.uri, d.names) for d in seen] == [("b.md", ())]
        assert store.documents.find("a.md", "default") == store.documents.all(OWNER)[0]
        assert called(store)[0] == (old, ["a.md"])

    def test_reading_a_copy_anew_is_one_interpretation(self, store: Backend) -> None:
        (id_,) = put(store, copy("a.md", "Amber."))
        put(store, copy("b.md", "Amber."))
        put(store, *(copy(uri, "Amber.", fingerprint="new") for uri in ("a.md", "b.md")))
        (document,) = store.documents.all(OWNER)
        assert (document.uri, document.names) == ("a.md", ("b.md",))
        assert document.fingerprint == "new"
        assert [one.number for one in store.documents.history(id_, OWNER)] == [1, 2]

    def test_a_moved_document_keeps_all_but_its_name(self, store: Backend) -> None:
        (id_,) = put(store, replace(copy("/x/a.md", "Amber."), metadata={"year": 2020}))
        before = store.documents.all(OWNER)[0]
        with store.writer.writing():
            after = store.writer.rename(id_, "/x/a.md", "/y/b.md")
        assert replace(after, uri=before.uri) == before
        assert store.documents.all(OWNER) == [after]
        assert store.documents.find("/x/a.md", "default") is None
        for name, count in (("a.md", 0), ("b.md", 1)):
            where = Where(None, Compare("source", "eq", name))
            assert len(found(store, Signal.KEYWORD, "amber", where)) == count

    def test_a_title_from_the_file_name_follows_a_move(self, store: Backend) -> None:
        plain, other = put(
            store, sample("/x/a.md", "Amber.", title="a"), sample("/x/b.md", "Fog.", title="Fog")
        )
        with store.writer.writing():
            store.writer.rename(plain, "/x/a.md", "/x/c.md")
            store.writer.rename(other, "/x/b.md", "/x/d.md")
        assert [d.title for d in store.documents.all(OWNER)] == ["c", "Fog"]
        assert [store.documents.history(d, OWNER)[-1].title for d in (plain, other)] == ["c", "Fog"]

    def test_what_lies_within_moves_along(self, store: Backend) -> None:
        outer, inner, _ = put(
            store,
            sample("/x/a.zip", "Names."),
            sample("/x/a.zip!/n.md", "Amber."),
            sample("/x/a.zip2", "Fog."),
        )
        assert [d.id for d in store.documents.within("/x/a.zip", "default")] == [inner]
        assert store.documents.within("/x/a.zip", "other") == []
        with store.writer.writing():
            store.writer.rename(outer, "/x/a.zip", "/y/b.zip")
        assert [d.uri for d in store.documents.all(OWNER)] == [
            "/y/b.zip",
            "/y/b.zip!/n.md",
            "/x/a.zip2",
        ]

    def test_names_of_an_unknown_document(self, store: Backend) -> None:
        with store.writer.writing(), pytest.raises(DocumentNotFound):
            store.writer.add_name(99, "a.md")
        with store.writer.writing(), pytest.raises(DocumentNotFound):
            store.writer.rename(99, "a.md", "b.md")

    def test_a_move_that_was_made_already_leaves_a_name(self, store: Backend) -> None:
        (id_,) = put(store, copy("a.md", "Amber."))
        with store.writer.writing():
            store.writer.rename(id_, "a.md", "b.md")
            store.writer.rename(id_, "a.md", "c.md")
            store.writer.add_name(id_, "c.md")
        assert called(store) == [(id_, ["b.md", "c.md"])]

    def test_forgetting_takes_names_and_with_the_last_the_document(self, store: Backend) -> None:
        (id_,) = put(store, copy("a.md", "Amber."))
        put(store, copy("b.md", "Amber."))
        with store.writer.writing():
            assert store.writer.forget("a.md", "default") == []
            assert called(store) == [(id_, ["b.md"])]
            assert store.writer.forget("a.md", "default") == []
            assert [d.id for d in store.writer.forget("b.md", "default")] == [id_]
        assert store.documents.all(OWNER) == []
        assert found(store, Signal.KEYWORD, "amber") == []

    def test_what_is_called_something_below_a_folder(self, store: Backend) -> None:
        put(
            store,
            sample("/notes/a.md", "Amber."),
            sample("/notes/a.zip!/b.md", "Inner."),
            sample("/Notes/c.md", "Other case."),
            sample("/notes%/d.md", "No wildcard."),
            sample("/notes-old/e.md", "Beside it."),
            sample("/notes/f.md", "Elsewhere.", collection="other"),
        )
        with store.writer.writing():
            store.writer.add_name(3, "/notes/z.md")
        inside = ["/notes/a.md", "/notes/a.zip!/b.md", "/notes/z.md"]
        assert store.documents.below("/notes/", "default") == inside
        assert store.documents.below("/notes/", "other") == ["/notes/f.md"]
        assert store.documents.below("/notes/a.md/", "default") == []

    def test_forgetting_a_file_forgets_what_lies_within(self, store: Backend) -> None:
        put(store, sample("a.zip", "Names."), copy("a.zip!/n.md", "Amber."))
        put(store, copy("a.zip!/o.md", "Fog."), copy("p.md", "Fog."))
        with store.writer.writing():
            assert [d.uri for d in store.writer.forget("a.zip", "default")] == [
                "a.zip",
                "a.zip!/n.md",
            ]
        assert [names for _, names in called(store)] == [["p.md"]]

    def test_a_removed_document_leaves_no_name(self, store: Backend) -> None:
        (old,) = put(store, copy("a.md", "Amber."))
        put(store, copy("b.md", "Amber."))
        with store.writer.writing():
            store.writer.remove([old])
        assert store.documents.find("b.md", "default") is None
        (new,) = put(store, copy("b.md", "Amber."))
        assert called(store) == [(new, ["b.md"])]

    def test_alike_are_those_with_the_same_bytes(self, store: Backend) -> None:
        one, two = put(store, copy("a.md", "Amber."), copy("b.md", "Amber.", audience="x"))
        digest = copy("a.md", "Amber.").content_hash
        assert [d.id for d in store.documents.alike([digest, "?"], "default")] == [one, two]
        assert (
            store.documents.alike([digest], "other")
            == store.documents.alike(["?"], "default")
            == []
        )
        assert store.documents.alike([], "default") == []
