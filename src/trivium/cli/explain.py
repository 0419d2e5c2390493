"""What `trivium search --explain` adds: where each score comes from, and where the time went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trivium.cli.output import Shell, printable

if TYPE_CHECKING:
    from trivium.types import Result, Results

_BAR = 30  # characters of the longest bar


def show_parts(shell: Shell, result: Result) -> None:
    """The signals' parts of one result, and their sum, which is its score."""
    rows = [
        (
            signal.value,
            str(part.rank),
            f"{part.score:.4f}",
            f"{part.weight:g}",
            f"{part.contribution:.6f}",
        )
        for signal, part in result.signals.items()
    ]
    rows.append(("sum = score", "", "", "", f"{result.score:.6f}"))
    shell.table(("signal", ">rank", ">raw score", ">weight", ">contribution"), rows)


def show_analysis(shell: Shell, results: Results) -> None:
    """What was decided about the query, and the time of every stage."""
    from rich.text import Text

    told = ", ".join(f"{signal} {w:g}" for signal, w in results.analysis.weights.items())
    shell.say(Text.assemble(("\nweights ", "bold"), told))
    for note in results.analysis.notes:
        shell.say(printable(note))
    longest = max(results.timings_ms.values(), default=0.0)
    for stage, ms in results.timings_ms.items():
        bar = "█" * round(_BAR * ms / longest) if longest else ""
        shell.say(Text.assemble(f"{stage:<10}{ms:>9.2f} ms  ", (bar, "cyan")))
