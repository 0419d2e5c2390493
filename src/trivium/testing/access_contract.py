"""What every store must do about who may see what: collections of a caller, access tokens; and
about the folders that are followed."""

from __future__ import annotations

from dataclasses import replace

from trivium.access import mint
from trivium.ports import Store
from trivium.testing.samples import probe, sample
from trivium.testing.search_contract import ALL, found, put
from trivium.types import OWNER, Compare, Signal, Spelled, Where
from trivium.work import WatchedFolder


class AccessContract:
    def test_no_caller_sees_beyond_their_collections(self, store: Store) -> None:
        secret, _ = put(
            store,
            sample("s.md", "the lamp is a trap", collection="vault", metadata={"trap": 1}),
            sample("p.md", "lamp", collection="rules"),
        )
        player = Where(frozenset(), collections=frozenset({"rules"}))
        for signal in Signal:
            assert found(store, signal, "lamp trap", player) == ["lamp"]
            hits = store.search(signal, probe("lamp trap"), OWNER, ALL)
            assert len(store.chunks([hit.chunk_id for hit in hits], player)) == 1
            asking = player.narrowed(Compare("collection", "eq", "vault"))
            assert store.search(signal, probe("lamp"), asking, ALL) == []
        assert store.text(secret, player) is None
        assert store.passages(secret, player) == []
        assert store.field_names(player) == frozenset()
        assert [c.name for c in store.collections(player)] == ["rules"]
        assert store.spellings(["trap"], player) == {"trap": ()}
        assert [d.uri for d in store.documents(player)] == ["p.md"]
        assert store.documents(Where(None, collections=frozenset())) == []

    def test_hidden_documents_change_no_score(self, store: Store) -> None:
        put(store, sample("a.md", "the harbour at night", "take it over there", "a lamp, a die"))
        player = Where(frozenset())
        queries = ("takeover", "harbour takeover", "harbr", "die lamp", "harbour -lamp")

        def told() -> list[object]:
            found = [
                store.search(signal, probe(query), player, ALL)
                for signal in Signal
                for query in queries
            ]
            words = ["takeover", "lamp", "harbr", "ha"]
            spelled = store.spellings(words, player), store.completions("ha", player, 1)
            return [*found, *spelled, list(store.rarities(words, player))]

        before = told()
        hidden = "takeover of harbours, harbour lamp"
        put(store, sample("b.md", hidden, "die harbr", audience="dm-only", language="de"))
        assert told() == before

    def test_documents_are_counted_by_label_as_far_as_they_may_be_seen(self, store: Store) -> None:
        put(
            store,
            sample("a.md", "lamp", collection="rules", category="core"),
            sample("b.md", "lamp", collection="rules"),
            sample("c.md", "lamp", collection="vault", category="core", audience="dm-only"),
        )
        assert store.counts("collection", OWNER) == {"rules": 2, "vault": 1}
        assert store.counts("category", OWNER) == {"core": 2, "": 1}
        player = Where(frozenset())
        assert store.counts("collection", player) == {"rules": 2}
        assert store.counts("category", player) == {"core": 1, "": 1}
        core = player.narrowed(Compare("category", "eq", "core"))
        assert sum(store.counts("type", core).values()) == 1
        (kind,) = store.counts("type", OWNER)
        assert len(store.documents(OWNER.narrowed(Compare("type", "eq", kind)))) == 3
        assert sum(store.counts("language", OWNER).values()) == 3

    def test_words_go_on_as_visible_chunks_have_them(self, store: Store) -> None:
        put(
            store,
            sample("a.md", "crown", "crown", "cruel crow"),
            sample("b.md", "crocodile crown", audience="dm-only"),
        )
        player = Where(frozenset())
        assert store.completions("cr", player, 9) == (
            Spelled(("crown",), 2),
            Spelled(("crow",), 1),
            Spelled(("cruel",), 1),
        )
        assert store.completions("cr", OWNER, 1) == (Spelled(("crown",), 3),)
        assert store.completions("croc", player, 9) == ()
        assert store.completions("c", OWNER, 9) == (), "too short to begin anything"

    def test_access_tokens_are_kept_whole(self, store: Store) -> None:
        first, _ = mint("first", audiences=["player"], collections=["rules"], expires="1d")
        second = replace(
            mint("", audiences=None, rights=["add", "manage"])[0], created_at="9999-01-01T00:00:00Z"
        )
        for token in (second, first):
            store.keep_token(token)
        assert store.access_tokens() == [first, second]
        assert store.access_token(second.id) == second
        assert store.forget_token(first.id)
        assert not store.forget_token(first.id)
        assert store.access_token(first.id) is None
        assert store.access_tokens() == [second]

    def test_watched_folders_are_kept_whole(self, store: Store) -> None:
        first = WatchedFolder("b", "/notes", "default", None, "player", ("*.tmp",), "2026-01-01")
        second = WatchedFolder("a", "/more", "rules", "book", None, (), "2026-01-02")
        for folder in (second, first):
            store.keep_folder(folder)
        assert store.folders() == [first, second]
        assert store.forget_folder("b")
        assert not store.forget_folder("b")
        assert store.folders() == [second]
