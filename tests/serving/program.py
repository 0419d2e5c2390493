"""`trivium serve` over the toy library of the tests: the real server, without a model.

    python -m tests.serving.program FOLDER [--workers N] [--slow SECONDS] [--writer URL]

Prints its address when it is about to serve. With --slow a route /slow takes that long; with
--writer the language model of the tests, behind that address, writes the answers.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from tests.language_model import NAME

from trivium.config import Settings
from trivium.http import serve
from trivium.http.asked import Here
from trivium.library import Library
from trivium.store.embedded.store import EmbeddedStore
from trivium.testing.samples import TOY

WINDOW = (
    640  # a quarter of it is the longest answer: a small model that wanders shall do so briefly
)


@dataclass(frozen=True)
class ToyPlan(serve.Plan):
    """Opens the library with the toy embedder. Goes to workers as it is."""

    slow: float = 0.0

    def _library(self) -> Library:
        return Library(EmbeddedStore(self.settings.library), TOY, self.settings)

    def __call__(self) -> FastAPI:
        app = super().__call__()

        @app.get("/slow")
        async def slow(server: Here) -> dict[str, Any]:
            await server.read(lambda: time.sleep(self.slow))
            return {"done": True, "worker": os.getpid()}

        return app


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("folder", type=Path)
    asked.add_argument("--workers", type=int, default=1)
    asked.add_argument("--slow", type=float, default=0.0)
    asked.add_argument("--waiting", type=int, default=256)
    asked.add_argument("--parallel", type=int, default=0)
    asked.add_argument("--writer", default="")
    told = asked.parse_args()
    settings = Settings(
        library=told.folder,
        serve_port=0,
        serve_workers=told.workers,
        serve_waiting=told.waiting,
        serve_parallel=told.parallel,
        generate_url=told.writer,
        generate_model=NAME,
        generate_window=WINDOW,
        generate_temperature=0.0,
        generate_seconds=240.0,
    )
    plan = ToyPlan(settings, open_to_all=True, any_host=False, slow=told.slow)
    serve.run(plan, on_ready=lambda address: print(address, flush=True))


if __name__ == "__main__":
    main()
