"""`trivium contradictions`: hints, by rules and by a language model's judgment."""

from __future__ import annotations

import pytest
from tests.cli.program import Program, call


@pytest.fixture(scope="module")
def trivium(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("lore")
    texts = {
        "axe.md": "# Axe\n\nThe battle axe of the guard deals 8 points of damage.",
        "more.md": "# Axes\n\nThe battle axe of the guard deals 10 points of damage.",
        "bread.md": "# Bread\n\nThe baker needs flour, water, salt and 3 hours of patience.",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    place = folder / "own.library"
    assert call("add", *(folder / name for name in texts), "--library", place).code == 0
    return lambda *arguments: call("--library", place, *arguments)


def test_a_pair_is_listed_once_as_a_hint(trivium: Program) -> None:
    (pair,) = trivium("contradictions", "--json").json["contradictions"]
    assert pair["why"] == "numbers differ: 8 and 10"
    assert not pair["judged"]
    shown = trivium("contradictions").out
    assert "deals 10 points" in shown
    assert shown.endswith("1 pair that may disagree. These are hints, not findings.\n")
    assert trivium("contradictions", "--collection", "none", "--json").json["contradictions"] == []


def test_a_pasted_sentence_finds_its_document(trivium: Program) -> None:
    shown = trivium("quote", "The baker needs flour, water, sugar and 3 hours of patience.").out
    assert "Bread" in shown
    assert "sugar → salt" in shown
    (place,) = trivium("quote", "needs flour, water, salt and 3 hours", "--json").json["places"]
    assert (place["paragraph"], place["kept"], place["changes"]) == (1, 1.0, [])
    other = trivium("quote", "The baker needs flour, water, salt and 5 hours.").out
    assert other.startswith("Not in your documents. Nearly the same words, with other figures")
    assert "5 → 3" in other
    assert trivium("quote", "Nothing here was ever written by anybody.").out == (
        "Not in your documents.\n"
    )
    assert trivium("quote", "two words").code != 0
