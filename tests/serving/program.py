"""`trivium serve` over the toy library of the tests: the real server, without a model.

    python -m tests.serving.program FOLDER [--workers N] [--until FILE] [--writer URL]

Prints its address when it is about to serve. Its route /slow answers once that file is there;
/delay says whether TCP_NODELAY is set on the connection. With --writer the language model of the
tests, behind that address, writes the answers.
"""

from __future__ import annotations

import argparse
import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.datastructures import Address
from tests.language_model import NAME

from trivium.config import Settings
from trivium.http import serve
from trivium.http.asked import Here
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

WINDOW = (
    640  # a quarter of it is the longest answer: a small model that wanders shall do so briefly
)


@dataclass(frozen=True)
class ToyPlan(serve.ServingPlan):
    """Opens the library with the toy embedder. Goes to workers as it is."""

    until: Path | None = None

    def _library(self) -> Library:
        return Library(open_embedded(self.settings.library), TOY, self.settings)

    def __call__(self) -> FastAPI:
        app = super().__call__()

        @app.get("/slow")
        async def slow(server: Here) -> dict[str, Any]:
            await server.read(self._wait)
            return {"done": True, "worker": os.getpid()}

        @app.get("/delay")
        async def delay(request: Request) -> dict[str, Any]:
            assert request.client is not None
            return {"no_delay": _no_delay(request.client), "worker": os.getpid()}

        return app

    def _wait(self) -> None:
        while self.until is not None and not self.until.exists():
            time.sleep(0.01)


def _no_delay(client: Address) -> bool:
    """Whether TCP_NODELAY is set on the connection that this process has with a client."""
    for name in os.listdir("/dev/fd"):
        try:
            connection = socket.socket(fileno=os.dup(int(name)))
        except OSError:  # a file, or what listed the folder
            continue
        with connection, suppress(OSError):  # a listening socket has no peer
            if connection.getpeername() == tuple(client):
                return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
    raise LookupError(client)


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("folder", type=Path)
    asked.add_argument("--workers", type=int, default=1)
    asked.add_argument("--until", type=Path)
    asked.add_argument("--waiting", type=int, default=256)
    asked.add_argument("--parallel", type=int, default=0)
    asked.add_argument("--connections", type=int, default=1000)
    asked.add_argument("--writer", default="")
    told = asked.parse_args()
    settings = Settings(
        library=told.folder,
        serve_port=0,
        serve_workers=told.workers,
        serve_waiting=told.waiting,
        serve_parallel=told.parallel,
        serve_connections=told.connections,
        serve_seconds=240.0,  # for a machine that is busy with other things
        generate_url=told.writer,
        generate_model=NAME,
        generate_window=WINDOW,
        generate_temperature=0.0,
        generate_seconds=240.0,
    )
    plan = ToyPlan(settings, open_to_all=True, any_host=False, until=told.until)
    serve.run(plan, on_ready=lambda address: print(address, flush=True))


if __name__ == "__main__":
    main()
