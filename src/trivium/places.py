"""Where a library is: a folder, or a schema of a database. An address may hold a password, so `str`
and `repr` leave it out. Knows nothing of what is there."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

_DATABASE = re.compile(r"postgres(ql)?://")
_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*(?=@)|(?<=[?&]password=)[^&]*")


@dataclass(frozen=True, slots=True, repr=False)
class DatabaseAddress:
    url: str  # with its password: only for connecting

    def __str__(self) -> str:
        return _PASSWORD.sub(lambda found: f"{found[1]}:***" if found[1] else "***", self.url)

    def __repr__(self) -> str:
        return f"DatabaseAddress({str(self)!r})"


LibraryPlace: TypeAlias = Path | DatabaseAddress


def place_of(text: str | os.PathLike[str] | DatabaseAddress) -> LibraryPlace:
    """`postgresql://…` is a database, all else a folder."""
    if isinstance(text, DatabaseAddress):
        return text
    if isinstance(text, str) and _DATABASE.match(text):
        return DatabaseAddress(text)
    return Path(text).expanduser()
