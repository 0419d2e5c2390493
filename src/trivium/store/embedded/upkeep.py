"""Maintains a library in a folder: compacts, examines and repairs it. Readers continue
meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import Engine

from trivium.core.counting import counted
from trivium.core.errors import IndexDamaged
from trivium.core.types import DocumentId
from trivium.core.upkeep import Backup, Compacted, Finding, Progress
from trivium.ports import Hash, Meters, Waiting
from trivium.store.blobs import KeptOriginals
from trivium.store.embedded.asof import discard
from trivium.store.embedded.backup import DATABASE, write_backup
from trivium.store.embedded.database import translated
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.leases import check_there
from trivium.store.embedded.salvage import DAMAGED, survey
from trivium.store.embedded.snapshots import Snapshots
from trivium.store.embedded.writing import Writing
from trivium.store.sql.checks import Checks
from trivium.store.sql.examination import Examination
from trivium.store.sql.known import learn_all
from trivium.store.sql.models import SqlModels
from trivium.store.sql.tables import embeddings


@dataclass(eq=False)
class EmbeddedUpkeep:
    _folder: Path
    _engine: Engine
    _checks: Checks
    _models: SqlModels
    _writing: Writing
    _indexes: Indexes
    _snapshots: Snapshots
    _originals: KeptOriginals

    def __post_init__(self) -> None:
        self._examination = Examination(self._checks, self._models, self._originals)

    def meters(self) -> Meters:
        return Meters()

    def check_there(self) -> None:
        check_there(self._folder)

    def health(self) -> dict[str, int]:
        with translated(self._folder):
            return self._writing.mended(self._health)

    def _health(self) -> dict[str, int]:
        view = self._snapshots.current()
        active = np.flatnonzero(view.active_chunks.owner)
        words = np.isin(view.words.chunk_ids(), active)
        return {
            "documents": int(np.count_nonzero(view.active_chunks.count)),
            "chunks": len(active),
            "words": int(words.sum()),
            "vectors": self._snapshots.active_vectors(view),
            "leftovers": int((~words).sum()),  # indexed, not active: the next writer removes them
            "vocabulary": len(self._indexes.vocabulary),
        }

    def distrust(self, document: DocumentId, digest: str) -> None:
        self._checks.distrust(document, digest)

    def rebuild(self) -> None:
        """Rebuild every derived index from SQLite."""
        with self._writing.writing():
            self._indexes.rebuild()
            learn_all(self._engine)
            self._snapshots.forget()
            self._indexes.tidy()

    def compact(self, waiting: Waiting | None = None) -> Compacted:
        before = self._size()
        with self._writing.writing(waiting):
            orphans = self._orphans()
            self._originals.drop(orphans)
            self._checks.free_unused_vectors()
            discard(self._folder)
            self.rebuild()
            held_back = self._vacuum()
        return Compacted(before, self._size(), len(orphans), held_back)

    def backup(self, target: Path, on_progress: Progress = lambda *_: None) -> Backup:
        with translated(self._folder):
            blobs = self._originals.blobs
            return write_backup(self._folder / DATABASE, blobs, target, on_progress)

    def _vacuum(self) -> bool:
        """Returns whether a reader kept SQLite from truncating its log of old pages."""
        with self._engine.connect() as connection:
            direct = connection.execution_options(isolation_level="AUTOCOMMIT")
            direct.exec_driver_sql("VACUUM")
            row = direct.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            return bool(row[0])

    def _size(self) -> int:
        return sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())

    def _orphans(self) -> list[str]:
        """Originals that nothing refers to, or is about to. None while a damaged database is kept:
        its lost documents may refer to them."""
        if any(self._folder.glob(f"{DAMAGED}*")):
            return []
        return self._examination.orphans()

    # --- examining ------------------------------------------------------------------------------

    def examine(self, hash_of: Hash | None = None) -> list[Finding]:
        with translated(self._folder):
            looked = self._examination
            findings = [self._examine_database(), *looked.rows(), *looked.indexes(self.health())]
            findings += looked.archive(self._orphans())
            if hash_of:
                findings += [self._examine_bytes(), *looked.passages(hash_of)]
            return findings

    def _examine_database(self) -> Finding:
        with self._engine.connect() as connection:
            reports = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check(5)")]
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        whole = reports == ["ok"] and not broken
        text, repair = "The database is intact.", ""
        if not whole:
            text, repair = survey(self._folder).told(), "Save what can be read."
        return Finding("database", whole, text, repair)

    def _examine_bytes(self) -> Finding:
        try:
            self._indexes.check()
            return Finding("checksums", True, "Every byte of the indexes is intact.")
        except IndexDamaged as damage:
            return Finding("checksums", False, damage.message, "Rebuild the index.")

    def _mend_bytes(self, hash_of: Hash) -> Iterator[str]:
        """Rows first: indexes are compared with them, and rebuilt from them."""
        yield from self._mend_rows()
        try:
            self._indexes.check()
        except IndexDamaged as damage:
            self._indexes.distrust(damage)
            self._indexes.start_writing()
            yield f"Rebuilt the index of {damage.part}."
        mendable = [rotten for rotten in self._checks.rotten(hash_of) if rotten.text is not None]
        if mendable:
            self._checks.mend(mendable)
            self.rebuild()
            yield f"Restored the text of {counted(len(mendable), 'passage')}."
            yield from self._mend_rows()  # once its text is right, a row may still lack something
        written = self._checks.write_checksums()
        if written:
            yield f"Added checksums to {counted(written, 'row')}."

    def _mend_rows(self) -> Iterator[str]:
        unsound = self._checks.unsound()
        hashes = [finding.key[1] for finding in unsound if finding.table is embeddings]
        mended = self._checks.mend_rows(unsound, self._indexes.stored_vectors(hashes))
        if mended:
            yield f"Repaired {counted(len(mended), 'row')} that had changed on disk."

    def repair(self, waiting: Waiting | None = None, hash_of: Hash | None = None) -> list[str]:
        done = []
        unfinished = self._checks.staged()
        with self._writing.writing(waiting):  # entering cleans up after a writer that died
            left = unfinished - self._checks.staged()
            done += [f"Discarded {left:,} unfinished interpretations."] if left > 0 else []
            if self._checks.unused_vectors():
                self._checks.free_unused_vectors()
                done.append("Deleted vectors that no passage uses.")
            orphans = self._orphans()
            if orphans:
                self._originals.drop(orphans)
                done.append(f"Deleted {len(orphans):,} originals that no document refers to.")
            if hash_of:
                done += self._mend_bytes(hash_of)
            if not all(finding.ok for finding in self._examination.indexes(self.health())):
                self.rebuild()
                done.append("Rebuilt the search indexes.")
        return done
