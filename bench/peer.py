"""Starts the LanceDB side in a virtual environment of its own, made on first use.

It never meets Trivium's dependencies, and Trivium's users never install it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.build import Place

LANCEDB = "lancedb==0.40.0"
REPOSITORY = Path(__file__).resolve().parent.parent


class PeerUnavailable(Exception):
    """LanceDB could not be installed or failed; the message says how."""


def environment(cache: Path) -> Path:
    """The interpreter of the environment that has LanceDB."""
    folder = cache / "bench" / LANCEDB.replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        print(f"Installing {LANCEDB} into {folder}, once …", file=sys.stderr, flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", LANCEDB])
        (folder / "whole").touch()
    return python


def ask_peer(
    python: Path,
    at: Place,
    data: Path,
    *,
    limit: int,
    depth: int,
    seconds: float,
    build_only: bool = False,
) -> dict[str, Any]:
    command = [str(python), "-m", "bench.lancedb_peer"]
    command += ["--folder", str(at.peer), "--prepared", str(at.folder), "--data", str(data)]
    command += ["--chunks", str(at.chunks), "--limit", str(limit), "--depth", str(depth)]
    command += ["--seconds", str(seconds), *(["--build-only"] if build_only else [])]
    said = _run(command)
    found: dict[str, Any] = {} if build_only else json.loads(said)
    return found


def _run(command: list[str]) -> str:
    paths = {"PYTHONPATH": str(REPOSITORY), "LANCEDB_LOG": "error"}  # it warns at every query
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | paths, check=False
    )
    if done.returncode:
        raise PeerUnavailable(f"`{' '.join(command)}` failed: see above. --no-peer leaves it out.")
    return done.stdout
