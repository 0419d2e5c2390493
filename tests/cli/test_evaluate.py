"""`trivium eval` on a judged set of three documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.program import call

CORPUS = {
    "a": ("Weapons", "The battle axe needs two hands."),
    "b": ("Crown", "Divers raised the crown from the harbour."),
    "c": ("Bread", "Waybread keeps for a month."),
}


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    rows = [{"_id": i, "title": title, "text": text} for i, (title, text) in CORPUS.items()]
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / "corpus.jsonl").write_text(lines, encoding="utf-8")
    asked = {"q": "who raised the crown", "r": "battle axe"}
    write_queries(tmp_path / "queries.jsonl", asked)
    write_queries(tmp_path / "wrong.jsonl", {"q": "waybread"})
    judgments = "query-id\tcorpus-id\tscore\nq\tb\t1\nr\ta\t1\n"
    (tmp_path / "qrels.tsv").write_text(judgments, encoding="utf-8")
    return tmp_path


def write_queries(path: Path, queries: dict[str, str]) -> None:
    rows = ({"_id": i, "text": text} for i, text in queries.items())
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_eval(judged: Path, tmp_path: Path) -> None:
    answer = call("eval", judged, "--json")
    assert answer.code == 0
    found = answer.json
    assert set(found) == {"dataset", "documents", "queries", "runs", "notes"}
    assert (found["dataset"], found["documents"], found["queries"]) == (tmp_path.name, 3, 2)
    assert set(found["runs"]) == {"vector", "keyword", "trigram", "hybrid", "reranked"}
    assert all({"ndcg@10", "recall@100", "mrr@10"} <= set(run) for run in found["runs"].values())
    assert found["runs"]["hybrid"]["ndcg@10"] == 1
    assert [line.split(":")[0] for line in answer.err.splitlines()] == ["index", *found["runs"]]
    table = call("eval", judged).out.splitlines()
    assert table[0].endswith(": 3 documents, 2 queries")
    assert table[1].split()[0] == "run"
    assert [line.split()[0] for line in table[2:]] == list(found["runs"])


def test_other_queries(judged: Path) -> None:
    answer = call("eval", judged, "--queries", judged / "wrong.jsonl", "--json")
    assert answer.json["queries"] == 1
    assert answer.json["runs"]["hybrid"]["ndcg@10"] < 1
    missing = call("eval", judged, "--queries", judged / "nothing.jsonl", "--json")
    assert missing.code == 2
    assert missing.error["code"] == "dataset.invalid"
