"""Precision and recall of the rules behind `trivium contradictions` and of answers that differ.

    python -m bench.contradictions [--misses]

200 made pairs of sentences (bench/asked/contradictions.jsonl), half of them harmless: the same fact
in other words, another role, another subject, another time, or both true. The rules were built with
these pairs at hand; docs/log.md has figures for pairs that weren't.
"""

from __future__ import annotations

from pathlib import Path

from bench.harness import arguments, json_lines
from trivium.text.disagreement.claims import claims
from trivium.text.disagreement.compare import disagreement

PAIRS = Path(__file__).parent / "asked" / "contradictions.jsonl"


def why(one: str, other: str, language: str = "en") -> str:
    """Why two sentences may disagree; empty: they don't."""
    pairs = ((a, b) for a in claims(one, language) for b in claims(other, language))
    return next((said for a, b in pairs if (said := disagreement(a, b))), "")


def measure() -> tuple[float, float, list[dict[str, object]]]:
    """Precision, recall, and the pairs that were judged wrongly."""
    rows = json_lines(PAIRS)
    found = [row | {"why": why(row["one"], row["other"])} for row in rows]
    right = sum(bool(row["why"]) and row["contradicts"] for row in found)
    said = sum(bool(row["why"]) for row in found)
    wrong = [row for row in found if bool(row["why"]) != row["contradicts"]]
    return right / max(1, said), right / sum(row["contradicts"] for row in rows), wrong


def main() -> None:
    asked = arguments(__doc__, misses=(False, "print the pairs judged wrongly"))
    precision, recall, wrong = measure()
    print(f"precision {precision:.2f}, recall {recall:.2f}")
    for row in wrong if asked.misses else ():
        print(f"{row['kind']}: {row['one']} | {row['other']} | {row['why'] or 'not found'}")


if __name__ == "__main__":
    main()
