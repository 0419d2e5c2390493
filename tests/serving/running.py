"""The real server in a process of its own, for as long as a test needs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import httpx2

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0  # seconds: for a machine that is busy with other things


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a running server, and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.serving.program", str(folder), *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        _wait(address)
        yield address, process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            if process.stdout is not None:
                process.stdout.close()


def _wait(address: str) -> None:
    until = monotonic() + PATIENCE
    with httpx2.Client(trust_env=False) as client:
        while True:
            try:
                if client.get(f"{address}/readyz", timeout=PATIENCE).status_code == 200:
                    return
            except httpx2.HTTPError:
                assert monotonic() < until
