"""Huge numbers and long names on the terminal: a typed error and exit code 1 or 2, never 70."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.program import call

HUGE = "9" * 30
LONG = "a" * 300
DEEP = "/".join(["", *["b" * 100] * 60])


@pytest.mark.parametrize(
    "line",
    [
        f"search crown -n {HUGE}",
        f"search crown --where year>={'9' * 400}",
        f"search crown --as-of {HUGE}",
        f"list --limit {HUGE}",
        f"show {HUGE}",
        f"show 1 --interpretation {HUGE}",
        f"restore 1 {HUGE}",
        f"diff 1 {HUGE} {HUGE}",
        f"prune --keep {HUGE}",
        f"remove {HUGE}",
        f"similar {HUGE}",
        f"jobs show {HUGE}",
        f"jobs cancel {HUGE}",
        f"jobs retry {HUGE}",
        f"jobs watch {HUGE}",
        f"serve --port {HUGE}",
        f"token create --expires {HUGE}d",
        f"add {LONG}",
        f"add {DEEP}",
        f"add {LONG}*",
        f"watch {LONG}",
        f"backup {LONG}",
        f"recover {LONG}",
        f"recover {DEEP}",
        f"eval {LONG}",
        f"tune {LONG}",
        f"judge --synthetic 2 --to {LONG}",
        f"show {DEEP}",
    ],
    ids=lambda line: line[:30],
)
def test_extreme_arguments(sample_library: Path, line: str) -> None:
    answer = call("--library", sample_library, *line.split(" "))
    assert answer.code in (1, 2), answer.err
    assert "[internal]" not in answer.err


@pytest.mark.parametrize("line", ["search crown", "list", "doctor"])
def test_a_library_with_a_long_name(line: str) -> None:
    answer = call("--library", f"{DEEP}", *line.split(" "))
    assert answer.code in (1, 2, 3), answer.err
    assert "[internal]" not in answer.err
