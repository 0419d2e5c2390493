"""Where a library is: a folder, or a schema of a database. An address may hold a password, so `str`
and `repr` show neither that nor the user, and nothing at all if a password may have spilled into
the rest. Knows nothing of what is there."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

_DATABASE = re.compile(r"postgres(ql)?://")
# With an @, / or ? in a password that isn't written as %40, %2F or %3F, other parts would hold some
# of it: libpq ends the password at the first of them.
_PLAIN = re.compile(r"(?P<scheme>postgres(?:ql)?://)(?:[^@/?]*@)?(?P<rest>[^@?]*)(?:\?[^@]*)?")


@dataclass(frozen=True, slots=True, repr=False)
class DatabaseAddress:
    url: str  # with its password: only for connecting

    @property
    def is_ambiguous(self) -> bool:
        """Whether an unescaped password may reach into the rest."""
        return _PLAIN.fullmatch(self.url) is None

    def __str__(self) -> str:
        match = _PLAIN.fullmatch(self.url)
        if match is None:
            return "postgresql://***"
        schema = re.search(r"[?&](schema=\w+)", self.url)
        return f"{match['scheme']}{match['rest']}{f'?{schema[1]}' if schema else ''}"

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
