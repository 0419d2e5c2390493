"""A real server that speaks Azure Blob's protocol: Azurite on loopback, started once for a process.

`make test` installs it with npm. Where it can't, its tests are skipped; in CI they fail.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tests.servers import free_port, start

PROGRAM = Path(__file__).parents[1] / "build" / "azurite" / "node_modules" / ".bin" / "azurite-blob"
_ACCOUNT, _KEY = "owner", base64.b64encode(b"a key for tests" * 4).decode()
_VERSION = "2025-07-05"


@dataclass(frozen=True, slots=True)
class Container:
    address: str
    environment: dict[str, str]


def is_missing() -> bool:
    return not PROGRAM.exists() and not os.environ.get("CI")


@cache
def container() -> Container:
    """An empty one, and what the environment must say to use it."""
    folder, port = Path(tempfile.mkdtemp(prefix="trivium-azure-")), free_port()
    command = [str(PROGRAM), "--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    command += ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder)]
    endpoint = f"http://127.0.0.1:{port}/{_ACCOUNT}"
    account = {"AZURITE_ACCOUNTS": f"{_ACCOUNT}:{_KEY}"}
    start("Azurite", command, folder, lambda: _made(endpoint, "trivium"), account)
    return Container(
        "az://trivium",
        {
            "AZURE_STORAGE_ACCOUNT_NAME": _ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": _KEY,
            "AZURE_ENDPOINT": endpoint,
            "AZURE_ALLOW_HTTP": "true",
        },
    )


def _made(endpoint: str, name: str) -> bool:
    """Makes a container, which our own client can't. False if nobody answers yet."""
    date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = f"x-ms-date:{date}\nx-ms-version:{_VERSION}\n"
    place = f"/{_ACCOUNT}/{_ACCOUNT}/{name}\nrestype:container"
    signed = "PUT\n" + "\n" * 11 + headers + place
    digest = hmac.digest(base64.b64decode(_KEY), signed.encode(), hashlib.sha256)
    request = Request(f"{endpoint}/{name}?restype=container", method="PUT")
    request.add_header("x-ms-date", date)
    request.add_header("x-ms-version", _VERSION)
    request.add_header("Authorization", f"SharedKey {_ACCOUNT}:{base64.b64encode(digest).decode()}")
    try:
        urlopen(request, timeout=5).close()
    except HTTPError as refused:
        raise RuntimeError(f"Azurite made no container: {refused.read().decode()}") from refused
    except (URLError, OSError):
        return False
    return True
