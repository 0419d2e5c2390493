"""Every field of every route, one after the other, with values at the edges of its kind: typed
errors, never a fault of ours. The fields come from the API's own description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

EDGES: tuple[Any, ...] = (
    *(0, -1, 2**31, 2**53, 2**63, 2**64, 10**400, -0.5, 1e308, float("nan"), float("inf")),
    *(True, None, [], {}, [None], [[]], {"a": {"a": []}}, ["x"] * 600),
    *("", " ", "\x00", "\ud83d", "\ude00\ud83d", "𝒳" * 300, "9" * 400, "a" * 5_000, "1e400"),
    *("0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
    *("10000-01-01", "-1-01-01", "2026-02-30", "00:00", "NaN", "../../x", "/proc", "/proc/self"),
    *("date>=9999-12-31", "year:" + "9" * 400, "(" * 300, '"' * 99, "-" * 99, "%00", "*", "#0"),
)
# What a request needs besides the field in question.
PLAIN = {
    "query": "crown", "question": "crown", "text": "crown", "q": "crown", "url": "ftp://x",
    "path": "/nowhere", "name": "x", "kind": "notes", "rights": ["search"], "audiences": [],
    "collections": ["rules"], "queries": ["crown"], "statement": "crown",
}  # fmt: skip
# Each field gets one in so many, each another share: 20 s. All take 80 s: set it to 1 after a
# change to the routes.
STRIDE = 6
_SKIPPED = {"/v1/jobs/{id}/events"}  # a stream that lasts as long as its job


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with shelve(tmp_path_factory.mktemp("fields") / "library") as library, client(library) as owner:
        yield owner


def described(opened: TestClient) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Method, path, its description and the properties of its body."""
    told = opened.get("/openapi.json").json()

    def resolved(schema: dict[str, Any]) -> dict[str, Any]:
        name = schema.get("$ref", "").rpartition("/")[2]
        return dict(told["components"]["schemas"][name]) if name else schema

    found = []
    for path, methods in sorted(told["paths"].items()):
        for method, about in sorted(methods.items()):
            content = about.get("requestBody", {}).get("content", {})
            body = resolved(content.get("application/json", {}).get("schema", {}))
            if path not in _SKIPPED:
                found.append((method, path, about, dict(body.get("properties", {}))))
    return found


def test_no_value_of_any_field_is_a_fault(
    opened: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    sent, fields, faults = 0, 0, []
    for method, path, about, properties in described(opened):
        parameters = about.get("parameters", ())
        plain = {name: PLAIN[name] for name in properties if name in PLAIN}
        for name in (*properties, *(f"{one['in']}:{one['name']}" for one in parameters)):
            fields += 1
            for value in EDGES[fields % STRIDE :: STRIDE]:
                where, _, field = name.rpartition(":")
                url, query, body = path, dict[str, str](), dict(plain)
                text = value if isinstance(value, str) else json.dumps(value)
                safe = text.encode("utf-8", "surrogatepass")
                for one in parameters:
                    if one["in"] == "path":
                        given = quote(safe, safe="") if one["name"] == field else "1"
                        url = url.replace(f"{{{one['name']}}}", given or "1")
                    elif one.get("required") and one["name"] in PLAIN:
                        query[one["name"]] = str(PLAIN[one["name"]])
                if where == "query":
                    query[field] = quote(safe, safe="")
                elif not where:
                    body[field] = value
                address = url + "?" + "&".join(f"{key}={one}" for key, one in query.items())
                content = json.dumps(body) if properties else None
                headers = {"Content-Type": "application/json"} if properties else {}
                answer = opened.request(method, address, content=content, headers=headers)
                if answer.status_code >= 500 and answer.json()["code"] == "internal":
                    faults.append((method, path, name, value, answer.text[:200]))
                sent += 1
    assert faults == []
    assert sent > 6_000 / STRIDE
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_folders_without_documents_are_refused(opened: TestClient) -> None:
    """Watching /proc read files without an end; watching the library added its own database."""
    own = opened.app.state.server.library.backend.folder  # type: ignore[attr-defined]
    for path in ("/proc", "/proc/self", "/sys", "/dev", str(own), str(own / "archive")):
        if Path(path).is_dir():
            answer = opened.post("/v1/sources", json={"path": path})
            assert (answer.status_code, answer.json()["code"]) == (422, "setting.bad"), path


def test_moments_at_the_edges_of_the_calendar(opened: TestClient) -> None:
    for moment in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "9999-12-31"):
        answer = opened.post("/v1/search", json={"query": "crown", "as_of": moment})
        assert answer.status_code in (200, 422), answer.text
