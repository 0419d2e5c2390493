"""A Citus coordinator for the tests, where `TRIVIUM_TEST_CITUS` names one by the address of a
database in which schemas may be made. No package registry has Citus, so nothing else starts it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, Engine, create_engine, make_url, text
from tests import postgres

from trivium.core.places import DatabaseAddress
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres

ADDRESS = os.environ.get("TRIVIUM_TEST_CITUS", "")
SHARDS = 4
needed = pytest.mark.skipif(
    not ADDRESS, reason="TRIVIUM_TEST_CITUS names no Citus coordinator; no registry has Citus"
)


def engine() -> Engine:
    return create_engine(make_url(ADDRESS).set(drivername="postgresql+psycopg"))


@contextmanager
def as_owner() -> Iterator[Connection]:
    """One transaction on the coordinator."""
    owner = engine()
    with owner.begin() as connection:
        yield connection
    owner.dispose()


def end_connections() -> None:
    """Of the coordinator to its nodes: what they had under way breaks off."""
    ending = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE application_name LIKE 'citus_internal%' AND pid <> pg_backend_pid()"
    )
    with as_owner() as connection:
        connection.execute(text("SELECT run_command_on_workers(:ending)"), {"ending": ending})


@contextmanager
def schema(name: str) -> Iterator[DatabaseAddress]:
    """A library that is distributed, and dropped at the end."""
    place = DatabaseAddress(f"{ADDRESS}?schema={name}")
    try:
        backend = open_postgres(parse(place))
        assert backend.nodes is not None
        backend.nodes.distribute(SHARDS)
        backend.close()
        yield place
    finally:
        owner = engine()
        with owner.begin() as connection:
            connection.execute(text(f"DROP SCHEMA IF EXISTS {name} CASCADE"))
        owner.dispose()


@contextmanager
def node_away() -> Iterator[None]:
    """Makes the coordinator look for one node at a port without a server."""
    elsewhere = "UPDATE pg_dist_node SET nodeport = {to} WHERE nodeid = :node"
    owner = engine()
    with owner.begin() as connection:
        node, port = connection.execute(
            text("SELECT nodeid, nodeport FROM pg_dist_node WHERE shouldhaveshards ORDER BY 1")
        ).first() or (0, 0)
        connection.execute(text(elsewhere.format(to=9)), {"node": node})
    try:
        yield
    finally:
        with owner.begin() as connection:
            connection.execute(text(elsewhere.format(to=port)), {"node": node})
        owner.dispose()


@contextmanager
def no_graphs() -> Iterator[None]:
    """Makes the coordinator refuse to build graphs of vectors."""
    owner = engine()
    with owner.begin() as connection:
        connection.execute(text("SET LOCAL citus.enable_ddl_propagation = off"))
        connection.execute(
            text(
                "CREATE FUNCTION no_graphs() RETURNS event_trigger LANGUAGE plpgsql AS"
                " $$ BEGIN IF current_query() LIKE '%hnsw%' THEN"
                " RAISE EXCEPTION 'no graphs'; END IF; END $$"
            )
        )
        connection.execute(
            text(
                "CREATE EVENT TRIGGER no_graphs ON ddl_command_start"
                " WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION no_graphs()"
            )
        )
    try:
        yield
    finally:
        with owner.begin() as connection:
            connection.execute(text("SET LOCAL citus.enable_ddl_propagation = off"))
            connection.execute(text("DROP EVENT TRIGGER no_graphs"))
            connection.execute(text("DROP FUNCTION no_graphs()"))
        owner.dispose()


def empty(name: str) -> None:
    """Without its documents, and distributed as before."""
    owner = engine()
    with owner.begin() as connection:
        postgres.empty(connection, name)
    owner.dispose()
