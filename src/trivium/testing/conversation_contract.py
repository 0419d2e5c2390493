"""What every store must do with the conversations that it keeps, as a part of `StoreContract`."""

from __future__ import annotations

from trivium.answers import KeptTurn, Turn
from trivium.ports import Backend
from trivium.testing.samples import sample
from trivium.testing.search_contract import put
from trivium.types import OWNER, Compare, Where

PLAYER = Where(frozenset({"player"}))


def kept(question: str, audiences: set[str] | None = None, *documents: int) -> KeptTurn:
    held = None if audiences is None else frozenset(audiences)
    return KeptTurn(Turn(question, f"{question}!"), held, frozenset(documents))


def asked(store: Backend, where: Where, name: str = "talk") -> list[str]:
    return [one.turn.question for one in store.conversations.turns(name, where)]


class ConversationContract:
    def test_turns_come_back_in_order_and_by_name(self, store: Backend) -> None:
        for name, question in (("talk", "one"), ("other", "two"), ("talk", "three")):
            store.conversations.keep(name, kept(question))
        assert asked(store, OWNER) == ["one", "three"]
        assert store.conversations.turns("nobody", OWNER) == []
        first, last = store.conversations.turns("talk", OWNER)
        assert first.turn == Turn("one", "one!")
        assert first.audiences is None
        assert "" < first.at <= last.at
        told = [(c.name, c.turns, c.began, c.last) for c in store.conversations.all(OWNER)]
        assert told[1] == ("talk", 2, first.at, last.at)
        assert [name for name, *_ in told] == ["other", "talk"]

    def test_a_turn_is_seen_by_those_who_hold_all_its_audiences(self, store: Backend) -> None:
        store.conversations.keep("talk", kept("of the owner"))
        store.conversations.keep("talk", kept("of all", set()))
        store.conversations.keep("talk", kept("of players", {"player"}))
        store.conversations.keep("talk", kept("of both", {"player", "dm-only"}))
        assert asked(store, Where(frozenset())) == ["of all"]
        assert asked(store, PLAYER) == ["of all", "of players"]
        assert asked(store, Where(frozenset({"player", "dm-only"})))[-1] == "of both"
        assert len(asked(store, OWNER)) == 4
        assert [c.turns for c in store.conversations.all(PLAYER)] == [2]

    def test_a_turn_is_seen_by_those_who_may_see_what_it_was_made_from(
        self, store: Backend
    ) -> None:
        (open_,) = put(store, sample("a.md", "Amber bell."))
        (secret,) = put(store, sample("b.md", "Copper bell.", audience="dm-only"))
        store.conversations.keep("talk", kept("amber", {"player"}, open_))
        store.conversations.keep("talk", kept("both", {"player"}, open_, secret))
        assert asked(store, PLAYER) == ["amber"]
        assert asked(store, OWNER) == ["amber", "both"]
        assert asked(store, Where(None, Compare("source", "eq", "b.md"))) == []
        with store.writer.writing():
            store.writer.relabel(open_, category="", audience="dm-only", metadata={})
        assert asked(store, PLAYER) == []
        assert store.conversations.all(PLAYER) == []

    def test_what_was_said_of_a_removed_document_goes_with_it(self, store: Backend) -> None:
        amber, copper = put(store, sample("a.md", "Amber."), sample("b.md", "Copper."))
        store.conversations.keep("talk", kept("amber", None, amber))
        store.conversations.keep("talk", kept("both", None, copper, amber))
        store.conversations.keep("talk", kept("copper", None, copper))
        with store.writer.writing():
            store.writer.remove([amber])
        assert asked(store, OWNER) == ["copper"]

    def test_only_what_may_be_seen_is_forgotten(self, store: Backend) -> None:
        store.conversations.keep("talk", kept("of the owner"))
        store.conversations.keep("talk", kept("of players", {"player"}))
        store.conversations.keep("other", kept("of players", {"player"}))
        assert store.conversations.forget("talk", PLAYER) == 1
        assert store.conversations.forget("talk", PLAYER) == 0
        assert asked(store, OWNER) == ["of the owner"]
        assert asked(store, PLAYER, "other") == ["of players"]
