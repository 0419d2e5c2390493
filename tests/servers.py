"""Starts the servers that the tests talk to, on loopback, each once for a process."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep

_START_SECONDS = 240.0  # on a machine that is busy with other things


def start(
    name: str,
    command: Sequence[str],
    folder: Path,
    answers: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
) -> None:
    """Waits until it answers. It ends with this process, and its folder with it."""
    quiet = subprocess.DEVNULL
    own = os.environ | (environment or {})
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=folder, env=own)

    @atexit.register
    def end() -> None:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)

    until = monotonic() + _START_SECONDS
    while not answers():
        if monotonic() > until or process.poll() is not None:
            raise RuntimeError(f"{name} did not start.")
        sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
