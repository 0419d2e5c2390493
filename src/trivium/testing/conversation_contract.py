"""What every store must do with the conversations that it keeps, as a part of `StoreContract`."""

from __future__ import annotations

from trivium.answers import KeptTurn, Turn
from trivium.ports import Store
from trivium.testing.samples import sample
from trivium.testing.search_contract import put
from trivium.types import OWNER, Compare, Where

PLAYER = Where(frozenset({"player"}))


def kept(question: str, audiences: set[str] | None = None, *documents: int) -> KeptTurn:
    held = None if audiences is None else frozenset(audiences)
    return KeptTurn(Turn(question, f"{question}!"), held, frozenset(documents))


def asked(store: Store, where: Where, name: str = "talk") -> list[str]:
    return [one.turn.question for one in store.turns(name, where)]


class ConversationContract:
    def test_turns_come_back_in_order_and_by_name(self, store: Store) -> None:
        for name, question in (("talk", "one"), ("other", "two"), ("talk", "three")):
            store.keep_turn(name, kept(question))
        assert asked(store, OWNER) == ["one", "three"]
        assert store.turns("nobody", OWNER) == []
        first, last = store.turns("talk", OWNER)
        assert first.turn == Turn("one", "one!")
        assert first.audiences is None
        assert "" < first.at <= last.at
        told = [(c.name, c.turns, c.began, c.last) for c in store.conversations(OWNER)]
        assert told[1] == ("talk", 2, first.at, last.at)
        assert [name for name, *_ in told] == ["other", "talk"]

    def test_a_turn_is_seen_by_those_who_hold_all_its_audiences(self, store: Store) -> None:
        store.keep_turn("talk", kept("of the owner"))
        store.keep_turn("talk", kept("of all", set()))
        store.keep_turn("talk", kept("of players", {"player"}))
        store.keep_turn("talk", kept("of both", {"player", "dm-only"}))
        assert asked(store, Where(frozenset())) == ["of all"]
        assert asked(store, PLAYER) == ["of all", "of players"]
        assert asked(store, Where(frozenset({"player", "dm-only"})))[-1] == "of both"
        assert len(asked(store, OWNER)) == 4
        assert [c.turns for c in store.conversations(PLAYER)] == [2]

    def test_a_turn_is_seen_by_those_who_may_see_what_it_was_made_from(self, store: Store) -> None:
        (open_,) = put(store, sample("a.md", "Amber bell."))
        (secret,) = put(store, sample("b.md", "Copper bell.", audience="dm-only"))
        store.keep_turn("talk", kept("amber", {"player"}, open_))
        store.keep_turn("talk", kept("both", {"player"}, open_, secret))
        assert asked(store, PLAYER) == ["amber"]
        assert asked(store, OWNER) == ["amber", "both"]
        assert asked(store, Where(None, Compare("source", "eq", "b.md"))) == []
        with store.writing():
            store.relabel(open_, category="", audience="dm-only", metadata={})
        assert asked(store, PLAYER) == []
        assert store.conversations(PLAYER) == []

    def test_what_was_said_of_a_removed_document_goes_with_it(self, store: Store) -> None:
        amber, copper = put(store, sample("a.md", "Amber."), sample("b.md", "Copper."))
        store.keep_turn("talk", kept("amber", None, amber))
        store.keep_turn("talk", kept("both", None, copper, amber))
        store.keep_turn("talk", kept("copper", None, copper))
        with store.writing():
            store.remove([amber])
        assert asked(store, OWNER) == ["copper"]

    def test_only_what_may_be_seen_is_forgotten(self, store: Store) -> None:
        store.keep_turn("talk", kept("of the owner"))
        store.keep_turn("talk", kept("of players", {"player"}))
        store.keep_turn("other", kept("of players", {"player"}))
        assert store.forget_conversation("talk", PLAYER) == 1
        assert store.forget_conversation("talk", PLAYER) == 0
        assert asked(store, OWNER) == ["of the owner"]
        assert asked(store, PLAYER, "other") == ["of players"]
