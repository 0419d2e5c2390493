"""Percentiles, memory, disk and how busy the rest of the machine was. Linux only.

Standard library only: both sides of a comparison measure with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

_T = TypeVar("_T")
LEAST = 20  # measurements, however slow
_LONGEST = 3.0  # times the allowed seconds, then few measurements must do


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of one call."""

    p50: float
    p95: float
    p99: float
    mean: float
    calls: int
    cpu_mean: float  # processor time of this process, all threads
    others: float  # cores that other processes kept busy meanwhile


def measure(
    call: Callable[[_T], object],
    asked: Sequence[_T],
    seconds: float,
    cpu: Callable[[], float] = process_time,
) -> Timing:
    """Call once for each item, one after another, until time is up. `cpu`: processor seconds that
    the engine has used; of this process, unless it has others."""
    took: list[float] = []
    before, used, started = processor_seconds(), cpu(), perf_counter()
    for item in asked:
        begun = perf_counter()
        call(item)
        took.append((perf_counter() - begun) * 1000)
        spent = perf_counter() - started
        if spent > seconds and (len(took) >= LEAST or spent > _LONGEST * seconds):
            break
    wall, own = perf_counter() - started, cpu() - used
    others = max(0.0, (processor_seconds() - before - own) / wall)
    took.sort()
    return Timing(
        p50=round(percentile(took, 0.50), 2),
        p95=round(percentile(took, 0.95), 2),
        p99=round(percentile(took, 0.99), 2),
        mean=round(sum(took) / len(took), 2),
        calls=len(took),
        cpu_mean=round(own * 1000 / len(took), 2),
        others=round(others, 2),
    )


@dataclass(frozen=True, slots=True)
class Throughput:
    """Queries a second of some clients, each searching again as soon as it has an answer."""

    clients: int
    per_second: float
    calls: int
    others: float


def throughput(
    call: Callable[[_T], object],
    asked: Sequence[_T],
    clients: int,
    seconds: float,
    cpu: Callable[[], float] = process_time,
) -> Throughput:
    """Clients are threads, each starting elsewhere in the list."""
    done = [0] * clients
    until = perf_counter() + seconds

    def client(number: int) -> None:
        at = number * len(asked) // clients
        while perf_counter() < until:
            call(asked[at % len(asked)])
            at += 1
            done[number] += 1

    before, used, started = processor_seconds(), cpu(), perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        for finished in [threads.submit(client, number) for number in range(clients)]:
            finished.result()
    wall, own = perf_counter() - started, cpu() - used
    others = max(0.0, (processor_seconds() - before - own) / wall)
    return Throughput(clients, round(sum(done) / wall, 2), sum(done), round(others, 2))


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes of this process."""

    resident: int  # VmRSS: everything below
    private: int  # anonymous: allocated, and given back to nobody
    mapped: int  # pages of the library's files: shared with other processes, dropped under pressure
    peak: int  # VmHWM


def memory() -> Memory:
    held = {}
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("VmRSS", "VmHWM", "RssAnon", "RssFile"):
            held[name] = round(int(value.split()[0]) / 1000)
    return Memory(held["VmRSS"], held["RssAnon"], held["RssFile"], held["VmHWM"])


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def drop_from_page_cache(folder: Path) -> None:
    """Ask the kernel to forget these files, so that the next reader goes to the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def as_json(timing: Timing | Memory) -> dict[str, float]:
    return asdict(timing)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The nearest rank: a value that was measured, not one between two."""
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def processor_seconds() -> float:
    """Processor time that all processes of the machine have used."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split(maxsplit=4)[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def processor_seconds_of(pid: int, *, children: bool = True) -> float:
    """Of a process and its children, the ended ones too."""
    ticks = 0
    for process in _tree(pid) if children else [pid]:
        with suppress(OSError):  # it ended meanwhile
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11 : 15 if children else 13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in children.read_text().split():
                yield from _tree(int(child))
