"""`trivium search --prefer recent --boost ...`."""

import pytest
from tests.cli.program import Program


def test_preferences_are_parts_of_the_score(trivium: Program) -> None:
    preferring = ("--prefer", "recent", "--half-life", "30", "--boost", "language:en*2")
    told = trivium("search", "crown", *preferring, "--json").json
    for result in told["results"]:
        parts = [*result["signals"].values(), *result["preferences"]]
        assert sum(part["contribution"] for part in parts) == pytest.approx(result["score"])
        recent, english = result["preferences"]
        assert recent["name"].startswith("recent (")
        assert 1 <= recent["factor"] <= 2
        assert (english["name"], english["factor"]) == ("language:en", 2.0)
    told = trivium("search", "crown", *preferring, "--explain").out
    assert "language:en (× 2)" in told


def test_a_boost_without_a_weight_is_refused(trivium: Program) -> None:
    answer = trivium("search", "crown", "--boost", "type:pdf")
    assert answer.code != 0
    assert "collection:rules*2" in answer.err
