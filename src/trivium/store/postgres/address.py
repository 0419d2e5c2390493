"""Where a library in PostgreSQL is: `postgresql://user@host:5432/database?schema=name`.

Beside what PostgreSQL itself understands, an address may name the schema (else `trivium`) and
replicas to search on (`replicas=host:port,host:port`). Knows nothing of connections.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from trivium.errors import BadSetting
from trivium.places import DatabaseAddress

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_FORM = "postgresql://user:password@host:5432/database"


@dataclass(frozen=True, slots=True)
class Address:
    url: URL
    schema: str
    replicas: tuple[str, ...] = ()  # host or host:port, with the same database and user

    def __str__(self) -> str:
        """For people: without the password."""
        return f"{self.url.render_as_string(hide_password=True)} (schema {self.schema})"

    def replica(self, place: str) -> Address:
        host, _, port = place.partition(":")
        url = self.url.set(host=host, port=int(port or self.url.port or 5432))
        return replace(self, url=url, replicas=())


def parse(place: DatabaseAddress) -> Address:
    """Raises BadSetting. The error doesn't repeat the address: it may contain a password."""
    try:
        url = make_url(place.url)
    except (ArgumentError, ValueError):
        raise BadSetting(
            "Couldn't read the library's address.", fix=f"Write it as {_FORM}."
        ) from None
    if not url.database:
        raise BadSetting("The library's address has no database name.", fix=f"Write it as {_FORM}.")
    query = dict(url.query)
    schema = _only(query.pop("schema", "trivium"))
    if not _SCHEMA.fullmatch(schema):
        raise BadSetting(
            f"{schema!r} can't be the name of a schema.",
            fix="Use lower-case letters, digits and _, and begin with a letter.",
        )
    replicas = tuple(filter(None, _only(query.pop("replicas", "")).split(",")))
    for one in replicas:
        if not re.fullmatch(r"[\w.-]+(:\d{1,5})?", one):
            raise BadSetting(
                f"{one!r} isn't the address of a replica.",
                fix="Write replicas=HOST:PORT,HOST:PORT.",
            )
    # In one place, so that whoever shows an address leaves the password out.
    username, password = _only(query.pop("user", "")), _only(query.pop("password", ""))
    url = url.set(drivername="postgresql+psycopg", query=query)
    url = url.set(username=username or url.username, password=password or url.password)
    return Address(url, schema, replicas)


def _only(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else value[-1]
