"""Looking after a library in a folder: rewritten without what was removed, examined, repaired.

Part of the store in one folder. Readers go on all the while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from sqlalchemy import Engine

from trivium.errors import IndexDamaged, OriginalDamaged, OriginalMissing
from trivium.ports import Waiting
from trivium.store.embedded.asof import discard
from trivium.store.embedded.backup import DATABASE, Backup, Progress, write_backup
from trivium.store.embedded.locks import is_held
from trivium.store.embedded.salvage import DAMAGED, survey, told_of
from trivium.store.embedded.switching import Switching
from trivium.store.sql.tables import embeddings

Hash = Callable[[str], str]
# Bytes that another process has archived and not yet registered are younger than this.
SETTLED_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Compacted:
    """What rewriting a library gave back."""

    before: int  # bytes of its folder
    after: int
    originals: int  # that nothing referred to
    held_back: bool  # a reader still looks at the old database pages; the next compaction gets them


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at in a library, and what a repair would do about it."""

    name: str
    ok: bool
    message: str
    repair: str = ""  # empty where nothing is wrong, or nothing here can mend it


class Upkeep(Switching):
    _engine: Engine
    _lock: FileLock

    def is_being_written(self) -> bool:
        """Whether a process is at work on it just now."""
        return is_held(self._lock)

    def rebuild(self) -> None:
        """Make every derived index anew."""
        raise NotImplementedError

    def health(self) -> dict[str, int]:
        """How many active chunks each part holds."""
        raise NotImplementedError

    def compact(self, waiting: Waiting | None = None) -> Compacted:
        """Write everything anew that may still hold bytes of what was removed."""
        before = self._size()
        with self.writing(waiting):
            orphans = self._orphans()
            self._originals.drop(orphans)
            self._registry.free_unused_vectors()
            discard(self._folder)
            self.rebuild()
            held_back = self._vacuum()
        return Compacted(before, self._size(), len(orphans), held_back)

    def backup(self, target: Path, on_progress: Progress = lambda *_: None) -> Backup:
        """Everything that cannot be made anew, in one file; searching and adding go on."""
        with self._translated():
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
        used = self._registry.originals()
        return [a for a, age in kept if a not in used and age > SETTLED_SECONDS]

    # --- examining ------------------------------------------------------------------------------

    def examine(self, hash_of: Hash | None = None) -> list[Finding]:
        """Everything that can be wrong, looked at; nothing is changed. With the function that
        hashes what is embedded, every byte of indexes and passages is checked as well."""
        with self._translated():
            found = [*self._examine_rows(), *self._examine_indexes(), *self._examine_archive()]
            return [*found, *self._examine_bytes(hash_of)] if hash_of else found

    def _examine_bytes(self, hash_of: Hash) -> Iterator[Finding]:
        try:
            self._indexes.check()
            yield Finding("checksums", True, "Every byte of the indexes is as it was written.")
        except IndexDamaged as damage:
            yield Finding("checksums", False, damage.message, "Rebuild the index.")
        rotten = self._registry.rotten(hash_of)
        lost = sorted({one.document for one in rotten if one.text is None})
        told = "Every passage is as it was added."
        if rotten:
            of = _first(sorted({one.document for one in rotten}))
            told = f"{len(rotten):,} passages are not as they were added, of documents {of}."
        if lost:
            told += f" Nothing tells what stood in {_first(lost)}: remove and add these again."
        mendable = len(rotten) > sum(one.text is None for one in rotten)
        yield Finding("passages", not rotten, told, "Put their text right." if mendable else "")
        unsound = self._registry.unsound()
        told = "Every row matches its checksum."
        if unsound:
            of = _first(sorted({id_ for one in unsound for id_ in one.documents}))
            held = ", ".join(sorted({one.table.name for one in unsound}))
            told = f"{len(unsound):,} rows of {held} have changed on the disk, of documents {of}."
        unknown = self._registry.without_checksum()
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
        mendable = [one for one in self._registry.rotten(hash_of) if one.text is not None]
        if mendable:
            self._registry.mend(mendable)
            self.rebuild()
            yield f"Put the text of {len(mendable):,} passages right."
            yield from self._mend_rows()  # with its text right, a row may lack one thing more
        written = self._registry.write_checksums()
        if written:
            yield f"Added checksums to {written:,} rows."

    def _mend_rows(self) -> Iterator[str]:
        unsound = self._registry.unsound()
        hashes = [one.key[1] for one in unsound if one.table is embeddings]
        mended = self._registry.mend_rows(unsound, self._indexes.stored_vectors(hashes))
        if mended:
            yield f"Mended {len(mended):,} rows that had changed on the disk."

    def repair(self, waiting: Waiting | None = None, hash_of: Hash | None = None) -> list[str]:
        """Mend what can be mended without a model; what was done comes back."""
        done = []
        unfinished = self._registry.staged()
        with self.writing(waiting):  # entering clears up after a writer that died
            left = unfinished - self._registry.staged()
            done += [f"Discarded {left:,} unfinished interpretations."] if left > 0 else []
            if self._registry.unused_vectors():
                self._registry.free_unused_vectors()
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
            told, repair = told_of(survey(self._folder)), "Save what can be read."
        yield Finding("database", whole, told, repair)
        wrong = self._registry.contradictions()
        told = "Every document agrees with its rows."
        if wrong:
            told = f"{len(wrong):,} documents disagree with their rows: {_first(wrong)}."
        yield Finding("documents", not wrong, told)
        staged = self._registry.staged()
        yield Finding(
            "unfinished",
            not staged,
            f"{staged:,} interpretations are not finished." if staged else "Nothing is unfinished.",
            "Discard them, unless another process is adding just now." if staged else "",
        )
        unused = self._registry.unused_vectors()
        # A writer that died leaves some, and its next run is quicker for them.
        told = f"{unused:,} vectors belong to no passage; `trivium compact` deletes them."
        yield Finding("unused", True, told if unused else "Every vector is in use.")

    def _examine_indexes(self) -> Iterator[Finding]:
        health = self.health()
        embedded = self._registry.embedded(self._registry.manifest().model)
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
        used = self._registry.originals()
        lost = {address for address, size in used.items() if not self._holds(address, size)}
        told = f"All {len(used):,} originals are in the archive."
        if lost:
            of = _first(self._registry.referring(lost))
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
