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
        self.version = "pdf/13"
        if self._recognise is not None:
            self.version += f"+{ocr}:{self._recognise.name}@{dpi}"

    def accepts(self, blob: Blob) -> bool:
        return b"%PDF-" in blob.data[:HEAD]

    def extract(self, blob: Blob) -> Extraction:
        if not blob.data.strip():
            raise FileEmpty(f"{blob.name} is empty.")
        with opened(blob, max_pages=self._max_pages) as document:
            pages_read = self._read(document, blob)
            marks, info = bookmarks(document), information(document)
            enclosed = attachments(document)
        return replace(compose(pages_read, marks, info, blob, MEDIA_TYPE), enclosed=enclosed)

    def _read(self, document: PdfDocument, blob: Blob) -> PagesRead:
        pages_read = PagesRead([], len(document))
        words = 0
        for index in range(pages_read.count):
            still_working()
            try:
                page = self._page(document, index, pages_read)
            except MemoryError:
                raise
            except Exception as fault:  # of ours: the other pages stay
                pages_read.note(fault)
                pages_read.failed += 1
                page = None
            if page is None:
                continue
            words += len(page.words)
            if words > MAX_WORDS:
                raise FileTooLarge(f"{blob.name} has more than {MAX_WORDS:,} words.")
            pages_read.pages.append(page)
        drop_line_numbers(pages_read.pages)
        if pages_read.failed and not pages_read.pages:
            raise RuntimeError(pages_read.fault)
        if pages_read.damaged == pages_read.count:
            raise FileDamaged(f"{blob.name} has no readable page.")
        if pages_read.given_up and not any(page.words for page in pages_read.pages):
            raise FileTimeout(f"{blob.name} has pages that took too long to OCR.")
        if not any(page.words for page in pages_read.pages):
            raise FileEmpty(f"{blob.name} has no text.", fix=self._advice(pages_read))
        return pages_read

    def _page(self, document: PdfDocument, index: int, pages_read: PagesRead) -> Page | None:
        from trivium.extract.pdf.forms import fill_in
        from trivium.extract.pdf.glyphs import read_page

        with opened_page(document, index) as pair:
            if pair is None:
                pages_read.damaged += 1
                return None
            page, text = pair
            as_text = read_page(page.raw, text.raw, index + 1)
            fill_in(document, page.raw, as_text)
            if self._ocr != "force" and not needs_ocr(as_text, page):
                return as_text
            if self._recognise is not None:
                try:
                    recognised = recognise_page(page, index + 1, self._recognise, self._dpi)
                except TimeoutError:
                    pages_read.given_up += 1
                    return None
                except PageUnread as reason:
                    pages_read.unread += 1
                    pages_read.advice = pages_read.advice or reason.advice
                    return None
                if self._ocr != "force" and is_gibberish(recognised.words):
                    return as_text  # a language that nobody knows, rather than a page on its head
                pages_read.recognised += 1
                return recognised
            pages_read.unread += 1
            if is_garbage(as_text.words) or (
                is_gibberish(as_text.words) and covered(page) > SCANNED
            ):
                as_text.words = []
            return as_text

    def _advice(self, pages_read: PagesRead) -> str:
        if not pages_read.unread:
            return FileEmpty.fix
        if self._recognise is not None:
            return f"OCR found no readable text. {pages_read.advice}".rstrip()
        reason = "OCR is off" if self._ocr == "off" else "no OCR program is installed"
        return f"The pages are images and {reason}: set `read.ocr` to auto."
