"""`trivium judge`: a person at a pipe, and queries made up from the documents."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.program import Answer, Program, call

from trivium.evaluate.judging import pool
from trivium.library import Library

Judge = Callable[..., Answer]


@pytest.fixture
def judge(trivium: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """The command with these answers on its standard input, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def ask(answers: str, *arguments: object) -> Answer:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{key}\n" for key in answers)))
        return trivium("judge", *arguments)

    return ask


def lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def test_what_is_judged_can_be_measured_at_once(judge: Judge, trivium: Program) -> None:
    answer = judge("222", "who raised the crown", "--json")
    assert answer.json == {
        "folder": "judgments",
        "queries": 1,
        "answered": 1,
        "judged": 3,
        "relevant": 3,
        "skipped": 0,
        "finished": True,
    }
    measured = trivium("eval", "judgments", "--json")
    assert measured.code == 0, measured.out
    assert measured.json["runs"]["hybrid"]["ndcg@10"] == 1
    assert measured.json["dataset"] == "judgments"


def test_a_set_that_the_library_keeps_goes_by_its_name(
    judge: Judge, trivium: Program, library: Path
) -> None:
    (library / "evaluation" / "kept").mkdir(parents=True)
    answer = judge("2", "who raised the crown", "--to", "kept", "--json")
    assert answer.json["folder"] == str(library / "evaluation" / "kept")
    measured = trivium("eval", "kept", "--only", "keyword", "--json")
    assert measured.json["dataset"] == "kept"


def test_it_is_blind_and_shows_where_a_passage_stands(judge: Judge) -> None:
    said = judge("sss", "battle axe").err
    for word in ("vector", "keyword", "trigram", "meaning", "spelling", "%"):
        assert word not in said
    assert "query 1 of 1, document 1 of 3" in said
    assert "Weapons  Axes" in said
    assert "A battle axe needs two hands and a strong back." in said
    assert "weapons.md" in said


def test_it_goes_on_where_it_stopped(judge: Judge) -> None:
    first = judge("1", "who raised the crown", "battle axe", "--json")
    assert not first.json["finished"]
    assert (first.json["judged"], len(lines("judgments/qrels.tsv"))) == (1, 2)
    second = judge("0q", "--json")  # without a query: the same ones
    assert second.json["judged"] == 2
    assert "query 1 of 2, document 2 of 3" in second.err
    last = judge("000000000", "--json")
    assert last.json["finished"]
    assert (last.json["judged"], last.json["queries"]) == (6, 2)
    nothing = judge("", "--json")
    assert nothing.json == last.json
    assert "document" not in nothing.err


def test_undo_and_wrong_keys(judge: Judge) -> None:
    answer = judge("u2xu01uuq", "who raised the crown", "--json")
    # Nothing to undo; 2 given and undone; 0 and 1 given and both undone.
    assert "Nothing to undo." in answer.err
    assert "x isn't one of" in answer.err
    assert answer.json["judged"] == 0
    assert lines("judgments/qrels.tsv") == ["query-id\tcorpus-id\tscore"]


def test_queries_of_a_file_keep_their_ids(judge: Judge) -> None:
    Path("q.tsv").write_text("17\tbattle axe\n18\tcrown\n")
    judge("20q", "--queries", "q.tsv", "--to", "rules")
    judged = [line.split("\t") for line in lines("rules/qrels.tsv")[1:]]
    assert [(row[0], row[2]) for row in judged] == [("17", "2"), ("17", "0")]
    assert [json.loads(line)["_id"] for line in lines("rules/queries.jsonl")] == ["17"]


def test_a_person_is_told_what_to_do_next(judge: Judge) -> None:
    answer = judge("2", "battle axe", "crown")
    assert answer.out.startswith("1 judgments of 1 queries in judgments, 1 relevant")
    assert "continues where you stopped" in answer.err
    assert "`trivium eval judgments`" in answer.err


def test_the_pool_holds_what_each_signal_finds_in_an_order_that_tells_nothing(
    library: Path,
) -> None:
    with Library.open(library) as opened:
        found = [r.found.document.title for r in pool(opened, "battle axe", 1)]
        assert "Weapons" in found
        orders = {
            tuple(r.found.document.title for r in pool(opened, text, 3))
            for text in ("battle axe", "axe", "axes", "two hands", "shields")
        }
        assert len(orders) > 1
        again = [r.found.document.title for r in pool(opened, "battle axe", 1)]
        assert again == found


def test_synthetic_queries_are_marked_everywhere(judge: Judge, trivium: Program) -> None:
    made = judge("", "--synthetic", 6, "--json").json
    assert made["synthetic"] is True
    assert made["queries"] == sum(made["kinds"].values()) >= 4
    assert set(made["kinds"]) == {"heading", "sentence", "misspelled"}
    rows = [json.loads(line) for line in lines("synthetic/queries.jsonl")]
    assert all(row["_id"].startswith(f"synthetic-{row['kind']}-") for row in rows)
    assert all(row["synthetic"] for row in rows)
    assert json.loads(Path("synthetic/META.json").read_text())["synthetic"] is True
    same = judge("", "--synthetic", 6, "--json").json  # replaced, and the same again
    assert same == made

    measured = trivium("eval", "synthetic", "--report", "page.html", "--json")
    assert measured.json["synthetic"] is True
    assert measured.json["runs"]["hybrid"]["success@5"] == 1  # three documents: all are found
    shown = trivium("eval", "synthetic", "--only", "hybrid")
    assert "queries, synthetic" in shown.out
    assert "Synthetic queries: generated from the documents" in shown.err
    assert "Synthetic queries" in Path("page.html").read_text()


def test_synthetic_queries_never_mix_with_judgments(judge: Judge) -> None:
    judge("2", "battle axe")
    answer = judge("", "--synthetic", 3, "--to", "judgments", "--json")
    assert answer.error["code"] == "dataset.invalid"
    judge("", "--synthetic", 3)
    mixed = judge("1", "crown", "--to", "synthetic", "--json")
    assert mixed.error["code"] == "dataset.invalid"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Give a query"),
        (("--synthetic", "3", "crown"), "generates its own queries"),
        (("--queries", "none.tsv"), "read none.tsv"),
        (("crown", "--to", "file/below"), "write file/below"),
        (("--synthetic", "3", "--to", "file/below"), "write file/below"),
    ],
)
def test_wrong_calls_say_what_is_wrong(judge: Judge, arguments: tuple[str, ...], told: str) -> None:
    Path("file").touch()
    answer = judge("", *arguments, "--json")
    assert answer.code == 2
    assert told in answer.error["message"]


def test_nothing_to_judge(judge: Judge) -> None:
    answer = judge("", "?!", "--json")
    assert "No results for “?!”." in answer.err
    assert answer.json["finished"]


def test_a_library_that_is_not_there(tmp_path: Path) -> None:
    answer = call(
        "judge", "crown", "--library", tmp_path / "none", "--to", tmp_path / "j", "--json"
    )
    assert answer.error["code"] == "library.not_found"
    assert not (tmp_path / "j").exists()
