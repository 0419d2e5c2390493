"""Which rows are on nodes that answer, while other nodes are away.

Citus puts a row on the shard that the hash of its key belongs to, and fails if a statement needs a
shard on a node that is away. So our statements name only keys on nodes that answer. Searches of a
graph of vectors name no keys: they are sent to each shard. Knows nothing of queries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection, Engine, text

from trivium.errors import DatabaseAway

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONNECT_MS = 2_000  # a node that doesn't accept a connection in this time counts as away
_NODES = text(
    "SELECT nodename, nodeport FROM pg_dist_node"
    " WHERE isactive AND noderole = 'primary' AND shouldhaveshards ORDER BY 1, 2"
)
_ANSWERS = text("SELECT citus_check_connection_to_node(:host, :port)")
_PLACED = text(
    "SELECT s.shardid, CAST(s.shardminvalue AS integer) AS low,"
    " CAST(s.shardmaxvalue AS integer) AS high, n.nodename AS host, n.nodeport AS port"
    " FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid)"
    " JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'"
    " WHERE s.logicalrelid = CAST(:name AS regclass) AND p.shardstate = 1 ORDER BY s.shardid"
)
_ASK = text(
    "SELECT success, result FROM master_run_on_worker(CAST(:hosts AS text[]),"
    " CAST(:ports AS integer[]), CAST(:commands AS text[]), true)"
)


@dataclass(frozen=True, slots=True)
class Node:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def nodes_away(connection: Connection) -> tuple[list[Node], int]:
    """The nodes that accept no connection now, and how many nodes there are in all."""
    connection.execute(text(f"SET LOCAL citus.node_connection_timeout = {CONNECT_MS}"))
    nodes = [Node(*row) for row in connection.execute(_NODES)]
    away = [
        node
        for node in nodes
        if not connection.scalar(_ANSWERS, {"host": node.host, "port": node.port})
    ]
    return away, len(nodes)


def hashed(ids: NDArray[np.int64]) -> NDArray[np.int32]:
    """PostgreSQL's `hashint8` (Jenkins' lookup3), by which Citus chooses the shard of a row."""
    low = (ids & 0xFFFFFFFF).astype(np.uint32)
    high = (ids >> 32).astype(np.uint32)
    low ^= np.where(ids >= 0, high, ~high)
    start = np.uint32(0x9E3779B9 + 4 + 3923095)
    a, b, c = start + low, np.full_like(low, start), np.full_like(low, start)

    def turned(value: NDArray[np.uint32], by: int) -> NDArray[np.uint32]:
        return (value << np.uint32(by)) | (value >> np.uint32(32 - by))

    c = (c ^ b) - turned(b, 14)
    a = (a ^ c) - turned(c, 11)
    b = (b ^ a) - turned(a, 25)
    c = (c ^ b) - turned(b, 16)
    a = (a ^ c) - turned(c, 4)
    b = (b ^ a) - turned(a, 14)
    c = (c ^ b) - turned(b, 24)
    return c.view(np.int32)


@dataclass(frozen=True, slots=True)
class _Shard:
    name: str  # of its table on the node
    low: int  # lowest and highest hash of its rows
    high: int
    on: Node | None  # a node that answers; None: all nodes with this shard are away


class Shards:
    """The shards of one table."""

    def __init__(self, connection: Connection, table: str, away: Sequence[Node]) -> None:
        schema = str(connection.scalar(text("SELECT quote_ident(current_schema())")))
        rows = connection.execute(_PLACED, {"name": table}).all()
        self._shards: list[_Shard] = []
        for (number, low, high), placed in groupby(rows, lambda row: row[:3]):
            answering = [node for row in placed if (node := Node(*row[3:])) not in away]
            on = answering[0] if answering else None
            self._shards.append(_Shard(f"{schema}.{table}_{number}", low, high, on))

    def holds(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these rows are on nodes that answer."""
        hashes = hashed(ids)
        held = np.ones(len(ids), dtype=bool)
        for shard in self._shards:
            if shard.on is None:
                held &= (hashes < shard.low) | (hashes > shard.high)
        return held

    def ask(self, connection: Connection, query: Callable[[str], str]) -> list[tuple[int, float]]:
        """Send a query to each shard on nodes that answer; returns chunk ids and scores. Raises
        DatabaseAway."""
        asked = [(shard.on, query(shard.name)) for shard in self._shards if shard.on]
        values = {
            "hosts": [node.host for node, _ in asked],
            "ports": [node.port for node, _ in asked],
            "commands": [
                "SELECT coalesce(json_agg(json_build_array(found.chunk, found.score)), '[]')"
                f" FROM ({command}) AS found"
                for _, command in asked
            ],
        }
        found: list[tuple[int, float]] = []
        for row in connection.execute(_ASK, values):
            if not row.success:
                raise DatabaseAway(f"Couldn't reach a node of the database: {row.result}.")
            found += [(chunk, score) for chunk, score in json.loads(row.result)]
        return found


class Reach:
    """Which rows are on nodes that answer, at the moment it is made. Threads may share it."""

    def __init__(self, engine: Engine, away: Sequence[Node], nodes: int) -> None:
        self.engine = engine
        self.away = tuple(away)
        self.nodes = nodes
        self._tables: dict[str, Shards] = {}

    def shards(self, connection: Connection, table: str) -> Shards:
        if table not in self._tables:
            self._tables[table] = Shards(connection, table, self.away)
        return self._tables[table]

    def texts_of(self, documents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these documents have texts that can be read."""
        with self.engine.connect() as connection:
            return self.shards(connection, "chunks").holds(documents)
