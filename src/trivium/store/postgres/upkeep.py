"""Maintains a library in PostgreSQL: examines, repairs, rebuilds and backs it up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sqlalchemy import Engine, QueuePool, text

from trivium.core.counting import counted
from trivium.core.errors import LibraryNotFound
from trivium.core.types import DocumentId
from trivium.core.upkeep import Backup, Compacted, Finding, Progress
from trivium.ports import Hash, Meters, Waiting
from trivium.store.blobs import KeptOriginals
from trivium.store.embedded.backup import DATABASE, EVALUATION, write_backup
from trivium.store.embedded.database import open_database as open_file
from trivium.store.postgres.files import RowShelf
from trivium.store.postgres.schema import check_format
from trivium.store.postgres.shards import shards_of, size_on_nodes
from trivium.store.postgres.snapshots import Snapshots
from trivium.store.postgres.vectors import VectorTables
from trivium.store.postgres.words import WordRows
from trivium.store.sql.checks import Checks
from trivium.store.sql.copying import LAST, TABLES, copy_table
from trivium.store.sql.examination import Examination
from trivium.store.sql.feed import Feed
from trivium.store.sql.known import learn_all
from trivium.store.sql.models import SqlModels
from trivium.store.sql.schema import migrate
from trivium.store.sql.statements import one_state

_PAGE = 1_000  # chunks read at a time
_SIZES = (
    "SELECT CAST(c.oid::regclass AS text), pg_total_relation_size(c.oid) FROM pg_class c"
    " WHERE relkind = 'r' AND relnamespace ="
)
# Bytes of a table that is rewritten while searches wait: under a second at 100 MB a second. Not
# tables of vectors: their graph would be built too, 100 s for 100,000, and a rebuild made them new.
_REWRITTEN = 32 << 20
_OURS = " (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"


@dataclass(eq=False)
class PostgresUpkeep:
    _engine: Engine
    _feed: Feed
    _words: WordRows
    _vectors: VectorTables
    _snapshots: Snapshots
    _models: SqlModels
    _originals: KeptOriginals
    _alone: Callable[[], AbstractContextManager[None]]  # while no document changes

    def __post_init__(self) -> None:
        self._checks = Checks(self._engine)
        self._examination = Examination(self._checks, self._models, self._originals)

    def meters(self) -> Meters:
        pool = self._engine.pool
        assert isinstance(pool, QueuePool)
        used = pool.checkedout()
        return Meters(used + pool.checkedin(), used, *self._snapshots.cached())

    def check_there(self) -> None:
        with self._engine.connect() as connection:
            if not connection.scalar(text("SELECT to_regclass('settings')")):
                raise LibraryNotFound("The database no longer has the library's tables.")
            check_format(connection)

    def health(self) -> dict[str, int]:
        snapshot = self._snapshots.current()
        active = snapshot.active_chunks.owner > 0
        lengths = snapshot.occurrences.lengths()[: len(active)] > 0
        indexed = int(np.count_nonzero(lengths & active[: len(lengths)]))
        return {
            "documents": int(np.count_nonzero(snapshot.active_chunks.count)),
            "chunks": int(np.count_nonzero(active)),
            "words": indexed,
            "vectors": self._vectors.held(),
            "leftovers": max(0, self._words.counted() - indexed),
            "vocabulary": len(snapshot.vocabulary),
        }

    def examine(self, hash_of: Hash | None = None) -> list[Finding]:
        self.check_there()
        looked = self._examination
        findings = [Finding("database", True, self._described())]
        findings += [*looked.rows(), *self._indexes()]
        findings += looked.archive(looked.orphans())
        return [*findings, *looked.passages(hash_of)] if hash_of else findings

    def _described(self) -> str:
        with self._engine.connect() as connection:
            if connection.scalar(text("SHOW data_checksums")) == "on":
                return "The database answers and verifies its pages (data checksums)."
        return (
            "The database answers. Its data checksums are off, so nobody notices vectors that"
            " change on its disk: stop the server and run `pg_checksums --enable`."
        )

    def _indexes(self) -> Iterator[Finding]:
        yield from self._examination.indexes(self.health())
        nameless, nowhere = self._words.unmatched()
        message = "Every word has occurrences, and every occurrence a word."
        if nameless or nowhere:
            message = (
                f"{nameless:,} words with occurrences aren't in the list of words; {nowhere:,} in"
                " the list occur nowhere."
            )
        ok = not (nameless or nowhere)
        yield Finding("occurrences", ok, message, "" if ok else "Rebuild the indexes.")

    def repair(self, waiting: Waiting | None = None, hash_of: Hash | None = None) -> list[str]:
        return list(self._repaired(hash_of))

    def _repaired(self, hash_of: Hash | None) -> Iterator[str]:
        if self._checks.unused_vectors():
            self._checks.free_unused_vectors()
            yield "Deleted vectors that no passage uses."
        orphans = self._examination.orphans()
        if orphans:
            self._originals.drop(orphans)
            yield f"Deleted {len(orphans):,} originals that no document refers to."
        if hash_of:
            mended = self._checks.mend_rows(self._checks.unsound(), {})
            if mended:
                yield f"Repaired {counted(len(mended), 'row')} that had changed on disk."
            rotten = [
                passage for passage in self._checks.rotten(hash_of) if passage.text is not None
            ]
            if rotten:
                self._checks.mend(rotten)
                self.rebuild()
                yield f"Restored the text of {counted(len(rotten), 'passage')}."
        if not all(finding.ok for finding in self._indexes()):
            self.rebuild()
            yield "Rebuilt the search indexes."

    def distrust(self, document: DocumentId, digest: str) -> None:
        self._checks.distrust(document, digest)

    def rebuild(self) -> None:
        with self._alone():
            sequence = self._feed.sequence()
            self._words.rebuild(self._feed.indexed_chunks(0, _PAGE), sequence)
            self._vectors.rebuild()
            learn_all(self._engine)
        self._snapshots.forget()

    def compact(self, waiting: Waiting | None = None) -> Compacted:
        before = self._size()
        orphans = self._examination.orphans()
        self._originals.drop(orphans)
        self._checks.free_unused_vectors()
        if self.health()["leftovers"] or not all(finding.ok for finding in self._indexes()):
            self.rebuild()  # words of removed passages; otherwise there is nothing to leave out
        self._vacuum()
        return Compacted(before, self._size(), len(orphans), held_back=False)

    def backup(self, target: Path, on_progress: Progress = lambda *_: None) -> Backup:
        """The rows as a folder's database: such a file can be restored into a folder too."""
        with TemporaryDirectory(prefix=f".{target.name}.rows-", dir=target.parent) as made:
            folder = Path(made)
            file = open_file(folder / DATABASE)
            migrate(file)
            with one_state(self._engine) as source, file.connect() as copy:
                for table in (*TABLES, *LAST):
                    if table in LAST:
                        copy.execute(table.delete())
                    copy_table(source, copy, table, on_progress)
            file.dispose()
            self._copy_shelf(folder / EVALUATION)
            return write_backup(folder / DATABASE, self._originals.blobs, target, on_progress)

    def _copy_shelf(self, folder: Path) -> None:
        shelf = RowShelf(self._engine)
        for name in shelf.names():
            with shelf.reading(name) as source:
                for path in (path for path in source.rglob("*") if path.is_file()):
                    copied = folder / name / path.relative_to(source)
                    copied.parent.mkdir(parents=True, exist_ok=True)
                    copied.write_bytes(path.read_bytes())

    def _vacuum(self) -> None:
        """Removes deleted rows. Small tables are written to new files, so that nothing of the rows
        is left on the disk; searches wait meanwhile, one table at a time. In large ones, and those
        on nodes, PostgreSQL uses the space again, and nobody waits."""
        with self._engine.connect() as connection:
            direct = connection.execution_options(isolation_level="AUTOCOMMIT")
            direct.execute(text("SET statement_timeout = 0"))
            for table, size in direct.execute(text(_SIZES + _OURS)).all():
                small = size <= _REWRITTEN and "vectors_" not in table
                small = small and not shards_of(direct, table)
                direct.execute(text(f"VACUUM ({'FULL, ' if small else ''}ANALYZE) {table}"))
            direct.invalidate()  # with its own settings

    def _size(self) -> int:
        query = text(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class"
            f" WHERE relkind = 'r' AND relnamespace ={_OURS}"
        )
        with self._engine.connect() as connection:
            return int(connection.scalar(query) or 0) + size_on_nodes(connection)
