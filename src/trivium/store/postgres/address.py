"""Where a library in PostgreSQL is: `postgresql://user@host:5432/database?schema=name`.

libpq reads the address, so everything that `psql` accepts works here too: several hosts, sockets,
`sslmode`, `connect_timeout`, `service`. Beside that, an address may name the schema (else
`trivium`) and replicas to search on (`replicas=host:port,host:port`). Knows nothing of connections.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from trivium.core.errors import BadSetting
from trivium.core.places import DatabaseAddress

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_REPLICA = re.compile(r"(?P<host>[\w.-]+|\[[0-9a-fA-F:.]+\])(:(?P<port>\d{1,5}))?")
_FORM = "postgresql://user:password@host:5432/database"
_LAST_PORT = 65_535


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    parts: Mapping[str, str]  # by libpq's names: host, port, user, password, dbname, sslmode, ...
    schema: str
    replicas: tuple[str, ...] = ()  # host or host:port, with the same database and user

    def __str__(self) -> str:
        """For people: without user and password."""
        hosts, ports = self.hosts, self.parts.get("port", "").split(",")
        ports = ports * len(hosts) if len(ports) == 1 else ports
        places = [_host(h) + (f":{p}" if p else "") for h, p in zip(hosts, ports, strict=True)]
        return f"postgresql://{','.join(places)}/{self.database} (schema {self.schema})"

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    @property
    def user(self) -> str:
        """Empty: libpq decides."""
        return self.parts.get("user", "")

    @property
    def database(self) -> str:
        return self.parts.get("dbname", "")

    @property
    def hosts(self) -> list[str]:
        return self.parts.get("host", "").split(",")

    def replica(self, place: str) -> Address:
        match = _REPLICA.fullmatch(place)
        assert match is not None, "checked by parse"
        primary = ("hostaddr", "target_session_attrs", "load_balance_hosts")
        parts = {name: value for name, value in self.parts.items() if name not in primary}
        port = match["port"] or parts.get("port", "5432").partition(",")[0]
        return replace(
            self, parts=parts | {"host": match["host"].strip("[]"), "port": port}, replicas=()
        )


def parse(place: DatabaseAddress) -> Address:
    """Raises BadSetting. The error doesn't repeat the address: it may contain a password."""
    if place.is_ambiguous:
        raise _unreadable("")
    base, _, query = place.url.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    ours = {name: value for name, value in pairs if name in ("schema", "replicas")}
    theirs = [(name, value) for name, value in pairs if name not in ours]
    try:
        read = conninfo_to_dict(f"{base}?{urlencode(theirs, quote_via=quote)}" if theirs else base)
    except psycopg.ProgrammingError as reason:
        raise _unreadable(str(reason)) from None
    parts = {name: str(value) for name, value in read.items() if value is not None}
    _check(parts)
    schema = ours.get("schema", "trivium")
    if not _SCHEMA.fullmatch(schema):
        raise BadSetting(
            f"{schema!r} can't be the name of a schema.",
            fix="Use lower-case letters, digits and _, and begin with a letter.",
        )
    replicas = tuple(filter(None, ours.get("replicas", "").split(",")))
    for replica in replicas:
        if not _REPLICA.fullmatch(replica):
            raise BadSetting(
                f"{replica!r} isn't the address of a replica.",
                fix="Write replicas=HOST:PORT,HOST:PORT.",
            )
    return Address(parts, schema, replicas)


def _check(parts: Mapping[str, str]) -> None:
    if not parts.get("dbname") and not parts.get("service"):
        raise BadSetting("The library's address has no database name.", fix=f"Write it as {_FORM}.")
    ports = parts.get("port", "").split(",")
    if any(port and not (port.isdecimal() and 0 < int(port) <= _LAST_PORT) for port in ports):
        raise BadSetting(
            f"The port in the library's address isn't a number from 1 to {_LAST_PORT}.",
            fix=f"Write it as {_FORM}.",
        )
    if len(ports) not in (1, len(parts.get("host", "").split(","))):
        raise BadSetting(
            "The library's address has another number of ports than of hosts.",
            fix="Write HOST:PORT,HOST:PORT, or one port for all of them.",
        )
    if not re.fullmatch(r"-?\d{1,9}", parts.get("connect_timeout", "0")):
        raise BadSetting(
            "`connect_timeout` in the library's address isn't a number.",
            fix="Write seconds: connect_timeout=10.",
        )


def _unreadable(complaint: str) -> BadSetting:
    """libpq repeats the part that it can't read, which may be the password: only an unknown name
    is told."""
    unknown = re.match(r'invalid URI query parameter: "(\w{1,40})"', complaint)
    if unknown:
        return BadSetting(
            f"PostgreSQL's addresses have no part {unknown[1]!r}.",
            fix="Check its spelling; docs/postgresql.md lists what Trivium adds.",
            on_page="Check its spelling.",
        )
    return BadSetting(
        "Couldn't read the library's address.",
        fix=f"Write it as {_FORM}, with %40 for an @ in the password, %2F for a slash, %3A for a"
        " colon, %3F for a question mark and %25 for a percent sign. Or set PGPASSWORD.",
    )


def _host(name: str) -> str:
    if ":" in name:
        return f"[{name}]"
    return quote(name, safe="") if name.startswith("/") else name
