"""`trivium tune` on a judged set of words that no model knows."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path

import pytest
from tests.cli.program import call

# So that meaning, which invented words don't have, drowns the keyword signal.
DROWNED = [
    part
    for pair in (
        ("fusion.vector", "0.95"),
        ("fusion.keyword", "0.05"),
        ("fusion.trigram", "0"),
        ("fusion.adaptive", "off"),
        ("search.correct", "off"),
        ("chunk.summary", "off"),
    )
    for part in ("--set", "=".join(pair))
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty documents of invented words; each holds one that a query asks for."""
    folder = tmp_path_factory.mktemp("judged")
    chance = random.Random(7)

    def word() -> str:
        return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(4))

    words = [word() for _ in range(30)]
    filler = [word() for _ in range(12)]
    corpus = [
        {"_id": f"d{n}", "text": " ".join([*chance.sample(filler, 8), one, *filler[:2]])}
        for n, one in enumerate(words)
    ]
    asked = [
        {"_id": f"q{n}", "text": f"{chance.choice(filler)} {one} {chance.choice(filler)}"}
        for n, one in enumerate(words[:20])
    ]
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", asked)):
        (folder / name).write_text("\n".join(map(json.dumps, rows)))
    (folder / "qrels.tsv").write_text("".join(f"q{n}\td{n}\t1\n" for n in range(20)))
    return folder


def test_tune_finds_what_helps_and_writes_it(judged: Path, tmp_path: Path) -> None:
    file = tmp_path / "tuned.toml"
    answer = call("tune", judged, *DROWNED, "--write", file, "--json")
    assert answer.code == 0, answer.out
    found = answer.json
    assert found["real"], found["verdict"]
    assert found["held_out"]["gain"] > 0.1
    assert found["held_out"]["p"] < 0.05
    assert float(found["settings"]["fusion.keyword"]["fitted"]) > 0.05
    assert found["written"] == str(file)
    assert len(found["folds"]) == 5
    written = tomllib.loads(file.read_text())
    assert written["fusion"]["keyword"] == float(found["settings"]["fusion.keyword"]["fitted"])
    # Every command accepts the file, so the fitted settings are the ones measured.
    given = [*DROWNED[8:], "--only", "hybrid", "--json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIVIUM_CONFIG", str(file))
        measured = call("eval", judged, *given).json
    assert measured["runs"]["hybrid"]["ndcg@10"] == pytest.approx(found["fitted"], abs=1e-4)

    again = call("tune", judged, "--write", file, "--json")
    assert again.error["code"] == "usage"
    assert "--force" in again.error["message"]


def test_without_a_real_gain_nothing_is_written(judged: Path, tmp_path: Path) -> None:
    file = tmp_path / "tuned.toml"
    given = (*DROWNED[6:], "--set", "fusion.vector=0", "--set", "fusion.keyword=1")
    answer = call("tune", judged, *given, "--write", file)
    assert answer.code == 0, answer.err
    assert "eep your settings" in answer.out
    assert "Did not write" in answer.err
    assert not file.exists()
    forced = call("tune", judged, *given, "--write", file, "--force", "--json")
    assert forced.json["written"] == str(file)
    assert file.read_text().startswith("# Fitted by")


def test_a_person_sees_what_each_fold_chose(judged: Path) -> None:
    shown = call("tune", judged, *DROWNED, "--folds", "2", "--measure", "mrr@10").out
    assert "20 queries" in shown
    assert "fitted, on held-out queries" in shown
    assert "fusion.keyword" in shown
    assert "The gain is real: on held-out queries mrr@10" in shown


def test_behind_a_reranked_page_comes_what_hybrid_found(judged: Path) -> None:
    found = call("eval", judged, *DROWNED, "--only", "hybrid", "--only", "reranked", "--json").json
    runs = found["runs"]
    assert runs["reranked"]["success@10"] < 1  # some are beyond the first ten
    assert runs["reranked"]["recall@100"] == runs["hybrid"]["recall@100"] == 1
