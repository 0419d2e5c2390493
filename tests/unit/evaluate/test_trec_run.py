"""Run files: what is written can be read again, and broken ones say where."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.core.errors import RunInvalid
from trivium.evaluate.metrics import measure
from trivium.evaluate.trec_run import read_run, write_run

JUDGED = {"q": {"my notes/a b.md": 1, "c": 2}, "r 1": {"d": 1}}
RANKING = {
    "q": {"c": 1.0, "x": 0.5, "my notes/a b.md": 1 / 3},
    "r 1": {f"n{rank}": 1 / rank for rank in range(1, 100)} | {"d": 0.01},
}


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "hybrid.run"
    write_run(path, RANKING, "trivium-hybrid")
    rows = [line.split() for line in path.read_text().splitlines()]
    assert {len(row) for row in rows} == {6}
    assert rows[2] == ["q", "Q0", "my%20notes/a%20b.md", "3", "0.333333", "trivium-hybrid"]
    name, found = read_run(path, JUDGED)
    assert name == "trivium-hybrid"
    assert measure(JUDGED, found) == measure(JUDGED, RANKING)
    assert [sorted(found["r 1"], key=lambda d: -found["r 1"][d])] == [list(RANKING["r 1"])]


def test_queries_that_were_not_judged_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q Q0 c 1 12.5 bm25\nother Q0 c 1 3 bm25\n")
    assert read_run(path, JUDGED) == ("bm25", {"q": {"c": 12.5}})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q Q0 c 1 2 t\nq Q0 c 1\n", "run, line 2: expected 6 columns, found 4"),
        ("q Q0 c 1 high t\n", "run, line 1: the score isn't a number: high"),
        ("z Q0 c 1 2 t\n", "run answers none of the judged queries"),
        ("", "answers none"),
    ],
)
def test_a_broken_run_says_where(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "run").write_text(text)
    with pytest.raises(RunInvalid) as caught:
        read_run(tmp_path / "run", JUDGED)
    assert told in caught.value.message


def test_a_missing_run(tmp_path: Path) -> None:
    with pytest.raises(RunInvalid, match="none"):
        read_run(tmp_path / "none", JUDGED)
