"""A library in one folder, with no server: SQLite is the truth, words and vectors are derived.

    library.db        registry, interpretations, chunks, vectors, jobs
    words/            which chunks have which words, stems and spellings
    vectors/          float16 rows and their codes
    archive/          the bytes of documents, by their hash
    incoming/         uploads that wait to be read
    evaluation/       judged sets and saved evaluations
    as-of/            earlier days that were searched
    *.lock            what one process does alone: see `leases`

Puts the parts together. `writing` says why the order of writes is safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from trivium.core.errors import DiskFull, LibraryBusy, LibraryNotFound, LibraryReadOnly
from trivium.ports import Backend, Blobs, Spool
from trivium.store.blobs import FolderBlobs, KeptOriginals
from trivium.store.embedded.asof import AS_OF, PastFolders
from trivium.store.embedded.backup import ARCHIVE, DATABASE
from trivium.store.embedded.database import check_not_lost, open_database, read_rows, translated
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.leases import FileLeases
from trivium.store.embedded.signals import EmbeddedSignals
from trivium.store.embedded.snapshots import Snapshots
from trivium.store.embedded.spool import FolderShelf, FolderSpool
from trivium.store.embedded.upkeep import EmbeddedUpkeep
from trivium.store.embedded.writing import DOING, WRITER, FolderChanges, FolderVectors, Writing
from trivium.store.sql.checks import Checks
from trivium.store.sql.direct import DirectDocuments
from trivium.store.sql.feed import Feed
from trivium.store.sql.jobs import SqlJobs
from trivium.store.sql.known import is_learned, learn_all
from trivium.store.sql.models import SqlModels
from trivium.store.sql.queries import SqlAlerts, SqlConversations, SqlQueryLog
from trivium.store.sql.queue import SqlQueue
from trivium.store.sql.schema import SCHEMA, migrate, schema_of
from trivium.store.sql.sources import SqlFolders, SqlSources
from trivium.store.sql.staging import Staging
from trivium.store.sql.tokens import SqlTokens
from trivium.store.sql.writer import SqlWriter

PATIENCE = 3600.0  # seconds to wait for another writer


def _make_private(folder: Path) -> None:
    """Make the folder of a new library for its owner alone, whatever files come into it. One that
    is there keeps the rights that someone gave it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        folder.chmod(0o700)
        (folder / DATABASE).touch(mode=0o600)


def open_embedded(
    folder: Path,
    *,
    create: bool = True,
    wait: float = PATIENCE,
    blobs: Blobs | None = None,
    incoming: int | None = None,
    spool: Spool | None = None,
    fields: Sequence[str] | None = None,
) -> Backend:
    """Threads may share it; each process opens its own. `blobs` stores the originals; without it,
    they go into a folder of the library. `incoming`: how many bytes all waiting uploads may have
    together. `fields`: metadata fields that words and spelling search beside the usual ones; None:
    as before."""
    check_not_lost(folder / DATABASE)
    if not (folder / DATABASE).exists() and not create:
        raise LibraryNotFound(f"No library in {folder}.")
    with translated(folder):
        _make_private(folder)
        engine = open_database(folder / DATABASE)
        leases = FileLeases(folder, wait)
        if schema_of(engine) < SCHEMA:
            with leases.hold(WRITER, DOING):
                migrate(engine)
        if not is_learned(engine, fields):
            with (
                suppress(LibraryReadOnly, DiskFull, LibraryBusy),
                leases.hold(WRITER, DOING, patience=0),
            ):
                learn_all(engine, fields)
        feed, staging = Feed(engine), Staging(engine)
        indexes = Indexes(folder, feed)
        snapshots = Snapshots(feed, indexes)
        writing = Writing(folder, leases, feed, staging, indexes, snapshots)
        writing.catch_up()
    originals = KeptOriginals(blobs or FolderBlobs(folder / ARCHIVE))
    index = FolderVectors(folder, indexes, snapshots, writing)
    models = SqlModels(engine, writing.writing, index)

    def close() -> None:
        indexes.close()
        engine.dispose()

    return Backend(
        documents=DirectDocuments(engine, read_rows),
        writer=SqlWriter(engine, originals, FolderChanges(folder, writing, staging, indexes)),
        signals=EmbeddedSignals(folder, engine, indexes, snapshots, writing),
        models=models,
        jobs=SqlJobs(engine),
        queue=SqlQueue(engine, leases),
        leases=leases,
        originals=originals,
        spool=spool or FolderSpool(folder, incoming),
        shelf=FolderShelf(folder),
        upkeep=EmbeddedUpkeep(
            folder, engine, Checks(engine), models, writing, indexes, snapshots, originals
        ),
        tokens=SqlTokens(engine),
        conversations=SqlConversations(engine),
        folders=SqlFolders(engine),
        sources=SqlSources(engine),
        queries=SqlQueryLog(engine),
        alerts=SqlAlerts(engine),
        views=PastFolders(engine, lambda path: open_embedded(path, wait=wait), folder / AS_OF),
        folder=folder,
        close=close,
    )
