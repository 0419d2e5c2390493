"""What can be wrong with the rows and originals of any library, looked at; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trivium.core.counting import counted
from trivium.core.errors import OriginalDamaged, OriginalMissing
from trivium.core.upkeep import Finding
from trivium.ports import Hash
from trivium.store.blobs import KeptOriginals
from trivium.store.sql.checks import Checks
from trivium.store.sql.models import SqlModels

# Bytes that another process has archived and not yet registered are younger than this.
SETTLED_SECONDS = 3600.0
_RESTORE = "`trivium restore '#{}' --original` reads a document again from its original."


@dataclass(eq=False)
class Examination:
    _checks: Checks
    _models: SqlModels
    _originals: KeptOriginals

    def rows(self) -> Iterator[Finding]:
        wrong = self._checks.contradictions()
        text = "Every document agrees with its rows."
        if wrong:
            text = f"Documents that disagree with their rows: {len(wrong):,} ({_first(wrong)})."
        yield Finding("documents", not wrong, text)
        staged = self._checks.staged()
        yield Finding(
            "unfinished",
            not staged,
            f"Unfinished interpretations: {staged:,}." if staged else "Nothing is unfinished.",
            "Discard them, unless another process is adding now." if staged else "",
        )
        unused = self._checks.unused_vectors()
        # A writer that died leaves some, and its next run is quicker for them.
        text = f"Vectors of no passage: {unused:,}; `trivium compact` deletes them."
        yield Finding("unused", True, text if unused else "Every vector is in use.")

    def indexes(self, health: Mapping[str, int]) -> Iterator[Finding]:
        embedded = self._models.embedded(self._models.manifest().model)
        anew = "Rebuild the indexes."
        for name, wanted in (("words", health["chunks"]), ("vectors", embedded)):
            ok = health[name] == wanted
            message = f"{health[name]:,} of {wanted:,} passages are in the index."
            yield Finding(name, ok, message, "" if ok else anew)
        complete = bool(health["vocabulary"]) or not health["chunks"]
        message = f"{health['vocabulary']:,} spellings in the vocabulary."
        yield Finding("vocabulary", complete, message, "" if complete else anew)
        lacking = health["chunks"] - embedded
        yield Finding(
            "embedded",
            not lacking,
            f"Passages without a vector, found by words and spelling only: {lacking:,}."
            if lacking
            else "Every passage has a vector.",
            "Embed them." if lacking else "",
        )

    def passages(self, hash_of: Hash) -> Iterator[Finding]:
        """Every byte of passages and rows."""
        rotten = self._checks.rotten(hash_of)
        lost = sorted({passage.document for passage in rotten if passage.text is None})
        text = "Every passage is intact."
        if rotten:
            of = _first(sorted({passage.document for passage in rotten}))
            text = f"Changed on disk: {counted(len(rotten), 'passage')}, in {of}."
        if lost:
            text += f" The text in {_first(lost)} is lost. {_RESTORE.format(lost[0])}"
        mendable = len(rotten) > sum(passage.text is None for passage in rotten)
        yield Finding("passages", not rotten, text, "Restore their text." if mendable else "")
        unsound = self._checks.unsound()
        text = "Every row matches its checksum."
        if unsound:
            of = _first(sorted({id_ for finding in unsound for id_ in finding.documents}))
            tables = ", ".join(sorted({finding.table.name for finding in unsound}))
            text = f"Changed on disk: {counted(len(unsound), 'row')} of {tables}, in {of}."
            if left := [
                id_ for finding in unsound if not finding.is_derived for id_ in finding.documents
            ]:
                text += f" What repairing leaves: {_RESTORE.format(left[0])}"
        unknown = self._checks.without_checksum()
        if unknown:
            text += f" Rows without a checksum: {unknown:,}; `trivium doctor --repair` adds them."
        mend = "Restore them from copies, or embed them again."
        yield Finding("rows", not unsound, text, mend if unsound else "")

    def archive(self, orphans: list[str]) -> Iterator[Finding]:
        used = self._checks.originals()
        lost = {address for address, size in used.items() if not self._holds(address, size)}
        text = f"All {len(used):,} originals are in the archive."
        if lost:
            of = _first(self._checks.referring(lost))
            text = f"{len(lost):,} originals are missing or damaged, in documents {of}."
            text += " Add their files again to put them back."
        yield Finding("originals", not lost, text)
        yield Finding(
            "archive",
            not orphans,
            f"{len(orphans):,} originals belong to no document."
            if orphans
            else "Every original belongs to a document.",
            "Delete them." if orphans else "",
        )

    def orphans(self) -> list[str]:
        """Originals that nothing refers to or is about to refer to."""
        stored = list(self._originals.blobs.addresses())  # first: what is put later is registered
        used = self._checks.originals()
        return [a for a, age in stored if a not in used and age > SETTLED_SECONDS]

    def _holds(self, address: str, size: int) -> bool:
        """By its length: to read every original would take minutes. Where that is another than the
        source said, its bytes tell, for a file may have grown between a look and its reading."""
        blobs = self._originals.blobs
        actual = blobs.size(address)
        if actual is None or actual == size:
            return actual is not None
        try:
            blobs.get(address)
        except (OriginalMissing, OriginalDamaged):
            return False
        return True


def _first(ids: list[int], most: int = 5) -> str:
    listed = ", ".join(f"#{i}" for i in ids[:most])
    return f"{listed} and {len(ids) - most:,} more" if len(ids) > most else listed
