"""Callers reach only what they may see: one case for each route, then random requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.serving.shelf import SECRET, VAULTED, client, shelve

from trivium.config import Settings
from trivium.http.app import create_app
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample

HIDDEN = 3  # of another audience
ELSEWHERE = 4  # in another collection
# Every way to a document, by its id.
WAYS = (
    "",
    "/text",
    "/passages",
    "/passages/0",
    "/similar",
    "/interpretations",
    "/diff",
    "/original",
    "/pages/1",
    "/pages/1?passage=0",
)
OPEN = {"/healthz", "/readyz", "/openapi.json"}  # the only routes that ask for no token
# Every other route: who may ask, and how it is asked. A route that is not here fails a test; one
# that shows something of documents belongs into `requests`, too.
ANYONE, SEARCH, ADD, MANAGE, OWNER = "anyone", "search", "add", "manage", "owner"
ROUTES: dict[tuple[str, str], tuple[str, Any]] = {
    ("POST", "/v1/search"): (SEARCH, {"query": "crown"}),
    ("POST", "/v1/query"): (SEARCH, {"question": "crown"}),
    ("POST", "/v1/quote"): (SEARCH, {"text": "The crown lies in the vault."}),
    ("GET", "/v1/conversations"): (SEARCH, None),
    ("GET", "/v1/conversations/{name}"): (SEARCH, None),
    ("DELETE", "/v1/conversations/{name}"): (SEARCH, None),
    ("GET", "/v1/suggest"): (SEARCH, None),
    ("GET", "/v1/collections"): (SEARCH, None),
    ("GET", "/v1/documents"): (SEARCH, None),
    ("POST", "/v1/documents"): (ADD, None),
    ("POST", "/v1/documents/url"): (ADD, {"url": "https://example.org/"}),
    ("GET", "/v1/documents/{id}"): (SEARCH, None),
    ("DELETE", "/v1/documents/{id}"): (MANAGE, None),
    ("POST", "/v1/documents/{id}/restore"): (MANAGE, {"number": 1}),
    ("GET", "/v1/documents/{id}/text"): (SEARCH, None),
    ("GET", "/v1/documents/{id}/passages"): (SEARCH, None),
    ("GET", "/v1/documents/{id}/passages/{index}"): (SEARCH, None),
    ("GET", "/v1/documents/{id}/similar"): (SEARCH, None),
    ("GET", "/v1/documents/{id}/interpretations"): (SEARCH, None),
    ("GET", "/v1/documents/{id}/diff"): (SEARCH, None),
    ("GET", "/v1/documents/{id}/original"): (SEARCH, None),
    ("GET", "/v1/documents/{id}/pages/{page}"): (SEARCH, None),
    ("GET", "/v1/jobs"): (OWNER, None),
    ("GET", "/v1/jobs/{id}"): (OWNER, None),  # and whoever sent its file: test_background
    ("GET", "/v1/jobs/{id}/tasks"): (OWNER, None),
    ("GET", "/v1/jobs/{id}/events"): (OWNER, None),
    ("POST", "/v1/jobs/{id}/cancel"): (OWNER, None),
    ("POST", "/v1/jobs/{id}/retry"): (OWNER, None),
    ("GET", "/v1/sync"): (OWNER, None),
    ("POST", "/v1/sync"): (OWNER, {"name": "x", "kind": "notes", "options": {"path": "/nowhere"}}),
    ("GET", "/v1/sync-kinds"): (OWNER, None),
    ("GET", "/v1/sync/{name}"): (OWNER, None),
    ("POST", "/v1/sync/{name}/run"): (OWNER, {}),
    ("POST", "/v1/sync/{name}/pause"): (OWNER, None),
    ("POST", "/v1/sync/{name}/resume"): (OWNER, None),
    ("GET", "/v1/sync/{name}/check"): (OWNER, None),
    ("GET", "/v1/sync/{name}/verify"): (OWNER, None),
    ("DELETE", "/v1/sync/{name}"): (OWNER, None),
    ("GET", "/v1/sources"): (OWNER, None),
    ("POST", "/v1/sources"): (OWNER, {"path": "/nowhere"}),
    ("DELETE", "/v1/sources/{id}"): (OWNER, None),
    ("GET", "/v1/evaluations"): (OWNER, None),
    ("POST", "/v1/evaluations"): (OWNER, {"name": "mine"}),
    ("GET", "/v1/evaluations/{name}/runs"): (OWNER, None),
    ("POST", "/v1/evaluations/{name}/runs"): (OWNER, {}),
    ("GET", "/v1/evaluations/{name}/runs/{run}"): (OWNER, None),
    ("GET", "/v1/evaluations/{name}/compare"): (OWNER, None),
    ("GET", "/v1/evaluations/{name}/judgments"): (OWNER, None),
    ("POST", "/v1/evaluations/{name}/judgments"): (
        OWNER,
        {"query": "crown", "document": 3, "grade": 1},
    ),
    ("GET", "/v1/tokens"): (OWNER, None),
    ("POST", "/v1/tokens"): (OWNER, {"all_audiences": True}),
    ("DELETE", "/v1/tokens/{id}"): (OWNER, None),
    ("GET", "/v1/caller"): (ANYONE, None),
    ("GET", "/v1/settings"): (OWNER, None),
    ("GET", "/v1/presets"): (ANYONE, None),
    ("GET", "/metrics"): (OWNER, None),
}
_ASKED = {"q": "cro", "query": "crown", "run": "a", "against": "b"}
_PARTS = {"{id}": "3", "{index}": "0", "{page}": "1", "{name}": "mine", "{run}": "a"}


def asked(caller: TestClient, method: str, path: str, body: Any) -> Any:
    for part, value in _PARTS.items():
        path = path.replace(part, value)
    return caller.request(method, path, json=body, params=_ASKED)


def test_every_route_is_in_the_table(library: Library) -> None:
    app = create_app(library, Settings(), open_to_all=True)
    with TestClient(app, base_url="http://localhost") as owner:
        described = owner.get("/openapi.json").json()["paths"]
    there = {(method.upper(), path) for path, of in described.items() for method in of}
    assert there - set(ROUTES) == {("GET", path) for path in OPEN - {"/openapi.json"}}
    assert set(ROUTES) <= there
    # What is not described is not there either, but for the assistants' way in.
    included = [getattr(route, "original_router", None) for route in app.router.routes]
    routes = [*app.router.routes, *(r for router in included if router for r in router.routes)]
    mounted = {getattr(route, "path", "").replace(":path}", "}") for route in routes} - {""}
    assert mounted == {path for _, path in ROUTES} | OPEN | {"/mcp"}


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nobody_is_let_in_without_a_token(library: Library, method: str, path: str) -> None:
    app = create_app(library, Settings())
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as nobody:
        answer = asked(nobody, method, path, ROUTES[method, path][1])
    assert (answer.status_code, answer.json()["code"]) == (401, "token.refused")
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.fixture(scope="module")
def limited(library: Library) -> Iterator[dict[str, TestClient]]:
    """One for each right, and one with all of them for a part of the library."""
    wide: dict[str, Any] = {"audiences": None, "collections": None}
    part: dict[str, Any] = {"audiences": ["player"], "collections": ["rules"]}
    kinds: dict[str, dict[str, Any]] = {
        SEARCH: {**wide, "rights": ["search"]},
        ADD: {**wide, "rights": ["add"]},
        MANAGE: {**part, "rights": ["search", "add", "manage"]},
    }
    with ExitStack() as opened:
        yield {
            kind: opened.enter_context(client(library, library.tokens.create(**limits)[1]))
            for kind, limits in kinds.items()
        }


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_right_is_for_what_it_says(
    limited: dict[str, TestClient], method: str, path: str
) -> None:
    needed, body = ROUTES[method, path]
    refused = {
        ANYONE: set(),
        SEARCH: {ADD},
        ADD: {SEARCH},
        MANAGE: {SEARCH, ADD},
        OWNER: {SEARCH, ADD, MANAGE},
    }[needed]
    for kind in refused:
        answer = asked(limited[kind], method, path, body)
        assert (answer.status_code, answer.json()["code"]) == (403, "token.right_missing"), kind


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("id_", [HIDDEN, ELSEWHERE])
def test_a_hidden_document_is_not_there(player: TestClient, id_: int, way: str) -> None:
    hidden = player.get(f"/v1/documents/{id_}{way}")
    missing = player.get(f"/v1/documents/99{way}")
    assert hidden.status_code == missing.status_code == 404
    told = {k: v for k, v in hidden.json().items() if k != "request_id"}
    other = {k: v for k, v in missing.json().items() if k != "request_id"}
    assert json.dumps(told).replace(f"#{id_}", "#99") == json.dumps(other), "told apart"


@pytest.mark.parametrize("word", [SECRET, VAULTED])
def test_hidden_words_are_nowhere(player: TestClient, word: str) -> None:
    asked = [
        player.post("/v1/search", json={"query": f"crown {word[:-1]}", "explain": True}),
        player.post("/v1/search", json={"query": "crown", "where": "source:#3", "explain": True}),
        player.post("/v1/search", json={"query": "crown", "where": "curse:1"}),
        player.post("/v1/search", json={"query": "crown", "where": "collection:vault"}),
        player.post("/v1/search", json={"query": "crown", "audiences": ["dm-only"]}),
        player.get("/v1/documents"),
        player.get("/v1/documents", params={"where": "alloy:*"}),
        player.get("/v1/collections"),
        player.get("/v1/suggest", params={"q": word[:4]}),
        player.get("/v1/suggest", params={"q": f"{word}x"}),
        player.get("/v1/documents/2/similar"),
        player.post("/v1/query", json={"question": f"What is the crown of {word[:-1]}?"}),
        player.post("/v1/query", json={"question": "Where is the crown?", "source": "#3"}),
        player.post("/v1/quote", json={"text": f"The crown of {word[:-1]} lies in the vault."}),
        player.get("/v1/conversations"),
    ]
    for answer in asked:
        said = answer.text.replace(f"{word}x", "").replace(word[:-1] + '"', "")
        assert f" {word}" not in said
        assert "curse" not in said.replace("curse:1", "").replace("`curse`", "")
        assert "alloy" not in said.replace("`alloy`", "")
    told = player.get("/v1/collections").json()["collections"]
    assert [(one["name"], one["documents"]) for one in told] == [("rules", 2)]


def test_a_right_to_manage_ends_at_what_is_seen(tmp_path: Path) -> None:
    with shelve(tmp_path / "library") as library:
        _, token = library.tokens.create(
            audiences=["player"], collections=["rules"], rights=["manage"]
        )
        with client(library, token) as keeper:
            for id_ in (HIDDEN, ELSEWHERE):
                assert keeper.delete(f"/v1/documents/{id_}").status_code == 404
                restored = keeper.post(f"/v1/documents/{id_}/restore", json={"number": 1})
                assert restored.status_code == 404
            assert keeper.delete("/v1/documents/1").status_code == 200
            assert keeper.get("/v1/documents/1").status_code == 403, "manage does not imply search"
        assert [document.id for document in library.documents.all()] == [2, 3, 4]


def test_a_revoked_token_is_refused_at_once(library: Library) -> None:
    kept, token = library.tokens.create(audiences=())
    with client(library, token) as caller:
        assert caller.get("/v1/caller").status_code == 200
        library.tokens.revoke(kept.id)
        answer = caller.get("/v1/caller")
    assert (answer.status_code, answer.json()["code"]) == (401, "token.refused")
    assert token not in answer.text


# --- anything at random

LABELS = st.sampled_from(["all", "dm-only", "finance", "player"])
PLACES = st.sampled_from(["rules", "vault", "default"])
# Each document has a word of its own, so that whatever leaks is known by it.
OWN = ["amberjack", "bluestone", "candlewick", "dragonfly", "evergreen", "firebrand"]


class Served:
    """Documents of random audiences and collections, one server, tokens made as asked for."""

    def __init__(self, folder: Path, labels: list[tuple[str, str]]) -> None:
        self.library = Library(open_embedded(folder), TOY, Settings())
        self.labels = labels
        with self.library.backend.writer.writing():
            self.library.backend.writer.put(
                [
                    sample(
                        f"{word}.md",
                        f"The shared lantern of {word} burns.",
                        f"Another {word} note.",
                        title=f"Title {word}",
                        audience=audience,
                        collection=collection,
                        metadata={f"field{word}": word},
                    )
                    for word, (audience, collection) in zip(OWN, labels, strict=True)
                ],
                TOY.fingerprint,
            )

        self._opened = ExitStack()
        self.caller = self._opened.enter_context(client(self.library, "given with each request"))

    def close(self) -> None:
        self._opened.close()
        self.library.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    """A few libraries, each with other labels: making one takes longer than asking it."""
    mixtures = [
        [("all", "rules"), ("dm-only", "rules"), ("finance", "vault")] * 2,
        [("player", "default"), ("dm-only", "vault"), ("all", "vault")] * 2,
        [("finance", "rules"), ("player", "rules"), ("dm-only", "default")] * 2,
    ]
    made = [Served(tmp_path_factory.mktemp("random") / "library", one) for one in mixtures]
    yield made
    for one in made:
        one.close()


def requests(word: str, id_: int) -> list[tuple[str, str, Any]]:
    """Every route that reads, asked for this word and this document."""
    start = word[:4]
    return [
        ("post", "/v1/search", {"query": f"lantern {word}", "explain": True, "expand": True}),
        ("post", "/v1/search", {"query": [word, "lantern"], "combine": "maximum"}),
        ("post", "/v1/search", {"query": word, "mode": "fuzzy", "by": "document"}),
        ("post", "/v1/search", {"query": f"{word[:-2]}x", "mode": "keyword", "explain": True}),
        ("post", "/v1/search", {"query": "lantern", "where": f"field{word}:*"}),
        ("post", "/v1/search", {"query": "lantern", "where": "fieldx:1"}),
        ("post", "/v1/search", {"query": "lantern", "source": f"#{id_}"}),
        ("post", "/v1/search", {"query": "lantern", "audiences": ["dm-only", "finance"]}),
        ("post", "/v1/query", {"question": f"Which lantern of {word} burns?", "stream": False}),
        ("post", "/v1/quote", {"text": f"The lantern of {word} burns at night."}),
        ("post", "/v1/query", {"question": "Which lantern burns?", "conversation": "talk"}),
        ("post", "/v1/query", {"question": "Which lantern burns?", "source": f"#{id_}"}),
        ("get", "/v1/conversations", None),
        ("get", "/v1/conversations/talk", None),
        ("get", f"/v1/suggest?q={start}", None),
        ("get", f"/v1/suggest?q={word[:-1]}x", None),
        ("get", "/v1/collections", None),
        ("get", "/v1/documents?limit=2", None),
        ("get", f"/v1/documents?where=source:%23{id_}", None),
        *(("get", f"/v1/documents/{id_}{way}", None) for way in WAYS),
    ]


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    which=st.integers(0, 2),
    held=st.none() | st.frozensets(LABELS, max_size=2),
    places=st.none() | st.frozensets(PLACES, max_size=2),
    at=st.integers(0, 5),
)
def test_no_token_reaches_beyond_its_own(
    served: list[Served],
    which: int,
    held: frozenset[str] | None,
    places: frozenset[str] | None,
    at: int,
) -> None:
    one = served[which]
    kept, token = one.library.tokens.create(audiences=held, collections=places)
    allowed = [
        (held is None or audience in held | {"all"}) and (places is None or place in places)
        for audience, place in one.labels
    ]
    hidden = [word for word, may in zip(OWN, allowed, strict=True) if not may]
    word = OWN[at]
    caller, headers = one.caller, {"Authorization": f"Bearer {token}"}
    try:
        for method, path, body in requests(word, at + 1):
            answer = caller.request(method, path, json=body, headers=headers)
            assert answer.status_code < 500
            if path.startswith(f"/v1/documents/{at + 1}"):
                assert (answer.status_code == 404) or allowed[at], (path, answer.text)
            told = answer.text.replace(f"“{word}", "")
            for leaked in set(hidden) - ({word} if body else set()):
                assert leaked not in told, (path, body, leaked)
            if word in hidden and answer.status_code == 200:
                # The word that was asked for may be repeated, but nothing be found by it.
                said = answer.json() if "json" in answer.headers["content-type"] else {}
                ids = {result["document"]["id"] for result in said.get("results", [])}
                ids |= {document["id"] for document in said.get("documents", [])}
                ids |= {
                    passage["document"]
                    for passage in said.get("passages", [])
                    if isinstance(said.get("kind"), str)
                }
                assert all(allowed[id_ - 1] for id_ in ids), (path, body)
        counted = caller.get("/v1/collections", headers=headers).json()["collections"]
        assert sum(c["documents"] for c in counted) == sum(allowed)
    finally:
        one.library.tokens.revoke(kept.id)
