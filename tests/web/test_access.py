"""Pages show only what the caller may see, and no foreign page acts in their name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient
from tests.serving.shelf import SECRET, VAULTED, client, shelve

from trivium.http.asked import COOKIE
from trivium.library import Library
from trivium.web.site import PARTS, furnish

HOST = "http://localhost:8420"
# The only pages without a token.
# The provider ends sessions (`/login/ended`) with a token that it signed.
OPEN = {
    "/static/{of}/{name}",
    "/login",
    "/login/start",
    "/login/done",
    "/login/ended",
    "/logout",
    "/theme",
}
HIDDEN, ELSEWHERE = 3, 4


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("pages") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def token(library: Library) -> str:
    return library.tokens.create(audiences=["player"], collections=["rules"], name="player")[1]


@pytest.fixture
def visitor(library: Library, token: str) -> Iterator[TestClient]:
    """A browser at a server that demands tokens; it has none yet."""
    with client(library, token, furnish=furnish) as opened:
        del opened.headers["authorization"]
        opened.follow_redirects = False
        yield opened


@pytest.fixture
def player(visitor: TestClient, token: str) -> TestClient:
    visitor.cookies.set(COOKIE, token)
    return visitor


def test_every_page_but_these_asks_for_a_token(visitor: TestClient) -> None:
    pages = [
        (method, route.path)
        for part in PARTS
        for route in part.router.routes
        if isinstance(route, APIRoute) and route.path not in OPEN
        for method in route.methods
    ]
    assert len(pages) >= 6
    for method, path in pages:
        url = path.replace("{id}", "1")
        answer = visitor.request(method, url, headers={"Origin": HOST})
        if method == "GET":
            assert (answer.status_code, answer.headers["location"][:12]) == (303, "/login?next="), (
                path
            )
        else:
            assert answer.status_code in (401, 422), path


def test_a_token_opens_the_door_until_it_is_given_back(visitor: TestClient, token: str) -> None:
    wrong = visitor.post("/login", data={"token": "trv_nonsense"}, headers={"Origin": HOST})
    assert wrong.status_code == 401
    assert COOKIE not in wrong.headers.get("set-cookie", "")
    right = visitor.post(
        "/login", data={"token": f" {token} ", "next": "/?q=crown"}, headers={"Origin": HOST}
    )
    assert (right.status_code, right.headers["location"]) == (303, "/?q=crown")
    cookie = right.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/"))
    assert "crown" in visitor.get("/?q=crown").text
    assert visitor.get("/v1/caller").json()["name"] == "player", "the API knows it as well"
    visitor.post("/logout", headers={"Origin": HOST})
    assert visitor.get("/").status_code == 303


@pytest.mark.parametrize(
    "next_", ["https://example.org/", "//example.org", "/\\example.org", "javascript:alert(1)"]
)
def test_login_leads_nowhere_else(visitor: TestClient, token: str, next_: str) -> None:
    told = {"token": token, "next": next_}
    answer = visitor.post("/login", data=told, headers={"Origin": HOST})
    assert answer.headers["location"] == "/"


def test_a_revoked_token_ends_at_once(visitor: TestClient, library: Library) -> None:
    kept, token = library.tokens.create(audiences=())
    visitor.cookies.set(COOKIE, token)
    assert visitor.get("/").status_code == 200
    library.tokens.revoke(kept.id)
    answer = visitor.get("/")
    assert answer.status_code == 303
    assert f'{COOKIE}=""' in answer.headers["set-cookie"], "and the cookie goes"


@pytest.mark.parametrize("way", ["", "/history", "?passage=0&q=crown&similar=1"])
@pytest.mark.parametrize("id_", [HIDDEN, ELSEWHERE])
def test_a_hidden_document_is_not_there(player: TestClient, id_: int, way: str) -> None:
    hidden, missing = player.get(f"/documents/{id_}{way}"), player.get(f"/documents/99{way}")
    assert hidden.status_code == missing.status_code == 404
    told = re.sub(rf"(/documents/|#){id_}\b", r"\g<1>99", hidden.text)
    assert told == missing.text


def test_hidden_words_and_counts_are_nowhere(player: TestClient) -> None:
    asked = [
        "/",
        "/?q=crown&explain=1",
        "/?q=crown&collection=vault",
        "/?q=crown&source=%233",
        "/?q=crown&category=x&by=document",
        f"/?q={SECRET[:-1]}",
        f"/?q={VAULTED[:4]}",
        "/documents",
        "/documents?collection=vault",
        "/documents/2?similar=1&q=crown",
    ]
    for path in asked:
        answer = player.get(path)
        assert answer.status_code == 200, path
        said = answer.text.replace(SECRET[:-1], "", 3) if SECRET[:-1] in path else answer.text
        assert f" {SECRET}" not in said, path
        assert f" {VAULTED}" not in said, path
        assert "dm-only" not in said, path
    listed = player.get("/documents").text
    assert ">2</span>" in listed, "two documents are counted, not four"


def test_a_foreign_page_acts_in_nobodys_name(player: TestClient, library: Library) -> None:
    for headers in ({}, {"Origin": "https://example.org"}, {"Origin": "null"}):
        answer = player.post("/documents/1/remove", headers=headers)
        assert answer.status_code == 403, headers
        assert player.request("DELETE", "/v1/documents/1", headers=headers).status_code == 403
    assert library.documents.get(1)


def test_who_may_only_search_changes_nothing(player: TestClient) -> None:
    page = player.get("/documents/1").text
    assert "Remove" not in page
    for path in ("/documents/1/remove", "/documents/1/restore"):
        answer = player.post(path, data={"number": "1"}, headers={"Origin": HOST})
        assert answer.status_code == 403, path
        assert "no right to manage" in answer.text


def test_parts_are_the_same_text_as_the_page(player: TestClient) -> None:
    whole = player.get("/?q=crown&explain=1").text
    part = player.get("/?q=crown&explain=1", headers={"X-Part": "results nonsense"})
    assert part.text.lstrip().startswith('<section id="results"')
    assert "<html" not in part.text
    assert "x-part" in part.headers["vary"].lower()
    titles = [line for line in part.text.splitlines() if "result-link" in line]
    assert titles
    assert all(line in whole for line in titles)
    refused = player.get("/?q=crown&mode=none", headers={"X-Part": "results"})
    assert refused.status_code == 422
    assert refused.text.strip().startswith('<div id="alert"')


def test_static_files_are_kept_for_ever_and_nothing_else(player: TestClient) -> None:
    page = player.get("/")
    assert page.headers["cache-control"] == "no-store"
    address = page.text.split('rel="stylesheet" href="')[1].split('"')[0]
    style = player.get(address)
    assert "immutable" in style.headers["cache-control"]
    assert style.headers["content-type"].startswith("text/css")
    old = player.get("/static/0000000000000000/style.css")
    assert old.headers["cache-control"] == "no-cache"
    for strange in ("/static/x/..%2fpages.py", "/static/x/nothing.js"):
        assert player.get(strange).status_code == 404


def test_an_address_that_leads_nowhere(player: TestClient) -> None:
    person = player.get("/nowhere", headers={"Accept": "text/html"})
    assert person.status_code == 404
    assert "No page at /nowhere." in person.text
    assert 'href="/documents"' in person.text, "the navigation is that of the caller"
    assert 'href="/settings"' not in person.text
    player.cookies.clear()
    stranger = player.get("/nowhere", headers={"Accept": "text/html"})
    assert 'href="/documents"' not in stranger.text
    assert player.get("/nowhere").json()["code"] == "request.no_route"
    assert player.get("/v1/nowhere", headers={"Accept": "text/html"}).json()["status"] == 404


def test_without_the_serve_extra_there_is_no_page(tmp_path: Path) -> None:
    """The API alone, as programs embed it, has no pages."""
    with shelve(tmp_path / "library") as library, client(library) as api:
        assert api.get("/").status_code == 404
