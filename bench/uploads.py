"""How uploads grow with workers: jobs of one document each, in PostgreSQL.

    python -m bench.uploads --server postgresql://… [--documents 200] [--workers 1,2] [--queued 0]

Each worker is a process of `trivium worker`, with the real model in as many threads as `--threads`
says. They have done a few documents before, so that no start is counted, and stand still while the
queue is filled. `--queued` is how many more uploads wait behind those that are counted: a long
queue must not make a task dearer. Processor time: of the workers, of the processes that read files
for them, of the server and its processes, and of this one, which looks at the queue.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from time import perf_counter, process_time, sleep
from uuid import uuid4

from sqlalchemy import Engine, text

from bench.harness import arguments
from bench.postgres import engine_of, server_seconds
from bench.timing import processor_seconds_of
from trivium.core.access import LOCAL_OWNER
from trivium.library import Library

LOOK = 0.25  # seconds between looks at the queue
_WORDS = ("harbour", "lantern", "crown", "meadow", "copper", "anchor", "velvet", "thunder")


def main() -> None:
    given = arguments(
        __doc__,
        server=(str, "address of a PostgreSQL server"),
        documents=200,
        workers="1,2",
        queued=0,
        first=(20, "documents of each worker before the clock starts"),
        threads=1,
    )
    rates: list[float] = []
    engine = engine_of(given.server)
    for count in map(int, given.workers.split(",")):
        schema = f"uploads_{uuid4().hex[:8]}"
        address = f"{given.server}?schema={schema}"
        with Library.open(address) as library, _workers(address, count, given.threads) as workers:
            _upload(library, given.first * count, "first")
            _wait(library)
            with _stopped(workers):
                _upload(library, given.documents + given.queued, "counted")
            used, began = _used(workers, engine), perf_counter()
            _wait(library, given.queued)
            seconds = perf_counter() - began
            used = {name: now - used[name] for name, now in _used(workers, engine).items()}
            rates.append(given.documents / seconds)
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
        times = f", {rates[-1] / rates[0]:.2f} times as many as {given.workers.split(',')[0]}"
        print(f"{count} workers: {rates[-1]:.1f} uploads a second{times}")
        each = {name: round(one / given.documents * 1e3, 1) for name, one in used.items()}
        cores = sum(used.values()) / seconds
        print(f"  processor ms an upload: {each}; {cores:.2f} cores", flush=True)
    engine.dispose()


def _used(workers: Sequence[subprocess.Popen[bytes]], engine: Engine) -> dict[str, float]:
    """Processor seconds until now."""
    own = [processor_seconds_of(one.pid, children=False) for one in workers]
    whole = [processor_seconds_of(one.pid) for one in workers]
    return {
        "workers": sum(own),
        "readers": sum(whole) - sum(own),
        "server": server_seconds(engine),
        "this": process_time(),
    }


def _upload(library: Library, count: int, name: str) -> None:
    for number in range(count):
        library.uploads.receive_later(
            LOCAL_OWNER, f"{name}{number}.md", BytesIO(_document(name, number).encode())
        )


def _document(name: str, number: int) -> str:
    """Three paragraphs of its own, some 120 words."""
    lines = [f"# {name} {number}"]
    for part in range(3):
        word = _WORDS[(number + part) % len(_WORDS)]
        lines.append(" ".join(f"{word}{number * 7 + part} is near the {word}." for _ in range(8)))
    return "\n\n".join(lines)


def _wait(library: Library, most: int = 0) -> None:
    """Until so few jobs are left."""
    while len(library.jobs.all(ended=False)) > most:
        sleep(LOOK)


@contextmanager
def _stopped(workers: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    for process in workers:
        process.send_signal(signal.SIGSTOP)
    yield
    for process in workers:
        process.send_signal(signal.SIGCONT)


@contextmanager
def _workers(address: str, count: int, threads: int) -> Iterator[Sequence[subprocess.Popen[bytes]]]:
    command = [sys.executable, "-m", "trivium.cli.main", "worker", "--library", address]
    command += ["--set", f"embed.threads={threads}"]
    quiet = subprocess.DEVNULL
    started = [subprocess.Popen(command, stdout=quiet, stderr=quiet) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(60)


if __name__ == "__main__":
    main()
