"""Limits of tokens and collections, and what the owner is shown of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.config import Settings
from trivium.core.access import Caller, Quota, Right
from trivium.core.errors import BadSetting
from trivium.http.callers import Minutes
from trivium.library import Library
from trivium.library.quotas import Use, read_collections

SETTINGS = Settings(
    serve_seconds=240.0,
    quota_searches=2,
    quota_collections="small = 1 document\nnarrow = 100 bytes",
)
RIGHTS = (Right.SEARCH, Right.ADD)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("quotas") / "library", SETTINGS) as library:
        yield library


def _client(library: Library, quota: Quota | None = None) -> tuple[str, TestClient]:
    kept, token = library.tokens.create(audiences=[], rights=RIGHTS, quota=quota)
    return kept.id, client(library, token, settings=SETTINGS)


def _add(opened: TestClient, name: str, text: str, collection: str = "default") -> tuple[int, str]:
    answer = opened.post(
        "/v1/documents",
        files={"file": (name, text.encode())},
        data={"collection": collection},
    )
    return answer.status_code, answer.json().get("code", "")


def test_a_token_adds_no_more_than_it_may(library: Library) -> None:
    id_, opened = _client(library, Quota(documents=2, bytes=60))
    with opened:
        assert _add(opened, "a.md", "The first note.")[0] < 300
        assert _add(opened, "b.md", "The second note.")[0] < 300
        assert _add(opened, "c.md", "The third note.") == (403, "quota.exceeded")
        assert _add(opened, "a.md", "The first note, changed.")[0] < 300
        assert _add(opened, "a.md", "The first note, " * 9) == (403, "quota.exceeded")
    _, manager = library.tokens.create(audiences=None, rights=list(Right))
    with client(library, manager, settings=SETTINGS) as owner:
        told = {one["id"]: one for one in owner.get("/v1/tokens").json()["tokens"]}
    assert told[id_]["quota"] == {"documents": 2, "bytes": 60, "searches": 2}
    assert told[id_]["used"] == {"documents": 2, "bytes": 40, "searches": 0}
    assert not told[id_]["session"]


def test_a_collection_holds_no_more_than_it_may(library: Library) -> None:
    _, one = _client(library)
    _, other = _client(library)
    with one, other:
        assert _add(one, "a.md", "A note of one.", "small")[0] < 300
        assert _add(other, "b.md", "A note of another.", "small") == (403, "quota.exceeded")
        assert _add(other, "b.md", "A note, " * 20, "narrow") == (403, "quota.exceeded")
        assert _add(other, "b.md", "A note of another.", "narrow")[0] < 300
        assert other.get("/v1/collections").json()["quotas"] == {}
    _, manager = library.tokens.create(audiences=None, rights=list(Right))
    with client(library, manager, settings=SETTINGS) as owner:
        told = owner.get("/v1/collections").json()["quotas"]
    assert told["small"]["documents"] == told["small"]["most_documents"] == 1
    assert 0 < told["narrow"]["bytes"] <= told["narrow"]["most_bytes"]


def test_searches_of_a_minute(library: Library) -> None:
    """Of one token, whichever way it asks; an owner has no limit from the settings."""
    id_, opened = _client(library)
    with opened:
        assert opened.post("/v1/search", json={"query": "crown"}).status_code == 200
        assert opened.post("/v1/quote", json={"text": "The crown lies in the"}).status_code == 200
        refused = opened.post("/v1/search", json={"query": "crown"})
        assert (refused.status_code, refused.json()["code"]) == (429, "server.rate_exceeded")
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert opened.post("/v1/query", json={"question": "crown?"}).status_code == 429
        assert opened.post("/mcp", json={}).status_code == 429
        assert opened.app.state.server.callers.searches.used() == {id_: 2}  # type: ignore[attr-defined]
    _, manager = library.tokens.create(audiences=None, rights=list(Right))
    with client(library, manager, settings=SETTINGS) as owner:
        for _ in range(4):
            assert owner.post("/v1/search", json={"query": "crown"}).status_code == 200


def test_a_minute_passes() -> None:
    now = [0.0]
    minutes = Minutes(now=lambda: now[0])
    assert [minutes.take("a", 2), minutes.take("a", 2), minutes.take("b", 2)] == [0, 0, 0]
    now[0] = 15.0
    assert minutes.take("a", 2) == 45.0
    now[0] = 60.0
    assert minutes.take("a", 2) == 0
    assert minutes.used() == {"a": 1, "b": 0}


def test_uploads_that_wait_count(tmp_path: Path) -> None:
    """Nobody sends ten files before the first is added."""
    with shelve(tmp_path / "library", SETTINGS) as library:
        kept, _ = library.tokens.create(audiences=[], rights=RIGHTS, quota=Quota(documents=3))
        with pytest.raises(Exception, match="3 documents, and this would make 4"):
            library.quotas.check(kept.caller, "default", 10, None, Use(3, 30))
        library.quotas.check(kept.caller, "default", 10, None, Use(2, 20))


def test_limits_that_make_no_sense() -> None:
    assert read_collections("a b = 5 bytes; c = 2 documents, 9 bytes") == {
        "a b": Quota(bytes=5),
        "c": Quota(2, 9),
    }
    for wrong in ("a", "a = ", "a = many documents", " = 5 bytes"):
        with pytest.raises(BadSetting, match=r"quota\.collections"):
            read_collections(wrong)
    with pytest.raises(BadSetting, match="documents"):
        Quota(documents=-1)


def test_owners_and_tokens_with_limits_of_their_own(library: Library) -> None:
    someone = Caller("a", "", frozenset(), None, frozenset(RIGHTS))
    assert library.quotas.of(someone) == Quota(searches=2)
    assert library.quotas.of(replace(someone, quota=Quota(5, 6, 7))) == Quota(5, 6, 7)
    owner = Caller("b", "", None, None, frozenset(Right))
    assert library.quotas.of(owner) == Quota()
