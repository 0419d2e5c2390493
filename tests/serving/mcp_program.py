"""`trivium mcp` over the toy library of the tests: what the program does, without a model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anyio

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.library import Library
from trivium.mcp.server import serve_stdio
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY


def main(folder: str, *audiences: str) -> None:
    caller = replace(LOCAL_OWNER, audiences=frozenset(audiences))
    with Library(open_embedded(Path(folder)), TOY, Settings()) as library:
        anyio.run(lambda: serve_stdio(library, caller))


if __name__ == "__main__":
    main(*sys.argv[1:])
