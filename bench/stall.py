"""How long one huge upload keeps everyone else waiting, and how much memory it takes.

    python -m bench.stall                           # every case, with the built-in model
    python -m bench.stall --cases quotes,letters    # some of them
    python -m bench.stall --no-vectors              # documents are stored without being embedded

The real program (`trivium serve`) on loopback over a new library. One file is uploaded while
another connection asks `/healthz` every 20 ms. `wait` is the longest of its answers, `peak` the
most memory that the serving process held, `readers` the most that the processes reading files held
together. `small` shows what the machine does without a large file. Embedding a 10 MB document takes
many minutes, so each case ends after `--seconds`; the step that the document had reached by then,
or what became of it, is shown.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

from bench.harness import Namespace, arguments
from bench.serving import served
from trivium.library import Library

_EVERY = 0.02  # seconds between two questions to /healthz
_MB = 1 << 20
_ROW = "| {:<14} | {:>7} | {:>8} | {:>8} | {:>8} | {:>7} | {} |"

CASES: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "small": ("small.txt", lambda: b"A sentence of some words stands here. " * 100),
    "quotes": ("quotes.csv", lambda: b'"' * 10_000_000),
    "letters": ("letters.txt", lambda: b"a" * 100_000_000),
    "list": ("list.md", lambda: nested_list(4_000)),
    "quoted": ("quoted.md", lambda: b"> " * 200_000 + b"deep\n"),
    "marks": ("marks.md", lambda: b"- " * 100_000 + b"deep\n"),
    "brackets": ("brackets.md", lambda: b"[" * 200_000 + b"](x)" * 50_000),
    "json": ("line.json", lambda: json.dumps({"values": list(range(2_600_000))}).encode()),
    "rows": ("rows.csv", lambda: b"id,name\n" + b"".join(b"%d,n\n" % n for n in range(900_000))),
    "prose": ("prose.txt", lambda: b"A sentence of some words stands here. " * 520_000),
}


def nested_list(depth: int) -> bytes:
    return "".join(f"{'  ' * level}- item {level}\n" for level in range(depth)).encode()


def main() -> None:
    told = arguments(
        __doc__,
        cases=",".join(CASES),
        seconds=90.0,
        no_vectors=False,
        share=(1.0, "of each file, from its start"),
    )
    options = ["--set", "serve.rate=1000000"]
    if told.no_vectors:  # nothing listens there: documents are added without vectors
        options += ["--set", "embed.url=http://127.0.0.1:9/v1", "--set", "embed.model=none"]
        options += ["--set", "embed.seconds=0.1", "--set", "embed.dimensions=8"]
    print(_ROW.format("case", "MB", "wait s", "peak MB", "readers", "s", "reached"))
    for name in told.cases.split(","):
        print(_ROW.format(name, *measured(*CASES[name], options, told)), flush=True)


def measured(
    name: str, make: Callable[[], bytes], options: list[str], told: Namespace
) -> tuple[str, ...]:
    data = make()
    data = data[: int(len(data) * told.share)]
    with tempfile.TemporaryDirectory() as place:
        Library.open(Path(place) / "library").close()
        with served(Path(place) / "library", options) as (address, pid):
            watch = _Watch(address, pid)
            watch.start()
            started = monotonic()
            job = _upload(address, name, data)
            reached = "waiting"
            while monotonic() - started < told.seconds:
                state, reached = _state(address, job)
                if state not in ("queued", "waiting", "running"):
                    break
                sleep(0.2)
            took = monotonic() - started
            watch.stop()
            os.kill(pid, signal.SIGKILL)  # it would end after the call to the model under way
    return (
        f"{len(data) / 1e6:.1f}",
        f"{watch.longest:.2f}",
        f"{watch.peak / _MB:.0f}",
        f"{watch.readers / _MB:.0f}",
        f"{took:.1f}",
        reached,
    )


class _Watch(threading.Thread):
    """Asks for /healthz all the time, and looks at the memory of a process and its children."""

    def __init__(self, address: str, pid: int) -> None:
        super().__init__(daemon=True)
        self._address, self._pid = address, pid
        self._ended = threading.Event()
        self.longest, self.peak, self.readers = 0.0, 0, 0

    def run(self) -> None:
        connection = http.client.HTTPConnection(urlsplit(self._address).netloc, timeout=300)
        while not self._ended.is_set():
            started = monotonic()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            self.longest = max(self.longest, monotonic() - started)
            self.peak = max(self.peak, _held(self._pid, b"VmHWM"))
            children = sum(_held(child, b"VmRSS") for child in _children(self._pid))
            self.readers = max(self.readers, children)
            sleep(_EVERY)

    def stop(self) -> None:
        self._ended.set()
        self.join()


def _held(pid: int, field: bytes) -> int:
    with suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:
        return next((int(line.split()[1]) << 10 for line in file if line.startswith(field)), 0)
    return 0


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found


def _upload(address: str, name: str, data: bytes) -> int:
    edge = "stall-edge"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + data + f"\r\n--{edge}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={edge}"}
    told = _asked(address, "POST", "/v1/documents?wait=false", body, kind)
    return int(told["job"]["id"])


def _state(address: str, job: int) -> tuple[str, str]:
    state = str(_asked(address, "GET", f"/v1/jobs/{job}")["state"])
    tasks = _asked(address, "GET", f"/v1/jobs/{job}/tasks")["tasks"]
    if not tasks:
        return state, "waiting"
    task = tasks[0]
    return state, " ".join(filter(None, (task["state"], task["step"], task["message"][:70])))


def _asked(
    address: str, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = {}
) -> Any:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=300)
    connection.request(method, path, body, dict(headers))
    answer = connection.getresponse()
    told = json.loads(answer.read())
    connection.close()
    if answer.status >= 400:
        sys.exit(f"{path}: {answer.status} {told}")
    return told


if __name__ == "__main__":
    main()
