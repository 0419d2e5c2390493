"""Compares figures with the stored ones and decides what is a regression. Pure.

For every figure less is better: a ratio to something measured in the same run, or a count of
instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Five runs against a stored one, at a load of 12 to 18 on 2 cores (aarch64): ratios that nothing
# had touched moved by 17 % at most, bytecodes by .1 %. One of the five asked for every list of a
# search twice: hybrid's ratio rose by 56 %, its bytecodes by 37 %. How far a quiet machine is from
# a busy one was not measured.
RATIO_LIMIT = 0.30
COUNT_LIMIT = 0.05


@dataclass(frozen=True, slots=True)
class Move:
    name: str
    stored: float | None  # None: it is new
    now: float
    limit: float

    @property
    def share(self) -> float:
        """How much more than stored; below 0, less."""
        return self.now / self.stored - 1 if self.stored else 0.0

    @property
    def regressed(self) -> bool:
        return self.share > self.limit

    @property
    def improved(self) -> bool:
        return self.share < -self.limit


def moves(
    stored: Mapping[str, Mapping[str, float]], now: Mapping[str, Mapping[str, float]]
) -> list[Move]:
    """`ratios` and `counts`, each in the order measured."""
    limits = {"ratios": RATIO_LIMIT, "counts": COUNT_LIMIT}
    return [
        Move(name, stored.get(kind, {}).get(name), figure, limit)
        for kind, limit in limits.items()
        for name, figure in now.get(kind, {}).items()
    ]


def table(found: list[Move]) -> str:
    width = max((len(move.name) for move in found), default=0)
    lines = [f"{'':{width}}  {'stored':>12}  {'now':>12}  moved"]
    for move in found:
        before = "–" if move.stored is None else _figure(move.stored)
        lines.append(
            f"{move.name:{width}}  {before:>12}  {_figure(move.now):>12}  {_verdict(move)}".rstrip()
        )
    return "\n".join(lines)


def _verdict(move: Move) -> str:
    if move.stored is None:
        return "new"
    if move.regressed:
        return f"{move.share:+.0%}  REGRESSION (more than {move.limit:.0%})"
    return f"{move.share:+.0%}" + ("  better: store it with --store" if move.improved else "")


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3f}"
