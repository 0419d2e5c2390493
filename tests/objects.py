"""A real S3 server for the tests: SeaweedFS on loopback, started once for a process."""

from __future__ import annotations

import atexit
import json
import shutil
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

OWNER, READER = ("owner-key", "owner-secret"), ("reader-key", "reader-secret")
_START_SECONDS = 60.0


@cache
def endpoint() -> str:
    """The address of the server. `OWNER` may do everything, `READER` only read and list."""
    folder = Path(tempfile.mkdtemp(prefix="trivium-s3-"))
    identities = [
        {"name": name, "credentials": [{"accessKey": key, "secretKey": secret}], "actions": may}
        for name, (key, secret), may in (
            ("owner", OWNER, ["Admin", "Read", "Write", "List"]),
            ("reader", READER, ["Read", "List"]),
        )
    ]
    (folder / "s3.json").write_text(json.dumps({"identities": identities}))
    ports = [free_port() for _ in range(8)]
    names = ("s3.port", "master.port", "volume.port", "filer.port")
    grpc = ("s3.port.grpc", "master.port.grpc", "volume.port.grpc", "filer.port.grpc")
    program = Path(sys.executable).parent / "weed"
    command = [str(program), "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += ["-s3", f"-s3.config={folder / 's3.json'}", "-volume.max=20"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]  # two runs at once would both want these
    command += [f"-{name}={port}" for name, port in zip((*names, *grpc), ports, strict=True)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=folder)

    @atexit.register
    def end() -> None:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)

    address = f"http://127.0.0.1:{ports[0]}"
    until = monotonic() + _START_SECONDS
    while not _answers(address):
        if monotonic() > until or process.poll() is not None:
            raise RuntimeError("The S3 server did not start.")
        sleep(0.1)
    return address


def _answers(address: str) -> bool:
    try:
        urlopen(address, timeout=2).close()
    except HTTPError:
        return True  # it refuses, so it is running
    except (URLError, OSError):
        return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
