"""Every problem with a database has a typed error with advice, and nothing is lost."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import text
from tests import postgres
from tests.database.sabotage import CANCEL, KILL, sabotage

from trivium.core.errors import (
    BadSetting,
    DatabaseAway,
    DatabaseRefused,
    DatabaseSlow,
    DatabaseUnsuitable,
    DiskFull,
    LibraryBusy,
    LibraryNotFound,
    LibraryReadOnly,
    LibraryTooNew,
    StoreError,
)
from trivium.core.places import DatabaseAddress, place_of
from trivium.core.types import OWNER
from trivium.http.problems import status_of
from trivium.ports import Backend
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.store.postgres.database import AT_ONCE, SPARE, open_database
from trivium.store.postgres.schema import OLDEST, check_server
from trivium.testing.samples import TOY, sample

SECRET = "tr0ub4dor"
# As Citus says it (citusdata/citus: connection/remote_commands.c, transaction/remote_transaction.c,
# commands/multi_copy.c).
NODE_AWAY = [
    (
        "connection to the remote node postgres@node:5432 failed with the following error: x",
        "08006",
    ),
    ("failure on connection marked as essential: node:5432", "XX000"),
    ("failed to COPY to shard 102008 on node:5432", "58030"),
]


@pytest.fixture(scope="module")
def place() -> Iterator[DatabaseAddress]:
    with postgres.library() as address:
        yield address


@pytest.fixture(scope="module")
def backend(place: DatabaseAddress) -> Iterator[Backend]:
    opened = open_postgres(parse(place))
    yield opened
    opened.close()


def failing(url: str, kind: type[StoreError]) -> StoreError:
    with pytest.raises(kind) as failed:
        open_postgres(parse(DatabaseAddress(url)))
    assert failed.value.fix
    assert SECRET not in str(failed.value)
    return failed.value


def test_a_database_without_citus_stays_on_one_server(backend: Backend) -> None:
    assert backend.nodes is not None
    assert (backend.nodes.spread().nodes, backend.nodes.spread().shards) == ((), 0)
    for change in (backend.nodes.distribute, backend.nodes.gather):
        with pytest.raises(DatabaseUnsuitable, match="Citus"):
            change()


# --- opening --------------------------------------------------------------------------------------


def test_a_wrong_password_and_an_unknown_user_are_refused() -> None:
    server = postgres.address().partition("@")[2]
    for user in ("postgres", "nobody_at_all"):
        refused = failing(f"postgresql://{user}:{SECRET}@{server}", DatabaseRefused)
        assert f'authentication failed for user "{user}"' in refused.message


def test_no_server_no_host_and_no_database() -> None:
    with socket.socket() as taken:  # bound, not listening: no other process gets the port
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        away = failing(f"postgresql://me:{SECRET}@127.0.0.1:{port}/team", DatabaseAway)
    assert "refused" in away.message
    failing(f"postgresql://me:{SECRET}@no-such-host.invalid/team", DatabaseAway)
    server = postgres.address().rpartition("/")[0]
    missing = failing(f"{server}/no_such_database", LibraryNotFound)
    assert missing.fix == "Create it: createdb no_such_database."


def test_no_library_there(place: DatabaseAddress) -> None:
    url = place.url.replace("schema=", "schema=not_")
    with pytest.raises(LibraryNotFound, match=r"not_test_\w+\)"):
        open_postgres(parse(DatabaseAddress(url)), create=False)
    with postgres.as_owner() as connection:
        made = text("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'not\\_test%'")
        assert connection.scalar(made) == 0


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me@host:port/team",
        "postgresql://me@host",
        "postgresql://me@host/team?schema=Team",
        "postgresql://me@host/team?schema=a;drop",
        "postgresql://me@host/team?replicas=a%20b",
        "postgresql://me@host:99999/team",
        "postgresql://me@one:5432,two:5433,three:5434/team?port=1,2",
        "postgresql://me@host/team?connect_timeout=soon",
        "postgresql://me@host/team?conect_timeout=3",
        "postgresql://me@host/te%zzam",
    ],
)
def test_an_address_that_makes_no_sense(url: str) -> None:
    with pytest.raises(BadSetting) as failed:
        parse(DatabaseAddress(url.replace("me@", f"me:{SECRET}@")))
    assert failed.value.fix
    assert SECRET not in str(failed.value)


@pytest.mark.parametrize("form", ["me:{}@db/team", "db/team?user=me&password={}"])
def test_no_password_is_ever_shown(form: str) -> None:
    place = place_of(f"postgresql://{form.format(SECRET)}")
    assert isinstance(place, DatabaseAddress)
    parsed = parse(place)
    assert (parsed.user, parsed.parts["password"]) == ("me", SECRET)
    for shown in (str(place), repr(place), str(parsed), repr(parsed)):
        assert SECRET not in shown
        assert "me" not in shown
        assert "db/team" in shown


@pytest.mark.parametrize("sign", ["@", "/", "?", "@x/", "/@", "?a=b@"])
def test_a_password_that_reaches_into_the_rest_is_refused(sign: str) -> None:
    """libpq ended the password at its first @, and errors named the rest as the host."""
    place = DatabaseAddress(f"postgresql://me:first{sign}{SECRET}@db/team")
    with pytest.raises(BadSetting, match="address") as failed:
        parse(place)
    for shown in (str(failed.value), str(place), repr(place)):
        assert SECRET not in shown
        assert "first" not in shown
        assert "me:" not in shown
    assert "%40" in (failed.value.fix or "")
    escaped = quote(f"first{sign}{SECRET}", safe="")
    parsed = parse(DatabaseAddress(f"postgresql://me:{escaped}@db/team"))
    assert parsed.parts["password"] == f"first{sign}{SECRET}"


def test_the_schema_of_an_address() -> None:
    assert parse(DatabaseAddress("postgresql://db/team")).schema == "trivium"
    named = parse(DatabaseAddress("postgres://db/team?schema=ours&sslmode=require"))
    assert (named.schema, named.parts["sslmode"]) == ("ours", "require")


def test_what_an_address_says_reaches_the_server(place: DatabaseAddress) -> None:
    """`options` comes after our own, but doesn't change the schema."""
    url = f"{place.url}&connect_timeout=7&application_name=ours&keepalives_idle=5"
    address = parse(
        DatabaseAddress(f"{url}&options=-c%20geqo%3Doff%20-c%20search_path%3Delsewhere")
    )
    engine = open_database(address)
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        said = driver.info.get_parameters()
        shown = [connection.scalar(text(f"SHOW {name}")) for name in ("geqo", "search_path")]
    engine.dispose()
    wanted = {"connect_timeout": "7", "application_name": "ours", "keepalives_idle": "5"}
    assert {name: said[name] for name in wanted} == wanted
    assert shown == ["off", f"{address.schema},public"]


def test_several_hosts_as_psql_writes_them(place: DatabaseAddress) -> None:
    """The first that is a primary and answers. One that became a replica is left, and the next try
    reaches the new primary."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        away = f"127.0.0.1:{taken.getsockname()[1]}"
        server = parse(place)
        here = f"{server.parts['host']}:{server.parts['port']}"
        url = place.url.replace(f"@{here}/", f"@{away},{here}/")
        assert parse(DatabaseAddress(url)).hosts == ["127.0.0.1", server.parts["host"]]
        assert f"//{away},{here}/" in str(parse(DatabaseAddress(url)))
        backend = open_postgres(parse(DatabaseAddress(url)))
        batch = [sample("hosts.md", "Two hosts.")]
        try:
            demoted = sabotage(server.schema, "chunks", "RAISE read_only_sql_transaction;")
            with demoted, pytest.raises(DatabaseAway, match="no longer the primary"):
                backend.writer.put(batch, TOY.fingerprint)
            [put] = backend.writer.put(batch, TOY.fingerprint)
            backend.writer.remove([put.id])
        finally:
            backend.close()


def test_forms_of_addresses_that_libpq_reads() -> None:
    socket_ = parse(DatabaseAddress("postgresql:///team?host=/run/postgresql"))
    assert (socket_.hosts, socket_.database) == (["/run/postgresql"], "team")
    assert str(socket_) == "postgresql://%2Frun%2Fpostgresql/team (schema trivium)"
    six = parse(DatabaseAddress("postgresql://me@[::1]:5433/team?replicas=[::2]:5434,db2"))
    assert str(six) == "postgresql://[::1]:5433/team (schema trivium)"
    assert [six.replica(one).parts["host"] for one in six.replicas] == ["::2", "db2"]
    assert [six.replica(one).parts["port"] for one in six.replicas] == ["5434", "5433"]
    assert parse(DatabaseAddress("postgresql://me:p%40s%25s@db/team")).parts["password"] == "p@s%s"
    assert parse(DatabaseAddress("postgresql:///?service=team")).parts["service"] == "team"


def test_a_wrong_value_in_an_address() -> None:
    url = f"{postgres.address()}?sslmode=perhaps"
    assert "sslmode" in failing(url, DatabaseUnsuitable).message


def test_a_database_without_pgvector_and_a_user_who_cannot_add_it() -> None:
    name = "trivium_test_bare"
    with postgres.role() as role, bare_database(name, role):
        url = postgres.address().rpartition("/")[0] + f"/{name}"
        address = postgres.as_role(DatabaseAddress(url), role)
        lacking = failing(address.url, DatabaseUnsuitable)
        assert "CREATE EXTENSION vector;" in lacking.fix
        assert "no extension pgvector" in lacking.message


@contextmanager
def bare_database(name: str, role: str) -> Iterator[None]:
    """A database without the extension, in which a role may make its own schema."""
    engine = open_database(parse(DatabaseAddress(postgres.address())))
    with engine.connect() as connection:
        directly = connection.execution_options(isolation_level="AUTOCOMMIT")
        directly.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        directly.execute(text(f"CREATE DATABASE {name} TEMPLATE template0"))
        directly.execute(text(f"GRANT CREATE ON DATABASE {name} TO {role}"))
        try:
            yield
        finally:
            directly.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


def test_servers_that_will_not_do() -> None:
    check_server(OLDEST, vector="0.8.4")
    check_server(19, vector="1.0")
    check_server(18)
    for judged in (
        lambda: check_server(OLDEST - 1),
        lambda: check_server(18, is_replica=True),
        lambda: check_server(18, vector="0.8.3"),
        lambda: check_server(18, vector="0.8.2-dev"),
    ):
        with pytest.raises(DatabaseUnsuitable) as failed:
            judged()
        assert failed.value.fix


@pytest.mark.parametrize("name", ["schema", "postgres_schema"])
def test_tables_of_a_newer_release(place: DatabaseAddress, backend: Backend, name: str) -> None:
    """Release 999 says which others can use its tables: a server that runs says at `/readyz` that
    it can't, and one that can starts again in the middle of an upgrade."""
    schema = parse(place).schema
    with changed_setting(schema, name, "999"):
        open_postgres(parse(place)).close()
        backend.upkeep.check_there()
        with changed_setting(schema, "readable_from", "999.999"):
            for use in (lambda: open_postgres(parse(place)), backend.upkeep.check_there):
                with pytest.raises(LibraryTooNew) as failed:
                    use()
                assert "999" in failed.value.message
                assert status_of(failed.value) == 503
    open_postgres(parse(place)).close()


@contextmanager
def changed_setting(schema: str, name: str, value: str) -> Iterator[None]:
    change = text(f"UPDATE {schema}.settings SET value = :value WHERE name = :name")
    query = text(f"SELECT value FROM {schema}.settings WHERE name = :name")
    with postgres.as_owner() as connection:
        before = connection.scalar(query, {"name": name})
        connection.execute(change, {"name": name, "value": value})
    try:
        yield
    finally:
        with postgres.as_owner() as connection:
            connection.execute(change, {"name": name, "value": before})


def test_a_user_without_connections_left(place: DatabaseAddress) -> None:
    with postgres.role("CONNECTION LIMIT 0") as role:
        busy = failing(postgres.as_role(place, role).url, LibraryBusy)
    assert busy.fix == "Try again."


def test_a_user_who_may_only_read(place: DatabaseAddress, backend: Backend) -> None:
    """As on a server that has become a replica since."""
    with postgres.role("SUPERUSER") as role:
        with postgres.as_owner() as connection:
            connection.execute(text(f"ALTER ROLE {role} SET default_transaction_read_only = on"))
        reader = open_postgres(parse(postgres.as_role(place, role)))
        try:
            with pytest.raises(LibraryReadOnly, match="Name the primary"):
                reader.writer.put([sample("a.md", "A new lantern.")], TOY.fingerprint)
            assert reader.documents.all(OWNER) == []
        finally:
            reader.close()


# --- in the middle of a change --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "body", "kind"),
    [
        ("chunks", KILL, DatabaseAway),
        ("postings", KILL, DatabaseAway),  # while rows are copied, not by a statement
        ("embeddings", KILL, DatabaseAway),
        ("chunks", CANCEL, DatabaseSlow),
        ("postings", CANCEL, DatabaseSlow),
        ("chunks", "RAISE disk_full;", DiskFull),
        ("words", "RAISE insufficient_privilege;", LibraryReadOnly),
        ("chunks", "RAISE lock_not_available;", LibraryBusy),
        ("chunks", "RAISE serialization_failure;", LibraryBusy),
        ("chunks", "RAISE unique_violation;", LibraryBusy),
        *(
            ("chunks", f"RAISE EXCEPTION '{said}' USING ERRCODE = '{code}';", DatabaseAway)
            for said, code in NODE_AWAY
        ),
    ],
)
def test_a_put_that_breaks_off_leaves_nothing_and_can_be_repeated(
    place: DatabaseAddress, backend: Backend, table: str, body: str, kind: type[StoreError]
) -> None:
    schema = parse(place).schema
    word = f"{table}{abs(hash(body)) % 10_000}"
    backend.writer.put([sample("kept.md", "An older lantern.")], TOY.fingerprint)
    batch = [sample("kept.md", f"A {word} lantern."), sample(f"{word}.md", f"The {word} crown.")]
    before = [(one.uri, one.interpretation) for one in backend.documents.all(OWNER)]
    with sabotage(schema, table, body), pytest.raises(kind) as failed:
        backend.writer.put(batch, TOY.fingerprint)
    assert failed.value.fix
    assert [(one.uri, one.interpretation) for one in backend.documents.all(OWNER)] == before
    with backend.writer.writing():
        put = backend.writer.put(batch, TOY.fingerprint)
    assert [one.uri for one in put] == ["kept.md", f"{word}.md"]
    assert [finding for finding in backend.upkeep.examine() if not finding.ok] == []
    backend.writer.remove([one.id for one in put])


def test_a_statement_that_takes_too_long(place: DatabaseAddress) -> None:
    engine = open_database(parse(place))
    with engine.connect() as connection:
        connection.execute(text("SET LOCAL statement_timeout = 20"))
        with pytest.raises(DatabaseSlow):
            connection.execute(text("SELECT pg_sleep(30)"))
    engine.dispose()


def test_no_free_connection_in_this_process(place: DatabaseAddress) -> None:
    engine = open_database(parse(place))
    engine.pool._timeout = 0.01  # type: ignore[attr-defined]
    with ExitStack() as held:
        for _ in range(AT_ONCE + SPARE):
            held.enter_context(engine.connect())
        with pytest.raises(LibraryBusy, match="are in use"):
            engine.connect()
    engine.dispose()


def test_the_pool_survives_a_restart_of_the_server(place: DatabaseAddress) -> None:
    """All connections end at once, as by a restart."""
    with postgres.role("SUPERUSER") as role:
        backend = open_postgres(parse(postgres.as_role(place, role)))
        try:
            [kept] = backend.writer.put([sample("r.md", "After the storm.")], TOY.fingerprint)
            assert ended(role) > 0
            backend.signals.refresh()
            assert [one.id for one in backend.documents.all(OWNER)] == [kept.id]
            assert ended(role) > 0
            backend.writer.put([sample("r.md", "After the second storm.")], TOY.fingerprint)
            assert [one.interpretation for one in backend.documents.all(OWNER)] == [2]
            backend.writer.remove([kept.id])
        finally:
            backend.close()


def ended(role: str) -> int:
    """How many connections of a role were ended."""
    query = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE usename = :r"
    with postgres.as_owner() as connection:
        return int(connection.scalar(text(query), {"r": role}) or 0)


def test_tables_that_are_gone(place: DatabaseAddress, backend: Backend) -> None:
    schema = parse(place).schema
    rename = f"ALTER TABLE {schema}.{{}} RENAME TO {{}}"
    with postgres.as_owner() as connection:
        connection.execute(text(rename.format("postings", "elsewhere")))
    try:
        with pytest.raises(LibraryNotFound, match="Check the database and schema"):
            backend.signals.rarities(["lantern"], OWNER)
    finally:
        with postgres.as_owner() as connection:
            connection.execute(text(rename.format("elsewhere", "postings")))
