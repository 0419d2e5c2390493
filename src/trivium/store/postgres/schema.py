"""Brings a PostgreSQL database to today's tables: those of every library, and those that only this
store has. Servers of an older release go on meanwhile: steps add, and take nothing away.
"""

from __future__ import annotations

import re

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from trivium.core.errors import DatabaseUnsuitable, LibraryNotFound, LibraryTooNew, StoreError
from trivium.store.postgres.address import Address
from trivium.store.sql.schema import SCHEMA, migrate
from trivium.store.sql.statements import set_setting

OLDEST = 15  # the server's major version
OLDEST_VECTOR = (0, 8, 4)  # 0.8.2 fixed an overflow, 0.8.3 the corruption of HNSW by vacuum
_LOCK = 7_411_001  # of whoever migrates
_OWN = "postgres_schema"  # the setting

# `words` has every distinct word with its stem, by language; `postings` where they occur: the
# chunks, how often, and at which positions, as little-endian arrays (int32, uint16, uint16). Word 0
# has the length of every chunk. Rows of many changes are merged, see `words`.
_TABLES = (
    """
CREATE TABLE words (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  word text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL,
  stem text COLLATE "C" NOT NULL,
  UNIQUE (word, language)
)
""",
    """
CREATE INDEX words_by_stem ON words (stem)
""",
    """
CREATE TABLE postings (
  word integer NOT NULL,
  since bigint NOT NULL,
  upto bigint NOT NULL,
  level smallint NOT NULL,
  ids bytea NOT NULL,
  counts bytea NOT NULL,
  positions bytea NOT NULL
)
""",
    """
ALTER TABLE postings ALTER ids SET STORAGE EXTERNAL, ALTER counts SET STORAGE EXTERNAL,
  ALTER positions SET STORAGE EXTERNAL
""",
    """
CREATE INDEX postings_by_word ON postings (word, upto)
""",
    """
CREATE INDEX postings_fresh ON postings (level) WHERE level < 2
""",
    """
CREATE TABLE vector_tables (
  model text COLLATE "C" PRIMARY KEY,
  number integer NOT NULL,
  dimensions integer NOT NULL
)
""",
    """
CREATE TABLE leases (
  name text COLLATE "C" PRIMARY KEY,
  owner text NOT NULL,
  doing text NOT NULL,
  until timestamptz NOT NULL
)
""",
    """
CREATE TABLE blobs (
  address text COLLATE "C" PRIMARY KEY,
  data bytea NOT NULL,
  put_at timestamptz NOT NULL DEFAULT now()
)
""",
    """
ALTER TABLE blobs ALTER data SET STORAGE EXTERNAL
""",
    """
CREATE TABLE incoming (
  name text COLLATE "C" PRIMARY KEY,
  data bytea NOT NULL,
  size bigint NOT NULL,
  touched timestamptz NOT NULL DEFAULT now()
)
""",
    """
ALTER TABLE incoming ALTER data SET STORAGE EXTERNAL
""",
    """
CREATE TABLE shelf (
  name text COLLATE "C" NOT NULL,
  file text COLLATE "C" NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (name, file)
)
""",
)
# Workers that wait hear about jobs that are added or change their state.
_NOTIFY = (
    """
CREATE FUNCTION tell_of_jobs() RETURNS trigger LANGUAGE plpgsql AS
  $$BEGIN PERFORM pg_notify('trivium_' || TG_TABLE_SCHEMA, ''); RETURN NULL; END$$
""",
    """
CREATE TRIGGER jobs_change AFTER INSERT OR UPDATE OF state ON jobs
  FOR EACH STATEMENT EXECUTE FUNCTION tell_of_jobs()
""",
)
# Every key of a document's rows includes the document, which spreads them over nodes.
_BY_DOCUMENT = (
    """
ALTER TABLE chunks DROP CONSTRAINT chunks_interpretation_fkey, DROP CONSTRAINT chunks_pkey,
  ADD PRIMARY KEY (id, document)
""",
    """
ALTER TABLE interpretations DROP CONSTRAINT interpretations_pkey, ADD PRIMARY KEY (id, document)
""",
    """
ALTER TABLE chunks ADD CONSTRAINT chunks_interpretation_fkey FOREIGN KEY (document, interpretation)
  REFERENCES interpretations (document, id) ON DELETE CASCADE
""",
)
_STEPS = (_TABLES, _NOTIFY, _BY_DOCUMENT)  # only ever appended
# The oldest release that can use these tables, by the tables that it knows: every library's, and
# our own. Rises with a step that takes something away, never with one that adds.
READABLE_FROM = (21, 3)
_READABLE = "readable_from"  # the setting
_FORMATS = f"SELECT name, value FROM settings WHERE name IN ('schema', '{_OWN}', '{_READABLE}')"


def prepare(engine: Engine, address: Address, *, create: bool) -> None:
    """Raises DatabaseUnsuitable, LibraryNotFound, LibraryTooNew and errors of connections."""
    with engine.connect() as connection:
        _look_at(connection)
        there = connection.scalar(
            text("SELECT to_regclass(:name)"), {"name": f"{address.schema}.settings"}
        )
    if not there and not create:
        raise LibraryNotFound(f"No library in {address}.")
    if there and _is_current(engine):
        return
    with engine.connect() as alone:
        alone.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
        alone.commit()
        try:
            if there and _is_current(engine):  # another process was faster, perhaps a newer one
                return
            with engine.begin() as connection:
                _add_schema(connection, address.schema)
                _add_extension(connection)
            migrate(engine)
            _add_own_tables(engine)
        finally:
            alone.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})
            alone.commit()


def _look_at(connection: Connection) -> None:
    row = connection.execute(
        text(
            "SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery(),"
            " (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
        )
    ).one()
    check_server(row[0] // 10_000, is_replica=row[1], vector=row[2] or "")


def check_server(version: int, *, is_replica: bool = False, vector: str = "") -> None:
    """`version`: the major one. `vector`: of the extension pgvector, if installed. Raises
    DatabaseUnsuitable."""
    if version < OLDEST:
        raise DatabaseUnsuitable(
            f"The server is PostgreSQL {version}.", fix=f"Use version {OLDEST} or newer."
        )
    if is_replica:
        raise DatabaseUnsuitable(
            "The server is a read-only replica.",
            fix="Name the primary server, and this one in `?replicas=`.",
        )
    if vector and tuple(map(int, re.findall(r"\d+", vector)[:3])) < OLDEST_VECTOR:
        wanted = ".".join(map(str, OLDEST_VECTOR))
        raise DatabaseUnsuitable(
            f"The extension pgvector has version {vector}.",
            fix=f"Install {wanted} or newer, then run in the database: ALTER EXTENSION vector"
            " UPDATE;",
        )


def check_format(connection: Connection) -> tuple[int, int]:
    """The formats of the tables. Raises LibraryTooNew if this release can't use them: a newer one
    may have changed them since this process started."""
    values = {row.name: row.value for row in connection.execute(text(_FORMATS))}
    formats = (int(values.get("schema", 0)), int(values.get(_OWN, 0)))
    supported = (SCHEMA, len(_STEPS))
    readable = tuple(map(int, values.get(_READABLE, "").split("."))) if _READABLE in values else ()
    for number, (there, most) in enumerate(zip(formats, supported, strict=True)):
        if there > most and not (readable and readable[number] <= most):
            raise LibraryTooNew(
                f"This library's tables have format {formats[0]}.{formats[1]}; this version of"
                f" Trivium reads up to {supported[0]}.{supported[1]}."
            )
    return formats


def _is_current(engine: Engine) -> bool:
    with engine.connect() as connection:
        schema, own = check_format(connection)
    return schema >= SCHEMA and own >= len(_STEPS)


def _add_schema(connection: Connection, name: str) -> None:
    """Checked first: IF NOT EXISTS needs the right to create schemas even if the schema exists."""
    query = text("SELECT 1 FROM pg_namespace WHERE nspname = :name")
    if not connection.scalar(query, {"name": name}):
        connection.execute(text(f"CREATE SCHEMA {name}"))


def _add_extension(connection: Connection) -> None:
    if connection.scalar(text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")):
        return
    try:
        connection.execute(text("CREATE EXTENSION vector SCHEMA public"))
    except (DBAPIError, StoreError) as reason:
        raise DatabaseUnsuitable(
            "The database has no extension pgvector, and this user can't add it.",
            fix="Install pgvector on the server (Debian: apt install postgresql-18-pgvector), then"
            " let a superuser run in this database: CREATE EXTENSION vector;",
            on_page="Ask the person who runs the database to install pgvector.",
        ) from reason
    _look_at(connection)


def _add_own_tables(engine: Engine) -> None:
    with engine.connect() as connection:
        _, done = check_format(connection)
    for number, step in enumerate(_STEPS[done:], start=done + 1):
        with engine.begin() as connection:
            for statement in step:
                connection.exec_driver_sql(statement)
            set_setting(connection, _OWN, str(number))
    with engine.begin() as connection:
        set_setting(connection, _READABLE, ".".join(map(str, READABLE_FROM)))
