"""What the routes answer to a caller who may see everything."""

from __future__ import annotations

import json
import re
from pathlib import Path

from starlette.testclient import TestClient
from tests.serving.shelf import SECRET, VAULTED, client

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.core.shapes import ResultsAnswer, to_json
from trivium.library import Library
from trivium.mcp import tools
from trivium.mcp.shapes import SearchInput
from trivium.operations.searching import Filters


def test_a_search_is_the_library_s_own(owner: TestClient, library: Library) -> None:
    body = {"query": "crown", "limit": 2, "where": "collection:rules", "explain": True}
    told = owner.post("/v1/search", json=body).json()
    found = library.search("crown", 2, filters=Filters(where="collection:rules"))
    direct = json.loads(to_json(ResultsAnswer.of(found)))
    assert told["results"] == direct["results"]
    assert told["analysis"] == direct["analysis"]
    assert set(told["timings_ms"]) == set(direct["timings_ms"])


def test_several_queries_are_combined(owner: TestClient) -> None:
    body = {"query": ["crown", "harbour"], "combine": "product", "by": "document"}
    (first, *_) = owner.post("/v1/search", json=body).json()["results"]
    assert first["document"]["title"] == "The Crown"
    assert len(first["queries"]) == 2


def test_documents_are_paged(owner: TestClient) -> None:
    seen, cursor = [], ""
    while cursor is not None:
        page = owner.get("/v1/documents", params={"limit": 3, "cursor": cursor}).json()
        seen += [document["uri"] for document in page["documents"]]
        cursor = page["next_cursor"]
    assert seen == ["weapons.md", "crown.md", "secrets.md", "vault.md"]


def test_documents_are_filtered(owner: TestClient) -> None:
    told = owner.get("/v1/documents", params={"where": "year:2021"}).json()
    assert [document["uri"] for document in told["documents"]] == ["weapons.md"]


def test_a_document_its_text_and_its_passages(owner: TestClient) -> None:
    told = owner.get("/v1/documents/1").json()
    assert (told["title"], told["metadata"]) == ("Weapons", {"year": 2021})
    assert not {"original", "seen_hash", "seen_fingerprint"} & set(told)
    text = owner.get("/v1/documents/1/text")
    assert text.text == "A battle axe needs two hands.\n\nThe short sword is for cabins."
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    passages = owner.get("/v1/documents/1/passages", params={"limit": 1}).json()
    assert [p["index"] for p in passages["passages"]] == [0]
    rest = owner.get("/v1/documents/1/passages", params={"cursor": passages["next_cursor"]}).json()
    assert [p["index"] for p in rest["passages"]] == [1]
    assert rest["next_cursor"] is None
    told = owner.get("/v1/documents/1/passages/1", params={"around": 1}).json()
    assert told["passage"]["text"] == "The short sword is for cabins."
    assert [one["index"] for one in told["before"]] == [0]


def test_what_is_known_is_not_sent_again(owner: TestClient) -> None:
    first = owner.get("/v1/documents/1/text")
    again = owner.get("/v1/documents/1/text", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = owner.get("/v1/documents/2/text", headers={"If-None-Match": first.headers["etag"]})
    assert other.status_code == 200


def test_a_pasted_sentence_finds_its_document(owner: TestClient) -> None:
    told = owner.post("/v1/quote", json={"text": "The short sword is made for cabins."}).json()
    (place,) = told["places"]
    assert (place["title"], place["index"]) == ("Weapons", 1)
    assert place["changes"] == [{"quoted": "made", "source": ""}]
    nothing = owner.post("/v1/quote", json={"text": "Words that no document has in this order."})
    assert nothing.json() == {"places": [], "similar": []}
    assert owner.post("/v1/quote", json={"text": "two words"}).status_code == 422


def test_similar_documents(owner: TestClient) -> None:
    told = owner.get("/v1/documents/2/similar", params={"where": "collection:vault"}).json()
    assert [result["document"]["title"] for result in told["results"]] == [f"Vault of {VAULTED}"]


def test_suggestions_go_on_or_correct(owner: TestClient) -> None:
    told = owner.get("/v1/suggest", params={"q": "the cro"}).json()["suggestions"]
    assert told == [{"text": "the crown", "kind": "completion", "chunks": 3}]
    told = owner.get("/v1/suggest", params={"q": "harbuor"}).json()["suggestions"]
    assert told[0] == {"text": "harbour", "kind": "spelling", "chunks": 1}


def test_collections_and_the_past(owner: TestClient) -> None:
    told = owner.get("/v1/collections").json()["collections"]
    assert [(one["name"], one["documents"]) for one in told] == [("rules", 3), ("vault", 1)]
    told = owner.get("/v1/documents/1/interpretations").json()["interpretations"]
    assert [(one["number"], one["active"]) for one in told] == [(1, True)]


def test_settings_hold_no_secret(library: Library, monkeypatch: object, owner: TestClient) -> None:
    with client(library, settings=Settings(generate_url="http://x/v1", generate_model="m")) as own:
        told = {one["name"]: one for one in own.get("/v1/settings").json()["settings"]}
    assert told["generate.url"]["value"] == "http://x/v1"
    assert not [name for name in told if name.endswith(".key")]
    assert "rulebook" in owner.get("/v1/presets").json()["presets"]


def test_health_and_metrics(owner: TestClient) -> None:
    assert owner.get("/healthz").json()["status"] == "ok"
    assert owner.get("/readyz").json()["status"] == "ready"
    owner.post("/v1/search", json={"query": SECRET})
    told = owner.get("/metrics").text
    assert 'route="/v1/search",status="200"' in told
    assert SECRET not in told, "counts, never contents"


def test_searches_on_every_way_in_count(owner: TestClient, library: Library) -> None:
    def counted() -> float:
        told = owner.get("/metrics").text
        found = re.search(r'stage_seconds_count\{stage="keyword"\} (\S+)', told)
        return float(found[1]) if found else 0

    before = counted()
    tools.search(library, LOCAL_OWNER, SearchInput(query="crown"))  # as MCP does
    library.ask("Who wears the crown?")
    assert counted() >= before + 2


def test_metrics_of_errors_and_of_the_queue_and_the_board_that_shows_them(
    owner: TestClient, library: Library
) -> None:
    owner.get("/v1/documents/999")
    owner.post("/v1/search", json={"query": "crown"})
    told = owner.get("/metrics").text
    assert 'stage="keyword"' in told
    assert 'code="document.not_found"' in told
    assert "trivium_documents_left 0.0" in told
    assert 'trivium_tasks{state="waiting"} 0.0' in told
    assert library.jobs.queue_state().workers == 0
    board = (Path(__file__).parents[2] / "deploy" / "grafana.json").read_text()
    shown = set(re.findall(r"\btrivium_\w+", board))
    there = {line.split("{")[0].split(" ")[0] for line in told.splitlines() if line[:1] != "#"}
    there |= set(re.findall(r"^# TYPE (\w+)", told, re.MULTILINE))  # no source, no sample
    assert len(shown) > 14
    assert shown <= there


def test_a_caller_learns_who_it_is(player: TestClient, owner: TestClient) -> None:
    assert player.get("/v1/caller").json() == {
        "name": "player",
        "audiences": ["player"],
        "collections": ["rules"],
        "rights": ["search"],
    }
    assert owner.get("/v1/caller").json()["audiences"] is None


def test_large_answers_are_compressed(owner: TestClient) -> None:
    answer = owner.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
