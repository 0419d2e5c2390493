"""Tokens and settings over HTTP: for the owner alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.config import load
from trivium.library import Library


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("tokens") / "library") as library:
        yield library


def test_a_token_is_made_used_and_revoked(shelf: Library) -> None:
    _, mine = shelf.tokens.create(audiences=None, rights=["search", "add", "manage"])
    with client(shelf, mine) as owner:
        made = owner.post(
            "/v1/tokens",
            json={"name": "Ann", "audiences": ["player"], "collections": ["rules"]},
        )
        assert made.status_code == 201
        assert made.headers["cache-control"] == "no-store"
        told = made.json()
        secret = told["token"]
        with client(shelf, secret) as ann:
            assert ann.get("/v1/caller").json() == {
                "name": "Ann",
                "audiences": ["player"],
                "collections": ["rules"],
                "rights": ["search"],
            }
        listed = owner.get("/v1/tokens")
        assert secret not in listed.text, "it was shown once"
        assert {one["name"] for one in listed.json()["tokens"]} == {"", "Ann"}
        assert listed.json()["needed"]
        gone = owner.delete(f"/v1/tokens/{told['id']}")
        assert gone.json() == {"revoked": told["id"]}
        with client(shelf, secret) as ann:
            assert ann.get("/v1/caller").status_code == 401
        again = owner.delete(f"/v1/tokens/{told['id']}")
        assert (again.status_code, again.json()["code"]) == (404, "token.not_found")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"audiences": ["player"], "all_audiences": True}, "request.invalid"),
        ({"rights": []}, "request.invalid"),
        ({"rights": ["everything"]}, "request.invalid"),
        ({"expires": "soon"}, "setting.bad"),
        ({"audiences": ["a\nb"]}, "setting.bad"),
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(
    owner: TestClient, library: Library, body: dict[str, object], code: str
) -> None:
    before = library.tokens.all()
    answer = owner.post("/v1/tokens", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert library.tokens.all() == before


def test_a_setting_says_where_it_comes_from(
    shelf: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_SEARCH_LIMIT", "7")
    effective = load({"fusion.k": "20"})
    with client(shelf, settings=effective.settings, origins=effective.origins) as owner:
        told = owner.get("/v1/settings").json()
    found = {one["name"]: (one["value"], one["origin"]) for one in told["settings"]}
    assert found["search.limit"] == ("7", "environment")
    assert found["fusion.k"][1] == "command line"
    assert found["serve.port"] == ("8420", "default")
    assert told["file"].endswith("config.toml")
