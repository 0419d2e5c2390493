"""How good the search is, over HTTP: sets, judgments, evaluations and comparisons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.evaluate.judged_sets import JudgedSets
from trivium.library import Library


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("judged") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def owner(shelf: Library) -> Iterator[TestClient]:
    with client(shelf) as opened:
        yield opened


def measured(owner: TestClient, name: str, **body: Any) -> tuple[list[Any], dict[str, Any]]:
    """What was told on the way, and the end."""
    answer = owner.post(f"/v1/evaluations/{name}/runs", json=body)
    assert answer.status_code == 200, answer.text
    parts = [part.splitlines() for part in answer.text.strip().split("\n\n")]
    told = [(n.removeprefix("event: "), json.loads(d.removeprefix("data: "))) for n, d in parts]
    assert told[-1][0] == "done", told[-1]
    return told[:-1], told[-1][1]


def judge(owner: TestClient, query: str, document: int, grade: int | None) -> Any:
    body = {"query": query, "document": document, "grade": grade}
    answer = owner.post("/v1/evaluations/mine/judgments", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_judgments_are_kept_and_measured_by(owner: TestClient, shelf: Library) -> None:
    judge(owner, "crown", 1, 0)
    judge(owner, "crown", 2, 1)
    told = judge(owner, "crown", 2, 2)
    assert told["judgments"] == [
        {"document": 1, "uri": "weapons.md", "grade": 0},
        {"document": 2, "uri": "crown.md", "grade": 2},
    ]
    judge(owner, "battle axe", 1, 1)
    judge(owner, "battle axe", 2, None)
    asked = owner.get("/v1/evaluations/mine/judgments", params={"query": "crown"}).json()
    assert asked == told
    unasked = owner.get("/v1/evaluations/mine/judgments", params={"query": "other"}).json()
    assert unasked["judgments"] == []
    (mine,) = owner.get("/v1/evaluations").json()["sets"]
    assert mine == {
        "name": "mine",
        "queries": 2,
        "judged": 3,
        "relevant": 2,
        "synthetic": False,
        "runs": 0,
    }
    progress, done = measured(owner, "mine")
    assert {name for name, _ in progress} == {"progress"}
    assert {data["stage"] for _, data in progress} >= {"vector", "keyword", "trigram", "hybrid"}
    figures = done["evaluation"]
    assert figures["queries"] == 2
    assert figures["documents"] == 4
    assert figures["runs"]["keyword"]["recall@100"] == 1.0
    assert set(figures["runs"]) >= {"hybrid", "reranked"}
    (saved,) = owner.get("/v1/evaluations/mine/runs").json()["runs"]
    assert saved == done
    whole = owner.get(f"/v1/evaluations/mine/runs/{saved['id']}").json()["evaluation"]
    assert sorted(whole["texts"].values()) == ["battle axe", "crown"]
    assert whole["each"]["keyword"]["recall@100"] == {"q1": 1.0, "q2": 1.0}


def test_two_evaluations_are_compared(owner: TestClient, shelf: Library) -> None:
    judge(owner, "crown", 2, 2)
    _, before = measured(owner, "mine", only=["hybrid"])
    judge(owner, "crown", 2, 0)  # it was judged wrongly, and another is what was meant
    judge(owner, "crown", 3, 2)
    _, now = measured(owner, "mine", only=["hybrid"])
    ways = {"run": now["id"], "against": before["id"]}
    told = owner.get("/v1/evaluations/mine/compare", params=ways).json()
    main = told["differences"]["hybrid"]["ndcg@10"]
    assert (main["wins"] + main["losses"], main["real"]) == (1, False)
    assert [one["text"] for one in told["changes"]["hybrid"] if one["gain"]] == ["crown"]
    shelf_ = JudgedSets(shelf.backend.shelf)
    assert shelf_.compared("mine", now["id"], before["id"]).common == told["queries"]


def test_queries_are_made_up_from_the_documents(owner: TestClient, shelf: Library) -> None:
    made = owner.post("/v1/evaluations", json={"name": "made-up", "queries": 3})
    assert made.status_code == 201, made.text
    assert made.json()["synthetic"]
    assert made.json()["queries"] >= 1
    _, done = measured(owner, "made-up", only=["keyword"])
    assert done["evaluation"]["synthetic"]
    again = owner.post("/v1/evaluations", json={"name": "made-up", "queries": 2, "seed": 1})
    assert again.status_code == 201, "another takes its place"
    body = {"query": "crown", "document": 2, "grade": 1}
    answer = owner.post("/v1/evaluations/made-up/judgments", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "dataset.invalid")


@pytest.mark.parametrize("name", ["..", "a%2fb", "..%2f..%2fetc", ".hidden", "a b"])
def test_names_are_no_ways(owner: TestClient, shelf: Library, name: str) -> None:
    body = {"query": "crown", "document": 2, "grade": 1}
    answer = owner.post(f"/v1/evaluations/{name}/judgments", json=body)
    assert answer.status_code in (404, 422), answer.text
    runs = owner.get(f"/v1/evaluations/mine/runs/{name}")
    assert runs.status_code in (404, 422), runs.text
    kept = {path.name for path in (shelf.backend.folder / "evaluation").iterdir()}
    assert kept <= {"mine", "made-up", ".lock"}


def test_what_is_not_there(owner: TestClient) -> None:
    answers = [
        owner.get("/v1/evaluations/none/runs"),
        owner.get("/v1/evaluations/none/judgments", params={"query": "x"}),
        owner.post("/v1/evaluations/none/runs", json={}),
        owner.get("/v1/evaluations/mine/compare", params={"run": "x", "against": "y"}),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (404, "evaluation.not_found")
    body = {"query": "crown", "document": 99, "grade": 1}
    answer = owner.post("/v1/evaluations/mine/judgments", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, "document.not_found")


def test_a_set_without_anything_relevant_says_so(owner: TestClient) -> None:
    body = {"query": "crown", "document": 2, "grade": 0}
    owner.post("/v1/evaluations/poor/judgments", json=body)
    answer = owner.post("/v1/evaluations/poor/runs", json={})
    assert (answer.status_code, answer.json()["code"]) == (422, "dataset.invalid")
