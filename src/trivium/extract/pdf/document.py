"""Opens a PDF under limits and gives its pages one by one, with outline and properties. Knows
pdfium and its errors, nothing of a page's content."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from trivium.core.errors import FileDamaged, FileEmpty, FileLocked, FileTooLarge
from trivium.core.types import Enclosed
from trivium.extract.pdf.headings import Bookmark
from trivium.ports import Blob

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_PAGES = 5_000  # some 20 MB of text
MAX_BOOKMARKS = 5_000
MAX_ATTACHMENTS = 100
MAX_ATTACHED_BYTES = 100 * 1024 * 1024
_PASSWORD, _SECURITY = 4, 5  # pdfium's error codes
_pdfium = threading.RLock()  # the library keeps global state: one thread at a time


@contextmanager
def opened(blob: Blob, *, max_pages: int = MAX_PAGES) -> Iterator[PdfDocument]:
    """The document, closed afterwards. Raises ReadError when it cannot be read."""
    from pypdfium2 import PdfDocument, PdfiumError

    with _pdfium:
        try:
            document = PdfDocument(blob.data)
        except PdfiumError as error:
            code = getattr(error, "err_code", None)
            if code in (_PASSWORD, _SECURITY):
                raise FileLocked(f"{blob.name} is protected by a password.") from None
            raise FileDamaged(f"Couldn't read {blob.name}: the file is damaged.") from None
        document.init_forms()  # before any page: the values of fields belong to it
        try:
            count = len(document)
            if count == 0:
                raise FileEmpty(f"{blob.name} has no pages.")
            if count > max_pages:
                raise FileTooLarge(
                    f"{blob.name} has {count:,} pages; the limit is {max_pages:,}.",
                    fix="Split the file into parts.",
                )
            yield document
        finally:
            document.close()


@contextmanager
def opened_page(document: PdfDocument, index: int) -> Iterator[tuple[Any, Any] | None]:
    """A page and its text, both released afterwards: a large file must not pile them up. None
    when the page is damaged."""
    from pypdfium2 import PdfiumError

    try:
        page = document[index]
    except PdfiumError:
        yield None
        return
    try:
        text = page.get_textpage()
    except PdfiumError:
        page.close()
        yield None
        return
    try:
        yield page, text
    finally:
        text.close()
        page.close()


def bookmarks(document: PdfDocument) -> list[Bookmark]:
    """The file's outline, top entries first; empty when it has none or it is broken."""
    from pypdfium2 import PdfiumError

    marks: list[Bookmark] = []
    with suppress(PdfiumError, UnicodeDecodeError, ValueError):
        for mark in document.get_toc(max_depth=8):
            if len(marks) >= MAX_BOOKMARKS:
                break
            title = mark.get_title().strip()
            target = mark.get_dest()
            page = target.get_index() if target is not None else None
            if title:
                marks.append(Bookmark(title, mark.level + 1, 0 if page is None else page + 1))
    return marks


def attachments(document: PdfDocument) -> tuple[Enclosed, ...]:
    """The files inside the file, as many and as large as allowed."""
    from pypdfium2 import PdfiumError

    files: list[Enclosed] = []
    size = 0
    for index in range(min(document.count_attachments(), MAX_ATTACHMENTS)):
        with suppress(PdfiumError, UnicodeDecodeError, ValueError):
            attached = document.get_attachment(index)
            data = bytes(attached.get_data())
            size += len(data)
            if size > MAX_ATTACHED_BYTES:
                break
            if data:
                files.append(Enclosed(attached.get_name() or f"attachment {index + 1}", data))
    return tuple(files)


def information(document: PdfDocument) -> dict[str, str]:
    """Title, Author, CreationDate and the like, as the file declares them."""
    return {key: value.strip() for key, value in document.get_metadata_dict().items()}
