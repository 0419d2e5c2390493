"""Style, scripts and the icon: read once, named by their content, cached by browsers for ever."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from trivium.core.errors import NoSuchRoute

router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"


@cache
def assets() -> dict[str, bytes]:
    """Every file by its name."""
    return {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.is_file()}


@cache
def version() -> str:
    """One version for all files: scripts import each other by relative paths."""
    digest = hashlib.sha256()
    for name, data in assets().items():
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:16]


def address(name: str) -> str:
    if name not in assets():
        raise KeyError(name)
    return f"/static/{version()}/{name}"


@router.get("/static/{of}/{name}")
async def asset(of: str, name: str) -> Response:
    """For everyone: assets hold no one's data. An old version's address gets the current file,
    uncached, so that a page from before an update keeps working."""
    data = assets().get(name) if re.fullmatch(r"[a-z0-9.-]+", name) else None
    if data is None:
        raise NoSuchRoute(f"No file {name[:50]!r}.")
    caching = _FOREVER if of == version() else "no-cache"
    return Response(
        data,
        media_type=_TYPES[Path(name).suffix],
        headers={"Cache-Control": caching, "ETag": f'"{version()}"'},
    )
