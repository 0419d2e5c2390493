"""Prints the results of `bench.compare` as tables.

python -m bench.report                  # the tables of build/bench/results.json
python -m bench.report --readme         # the short table of the README, with date and machine
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.charts import write_charts
from bench.harness import REPOSITORY, arguments
from bench.lines import NAMES, OURS, Line, Side, lines, reference, versions

RESULTS = REPOSITORY / "build" / "bench" / "results.json"
_SPELLED = {"vector": "meaning", "words": "words", "letters": "spelling"}
_QUIET = 0.2  # cores; with more, the machine wasn't quiet
_FULL = 9.5  # results of ten; with fewer, a search returned less than it should


def report(found: Mapping[str, Any]) -> str:
    """Everything, in Markdown."""
    parts = ["# Trivium and its peers", surrounding(found)]
    for chunks in map(int, found["rows"]):
        of = lines(found, chunks)
        if of:
            parts += [f"## {chunks:,} chunks", _times(of), _clients(of), _costs(of)]
            parts += _processes(found, chunks) + _drift(found, chunks)
    parts += _quality(found) + _ingest(found) + _settings(found) + _failed(found)
    return "\n\n".join(parts) + "\n"


def readme(found: Mapping[str, Any]) -> str:
    """The largest size, one row a system and way."""
    sizes = [chunks for chunks in map(int, found["rows"]) if found["rows"][str(chunks)]]
    if not sizes:
        return surrounding(found)
    chunks = max(sizes)
    head = ["system", "searches by", "p50 / p95 ms", "with a 1 % filter", "queries/s, 8 clients"]
    head += ["recall@10, with filter", "build", "disk", "memory", *found["judged"]]
    rows = []
    for line in lines(found, chunks):
        judged = [found["judged"][name].get(line.system, {}) for name in found["judged"]]
        same_way = [one if list(line.legs) == list(one.get("legs", ())) else {} for one in judged]
        rows.append(
            [
                _bold(line.label, line),
                _by(line.legs),
                _short(line.plain, line),
                _short(line.filtered, line),
                _rate(line.plain, 8),
                f"{_share(line.recall)}, {_share(line.recall_filtered)}",
                f"{line.build_seconds:,.0f} s",
                f"{line.megabytes:,.0f} MB",
                f"{line.memory_mb:,} MB",
                *(_share(one["ndcg@10"]) if one else "–" for one in same_way),
            ]
        )
    title = f"{chunks:,} chunks of about 240 words; {', '.join(found['judged'])}: nDCG@10."
    return (
        "\n\n".join([f"{title} {surrounding(found)}", _table(head, rows), *_failed(found)]) + "\n"
    )


def surrounding(found: Mapping[str, Any]) -> str:
    known = {"Python": found["versions"]["python"]} | versions(found)
    return f"{_place(found)}; {', '.join(f'{name} {number}' for name, number in known.items())}."


def write_report(found: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the table and the charts; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "report.md"
    table.write_text(report(found), encoding="utf-8")
    return [table, *write_charts(found, _place(found), folder)]


def _place(found: Mapping[str, Any]) -> str:
    """When and where, and whether the machine had other work."""
    machine, busy = found["machine"], _busiest(found)
    where = (
        f"{found['date'][:10]}, {machine['cores']} cores {machine['processor']}"
        f" ({machine['architecture']}), {machine['memory_gb']} GB"
    )
    if busy is None:  # nothing was timed
        return where
    quiet = "machine otherwise idle" if busy <= _QUIET else f"OTHERS USED UP TO {busy:.1f} CORES"
    return f"{where}, {quiet}"


def _times(of: Sequence[Line]) -> str:
    ours = reference(list(of))
    head = ["milliseconds", "searches by", "p50", "p95", "p99", "p95 to ours", "with filter: p50"]
    head += ["p95", "p99", "p95 to ours", "results of 10", "others"]
    rows = []
    for line in of:
        row = [_bold(line.label, line), _by(line.legs)]
        for side, ours_side in (
            (line.plain, ours.plain if ours else None),
            (line.filtered, ours.filtered if ours else None),
        ):
            if side is None:
                row += [line.failed, "–", "–", "–"]
            else:
                row += [f"{value:.1f}" for value in (side.p50, side.p95, side.p99)]
                row.append(f"{side.p95 / ours_side.p95:.1f}" if ours_side else "–")
        row.append(f"{line.filtered.returned:.1f}" if line.filtered else "–")
        row.append(f"{max((s.others for s in (line.plain, line.filtered) if s), default=0):.1f}")
        rows.append(row)
    return _table(head, rows)


def _clients(of: Sequence[Line]) -> str:
    head = ["queries a second", "1 client", "2 clients", "8 clients"]
    head += ["with filter: 1", "2", "8"]
    rows = [
        [_bold(line.label, line)]
        + [_rate(side, n) for side in (line.plain, line.filtered) for n in (1, 2, 8)]
        for line in of
    ]
    return _table(head, rows)


def _processes(found: Mapping[str, Any], chunks: int) -> list[str]:
    """Beside the clients above, which are threads of one process."""
    of = found["rows"][str(chunks)].get(OURS, {}).get("processes")
    if not of:
        return []
    return [
        f"Trivium in {of['processes']} processes, {of['clients']} clients in all:"
        f" {of['per_second']:.0f} queries a second (one process has one interpreter's lock)."
    ]


def _costs(of: Sequence[Line]) -> str:
    head = ["costs", "build s", "disk MB", "memory MB", "recall@10 by vector", "with filter"]
    head.append("s to a new process's first answer")
    rows = [
        [
            _bold(line.label, line),
            f"{line.build_seconds:,.1f}",
            f"{line.megabytes:,.1f}",
            f"{line.memory_mb:,}",
            _share(line.recall),
            _share(line.recall_filtered),
            f"{line.first_answer:.1f}",
        ]
        for line in of
    ]
    return _table(head, rows)


def _drift(found: Mapping[str, Any], chunks: int) -> list[str]:
    """Whether the machine was the same at the end as at the start."""
    ours = found["rows"][str(chunks)].get("trivium", {})
    if not ours.get("again"):
        return []
    way = next(iter(ours["again"]["ways"]))
    first, last = (of["ways"][way]["plain"]["ms"] for of in (ours, ours["again"]))
    return [
        f"Trivium, measured again after all others: p50 {last['p50']:.1f} (first"
        f" {first['p50']:.1f}), p95 {last['p95']:.1f} (first {first['p95']:.1f})."
    ]


def _quality(found: Mapping[str, Any]) -> list[str]:
    sets = list(found["judged"])
    if not sets:
        return []
    named = dict.fromkeys(system for one in sets for system in found["judged"][one])
    rows = []
    for system in named:
        ranked = [found["judged"][one].get(system) for one in sets]
        legs = next(one["legs"] for one in ranked if one)
        figures = [f"{_share(one['ndcg@10'])}" if one else "–" for one in ranked]
        rows.append([NAMES.get(system, system), _by(legs), *figures])
    told = "The same vectors (all-MiniLM-L6-v2 of title and text, whole documents) for all."
    return ["## Quality: nDCG@10", told, _table(["system", "searches by", *sets], rows)]


def _ingest(found: Mapping[str, Any]) -> list[str]:
    parts = ["## Getting texts in"] if found["rows"] or found.get("ingest") else []
    for chunks in found["rows"]:
        rates = {
            line.label: f"{int(chunks) / max(line.build_seconds, 0.1):,.0f}"
            for line in lines(found, int(chunks))
            if not line.label.endswith("query embedded")  # the same library
        }
        if rates:
            head = [f"rows a second, vectors given, {int(chunks):,} rows", "rate"]
            parts.append(_table(head, [list(pair) for pair in rates.items()]))
    one = found.get("ingest")
    if one:
        model = sum(one["model_texts_per_second"]) / 2
        ratio = one["trivium_texts_per_second"] / model
        parts.append(
            f"With the model: the embedding model alone takes {model:.1f} texts of {one['set']} a"
            f" second, `Library.add` {one['trivium_texts_per_second']:.1f} ({ratio:.0%} of it; it"
            f" embeds {one['texts']} texts as {one['chunks']} chunks that overlap, a summary in"
            f" front of each); {one['share_in_model']:.0%} of its time is spent inside the model."
            f" Any system that embeds with this model cannot be faster than the model."
        )
    return parts


def _settings(found: Mapping[str, Any]) -> list[str]:
    told: dict[str, str] = {}
    for here in found["rows"].values():
        told |= {system: one["settings"] for system, one in here.items() if "settings" in one}
    said = [f"- {NAMES.get(system, system)}: {text}." for system, text in told.items()]
    return ["## Settings", "\n".join(said)] if said else []


def _failed(found: Mapping[str, Any]) -> list[str]:
    return [
        f"{NAMES.get(system, system)} failed: {reason}."
        for system, reason in found["failed"].items()
    ]


def _busiest(found: Mapping[str, Any]) -> float | None:
    sides = [
        side
        for chunks in found["rows"]
        for line in lines(found, int(chunks))
        for side in (line.plain, line.filtered)
        if side
    ]
    return max((side.others for side in sides), default=None)


def _short(side: Side | None, line: Line) -> str:
    if side is None:
        return line.failed or "–"
    few = f" ({side.returned:.1f} of 10 found)" if side.returned < _FULL else ""
    return f"{side.p50:.1f} / {side.p95:.1f}{few}"


def _rate(side: Side | None, clients: int) -> str:
    return f"{side.per_second[clients]:,.0f}" if side and clients in side.per_second else "–"


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if value < 1 else "1.00"


def _by(legs: Sequence[str]) -> str:
    return ", ".join(_SPELLED[leg] for leg in legs)


def _bold(label: str, line: Line) -> str:
    return f"**{label}**" if line.ours else label


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    ruled = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in ruled)


def main() -> None:
    asked = arguments(__doc__, readme=(False, "the short table"), results=RESULTS)
    if not asked.results.exists():
        sys.exit(f"There is no {asked.results}: `make bench` writes it.")
    found = json.loads(asked.results.read_text(encoding="utf-8"))
    if asked.readme:
        print(readme(found), end="")
    else:
        print(report(found), end="")
        for path in write_report(found, asked.results.parent):
            print(f"Written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
