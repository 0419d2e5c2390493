"""How many servers a library of a given size needs: arithmetic over figures in one place.

    python -m bench.scale
    python -m bench.scale --chunks 250000000 --set node_memory_gb=256 --set queries_a_second=50

Every figure is a field of `Assumptions` and says where it comes from: measured here, derived from a
measurement, or chosen. Change one with --set NAME=VALUE. docs/scale.md explains the plans.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from math import ceil, log2
from typing import Any

from bench.harness import arguments

PLANS = (10_000_000, 100_000_000, 1_000_000_000)
GB = 1e9


def _measured(value: float, where: str) -> Any:
    return field(default=value, metadata={"from": f"measured: {where}"})


def _derived(value: float, how: str) -> Any:
    return field(default=value, metadata={"from": f"derived: {how}"})


def _chosen(value: float, why: str) -> Any:
    return field(default=value, metadata={"from": f"chosen: {why}"})


_ROWS = "100,000 chunks of about 240 words, PostgreSQL 15"


@dataclass(frozen=True, slots=True)
class Assumptions:
    # Bytes of a passage on the nodes, indexes included.
    chunk_bytes: float = _measured(2_320, f"table chunks; {_ROWS}")
    text_bytes: float = _measured(1_242, f"table interpretations; {_ROWS}")
    embedding_bytes: float = _measured(1_036, f"table embeddings; {_ROWS}")
    vector_bytes: float = _derived(
        2_113, f"2,013 measured with m 16 ({_ROWS}), and 16 links of 6 bytes more with m 24"
    )
    token_bytes: float = _measured(
        2_200, "token_vectors, xquad_en, decision 004; 0 without reranking"
    )
    # Bytes of a passage on the coordinator.
    posting_bytes: float = _measured(4_457, f"postings and words; {_ROWS}")
    document_bytes: float = _measured(1_909, f"of a document: documents, fields, shingles; {_ROWS}")
    document_chunks: float = _chosen(10, "passages to a document")
    # Bytes of a passage in each process of Trivium.
    process_bytes: float = _derived(
        13, "census 4, lengths 4, masks 3, documents 20 for 10 passages"
    )
    process_base_gb: float = _measured(
        0.6, "model, vocabulary and 192 MB of word lists; docs/performance.md"
    )
    # Processor time of one query.
    words_ns: float = _derived(
        20, "keyword and trigram: 5.3 ms at 100,000, 23 with the same lists ten times; docs/log.md"
    )
    graph_ms: float = _measured(
        12, "a graph of 100,000 to ef_search 400, its slowest, decision 009"
    )
    large_factor: float = _derived(
        2.5, "of graph_ms above 200,000 in a shard: ef_search 1,000 to 400"
    )
    other_ms: float = _measured(10, "processor time of the rest of a hybrid search, 100,000 chunks")
    # How fast documents come in.
    embedded_a_second: float = _measured(
        6_366, "one H200, 256 tokens, token vectors too, docs/log.md"
    )
    put_a_second: float = _measured(
        3_610, "9 processes into one PostgreSQL, x86_64, 16 cores, docs/log.md; 156 beside load 20"
    )
    graph_builds_a_second: float = _measured(
        740, "chunks a second of one core's time, graph of 100,000"
    )
    # What you buy and want.
    node_memory_gb: float = _chosen(128, "a common server")
    node_disk_gb: float = _chosen(4_000, "NVMe")
    node_cores: float = _chosen(32, "a common server")
    memory_share: float = _chosen(
        0.75, "of a node's memory for vectors and graphs; the rest for PostgreSQL"
    )
    disk_share: float = _chosen(0.5, "of a disk filled: room to rebuild indexes and to move shards")
    shards_a_node: float = _chosen(4, "the default: load moves in quarters; each costs a search")
    core_share: float = _chosen(0.5, "of cores busy at the peak")
    queries_a_second: float = _chosen(20, "at the peak")
    gpus: float = _chosen(1, "that embed; without: 30.8 short documents a second on 2 cores")


@dataclass(frozen=True, slots=True)
class Plan:
    chunks: int
    node_gb: float  # all nodes together
    hot_gb: float  # the part that must stay in memory: vectors and graphs
    coordinator_gb: float
    nodes: int
    by: str  # what decides their number
    shards: int
    process_gb: float
    vector_ms: float
    node_cores: float  # of each node, busy with vectors
    words_ms: float
    servers: int  # of node_cores, that run Trivium
    embed_days: float
    put_days: float
    graph_hours: float


def plan(chunks: int, a: Assumptions) -> Plan:
    on_nodes = a.chunk_bytes + a.text_bytes + a.embedding_bytes + a.vector_bytes + a.token_bytes
    node_gb, hot_gb = chunks * on_nodes / GB, chunks * a.vector_bytes / GB
    wanted = {
        "memory": hot_gb / (a.node_memory_gb * a.memory_share),
        "disk": node_gb / (a.node_disk_gb * a.disk_share),
    }
    by = max(wanted, key=lambda name: wanted[name])
    nodes = max(1, ceil(wanted[by]))
    shards = nodes * int(a.shards_a_node)
    vector_ms = _graph_ms(chunks / shards, a)  # a node searches its shards at the same time
    node_cores = vector_ms * a.shards_a_node * a.queries_a_second / 1000
    words_ms = chunks * a.words_ns / 1e6
    cores = (words_ms + a.other_ms) * a.queries_a_second / 1000
    return Plan(
        chunks=chunks,
        node_gb=node_gb,
        hot_gb=hot_gb,
        coordinator_gb=chunks * (a.posting_bytes + a.document_bytes / a.document_chunks) / GB,
        nodes=nodes,
        by=by,
        shards=shards,
        process_gb=a.process_base_gb + chunks * a.process_bytes / GB,
        vector_ms=vector_ms,
        node_cores=node_cores,
        words_ms=words_ms,
        servers=max(1, ceil(cores / (a.node_cores * a.core_share))),
        embed_days=chunks / (a.embedded_a_second * a.gpus) / 86_400,
        put_days=chunks / a.put_a_second / 86_400,
        graph_hours=chunks / nodes / (a.graph_builds_a_second * a.node_cores * a.core_share) / 3600,
    )


def _graph_ms(chunks: float, a: Assumptions) -> float:
    """A graph is searched in steps that grow with the logarithm of its size."""
    grown = log2(max(2.0, chunks)) / log2(100_000)
    return a.graph_ms * grown * (a.large_factor if chunks > 200_000 else 1.0)


ROWS: tuple[tuple[str, Callable[[Plan], str]], ...] = (
    ("on the nodes", lambda p: f"{p.node_gb:,.0f} GB"),
    ("of that in memory (vectors, graphs)", lambda p: f"{p.hot_gb:,.0f} GB"),
    ("on the coordinator", lambda p: f"{p.coordinator_gb:,.0f} GB"),
    ("nodes", lambda p: f"{p.nodes} ({p.by})"),
    ("shards", lambda p: f"{p.shards:,}"),
    ("memory of each Trivium process", lambda p: f"{p.process_gb:,.1f} GB"),
    ("vector signal, one shard", lambda p: f"{p.vector_ms:,.0f} ms"),
    ("cores of each node for that", lambda p: f"{p.node_cores:,.1f}"),
    ("words and spelling, one query", lambda p: f"{p.words_ms:,.0f} ms"),
    ("servers for Trivium", lambda p: f"{p.servers}"),
    ("embedding everything", lambda p: f"{p.embed_days:,.1f} days"),
    ("writing everything", lambda p: f"{p.put_days:,.1f} days"),
    ("building the graphs", lambda p: f"{p.graph_hours:,.1f} h"),
)


def main() -> None:
    told = arguments(
        __doc__,
        chunks=({"type": int, "action": "append"}, "passages; may be repeated"),
        set={"action": "append", "default": [], "metavar": "NAME=VALUE"},
    )
    names = {one.name for one in fields(Assumptions)}
    assumed = Assumptions()
    for one in told.set:
        name, _, value = one.partition("=")
        if name not in names:
            sys.exit(f"There is no assumption {name!r}. They are: {', '.join(sorted(names))}.")
        assumed = replace(assumed, **{name: float(value)})
    print("Assumptions")
    for one in fields(Assumptions):
        value = getattr(assumed, one.name)
        origin = one.metadata["from"] if value == one.default else "yours"
        print(f"  {one.name:<22}{value:>10,.7g}  {origin}")
    plans = [plan(chunks, assumed) for chunks in told.chunks or PLANS]
    print(f"\n{'passages':<38}" + "".join(f"{p.chunks:>20,}" for p in plans))
    for name, shown in ROWS:
        print(f"{name:<38}" + "".join(f"{shown(p):>20}" for p in plans))


if __name__ == "__main__":
    main()
