"""Spreads tables over several nodes with the extension Citus: functions over a connection."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

_CHUNKS = "chunks"  # if this table is on nodes, the library is


def has_citus(connection: Connection) -> bool:
    return connection.scalar(text("SELECT to_regclass('pg_dist_partition')")) is not None


def shards_of(connection: Connection, table: str = _CHUNKS) -> int:
    """The number of shards of a table; 0 if it is on one server."""
    if not has_citus(connection):
        return 0
    query = text("SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = CAST(:name AS regclass)")
    return int(connection.scalar(query, {"name": table}) or 0)


def spread_table(
    connection: Connection, table: str, column: str, shards: int, beside: str = ""
) -> None:
    """Spread the rows over the nodes by a column; `beside`: place them as another table's rows."""
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    how = f"colocate_with => '{beside}'" if beside else f"shard_count => {shards}"
    how += "" if beside else ", colocate_with => 'none'"
    connection.execute(text(f"SELECT create_distributed_table('{table}', '{column}', {how})"))


def split_table(connection: Connection, table: str, shards: int, beside: Sequence[str]) -> None:
    """Change the number of shards of a table on nodes and of those `beside` it. We don't use
    Citus's own `cascade_to_colocated`: it would also split tables of another library in the same
    database if Citus has put them into the same group."""
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    how = f"shard_count => {shards}, colocate_with => 'none'"
    for name in (table, *beside):
        connection.execute(
            text(f"SELECT alter_distributed_table('{name}', {how}, cascade_to_colocated => false)")
        )
        how = f"colocate_with => '{table}'"


def drop_hidden_rows(connection: Connection, table: str) -> None:
    """Delete the coordinator's copies of rows that are on nodes now."""
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(text(f"SELECT truncate_local_data_after_distributing_table('{table}')"))


def gather_table(connection: Connection, table: str) -> None:
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(text(f"SELECT undistribute_table('{table}')"))


def size_on_nodes(connection: Connection) -> int:
    """Bytes of the schema's tables on nodes, with their indexes."""
    if not has_citus(connection):
        return 0
    query = text(
        "SELECT coalesce(sum(citus_total_relation_size(p.logicalrelid)), 0)"
        " FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid"
        " WHERE c.relnamespace = CAST(current_schema() AS regnamespace)"
    )
    return int(connection.scalar(query) or 0)


def nodes_of(connection: Connection) -> tuple[str, ...]:
    """The nodes that can hold rows, as host:port."""
    if not has_citus(connection):
        return ()
    query = text(
        "SELECT nodename || ':' || nodeport FROM pg_dist_node"
        " WHERE isactive AND noderole = 'primary' AND shouldhaveshards ORDER BY 1"
    )
    return tuple(connection.scalars(query))
