"""Pages of documents as pictures, with a passage marked: drawn in the sandbox, from the archive."""

from __future__ import annotations

from threading import Lock

from trivium.errors import FormatUnknown, PageNotFound
from trivium.extract.pdf.picture import FACTORY, NO_PAGE, Order
from trivium.extract.sandbox import Sandbox
from trivium.library.finding import Finding
from trivium.library.past import Past
from trivium.ports import Blob
from trivium.types import OWNER, Box, DocumentId, Where

_WORKERS = 1  # a page takes 50 ms; whoever leafs through them waits for the one before


class Picturing(Finding, Past):
    _painting: Sandbox | None = None
    _painting_lock = Lock()  # of making the sandbox

    def page(
        self,
        document: DocumentId,
        number: int,
        *,
        width: int = 1000,
        passage: int | None = None,
        within: Where = OWNER,
    ) -> bytes:
        """A page, counted from 1, as PNG; with the number of a passage, that is marked on it.
        Raises PageNotFound for what has no pages."""
        boxes: tuple[Box, ...] = ()
        if passage is not None:
            boxes = self.passage(document, passage, within=within)[0].chunk.place.boxes
        data = self.original(document, within)
        try:
            drawn = self._painters().read(Blob(Order(number, width, boxes).as_name(), data))
        except FormatUnknown:
            raise PageNotFound(
                "Only pages of PDF files and scans can be drawn.", fix="Its text can be read."
            ) from None
        if drawn.text == NO_PAGE or not drawn.enclosed:
            raise PageNotFound(
                f"The document has no page {number}.", fix="They are counted from 1."
            )
        return drawn.enclosed[0].data

    def _painters(self) -> Sandbox:
        s = self._settings
        with self._painting_lock:
            if self._painting is None:
                self._painting = Sandbox(
                    _WORKERS,
                    s.read_seconds,
                    s.read_memory,
                    max_bytes=s.read_max_bytes,
                    extractors=FACTORY,
                )
            return self._painting

    def _stop_painting(self) -> None:
        if self._painting is not None:
            self._painting.close()
