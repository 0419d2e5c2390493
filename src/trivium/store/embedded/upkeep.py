"""Looking after a library in a folder: rewritten without what was removed, examined, repaired.

Readers go on all the while.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sqlalchemy import Engine

from trivium.errors import IndexDamaged, OriginalDamaged, OriginalMissing
from trivium.ports import Hash, Waiting
from trivium.store.embedded.asof import discard
from trivium.store.embedded.backup import DATABASE, write_backup
from trivium.store.embedded.database import translated
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.leases import check_there
from trivium.store.embedded.salvage import DAMAGED, survey
from trivium.store.embedded.snapshots import Snapshots
from trivium.store.embedded.writing import Writing
from trivium.store.originals import KeptOriginals
from trivium.store.sql.checks import Checks
from trivium.store.sql.models import SqlModels
from trivium.store.sql.tables import embeddings
from trivium.upkeep import Backup, Compacted, Finding, Progress

# Bytes that another process has archived and not yet registered are younger than this.
SETTLED_SECONDS = 3600.0


class EmbeddedUpkeep:
    def __init__(
        self,
        folder: Path,
        engine: Engine,
        checks: Checks,
        models: SqlModels,
        writing: Writing,
        indexes: Indexes,
        snapshots: Snapshots,
        originals: KeptOriginals,
    ) -> None:
        self._folder = folder
        self._engine = engine
        self._checks = checks
        self._models = models
        self._writing = writing
        self._indexes = indexes
        self._snapshots = snapshots
        self._originals = originals

    def check_there(self) -> None:
        check_there(self._folder)

    def health(self) -> dict[str, int]:
        """How many active chunks the truth and each derived index hold: equal when all is well."""
        with translated(self._folder):
            return self._writing.mended(self._health)

    def _health(self) -> dict[str, int]:
        view = self._snapshots.current()
        active = np.flatnonzero(view.census.owner)
        words = np.isin(view.words.chunk_ids(), active)
        return {
            "documents": int(np.count_nonzero(view.census.count)),
            "chunks": len(active),
            "words": int(words.sum()),
            "vectors": self._snapshots.active_vectors(view),
            "leftovers": int((~words).sum()),  # indexed, not active: the next writer drops them
            "vocabulary": len(self._indexes.vocabulary),
        }

    def rebuild(self) -> None:
        """Make every derived index anew from SQLite."""
        with self._writing.writing():
            self._indexes.rebuild()
            self._snapshots.forget()
            self._indexes.tidy()

    def compact(self, waiting: Waiting | None = None) -> Compacted:
        """Write everything anew that may still hold bytes of what was removed."""
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
        """Everything that cannot be made anew, in one file; searching and adding go on."""
        with translated(self._folder):
            blobs = self._originals.blobs
            return write_backup(self._folder / DATABASE, blobs, target, on_progress)

    def _vacuum(self) -> bool:
        """Whether a reader kept the log of old pages from being cut off."""
        with self._engine.connect() as connection:
            direct = connection.execution_options(isolation_level="AUTOCOMMIT")
            direct.exec_driver_sql("VACUUM")
            row = direct.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            return bool(row[0])

    def _size(self) -> int:
        return sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())

    def _orphans(self) -> list[str]:
        """Originals that nothing refers to, nor is about to. None while a damaged database is kept:
        its lost documents may refer to them."""
        if any(self._folder.glob(f"{DAMAGED}*")):
            return []
        kept = list(self._originals.blobs.addresses())  # first: what is put later is registered
        used = self._checks.originals()
        return [a for a, age in kept if a not in used and age > SETTLED_SECONDS]

    # --- examining ------------------------------------------------------------------------------

    def examine(self, hash_of: Hash | None = None) -> list[Finding]:
        """Everything that can be wrong, looked at; nothing is changed. With the function that
        hashes what is embedded, every byte of indexes and passages is checked as well."""
        with translated(self._folder):
            found = [*self._examine_rows(), *self._examine_indexes(), *self._examine_archive()]
            return [*found, *self._examine_bytes(hash_of)] if hash_of else found

    def _examine_bytes(self, hash_of: Hash) -> Iterator[Finding]:
        try:
            self._indexes.check()
            yield Finding("checksums", True, "Every byte of the indexes is as it was written.")
        except IndexDamaged as damage:
            yield Finding("checksums", False, damage.message, "Rebuild the index.")
        rotten = self._checks.rotten(hash_of)
        lost = sorted({one.document for one in rotten if one.text is None})
        told = "Every passage is as it was added."
        if rotten:
            of = _first(sorted({one.document for one in rotten}))
            told = f"{len(rotten):,} passages are not as they were added, of documents {of}."
        if lost:
            told += f" Nothing tells what stood in {_first(lost)}: remove and add these again."
        mendable = len(rotten) > sum(one.text is None for one in rotten)
        yield Finding("passages", not rotten, told, "Put their text right." if mendable else "")
        unsound = self._checks.unsound()
        told = "Every row matches its checksum."
        if unsound:
            of = _first(sorted({id_ for one in unsound for id_ in one.documents}))
            held = ", ".join(sorted({one.table.name for one in unsound}))
            told = f"{len(unsound):,} rows of {held} have changed on the disk, of documents {of}."
        unknown = self._checks.without_checksum()
        if unknown:
            told += f" {unknown:,} rows have no checksum yet: `trivium doctor --repair` adds them."
        mend = "Restore them from their copies, or make their vectors again."
        yield Finding("rows", not unsound, told, mend if unsound else "")

    def _mend_bytes(self, hash_of: Hash) -> Iterator[str]:
        """Rows first: indexes are compared with them, and rebuilt from them."""
        yield from self._mend_rows()
        try:
            self._indexes.check()
        except IndexDamaged as damage:
            self._indexes.distrust(damage)
            self._indexes.start_writing()
            yield f"Rebuilt the index of {damage.part}."
        mendable = [one for one in self._checks.rotten(hash_of) if one.text is not None]
        if mendable:
            self._checks.mend(mendable)
            self.rebuild()
            yield f"Put the text of {len(mendable):,} passages right."
            yield from self._mend_rows()  # with its text right, a row may lack one thing more
        written = self._checks.write_checksums()
        if written:
            yield f"Added checksums to {written:,} rows."

    def _mend_rows(self) -> Iterator[str]:
        unsound = self._checks.unsound()
        hashes = [one.key[1] for one in unsound if one.table is embeddings]
        mended = self._checks.mend_rows(unsound, self._indexes.stored_vectors(hashes))
        if mended:
            yield f"Mended {len(mended):,} rows that had changed on the disk."

    def repair(self, waiting: Waiting | None = None, hash_of: Hash | None = None) -> list[str]:
        """Mend what can be mended without a model; what was done comes back."""
        done = []
        unfinished = self._checks.staged()
        with self._writing.writing(waiting):  # entering clears up after a writer that died
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
            if not all(finding.ok for finding in self._examine_indexes()):
                self.rebuild()
                done.append("Made the search indexes anew.")
        return done

    def _examine_rows(self) -> Iterator[Finding]:
        with self._engine.connect() as connection:
            said = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check(5)")]
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        whole = said == ["ok"] and not broken
        told, repair = "The database is whole.", ""
        if not whole:
            told, repair = survey(self._folder).told(), "Save what can be read."
        yield Finding("database", whole, told, repair)
        wrong = self._checks.contradictions()
        told = "Every document agrees with its rows."
        if wrong:
            told = f"{len(wrong):,} documents disagree with their rows: {_first(wrong)}."
        yield Finding("documents", not wrong, told)
        staged = self._checks.staged()
        yield Finding(
            "unfinished",
            not staged,
            f"{staged:,} interpretations are not finished." if staged else "Nothing is unfinished.",
            "Discard them, unless another process is adding just now." if staged else "",
        )
        unused = self._checks.unused_vectors()
        # A writer that died leaves some, and its next run is quicker for them.
        told = f"{unused:,} vectors belong to no passage; `trivium compact` deletes them."
        yield Finding("unused", True, told if unused else "Every vector is in use.")

    def _examine_indexes(self) -> Iterator[Finding]:
        health = self.health()
        embedded = self._models.embedded(self._models.manifest().model)
        anew = "Make the indexes anew."
        for name, wanted in (("words", health["chunks"]), ("vectors", embedded)):
            ok = health[name] == wanted
            message = f"{health[name]:,} of {wanted:,} passages are in the index."
            yield Finding(name, ok, message, "" if ok else anew)
        known = bool(health["vocabulary"]) or not health["chunks"]
        message = f"{health['vocabulary']:,} spellings are known."
        yield Finding("vocabulary", known, message, "" if known else anew)
        lacking = health["chunks"] - embedded
        yield Finding(
            "embedded",
            not lacking,
            f"{lacking:,} passages have no vector: they are found by words and spelling only."
            if lacking
            else "Every passage has a vector.",
            "Embed them." if lacking else "",
        )

    def _examine_archive(self) -> Iterator[Finding]:
        used = self._checks.originals()
        lost = {address for address, size in used.items() if not self._holds(address, size)}
        told = f"All {len(used):,} originals are in the archive."
        if lost:
            of = _first(self._checks.referring(lost))
            told = f"{len(lost):,} originals are missing or damaged, of documents {of}."
            told += " Add their files again to put them back."
        yield Finding("originals", not lost, told)
        orphans = self._orphans()
        yield Finding(
            "archive",
            not orphans,
            f"{len(orphans):,} originals belong to no document."
            if orphans
            else "Every original belongs to a document.",
            "Delete them." if orphans else "",
        )

    def _holds(self, address: str, size: int) -> bool:
        """By its length: to read every original would take minutes. Where that is another than the
        source said, its bytes tell, for a file may have grown between a look and its reading."""
        blobs = self._originals.blobs
        found = blobs.size(address)
        if found is None or found == size:
            return found is not None
        try:
            blobs.get(address)
        except (OriginalMissing, OriginalDamaged):
            return False
        return True


def _first(ids: list[int], most: int = 5) -> str:
    listed = ", ".join(f"#{i}" for i in ids[:most])
    return f"{listed} and {len(ids) - most:,} more" if len(ids) > most else listed
