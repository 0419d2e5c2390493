"""A library in a schema of a PostgreSQL database. Puts its parts together.

    the tables of every library     documents, interpretations, chunks, embeddings, jobs, ...
    words, postings                 where words occur: see `words`
    vectors_N                       the vectors of a model, with their graph: see `vectors`
    leases                          what one process does alone
    blobs, incoming, shelf          originals, uploads, judged sets

Many processes share it. Each keeps in memory what changes rarely: see `snapshots`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext

from sqlalchemy import Engine, text

from trivium.core.errors import LibraryBusy
from trivium.ports import Backend, Blobs, Spool
from trivium.store.blobs import KeptOriginals
from trivium.store.embedded.asof import PastFolders
from trivium.store.embedded.backend import open_embedded
from trivium.store.postgres.address import Address
from trivium.store.postgres.database import open_database, rows_of
from trivium.store.postgres.files import RowBlobs, RowShelf, RowSpool
from trivium.store.postgres.leases import RowLeases
from trivium.store.postgres.listening import listening
from trivium.store.postgres.nodes import CitusNodes
from trivium.store.postgres.replicas import CONNECT_SECONDS, ReplicatedSignals, SearchServer
from trivium.store.postgres.schema import prepare
from trivium.store.postgres.upkeep import PostgresUpkeep
from trivium.store.postgres.words import WordRows
from trivium.store.postgres.writer import MODEL, PostgresChanges
from trivium.store.sql.direct import DirectDocuments
from trivium.store.sql.jobs import SqlJobs
from trivium.store.sql.known import is_learned, learn_all, learn_missing
from trivium.store.sql.models import EmbeddingElsewhere, SqlModels
from trivium.store.sql.queries import SqlAlerts, SqlConversations, SqlQueryLog
from trivium.store.sql.queue import SqlQueue
from trivium.store.sql.sources import SqlFolders, SqlSources
from trivium.store.sql.tokens import SqlTokens
from trivium.store.sql.writer import SqlWriter

EMBEDDING = "embedding"  # the lease of the process that computes missing vectors
PATIENCE = 3600.0  # seconds to wait for a lease
# Workers on many machines end for many reasons: when two losses were enough, killed workers took
# two of 200 innocent documents with them.
LOSSES = 5
CLAIMED = 16  # tasks that a worker takes at once: the others want some too


def open_postgres(
    address: Address,
    *,
    create: bool = True,
    wait: float = PATIENCE,
    blobs: Blobs | None = None,
    incoming: int | None = None,
    spool: Spool | None = None,
    fields: Sequence[str] | None = None,
) -> Backend:
    """Threads may share it; each process opens its own. `blobs` stores the originals; without it,
    the database does. `incoming`: how many bytes all waiting uploads may have together.
    `fields`: metadata fields that words and spelling search beside the usual ones; None: as
    before."""
    engine = open_database(address)
    try:
        prepare(engine, address, create=create)
        learn_missing(engine) if is_learned(engine, fields) else learn_all(engine, fields)
    except BaseException:
        engine.dispose()
        raise
    primary = SearchServer.on(engine, str(address))
    feed, snapshots, vectors = primary.feed, primary.snapshots, primary.tables
    words = WordRows(engine)
    others = [_replica(address, place) for place in address.replicas]
    leases = RowLeases(engine, wait)
    originals = KeptOriginals(blobs or RowBlobs(engine))
    alone = _Alone(engine)
    models = SqlModels(
        engine, nullcontext, vectors, embedding=lambda: _embedding(leases), switching=alone.hold
    )
    changes = PostgresChanges(engine, feed, words, vectors, snapshots, alone.hold)
    views = PastFolders(engine, open_embedded)

    def close() -> None:
        leases.close()
        views.close()
        for replica, _ in others:
            replica.dispose()
        engine.dispose()

    return Backend(
        documents=DirectDocuments(engine, rows_of),
        writer=SqlWriter(engine, originals, changes),
        signals=ReplicatedSignals(primary, [place for _, place in others])
        if others
        else primary.signals,
        models=models,
        jobs=SqlJobs(engine),
        queue=SqlQueue(
            engine,
            leases,
            most=CLAIMED,
            losses=LOSSES,
            listening=lambda wake: listening(engine, address, wake),
        ),
        leases=leases,
        originals=originals,
        spool=spool or RowSpool(engine, incoming),
        shelf=RowShelf(engine),
        upkeep=PostgresUpkeep(
            engine, feed, words, vectors, snapshots, models, originals, alone.hold
        ),
        tokens=SqlTokens(engine),
        conversations=SqlConversations(engine),
        folders=SqlFolders(engine),
        sources=SqlSources(engine),
        queries=SqlQueryLog(engine),
        alerts=SqlAlerts(engine),
        views=views,
        folder=None,
        is_elsewhere=True,
        close=close,
        nodes=CitusNodes(engine, vectors, alone.hold),
    )


@contextmanager
def _embedding(leases: RowLeases) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(leases.hold(EMBEDDING, "embedding passages", patience=0))
        except LibraryBusy as reason:
            raise EmbeddingElsewhere from reason
        yield


def _replica(address: Address, place: str) -> tuple[Engine, SearchServer]:
    """Not contacted before the first search: a library opens without its replicas."""
    engine = open_database(address.replica(place), patience=CONNECT_SECONDS)
    return engine, SearchServer.on(engine, place)


class _Alone:
    """While no document changes: to switch the model, and to rebuild indexes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._inside = threading.local()

    @contextmanager
    def hold(self) -> Iterator[None]:
        depth = getattr(self._inside, "depth", 0)
        if depth:
            yield
            return
        with self._engine.connect() as connection:
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({MODEL})"))
            self._inside.depth = 1
            try:
                yield
            finally:
                self._inside.depth = 0
                connection.rollback()
