"""Who may open which page: one line for each route, and nothing of others' on those that open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient
from tests.serving.shelf import SECRET, VAULTED, client, shelve

from trivium.library import Library
from trivium.web import add, ask, evaluate, jobs, judge, queries, settings, sources
from trivium.web.site import furnish

# What it takes; `own`: everything there is.
DOORS = {
    "GET /ask": "search",
    "POST /ask": "search",
    "POST /ask/stream": "search",
    "POST /ask/forget": "search",
    "GET /add": "add",
    "POST /add": "add",
    "GET /add/events": "add",
    "POST /add/url": "add",
    "POST /add/samples": "own",
    "POST /add/folders": "own",
    "POST /add/folders/forget": "own",
    "POST /add/jobs/{id}/cancel": "own",
    "POST /add/jobs/{id}/retry": "own",
    "POST /add/jobs/retry": "own",
    "POST /add/jobs/cancel": "own",
    "POST /add/jobs/clear": "own",
    "GET /evaluate": "own",
    "GET /evaluate/{name}": "own",
    "POST /evaluate/synthetic": "own",
    "POST /evaluate/{name}/run": "own",
    "GET /evaluate/{name}/judge": "own",
    "POST /evaluate/{name}/judge": "own",
    "GET /settings": "own",
    "GET /settings/sources": "own",
    "POST /settings/sources": "own",
    "POST /settings/sources/steer": "own",
    "GET /settings/tokens": "own",
    "POST /settings/tokens": "own",
    "POST /settings/tokens/revoke": "own",
    "GET /settings/collections": "own",
    "GET /settings/queries": "own",
    "POST /settings/queries/delete": "own",
    "POST /settings/alerts": "own",
    "POST /settings/alerts/remove": "own",
    "POST /settings/collections": "own",
}
# Everything that any of the forms may ask for, so that none is refused for its form.
FORM = {
    "q": "crown",
    "conversation": "c",
    "url": "https://example.org/",
    "path": "/",
    "folder": "x",
    "name": "n",
    "token": "t",
    "collection": "rules",
    "chunker": "auto",
    "document": "1",
    "grade": "1",
    "alert": "x",
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("doors") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def holders(shelf: Library) -> Iterator[dict[str, TestClient]]:
    """One for each right, and one without a token."""
    with ExitStack() as opened:
        found = {
            right: opened.enter_context(holder(shelf, right))
            for right in ("search", "add", "manage")
        }
        found["nobody"] = opened.enter_context(client(shelf, "trv_nobody", furnish=furnish))
        found["nobody"].headers.pop("authorization")
        yield found


def holder(library: Library, *rights: str) -> TestClient:
    """Holds an audience and a collection, and is no owner whatever the rights."""
    _, token = library.tokens.create(audiences=["player"], collections=["rules"], rights=rights)
    return client(library, token, furnish=furnish)


def asked(who: TestClient, door: str) -> int:
    method, path = door.split()
    path = path.replace("{id}", "1").replace("{name}", "n")
    form = None if method == "GET" else FORM
    return who.request(method, path, data=form, follow_redirects=False).status_code


def test_every_route_has_its_line() -> None:
    routes = [
        f"{method} {route.path}"
        for part in (ask, add, jobs, evaluate, judge, settings, sources, queries)
        for route in part.router.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    ]
    assert sorted(routes) == sorted(DOORS)


@pytest.mark.parametrize("door", DOORS)
def test_only_the_right_opens_a_door(holders: dict[str, TestClient], door: str) -> None:
    assert asked(holders["nobody"], door) == (303 if door.startswith("GET") else 401)
    for right in {"search", "add", "manage"} - {DOORS[door]}:
        assert asked(holders[right], door) == 403, right


@pytest.mark.parametrize("word", [SECRET, VAULTED])
def test_what_is_hidden_is_on_no_page(shelf: Library, word: str) -> None:
    with holder(shelf, "search", "add") as player:
        pages = [
            player.get("/ask"),
            player.post("/ask", data={"q": "where is the crown?"}),
            player.post("/ask/stream", data={"q": "where is the crown?"}),
            player.get("/add"),
        ]
        for page in pages:
            assert page.status_code == 200
            assert word not in page.text
            assert "vault" not in page.text


def test_jobs_are_shown_to_whoever_sent_the_file(shelf: Library) -> None:
    with holder(shelf, "add") as one, holder(shelf, "add") as other:
        one.post("/add", files={"file": ("mine-alone.md", b"# Mine alone")})
        assert "mine-alone.md" in one.get("/add").text
        assert "mine-alone.md" not in other.get("/add").text
        assert "Cancel" not in one.get("/add").text, "steering is the owner's"


def test_a_conversation_is_its_callers_own(shelf: Library) -> None:
    with holder(shelf, "search") as one, holder(shelf, "search") as other:
        one.post("/ask", data={"q": "where is the crown?", "conversation": "crowns"})
        assert ">crowns</a>" in one.get("/ask").text
        assert ">crowns</a>" not in other.get("/ask").text
        assert "where is the crown?" in one.get("/ask?conversation=crowns").text
        assert "where is the crown?" not in other.get("/ask?conversation=crowns").text
        assert other.post("/ask/forget", data={"conversation": "crowns"}).status_code == 404
