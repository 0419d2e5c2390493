"""A real S3 server for the tests: SeaweedFS on loopback, started once for a process."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from tests.servers import free_port, start

OWNER, READER = ("owner-key", "owner-secret"), ("reader-key", "reader-secret")


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
    address = f"http://127.0.0.1:{ports[0]}"
    start("The S3 server", command, folder, lambda: _answers(address))
    return address


def _answers(address: str) -> bool:
    try:
        urlopen(address, timeout=2).close()
    except HTTPError:
        return True  # it refuses, so it is running
    except (URLError, OSError):
        return False
    return True
