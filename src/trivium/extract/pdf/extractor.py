"""The PDF extractor: from bytes to text with headings, paragraphs, tables, pages and boxes.

Reads the pages, one by one, as text or as images; `compose` does the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trivium.core.errors import FileDamaged, FileEmpty, FileTimeout, FileTooLarge
from trivium.core.types import Extraction
from trivium.extract.pdf.compose import PagesRead, compose
from trivium.extract.pdf.document import (
    MAX_PAGES,
    attachments,
    bookmarks,
    information,
    opened,
    opened_page,
)
from trivium.extract.pdf.marks import Page
from trivium.extract.pdf.running import drop_line_numbers
from trivium.extract.pdf.scans import (
    SCANNED,
    OcrMode,
    PageUnread,
    Recognise,
    covered,
    is_garbage,
    is_gibberish,
    needs_ocr,
    recognise_page,
)
from trivium.extract.pulse import still_working
from trivium.ports import Blob

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MEDIA_TYPE = "application/pdf"
HEAD = 1024  # bytes within which a PDF must say that it is one
MAX_WORDS = 4_000_000  # of one document: about 1 GB of memory


class PdfExtractor:
    """Reads PDF files; pages without usable text by `recognise`, when there is one."""

    def __init__(
        self,
        recognise: Recognise | None = None,
        *,
        ocr: OcrMode = "auto",
        dpi: int = 300,
        max_pages: int = MAX_PAGES,
    ) -> None:
        self._recognise = None if ocr == "off" else recognise
        self._ocr = ocr
        self._dpi = dpi
        self._max_pages = max_pages
        self.version = "pdf/11"
        if self._recognise is not None:
            self.version += f"+{ocr}:{self._recognise.name}@{dpi}"

    def accepts(self, blob: Blob) -> bool:
        return b"%PDF-" in blob.data[:HEAD]

    def extract(self, blob: Blob) -> Extraction:
        if not blob.data.strip():
            raise FileEmpty(f"{blob.name} is empty.")
        with opened(blob, max_pages=self._max_pages) as document:
            found = self._read(document, blob)
            marks, info = bookmarks(document), information(document)
            enclosed = attachments(document)
        return replace(compose(found, marks, info, blob, MEDIA_TYPE), enclosed=enclosed)

    def _read(self, document: PdfDocument, blob: Blob) -> PagesRead:
        found = PagesRead([], len(document))
        words = 0
        for index in range(found.count):
            still_working()
            try:
                page = self._page(document, index, found)
            except MemoryError:
                raise
            except Exception as fault:  # of ours: the other pages stay
                found.note(fault)
                found.failed += 1
                page = None
            if page is None:
                continue
            words += len(page.words)
            if words > MAX_WORDS:
                raise FileTooLarge(f"{blob.name} has more than {MAX_WORDS:,} words.")
            found.pages.append(page)
        drop_line_numbers(found.pages)
        if found.failed and not found.pages:
            raise RuntimeError(found.fault)
        if found.damaged == found.count:
            raise FileDamaged(f"{blob.name} has no readable page.")
        if found.given_up and not any(page.words for page in found.pages):
            raise FileTimeout(f"{blob.name} has pages that took too long to OCR.")
        if not any(page.words for page in found.pages):
            raise FileEmpty(f"{blob.name} has no text.", fix=self._advice(found))
        return found

    def _page(self, document: PdfDocument, index: int, found: PagesRead) -> Page | None:
        from trivium.extract.pdf.forms import fill_in
        from trivium.extract.pdf.glyphs import read_page

        with opened_page(document, index) as pair:
            if pair is None:
                found.damaged += 1
                return None
            page, text = pair
            read = read_page(page.raw, text.raw, index + 1)
            fill_in(document, page.raw, read)
            if self._ocr != "force" and not needs_ocr(read, page):
                return read
            if self._recognise is not None:
                try:
                    recognised = recognise_page(page, index + 1, self._recognise, self._dpi)
                except TimeoutError:
                    found.given_up += 1
                    return None
                except PageUnread as reason:
                    found.unread += 1
                    found.advice = found.advice or reason.advice
                    return None
                if self._ocr != "force" and is_gibberish(recognised.words):
                    return read  # a language that nobody knows, rather than a page on its head
                found.recognised += 1
                return recognised
            found.unread += 1
            if is_garbage(read.words) or (is_gibberish(read.words) and covered(page) > SCANNED):
                read.words = []
            return read

    def _advice(self, found: PagesRead) -> str:
        if not found.unread:
            return FileEmpty.fix
        if self._recognise is not None:
            return f"OCR found no readable text. {found.advice}".rstrip()
        reason = "OCR is off" if self._ocr == "off" else "no OCR program is installed"
        return f"The pages are images and {reason}: set `read.ocr` to auto."
