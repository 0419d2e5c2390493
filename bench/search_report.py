"""What was measured, as text for people. Knows only the dictionary that `--json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_HEAD = ("", "p50", "p95", "p99", "CPU", "others", "calls")


def table(found: Mapping[str, Any]) -> str:
    machine, versions = found["machine"], found["versions"]
    lines = [
        f"{found['chunks']:,} chunks · {found['date']} · {machine['cores']} cores"
        f" {machine['processor']} ({machine['architecture']}), {machine['memory_gb']} GB"
        f" · load {found['load_average'][0]:.1f} to {found['load_average_after'][0]:.1f}",
        " · ".join(f"{name} {number}" for name, number in versions.items()),
        "",
        f"Milliseconds, top {found['limit']} of {found['candidates']} candidates a signal. CPU:"
        " mean over all threads.",
        "others: cores that other processes kept busy meanwhile.",
        "",
        *_timings("Trivium", {**found["hybrid_ms"], **_prefixed(found["signals_ms"])}),
        "",
        *_filters(found.get("filters", {})),
        *_costs(found),
    ]
    return "\n".join(lines)


def growth_table(sizes: Sequence[Mapping[str, Any]]) -> str:
    head: tuple[str, ...] = (
        "chunks",
        "hybrid p50",
        "p95",
        "p99",
        "vector p95",
        "keyword p95",
        "trigram p95",
    )
    head += ("others", "resident MB", "of it private", "disk MB", "build s", "cold s", "recall@10")
    rows: list[Sequence[str]] = [head]
    for found in sizes:
        hybrid, signals = found["hybrid_ms"]["hybrid"], found["signals_ms"]
        rows.append(
            (
                f"{found['chunks']:,}",
                *(f"{hybrid[p]:.1f}" for p in ("p50", "p95", "p99")),
                *(f"{signals[s]['p95']:.1f}" for s in ("vector", "keyword", "trigram")),
                f"{hybrid['others']:.1f}",
                f"{found['memory_mb']['resident']:,}",
                f"{found['memory_mb']['private']:,}",
                f"{sum(found['disk_mb'].values()):,}",
                f"{found['build']['seconds']:,.0f}",
                f"{found['cold_start_s']['new process']['total']:.2f}",
                f"{found['vector_recall']:.3f}",
            )
        )
    filters = [
        line
        for found in sizes
        if "filters" in found
        for line in (f"{found['chunks']:,} chunks", *_filters(found["filters"]))
    ]
    return "\n".join([*_aligned(rows), "", *filters])


def _timings(title: str, timings: Mapping[str, Mapping[str, float]]) -> list[str]:
    rows: list[Sequence[str]] = [(title, *_HEAD[1:])]
    for name, t in timings.items():
        values = (t["p50"], t["p95"], t["p99"], t["cpu_mean"])
        rows.append(
            (name, *(f"{v:.1f}" for v in values), f"{t['others']:.1f}", f"{t['calls']:.0f}")
        )
    return _aligned(rows)


def _prefixed(timings: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{name} alone": timing for name, timing in timings.items()}


def _filters(filters: Mapping[str, Any]) -> list[str]:
    if not filters:
        return []
    rows: list[Sequence[str]] = [
        ("filter keeps", "chunks", "hybrid p50", "p95", "same top 10 as an exact scan")
    ]
    for share, f in filters.items():
        same = ", ".join(f"{name} {n}/{f['checked']}" for name, n in f["same_as_exact"].items())
        times = (f"{f['hybrid_ms'][p]:.1f}" for p in ("p50", "p95"))
        rows.append((share, f"{f['chunks']:,}", *times, same))
    return [*_aligned(rows), ""]


def _costs(found: Mapping[str, Any]) -> list[str]:
    memory, built = found["memory_mb"], found["build"]
    stages = ", ".join(f"{stage} {took:.1f}" for stage, took in found["stages_ms"].items())
    disk = ", ".join(f"{part} {size:,}" for part, size in found["disk_mb"].items())
    cold = [
        f"cold start, {kind}: {c['total']:.2f} s (import {c['import']:.2f}, open {c['open']:.2f},"
        f" search {c['search']:.2f})"
        for kind, c in found["cold_start_s"].items()
    ]
    note = "" if built["current"] else " BY OTHER CODE THAN SEARCHED IT"
    interpreter = ", ".join(
        f"{of['interpreter']:.1f} where a query is met {met}"
        for met, of in found["interpreter_ms"].items()
    )
    return [
        f"interpreter, mean ms beside native calls (vector given): {interpreter}",
        f"stages, mean ms (signals run side by side): {stages}",
        f"resident memory {memory['resident']:,} MB: {memory['private']:,} private,"
        f" {memory['mapped']:,} mapped files; peak {memory['peak']:,}",
        f"on disk {sum(found['disk_mb'].values()):,} MB: {disk}",
        f"built in {built['seconds']:,.0f} s{note}",
        *cold,
    ]


def _aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
