"""`trivium search`: the JSON other programs read, and what a person sees."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import Program, call

SIGNALS = {"vector", "keyword", "trigram"}


def uris(answer: Any) -> list[str]:
    return [Path(result["document"]["uri"]).name for result in answer.json["results"]]


def test_json_has_the_promised_shape(trivium: Program) -> None:
    found = trivium("search", "battle", "axe", "--json").json
    assert set(found) == {
        "query", "queries", "combine", "analysis", "took_ms", "timings_ms", "results", "notes",
        "weak",
    }  # fmt: skip
    assert found["query"] == "battle axe"
    assert found["analysis"] == {
        "weights": {"vector": 0.5, "keyword": 0.3, "trigram": 0.2},
        "fusion": "scores", "k": 0.0, "semantic": 50, "keyword": 50, "boosts": [],
        "corrections": [], "suggestion": "", "unknown": [], "hypothesis": "", "notes": [],
        "decided": "Ranked mostly by meaning (meaning 50%, words 30%, spelling 20%).",
    }  # fmt: skip
    assert found["notes"] == []
    assert found["took_ms"] > 0
    assert SIGNALS | {"embed", "fuse", "fetch"} <= set(found["timings_ms"])
    assert [result["rank"] for result in found["results"]] == [*range(1, len(found["results"]) + 1)]
    first = found["results"][0]
    assert set(first) == {
        "rank", "score", "match", "why", "weak", "document", "chunk", "signals", "fields",
        "passages",
    }  # fmt: skip
    assert set(first["document"]) == {
        "id", "title", "uri", "collection", "category", "interpretation",
    }  # fmt: skip
    assert set(first["chunk"]) == {
        "id", "index", "text", "heading", "section", "section_label", "pages", "paragraph",
        "start", "end",
    }  # fmt: skip
    assert first["document"]["title"] == "Weapons"
    assert "battle axe" in first["chunk"]["text"]
    assert first["chunk"]["pages"] == []
    assert set(first["signals"]) == SIGNALS


def test_parts_add_up_to_the_score(trivium: Program) -> None:
    for result in trivium("search", "crown of the harbour", "--json").json["results"]:
        parts = result["signals"].values()
        assert all(set(p) == {"rank", "score", "weight", "contribution"} for p in parts)
        assert sum(p["contribution"] for p in parts) == pytest.approx(result["score"])


def test_heading_is_the_path(trivium: Program) -> None:
    found = trivium("show", "weapons.md", "--json").json["chunks"]
    assert any(chunk["heading"].startswith("Weapons") for chunk in found)


@pytest.mark.parametrize(
    ("mode", "signals"),
    [("semantic", {"vector"}), ("keyword", {"keyword"}), ("fuzzy", {"trigram"})],
)
def test_a_mode_uses_its_signal(trivium: Program, mode: str, signals: set[str]) -> None:
    found = trivium("search", "crown", "--mode", mode, "--json").json
    assert set(found["analysis"]["weights"]) == signals
    assert found["results"]
    assert all(set(result["signals"]) == signals for result in found["results"])


def test_weights_and_k(trivium: Program) -> None:
    found = trivium("search", "crown", "--weights", "0,2,0", "--k", "1", "--json").json
    assert found["analysis"]["weights"] == {"keyword": 2}
    assert found["results"][0]["score"] == pytest.approx(2 / (1 + 1))


def test_a_setting_changes_the_default(trivium: Program) -> None:
    assert len(uris(trivium("search", "the", "crown", "--set", "search.limit=1", "--json"))) == 1
    assert len(uris(trivium("search", "the", "crown", "-n1", "--json"))) == 1
    assert len(uris(trivium("search", "-n", "2", "the", "crown", "--json"))) == 2


def test_threshold_takes_a_negative_number(trivium: Program) -> None:
    assert trivium("search", "crown", "--threshold", "-0.5", "--json").code == 0
    strict = trivium("search", "crown", "--threshold", "1", "--mode", "semantic", "--json")
    assert strict.json["results"] == []


def test_filters(trivium: Program) -> None:
    def ask(*options: str) -> set[str]:
        return set(uris(trivium("search", "crown", *options, "--json")))

    assert ask("--source", "crown.md") == {"crown.md"}
    assert ask("--source", "crown.md", "--source", "weapons.md") == {"crown.md", "weapons.md"}
    assert ask("--category", "lore") == {"crown.md"}
    assert ask("--metadata", "year=2021") == {"crown.md"}
    assert ask("--metadata", "year=2022") == set()
    assert ask("--collection", "elsewhere") == set()


def test_audience_makes_a_caller(trivium: Program) -> None:
    def ask(*options: str) -> set[str]:
        return set(uris(trivium("search", "crown cursed", *options, "--json")))

    assert "secrets.md" in ask()
    assert "secrets.md" not in ask("--audience", "players")
    assert "secrets.md" in ask("--audience", "players", "--audience", "dm-only")


@pytest.mark.parametrize("unwanted", ["-harbour", "-nobody", "-harbours"])
def test_a_dash_excludes_and_is_no_option(trivium: Program, unwanted: str) -> None:
    assert "crown.md" in uris(trivium("search", "crown", "--json"))
    answer = trivium("search", "crown", unwanted, "--json")
    assert answer.json["query"] == f"crown {unwanted}"
    assert "crown.md" not in uris(answer)


def test_for_a_person(trivium: Program) -> None:
    answer = trivium("search", "battleaxe", "-n", "1", "--mode", "fuzzy")
    assert (answer.code, answer.err) == (0, "")
    header, snippet, footer, _, total = answer.out.splitlines()
    assert re.fullmatch(r" 1\. Weapons  .*¶1  \d+%", header)
    assert "battle axe" in snippet
    assert footer.startswith("    spelling  ")
    assert re.search(r"weapons\.md#\d+$", footer)
    assert re.fullmatch(r"1 result in \d+ ms", total)
    assert "\x1b" not in answer.out


def test_who_says_the_query_word_for_word_gains(trivium: Program) -> None:
    said = " ".join(trivium("show", "weapons.md", "--json").json["chunks"][0]["text"].split()[-5:])
    (first,) = trivium("search", said, "-n", "1", "--json").json["results"]
    part = first["in_order"]
    assert part["words"] == part["of"] >= 4
    contributions = [signal["contribution"] for signal in first["signals"].values()]
    assert sum(contributions) + part["contribution"] == pytest.approx(first["score"])
    out = trivium("search", said, "-n", "1", "--explain").out
    assert re.search(
        rf"{part['of']} of {part['of']} words in order +{part['contribution']:.6f}", out
    )
    assert re.search(rf"^sum +{first['score']:.6f}$", out, re.M)


def test_explained_for_a_person(trivium: Program) -> None:
    out = trivium("search", "battle axe", "-n", "1", "--explain").out
    score = trivium("search", "battle axe", "-n", "1", "--json").json["results"][0]["score"]
    assert re.search(r"signal +rank +raw score +weight +contribution\n", out)
    parts = re.findall(r"^\w+ \((?:vector|keyword|trigram)\) .* ([\d.]+)$", out, re.M)
    assert len(parts) == 3
    assert re.search(rf"^sum +{score:.6f}$", out, re.M)
    assert sum(map(float, parts)) == pytest.approx(score, abs=2e-6)
    assert "Ranked mostly by meaning (meaning 50%, words 30%, spelling 20%)." in out
    assert re.search(r"^embed +[\d.]+ ms", out, re.M)


def test_nothing_found_is_no_error(trivium: Program) -> None:
    answer = trivium("search", "xyzzyqq", "--mode", "keyword")
    assert answer.code == 0
    assert answer.out == "No results.\n"
    assert "trivium list" in answer.err


def test_a_document_cannot_steer_the_terminal(tmp_path: Path) -> None:
    evil = tmp_path / "evil.md"
    evil.write_text("# Evil\n\nA crown \x1b[2J\x9b31m\u202e of thorns.\n", encoding="utf-8")
    call("add", evil, "--library", tmp_path / "library")
    for command in (["search", "crown"], ["show", "1"], ["show", "1", "--chunks"], ["list"]):
        out = call(*command, "--library", tmp_path / "library").out
        assert not re.search("[\x1b\x9b\u202e]", out)


def test_colours_and_highlights_on_a_terminal(library: Path) -> None:
    inner, outer = pty.openpty()
    command = [sys.executable, "-m", "trivium.cli.main", "search", "battleaxe", "-n", "1"]
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    with subprocess.Popen(
        [*command, "--library", str(library)],
        stdout=outer,
        stderr=outer,
        stdin=outer,
        env={**environment, "TERM": "xterm-256color"},
    ):
        os.close(outer)
        shown = b""
        try:
            while block := os.read(inner, 4096):
                shown += block
        except OSError:  # Linux says so when the other end is closed
            pass
    os.close(inner)
    text = shown.decode()
    assert re.search(r"\x1b\[1;33mbattle\x1b\[0m \x1b\[1;33maxe\x1b\[0m", text)
    assert re.search(r"\x1b\[35mspelling ", text)


def test_several_queries_show_every_score(trivium: Program) -> None:
    answer = trivium("search", "harbour", "--and", "crown", "--by", "document", "-n", "3")
    assert re.search(r"\d+% \(\d+\|\d+\)", answer.out)
    found = trivium("search", "axe", "--or", "crown", "--json").json
    assert [query["text"] for query in found["queries"]] == ["axe", "crown"]
    assert all(len(result["queries"]) == 2 for result in found["results"])


def test_and_is_not_mixed_with_or(trivium: Program) -> None:
    assert trivium("search", "axe", "--and", "crown", "--or", "fog").code == 2
    assert trivium("search", "axe", "--formula", "product").code == 2


def test_a_filter_as_typed(trivium: Program) -> None:
    found = trivium("search", "crown", "--where", "type:markdown", "--json").json
    assert found["results"]
    refused = trivium("search", "crown", "--where", "yaer:1", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "filter.bad")


def test_context_and_preset(trivium: Program) -> None:
    found = trivium("search", "crown", "--preset", "rulebook", "--json").json
    assert found["analysis"]["weights"] == {"vector": 1.0, "keyword": 1.0, "trigram": 1.0}
    assert trivium("search", "crown", "--expand").code == 0


def test_documents_like_one(trivium: Program) -> None:
    name = trivium("list", "--json").json["documents"][0]["uri"]
    found = trivium("similar", name, "--json").json
    assert name not in {result["document"]["uri"] for result in found["results"]}
    assert trivium("similar", name, "--passage", "0").out


def test_what_fits_badly_is_set_apart(trivium: Program) -> None:
    nothing = trivium("search", "xqzzyvw", "qqqq")
    assert nothing.out.startswith("No good match. The closest results:")
    found = trivium("search", "battle", "axe").out
    told = trivium("search", "battle", "axe", "--json").json
    assert not told["weak"]
    weak = [result["weak"] for result in told["results"]]
    assert weak == sorted(weak)
    good, folded = found.split(f"{sum(weak)} weaker matches:")
    assert "Weapons" in good
    # Every passage that is counted is listed, the weaker ones on a line each.
    ranks = [re.findall(r"^ ?(\d+)\. ", part, re.MULTILINE) for part in (good, folded)]
    assert [len(part) for part in ranks] == [weak.count(False), weak.count(True)]
    assert f"{len(weak)} results in" in folded
    assert "#" not in folded


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            ("--source", "weapon.md"),
            "No document has the source `weapon.md`. Did you mean `weapons.md`?",
        ),
        (("--where", "type:markdwon"), "Did you mean `markdown`?"),
        (("--collection", "defualt"), "Did you mean `default`?"),
    ],
)
def test_a_mistyped_filter_is_named(trivium: Program, option: tuple[str, str], told: str) -> None:
    answer = trivium("search", "crown", *option)
    assert told in answer.err
    assert "trivium list" not in answer.err
    assert told in trivium("search", "crown", *option, "--json").json["notes"][0]


def test_an_explanation_begins_with_its_result(trivium: Program) -> None:
    """No line with a bare number comes before a table."""
    lines = trivium("search", "crown", "--explain").out.splitlines()
    assert not [line for line in lines if line.strip().isdecimal()]
    headers = [line for line in lines if re.match(r" ?\d+[.,]", line)]
    assert headers
    assert all(re.match(r" ?\d+\. ", line) for line in headers), "one rank each"


def test_a_result_is_named_on_one_line(tmp_path: Path) -> None:
    """A letterhead has its right half 30 blanks away; `default` says nothing where nobody chose."""
    letter = f"Westmoor Hospital{' ' * 30}Discharge letter\n\nNo driving for six weeks."
    (tmp_path / "letter.txt").write_text(letter)
    library = ("--library", tmp_path / "library")
    assert call(*library, "add", tmp_path / "letter.txt").code == 0
    found = call(*library, "search", "driving").out
    assert "1. Westmoor Hospital Discharge letter  " in found
    assert "default" not in found
    assert "[1] Westmoor Hospital Discharge letter" in call(*library, "ask", "driving").out
