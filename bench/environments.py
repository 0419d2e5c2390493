"""Makes each system's virtual environment on first use, and runs its worker in it.

Peers never meet Trivium's dependencies, and Trivium's users never install them. A system that
cannot be installed, fails or takes too long is one `PeerFailed` with a reason for people.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.harness import REPOSITORY

OURS = "trivium"  # runs in the project's own environment
PINS = REPOSITORY / "bench" / "peers.txt"
_INSTALL_SECONDS = 900
_FAREWELL_SECONDS = 60  # for a worker that is told to stop
_QUIET = {"LANCEDB_LOG": "error", "ANONYMIZED_TELEMETRY": "False"}  # one warns at every query
_TOLD = 3  # last lines of a failed command's output


class PeerFailed(Exception):
    """The message says why, in a sentence."""


def systems() -> list[str]:
    """Trivium, then the peers in the order of the list."""
    return [OURS, *pins()]


def interpreter(system: str, cache: Path) -> Path:
    """The Python of this system's environment. Raises PeerFailed."""
    if system == OURS:
        return Path(sys.executable)
    wanted = pins()[system]
    folder = cache / "bench" / "environments" / system
    python, mark = folder / "bin" / "python", folder / "installed.txt"
    if not mark.exists() or mark.read_text() != " ".join(wanted):
        print(f"Installing {system} into {folder}, once …", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)], _INSTALL_SECONDS)
        for arguments in _in_turn(wanted):
            pip = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
            try:
                _run([*pip, *arguments], _INSTALL_SECONDS)
            except PeerFailed as reason:
                raise PeerFailed(
                    f"{' '.join(arguments)} cannot be installed on {platform.machine()}: {reason}"
                ) from reason
        mark.write_text(" ".join(wanted))
    return python


def work(python: Path, system: str, what: str, seconds: float, *options: str) -> dict[str, Any]:
    """What the worker printed. Raises PeerFailed."""
    command = [str(python), "-m", "bench.peers.worker", system, what, *options]
    said, told = _run(command, seconds)
    sys.stderr.write(told)
    found: dict[str, Any] = json.loads(said)
    return found


def pins() -> dict[str, list[str]]:
    lines = [line for line in PINS.read_text().splitlines() if line and not line.startswith("#")]
    return {name: wanted for name, *wanted in map(str.split, lines)}


def _in_turn(wanted: Sequence[str]) -> list[list[str]]:
    """pip takes `--no-deps` for all it is given: what follows it is installed apart."""
    at = wanted.index("--no-deps") if "--no-deps" in wanted else len(wanted)
    return [part for part in (list(wanted[:at]), list(wanted[at:])) if part]


def _run(command: Sequence[str], seconds: float) -> tuple[str, str]:
    """Its output and its errors. Raises PeerFailed."""
    paths = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | _QUIET | {"PYTHONPATH": paths},
    ) as process:
        try:
            said, complained = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.terminate()  # a worker stops its server on the way out
            try:
                process.communicate(timeout=_FAREWELL_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            raise PeerFailed(f"took longer than {seconds:.0f} s") from None
    if process.returncode:
        lines = [s for s in complained.splitlines() if s.strip() and not s.startswith("WARNING")]
        raise PeerFailed(" / ".join(lines[-_TOLD:])[-400:])
    return said, complained
