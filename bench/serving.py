"""How many searches the server answers, how fast, in how much memory; and what happens in overload.

    python -m bench.serving                               # 1, 8, 64 clients, 60 s, 1 and 2 workers
    python -m bench.serving --chunks 10000 --seconds 8    # a quick look
    python -m bench.serving --clients 64 --workers 2 --server postgresql://…

The real program (`trivium serve`) on loopback over the library of `bench.search`, embedding of the
query included. Clients are a process of their own: threads that ask again as soon as they are
answered, each over one connection. They share the machine's cores with the server, so what it can
do is more than what is seen: read `cores`, those that the server had, and `ms CPU`, its processor
time for one answer. `own` memory is the server's, `mapped` is files of the library that the system
may drop at will. `others`: cores that third parties used meanwhile. With --server the same library
is also served from that database; its own processes count as others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any

from bench.build import code_digest, place
from bench.clients import connection, post
from bench.corpus import load_corpus
from bench.harness import Namespace, arguments, numbers, say
from bench.postgres import copied, drop
from bench.surroundings import surroundings
from bench.timing import processor_seconds
from trivium.config import load
from trivium.core.places import DatabaseAddress

_START_SECONDS = 120.0
_ROW = "{:<32}{:>7}{:>9}{:>9}{:>9}  {:<18}{:>7}{:>8}{:>16}{:>14}{:>8}"
_COLUMNS = ["", "req/s", "p50", "p95", "p99", "answers"]
_COLUMNS += ["cores", "ms CPU", "own MB", "mapped MB", "others"]


def main() -> None:
    asked = _arguments()
    found = run(asked)
    print(json.dumps(found, indent=1) if asked.json else table(found))


def run(asked: Namespace) -> dict[str, Any]:
    settings = load().settings
    at = place(settings, load_corpus(asked.data), asked.chunks)
    if not at.built.exists():
        say(f"Building a library of {at.chunks:,} chunks …")
        command = [sys.executable, "-m", "bench.build", "--chunks", str(at.chunks)]
        subprocess.run([*command, "--data", str(asked.data)], check=True)
    built = json.loads(at.built.read_text(encoding="utf-8"))
    found: dict[str, Any] = {
        "chunks": at.chunks,
        "seconds": asked.seconds,
        "built_by_this_code": built["code"] == code_digest(),
        **surroundings(),
        "runs": [],
    }
    queries = at.folder / "queries.json"
    places: dict[str, Path | str] = {"": at.library}
    if asked.server:
        there = DatabaseAddress(f"{asked.server}?schema=bench_{at.chunks}")
        copied(at, there)
        places["database, "] = there.url
    for workers, (where, library) in product(asked.workers, places.items()):
        with served(library, ("--workers", str(workers))) as server:
            for clients in asked.clients:
                say(f"{where}{clients} clients, {workers} workers …")
                name = f"{where}{clients} clients, {workers} worker{'s' if workers > 1 else ''}"
                found["runs"].append(measured(name, server, queries, clients, asked.seconds))
    if asked.drop:
        drop(asked.server, at.chunks)
    few = ("--set", "serve.parallel=2", "--set", "serve.waiting=8")
    with served(at.library, few) as server:
        say("overload …")
        most = asked.clients[-1]
        name = f"{most} clients, room for 10"
        found["runs"].append(measured(name, server, queries, most, asked.seconds / 4))
    return found


@contextmanager
def served(library: Path | str, options: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The address of a running server, and its process id."""
    command = [sys.executable, "-m", "trivium.cli.main", "serve", "--json", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--library", str(library), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        told = ""
        while not told.rstrip().endswith("}"):
            told += process.stdout.readline()
        address = json.loads(told)["address"]
        _wait(address)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def _wait(address: str) -> None:
    until = monotonic() + _START_SECONDS
    while monotonic() < until:
        try:
            for _ in range(8):  # each worker loads its model with its first search
                post(connection(address), {"query": "warm up"})
            return
        except OSError:  # several workers listen only once they have started
            sleep(0.05)
    raise TimeoutError(f"{address} does not answer")


def measured(
    name: str, server: tuple[str, int], queries: Path, clients: int, seconds: float
) -> dict[str, Any]:
    """One run of a process of clients; what the server used, its memory before and after."""
    address, pid = server
    command = [sys.executable, "-m", "bench.clients", "--address", address]
    command += ["--queries", str(queries), "--clients", str(clients)]
    warm = [*command, "--seconds", str(min(5.0, seconds))]
    subprocess.run(warm, stdout=subprocess.DEVNULL, check=True)
    before, busy, own, started = _memory(pid), processor_seconds(), _cpu(pid), perf_counter()
    done = subprocess.run(
        [*command, "--seconds", str(seconds)], stdout=subprocess.PIPE, text=True, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout)
    wall, used = perf_counter() - started, _cpu(pid) - own
    others = (processor_seconds() - busy - used - told["cpu"]) / wall
    return {
        "name": name,
        **told,
        "cores": round(used / wall, 2),
        "cpu_ms": round(1000 * used / max(1, told["statuses"].get("200", 0)), 1),
        "own_mb": [before[0], (after := _memory(pid))[0]],
        "mapped_mb": [before[1], after[1]],
        "others": round(max(0.0, others), 2),
    }


def _family(pid: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in _family(int(child)))]


def _memory(pid: int) -> tuple[int, int]:
    """Megabytes that the processes of a server hold: their own, and pages of files."""
    own = mapped = 0
    for one in _family(pid):
        for line in Path(f"/proc/{one}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                own += int(line.split()[1])
            elif line.startswith("RssFile"):
                mapped += int(line.split()[1])
    return round(own / 1000), round(mapped / 1000)


def _cpu(pid: int) -> float:
    ticks = 0
    for one in _family(pid):
        told = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(told[11]) + int(told[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def table(found: dict[str, Any]) -> str:
    machine = found["machine"]
    lines = [
        f"{found['chunks']:,} chunks, {found['seconds']:g} s a run, {machine['cores']} cores"
        f" ({machine['processor']}), {found['date']}",
        _ROW.format(*_COLUMNS),
    ]
    for one in found["runs"]:
        told = " ".join(f"{status}:{count}" for status, count in one["statuses"].items())
        own, mapped = (" → ".join(map(str, one[of])) for of in ("own_mb", "mapped_mb"))
        times = [one["ms"].get(name, "") for name in ("p50", "p95", "p99")]
        served = (told, one["cores"], one["cpu_ms"], own, mapped, one["others"])
        lines.append(_ROW.format(one["name"], one["rps"], *times, *served))
        if one["refused_ms"]:
            ms = one["refused_ms"]
            lines.append(f"  sent away within {ms['p50']} / {ms['p95']} / {ms['p99']} ms")
    return "\n".join(lines)


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "chunks",
        "data",
        "json",
        seconds=(60.0, "of each run"),
        clients=({"type": numbers, "default": [1, 8, 64]}, "how many, with commas"),
        workers=({"type": numbers, "default": [1, 2]}, "processes, with commas"),
        server=("", "address of a database to serve from too"),
        drop=(False, "remove the library from the database"),
    )


if __name__ == "__main__":
    main()
