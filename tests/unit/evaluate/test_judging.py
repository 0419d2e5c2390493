"""Where judgments are kept: nothing given is lost, nothing half given is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trivium.core.errors import DatasetInvalid
from trivium.evaluate.dataset import load_dataset
from trivium.evaluate.judging import LOG, Judgments


def test_what_is_judged_is_a_set_that_eval_reads(tmp_path: Path) -> None:
    kept = Judgments(tmp_path)
    assert kept.ask([("", "crown"), ("t7", "axe"), ("", "crown")]) == {"q1": "crown", "t7": "axe"}
    kept.judge("q1", "a b.md", 2)
    kept.judge("q1", "c.md", 0)
    kept.judge("q1", "d.md", None)
    kept.judge("t7", "e.md", 0)
    found = load_dataset(tmp_path)
    assert found.queries == {"q1": "crown"}  # nothing relevant for the other yet
    assert found.judgments == {"q1": {"a b.md": 2, "c.md": 0}}
    assert found.corpus is None
    assert not found.synthetic
    assert kept.counts() == {
        "queries": 2,
        "answered": 1,
        "judged": 3,
        "relevant": 1,
        "skipped": 1,
    }


def test_another_process_goes_on(tmp_path: Path) -> None:
    first = Judgments(tmp_path)
    first.ask([("", "crown"), ("", "axe")])
    first.judge("q1", "a", 1)
    first.judge("q1", "b", None)
    again = Judgments(tmp_path)
    assert again.queries == {"q1": "crown", "q2": "axe"}
    assert again.open("q1", ["a", "b", "c"]) == ["c"]
    assert again.open("q2", ["a"]) == ["a"]
    assert again.ask([("", "bread")]) == {"q3": "bread"}


def test_undo_takes_the_last_answer_back_for_good(tmp_path: Path) -> None:
    kept = Judgments(tmp_path)
    kept.ask([("", "crown")])
    assert kept.undo() is None
    kept.judge("q1", "a", 1)
    kept.judge("q1", "b", 2)
    assert kept.undo() == ("q1", "b")
    for one in (kept, Judgments(tmp_path)):
        assert one.grades == {"q1": {"a": 1}}
    assert "b" not in (tmp_path / "qrels.tsv").read_text()
    assert kept.undo() == ("q1", "a")
    assert Judgments(tmp_path).grades == {}
    kept.judge("q1", "a", 0)
    assert Judgments(tmp_path).grades == {"q1": {"a": 0}}


def test_a_crash_within_a_line_costs_that_answer_only(tmp_path: Path) -> None:
    kept = Judgments(tmp_path)
    kept.ask([("", "crown")])
    kept.judge("q1", "a", 1)
    whole = (tmp_path / LOG).read_bytes()
    for cut in range(len(whole) - 60, len(whole)):
        (tmp_path / LOG).write_bytes(whole[:cut])
        assert Judgments(tmp_path).grades in ({}, {"q1": {"a": 1}})
    (tmp_path / LOG).write_bytes(whole + b'{"query": "q1", "docu')
    again = Judgments(tmp_path)
    assert again.grades == {"q1": {"a": 1}}
    again.judge("q1", "b", 2)
    assert Judgments(tmp_path).grades == {"q1": {"a": 1, "b": 2}}


def test_a_crash_before_the_files_were_replaced_is_mended(tmp_path: Path) -> None:
    kept = Judgments(tmp_path)
    kept.ask([("", "crown")])
    kept.judge("q1", "a", 1)
    with (tmp_path / LOG).open("a") as file:
        file.write(json.dumps({"query": "q1", "document": "b", "grade": 2}) + "\n")
    assert "b" not in (tmp_path / "qrels.tsv").read_text()
    Judgments(tmp_path)
    assert "q1\tb\t2\n" in (tmp_path / "qrels.tsv").read_text()


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "qrels.tsv").write_text("mine")
    with pytest.raises(DatasetInvalid, match="from somewhere else"):
        Judgments(tmp_path)
    with pytest.raises(DatasetInvalid, match="isn't a folder"):
        Judgments(tmp_path / "qrels.tsv")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / LOG).write_text('{"query": "q", "text": "x"}\n[]\n')
    with pytest.raises(DatasetInvalid, match=r"judgments.jsonl, line 2: it isn't a judgment"):
        Judgments(tmp_path / "own")


def test_an_id_means_one_query(tmp_path: Path) -> None:
    kept = Judgments(tmp_path)
    kept.ask([("1", "crown"), ("2", "a\u2028separator")])
    assert Judgments(tmp_path).queries == kept.queries
    with pytest.raises(DatasetInvalid, match="The query 1 is “crown”"):
        kept.ask([("1", "axe")])
