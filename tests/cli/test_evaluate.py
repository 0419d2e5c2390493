"""`trivium eval` on a judged set of three documents, and on a library that exists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.program import Program, call

from trivium.cli.evaluate import RUNS
from trivium.cli.tune import MEASURES as TUNED_BY
from trivium.evaluate import metrics
from trivium.evaluate.run import EVERY

CORPUS = {
    "a": ("Weapons", "The battle axe needs two hands."),
    "b": ("Crown", "Divers raised the crown from the harbour."),
    "c": ("Bread", "Waybread keeps for a month."),
}
MEASURES = {"ndcg@10", "recall@100", "mrr@10", "success@1", "success@5", "success@10"}


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    folder = tmp_path / "judged"
    folder.mkdir()
    rows = [{"_id": i, "title": title, "text": text} for i, (title, text) in CORPUS.items()]
    lines = "\n".join(map(json.dumps, rows))
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    asked = {"q": "who raised the crown", "r": "battle axe"}
    write_queries(folder / "queries.jsonl", asked)
    write_queries(folder / "queries.wrong.jsonl", {"q": "waybread"})
    judgments = "query-id\tcorpus-id\tscore\nq\tb\t1\nr\ta\t1\n"
    (folder / "qrels.tsv").write_text(judgments, encoding="utf-8")
    return folder


def write_queries(path: Path, queries: dict[str, str]) -> None:
    rows = ({"_id": i, "text": text} for i, text in queries.items())
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_eval(judged: Path) -> None:
    answer = call("eval", judged, "--json")
    assert answer.code == 0
    found = answer.json
    assert (found["dataset"], found["documents"], found["queries"]) == ("judged", 3, 2)
    assert found["synthetic"] is False
    assert set(found["runs"]) == {"vector", "keyword", "trigram", "hybrid", "reranked"}
    assert all(set(run) == MEASURES for run in found["runs"].values())
    assert found["runs"]["hybrid"]["ndcg@10"] == 1
    assert found["intervals"]["hybrid"]["ndcg@10"] == [1, 1]
    assert all(0 < took["p50"] <= took["p95"] for took in found["latency_ms"].values())
    assert found["settings"]["fusion.method"] == "scores"
    assert not [name for name in found["settings"] if "key_" in name or "url" in name]
    assert [line.split(":")[0] for line in answer.err.splitlines()] == ["index", *found["runs"]]
    table = call("eval", judged).out.splitlines()
    assert table[0] == "judged: 3 documents, 2 queries"
    assert table[1].split()[0] == "run"
    shown = [line.partition("  ")[0] for line in table[2:7]]
    assert shown == [
        *("meaning (vector)", "words (keyword)", "spelling (trigram)", "all three (hybrid)"),
        "reranked",
    ]


def test_the_shell_offers_what_there_is() -> None:
    assert RUNS == EVERY
    assert set(TUNED_BY) < set(metrics.MEASURES)


def test_other_queries(judged: Path) -> None:
    answer = call("eval", judged, "--queries", judged / "queries.wrong.jsonl", "--json")
    assert answer.json["queries"] == 1
    assert answer.json["runs"]["hybrid"]["ndcg@10"] < 1
    missing = call("eval", judged, "--queries", judged / "nothing.jsonl", "--json")
    assert missing.code == 2
    assert missing.error["code"] == "dataset.invalid"


def test_settings_and_presets_count(judged: Path) -> None:
    answer = call("eval", judged, "--only", "hybrid", "--preset", "team", "--json")
    assert answer.json["settings"]["fusion.k"] == "60.0"
    assert set(answer.json["runs"]) == {"hybrid"}
    given = ("--set", "fusion.vector=0", "--set", "fusion.trigram=0")
    by_words = call("eval", judged, "--only", "hybrid", *given, "--json")
    assert by_words.json["settings"]["fusion.vector"] == "0.0"


def test_against_a_saved_evaluation(judged: Path, tmp_path: Path) -> None:
    kept, page = tmp_path / "kept.json", tmp_path / "page.html"
    wrong = {"q": "who baked the waybread", "r": "battle axe"}
    write_queries(judged / "queries.wrong.jsonl", wrong)
    assert call("eval", judged, "--only", "hybrid", "--save", kept).code == 0
    saved = json.loads(kept.read_text())
    assert saved["each"]["hybrid"]["ndcg@10"] == {"q": 1.0, "r": 1.0}
    assert saved["texts"] == {"q": "who raised the crown", "r": "battle axe"}

    same = call("eval", judged, "--only", "hybrid", "--against", kept, "--json").json["against"]
    assert same["differences"]["hybrid"]["ndcg@10"]["p"] == 1.0
    assert same["differences"]["hybrid"]["ndcg@10"]["ties"] == 2

    saved["each"]["hybrid"]["ndcg@10"] = {"q": 1.0, "r": 0.25}
    saved["settings"]["fusion.k"] = "60"
    kept.write_text(json.dumps(saved))
    answer = call("eval", judged, "--only", "hybrid", "--against", kept, "--report", page, "--json")
    against = answer.json["against"]
    difference = against["differences"]["hybrid"]["ndcg@10"]
    assert (difference["gain"], difference["wins"], difference["ties"]) == (0.375, 1, 1)
    assert not difference["real"]
    (win,) = against["greatest"]["hybrid"]["wins"]
    assert (win["text"], win["theirs"], win["ours"]) == ("battle axe", 0.25, 1.0)
    assert against["settings"] == {"fusion.k": {"before": "60", "now": "10.0"}}
    shown = call("eval", judged, "--only", "hybrid", "--against", kept).out
    assert "may be chance" in shown
    assert "all three (hybrid)  " in shown  # as the page says it, and as --only takes it
    assert "r: battle axe" in shown

    other = call(
        "eval", judged, "--queries", judged / "queries.wrong.jsonl", "--against", kept, "--json"
    )
    assert other.json["against"]["queries"] == 1  # q asks something else now
    assert "1 queries in common" in other.json["against"]["notes"][0]


def test_the_page_holds_everything_and_escapes_it(judged: Path, tmp_path: Path) -> None:
    bad = "<script>alert('axe')</script> battle & axe"
    write_queries(judged / "queries.jsonl", {"q": "crown", "r": bad})
    kept, page = tmp_path / "kept.json", tmp_path / "page.html"
    assert call("eval", judged, "--save", kept).code == 0
    saved = json.loads(kept.read_text())
    saved["each"]["hybrid"]["ndcg@10"]["r"] = 0.0
    saved["dataset"] = "<i>set</i>"
    kept.write_text(json.dumps(saved))
    assert call("eval", judged, "--against", kept, "--report", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<i>set" not in text
    assert "&lt;script&gt;alert(&#x27;axe&#x27;)&lt;/script&gt; battle &amp; axe" in text
    assert not re.search(r"https?:|src=|@import|url\(", text)  # nothing is loaded from anywhere
    assert text.count("<svg") == 6 + 1 + 1 + 2 * 2  # measures, profile, latency, both comparisons
    assert "prefers-color-scheme: dark" in text
    for name in ("meaning", "words", "spelling", "all three", "reranked"):
        assert f"<td>{name}</td>" in text


def test_run_files(judged: Path, tmp_path: Path) -> None:
    hybrid, words = tmp_path / "hybrid.run", tmp_path / "words.run"
    exported = call("eval", judged, "--run", hybrid, "--run", f"keyword={words}", "--json")
    assert exported.code == 0
    first = hybrid.read_text().splitlines()[0].split()
    assert first == ["q", "Q0", "b", "1", "1.000000", "trivium-hybrid"]
    assert "trivium-keyword" in words.read_text()
    peer = tmp_path / "peer.run"
    peer.write_text("q Q0 c 1 9 peer\nq Q0 b 2 8 peer\n")
    answer = call("eval", judged, "--measure-run", hybrid, "--measure-run", peer, "--json")
    runs = answer.json["runs"]
    assert runs["trivium-hybrid"] == runs["hybrid"]
    assert runs["peer"]["mrr@10"] == 0.25
    assert "latency_ms" in answer.json


def test_a_query_that_cannot_be_asked_counts_as_unanswered(judged: Path) -> None:
    write_queries(judged / "queries.jsonl", {"q": "crown", "r": "?!"})
    answer = call("eval", judged, "--json")
    assert answer.json["runs"]["hybrid"]["success@10"] == 0.5
    assert "A query failed and counts as unanswered" in answer.json["notes"][0]


def test_documents_with_the_same_text_stay_apart(judged: Path) -> None:
    with (judged / "corpus.jsonl").open("a") as file:
        file.write("\n" + json.dumps({"_id": "b2", "title": "Crown", "text": CORPUS["b"][1]}))
    (judged / "qrels.tsv").write_text("q\tb\t1\nq\tb2\t1\n")
    found = call("eval", judged, "--only", "hybrid", "--json").json
    assert found["documents"] == 4
    assert found["runs"]["hybrid"]["ndcg@10"] == 1


def test_a_copy_is_judged_by_either_name(tmp_path: Path) -> None:
    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text("# Crown\n\nDivers raised the crown.\n")
    (tmp_path / "axe.md").write_text("# Axe\n\nThe battle axe splits shields.\n")
    assert call("add", tmp_path, "--library", tmp_path / "library").code == 0
    (tmp_path / "q.tsv").write_text("1\twho raised the crown\n")
    for name in ("one.md", "two.md"):
        (tmp_path / "qrels").write_text(f"1 0 {name} 1\n")
        files = ("--queries", tmp_path / "q.tsv", "--qrels", tmp_path / "qrels")
        found = call("eval", *files, "--library", tmp_path / "library", "--json").json
        assert found["runs"]["hybrid"]["success@1"] == 1


def test_an_own_library(trivium: Program, documents: Path, tmp_path: Path) -> None:
    queries, qrels = tmp_path / "q.tsv", tmp_path / "qrels.txt"
    queries.write_text("1\twho raised the crown\n2\tbattleaxe\n3\tcursed\n")
    (secrets,) = (d for d in trivium("list", "--json").json["documents"] if d["title"] == "Secrets")
    judged = (
        f"1 0 {documents / 'crown.md'} 1\n2 0 weapons.md 1\n3 0 #{secrets['id']} 1\n3 0 gone 1\n"
    )
    qrels.write_text(judged)
    answer = trivium("eval", "--queries", queries, "--qrels", qrels, "--json")
    assert answer.code == 0, answer.out
    assert answer.json["runs"]["hybrid"]["success@1"] == 1
    assert answer.json["documents"] == 3
    assert "1 of 4 judged documents are not in the library, such as gone" in answer.json["notes"][0]
    qrels.write_text("1 0 nothing 1\n")
    wrong = trivium("eval", "--queries", queries, "--qrels", qrels, "--json")
    assert wrong.error["code"] == "dataset.invalid"
    assert "has none of the judged documents" in wrong.error["message"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), "usage"),
        (("--queries", "q.tsv"), "usage"),
        (("nowhere",), "dataset.invalid"),
        (("JUDGED", "--against", "none.json"), "run.invalid"),
        (("JUDGED", "--against", "JUDGED/corpus.jsonl"), "run.invalid"),
        (("JUDGED", "--measure-run", "JUDGED/corpus.jsonl"), "run.invalid"),
        (("JUDGED", "--run", "best=x"), "usage"),
        (("JUDGED", "--only", "vector", "--run", "x"), "usage"),
        (("JUDGED", "--only", "vector", "--save", "JUDGED/no/folder"), "usage"),
        (("JUDGED", "--set", "fusion.k=0"), "setting.bad"),
    ],
)
def test_wrong_calls_say_what_is_wrong(judged: Path, options: tuple[str, ...], code: str) -> None:
    answer = call("eval", *(o.replace("JUDGED", str(judged)) for o in options), "--json")
    assert answer.code == 2
    assert answer.error["code"] == code
