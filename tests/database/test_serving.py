"""What API clients and people at a terminal learn about problems with the database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient
from tests import postgres
from tests.cli.program import call
from tests.serving.shelf import client

from trivium.config import Settings
from trivium.core import errors
from trivium.core.places import DatabaseAddress
from trivium.http.problems import status_of
from trivium.library import Library
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.address import parse
from trivium.testing.samples import TOY, sample


@pytest.mark.parametrize(
    "kind",
    [
        errors.DatabaseAway,
        errors.DatabaseRefused,
        errors.DatabaseSlow,
        errors.DatabaseUnsuitable,
    ],
)
def test_every_error_of_a_database_says_try_later(kind: type[errors.TriviumError]) -> None:
    assert status_of(kind("It failed.")) == 503


def test_a_server_whose_database_goes_and_comes_back() -> None:
    with postgres.library() as address, postgres.role("SUPERUSER") as role:
        mine = postgres.as_role(address, role)
        with (
            Library(open_backend(mine, BackendOptions()), TOY, Settings()) as library,
            client(library) as asking,
        ):
            with library.backend.writer.writing():
                library.backend.writer.put([sample("a.md", "A lantern.")], TOY.fingerprint)
            assert len(search(asking).json()["results"]) == 1
            assert health(asking) == {"/healthz": 200, "/readyz": 200}
            shut_out(role, "NOLOGIN")
            assert health(asking) == {"/healthz": 200, "/readyz": 503}
            gone = search(asking)
            assert gone.status_code == 503
            assert gone.json()["code"] in ("database.refused", "database.away")
            assert role not in gone.json()["fix"]
            assert "Retry-After" in gone.headers
            shut_out(role, "LOGIN")
            assert len(search(asking).json()["results"]) == 1
            assert health(asking) == {"/healthz": 200, "/readyz": 200}


def health(asking: TestClient) -> dict[str, int]:
    return {route: asking.get(route).status_code for route in ("/healthz", "/readyz")}


def search(asking: TestClient) -> Any:
    return asking.post("/v1/search", json={"query": "lantern"})


def shut_out(role: str, right: str) -> None:
    ending = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = :role"
    with postgres.as_owner() as connection:
        connection.execute(text(f"ALTER ROLE {role} {right}"))
    with postgres.as_owner() as connection:
        connection.execute(text(ending), {"role": role})


def test_the_terminal_copies_searches_and_examines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_CONFIG", str(tmp_path / "config.toml"))
    place = tmp_path / "library"
    source = open_backend(place, BackendOptions())
    with source.writer.writing():
        source.writer.put([sample("a.md", "A lantern burns.", embedded=False)], "")
    source.close()
    with postgres.library() as address:
        password = parse(address).parts["password"]
        copied = call("copy", place, address.url, "--json")
        assert (copied.code, copied.json["documents"]) == (0, 1)
        again = call("copy", place, address.url)
        assert again.code == 2
        listed = call("search", "lantern", "--mode", "keyword", "--library", address.url)
        assert "a.md" in listed.out
        looked = call("doctor", "--library", address.url)
        told = call("copy", address.url, tmp_path / "back")
        for said in (copied, again, listed, looked, told):
            assert f":{password}@" not in said.out + said.err
        wrong = DatabaseAddress(address.url.replace(f":{password}@", ":wr0ng@"))
        refused = call("list", "--library", wrong.url, "--json")
        assert refused.error["code"] == "database.refused"
        assert "wr0ng" not in refused.out + refused.err
