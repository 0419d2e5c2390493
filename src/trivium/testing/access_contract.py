"""What every store must do about who may see what: collections of a caller, access tokens; and
about the folders that are followed."""

from __future__ import annotations

from dataclasses import replace

from trivium.access import mint
from trivium.ports import Backend
from trivium.testing.samples import probe, sample
from trivium.testing.search_contract import ALL, found, put
from trivium.types import OWNER, Compare, Signal, Spelled, Where
from trivium.work import WatchedFolder


class AccessContract:
    def test_no_caller_sees_beyond_their_collections(self, store: Backend) -> None:
        secret, _ = put(
            store,
            sample("s.md", "the lamp is a trap", collection="vault", metadata={"trap": 1}),
            sample("p.md", "lamp", collection="rules"),
        )
        player = Where(frozenset(), collections=frozenset({"rules"}))
        for signal in Signal:
            assert found(store, signal, "lamp trap", player) == ["lamp"]
            hits = store.signals.search(signal, probe("lamp trap"), OWNER, ALL)
            assert len(store.documents.chunks([hit.chunk_id for hit in hits], player)) == 1
            asking = player.narrowed(Compare("collection", "eq", "vault"))
            assert store.signals.search(signal, probe("lamp"), asking, ALL) == []
        assert store.documents.text(secret, player) is None
        assert store.documents.passages(secret, player) == []
        assert store.documents.field_names(player) == frozenset()
        assert [c.name for c in store.documents.collections(player)] == ["rules"]
        assert store.signals.spellings(["trap"], player) == {"trap": ()}
        assert [d.uri for d in store.documents.all(player)] == ["p.md"]
        assert store.documents.all(Where(None, collections=frozenset())) == []

    def test_hidden_documents_change_no_score(self, store: Backend) -> None:
        put(store, sample("a.md", "the harbour at night", "take it over there", "a lamp, a die"))
        player = Where(frozenset())
        queries = ("takeover", "harbour takeover", "harbr", "die lamp", "harbour -lamp")

        def told() -> list[object]:
            found = [
                store.signals.search(signal, probe(query), player, ALL)
                for signal in Signal
                for query in queries
            ]
            words = ["takeover", "lamp", "harbr", "ha"]
            spelled = (
                store.signals.spellings(words, player),
                store.signals.completions("ha", player, 1),
            )
            return [*found, *spelled, list(store.signals.rarities(words, player))]

        before = told()
        hidden = "takeover of harbours, harbour lamp"
        put(store, sample("b.md", hidden, "die harbr", audience="dm-only", language="de"))
        assert told() == before

    def test_documents_are_counted_by_label_as_far_as_they_may_be_seen(
        self, store: Backend
    ) -> None:
        put(
            store,
            sample("a.md", "lamp", collection="rules", category="core"),
            sample("b.md", "lamp", collection="rules"),
            sample("c.md", "lamp", collection="vault", category="core", audience="dm-only"),
        )
        assert store.documents.counts("collection", OWNER) == {"rules": 2, "vault": 1}
        assert store.documents.counts("category", OWNER) == {"core": 2, "": 1}
        player = Where(frozenset())
        assert store.documents.counts("collection", player) == {"rules": 2}
        assert store.documents.counts("category", player) == {"core": 1, "": 1}
        core = player.narrowed(Compare("category", "eq", "core"))
        assert sum(store.documents.counts("type", core).values()) == 1
        (kind,) = store.documents.counts("type", OWNER)
        assert len(store.documents.all(OWNER.narrowed(Compare("type", "eq", kind)))) == 3
        assert sum(store.documents.counts("language", OWNER).values()) == 3

    def test_words_go_on_as_visible_chunks_have_them(self, store: Backend) -> None:
        put(
            store,
            sample("a.md", "crown", "crown", "cruel crow"),
            sample("b.md", "crocodile crown", audience="dm-only"),
        )
        player = Where(frozenset())
        assert store.signals.completions("cr", player, 9) == (
            Spelled(("crown",), 2),
            Spelled(("crow",), 1),
            Spelled(("cruel",), 1),
        )
        assert store.signals.completions("cr", OWNER, 1) == (Spelled(("crown",), 3),)
        assert store.signals.completions("croc", player, 9) == ()
        assert store.signals.completions("c", OWNER, 9) == (), "too short to begin anything"

    def test_access_tokens_are_kept_whole(self, store: Backend) -> None:
        first, _ = mint("first", audiences=["player"], collections=["rules"], expires="1d")
        second = replace(
            mint("", audiences=None, rights=["add", "manage"])[0], created_at="9999-01-01T00:00:00Z"
        )
        for token in (second, first):
            store.tokens.keep(token)
        assert store.tokens.all() == [first, second]
        assert store.tokens.get(second.id) == second
        assert store.tokens.forget(first.id)
        assert not store.tokens.forget(first.id)
        assert store.tokens.get(first.id) is None
        assert store.tokens.all() == [second]

    def test_watched_folders_are_kept_whole(self, store: Backend) -> None:
        first = WatchedFolder("b", "/notes", "default", None, "player", ("*.tmp",), "2026-01-01")
        second = WatchedFolder("a", "/more", "rules", "book", None, (), "2026-01-02")
        for folder in (second, first):
            store.folders.keep(folder)
        assert store.folders.all() == [first, second]
        assert store.folders.forget("b")
        assert not store.folders.forget("b")
        assert store.folders.all() == [second]
