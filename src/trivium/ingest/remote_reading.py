"""Asks a service that reads pages before reading them here.

Around the sandbox and not within: the worker that opens hostile files has no key and no network.
Where the service fails, the file is read here, says so, and is read again when it is added again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trivium.core.errors import FormatUnknown, ModelError, ReadError
from trivium.core.types import Extraction
from trivium.extract.analysed import extraction_of
from trivium.extract.detect import reader_name
from trivium.extract.images import image_type
from trivium.models.docling import Docling
from trivium.models.document_intelligence import MOST_BYTES, DocumentIntelligence
from trivium.ports import Blob, Reader

READ_BY = "read_by"  # metadata: which service
NOT_READ_BY = "not_read_by"  # metadata: why it was read here
_TAKEN = frozenset({"image/png", "image/jpeg", "image/tiff"})


class RemotelyRead:
    """Takes the place of a service among the extractors, so that its version counts."""

    def __init__(self, model: str) -> None:
        self.version = f"remote/1:{model}"

    def accepts(self, blob: Blob) -> bool:
        return False

    def extract(self, blob: Blob) -> Extraction:
        """Never asked, for it accepts nothing: the service reads before the extractors do."""
        raise FormatUnknown(f"Trivium can't read {blob.name} here.")


class RemoteReading:
    """Reads PDF and pictures by the service, everything else as the reader it is given does."""

    def __init__(self, read: Reader, service: DocumentIntelligence | Docling) -> None:
        self._read = read
        self._service = service
        self._reader = reader_name(RemotelyRead(service.name))

    def __call__(self, blobs: Sequence[Blob]) -> list[Extraction | ReadError]:
        outcomes: list[Extraction | ReadError | None] = []
        reasons: dict[int, str] = {}
        for at, blob in enumerate(blobs):
            outcomes.append(None)
            if _is_taken(blob):
                try:
                    outcomes[at] = self._analysed(blob)
                except (ModelError, ReadError) as reason:
                    reasons[at] = str(reason)
        left = [at for at, outcome in enumerate(outcomes) if outcome is None]
        here = self._read([blobs[at] for at in left]) if left else []
        for at, outcome in zip(left, here, strict=True):
            outcomes[at] = self._fallen_back(outcome, reasons[at]) if at in reasons else outcome
        return [outcome for outcome in outcomes if outcome is not None]

    def _analysed(self, blob: Blob) -> Extraction:
        extraction = extraction_of(self._service.analyse(blob.data), blob)
        metadata = {**extraction.metadata, READ_BY: self._service.name}
        return replace(extraction, metadata=metadata, reader=self._reader)

    def _fallen_back(self, outcome: Extraction | ReadError, reason: str) -> Extraction | ReadError:
        if isinstance(outcome, ReadError):
            outcome.add_note(reason)
            return outcome
        # A reader that nobody knows is never current: added again, the file is read again.
        metadata = {**outcome.metadata, NOT_READ_BY: reason}
        return replace(outcome, metadata=metadata, reader=f"{outcome.reader}+fallback")


def _is_taken(blob: Blob) -> bool:
    named = b"%PDF-" in blob.data[:1024] or image_type(blob.data) in _TAKEN
    return named and len(blob.data) <= MOST_BYTES
