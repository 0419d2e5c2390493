"""Clients of a running server: threads that ask again as soon as they are answered.

`bench.serving` starts this as a process of its own. Standard library only: with the imports of
`bench.serving` each such process took 1.1 s of processor time longer to start, which also counted
as time of the clients.
"""

from __future__ import annotations

import http.client
import json
import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from bench.harness import arguments
from bench.timing import percentile


def main() -> None:
    asked = arguments(
        __doc__,
        address={"required": True},
        queries=({"type": Path, "required": True}, "JSON file: a list of texts"),
        clients={"type": int, "required": True},
        seconds={"type": float, "required": True},
    )
    queries = json.loads(asked.queries.read_text(encoding="utf-8"))
    print(json.dumps(ask(asked.address, queries, asked.clients, asked.seconds)))


def ask(address: str, queries: Sequence[str], clients: int, seconds: float) -> dict[str, Any]:
    """Requests a second, milliseconds and counts of each status for some clients."""
    until = perf_counter() + seconds

    def client(number: int) -> list[tuple[int, float]]:
        opened, at = connection(address), number * len(queries) // clients
        answers = []
        while perf_counter() < until:
            begun = perf_counter()
            status = post(opened, {"query": queries[at % len(queries)]})
            answers.append((status, 1000 * (perf_counter() - begun)))
            at += 1
        opened.close()
        return answers

    started = perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        answers = [one for each in threads.map(client, range(clients)) for one in each]
    wall = perf_counter() - started
    statuses = Counter(status for status, _ in answers)
    return {
        "rps": round(statuses[200] / wall, 1),
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        "ms": _percentiles([ms for status, ms in answers if status == 200]),
        "refused_ms": _percentiles([ms for status, ms in answers if status in (429, 503)]),
        "cpu": round(sum(os.times()[:2]), 2),
    }


def _percentiles(took: list[float]) -> dict[str, float]:
    took.sort()
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return (
        {name: round(percentile(took, share), 2) for name, share in shares.items()} if took else {}
    )


def connection(address: str) -> http.client.HTTPConnection:
    parts = urlsplit(address)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)


def post(opened: http.client.HTTPConnection, body: dict[str, Any]) -> int:
    headers = {"Content-Type": "application/json"}
    opened.request("POST", "/v1/search", json.dumps(body), headers)
    response = opened.getresponse()
    response.read()
    return response.status


if __name__ == "__main__":
    main()
