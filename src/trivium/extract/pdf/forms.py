"""Reads what people filled into the fields of a PDF form, as words at the fields' places: pdfium's
text of a page leaves them out. Knows nothing of buttons."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import pypdfium2.raw as pdfium

from trivium.extract.pdf.glyphs import Frame
from trivium.extract.pdf.marks import Page, Style, Word, dominant

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_FIELDS = 2_000  # of one page
MAX_VALUE = 100_000  # characters
USUAL = 10.0  # points, on a page without text
_READ = frozenset(
    {pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX}
)


def fill_in(document: PdfDocument, raw: Any, page: Page) -> None:
    """Add the values of the page's fields to its words, below what is printed there already."""
    if document.formenv is None or page.turn:
        return
    form, frame = document.formenv.raw, Frame(raw)
    size = dominant((word.style.size, len(word.text)) for word in page.words) or USUAL
    style = Style("", size, bold=False, italic=False)
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(raw), MAX_FIELDS)):
        field = pdfium.FPDFPage_GetAnnot(raw, index)
        if not field:
            continue
        try:
            value = _value(form, field)
            if value:
                page.words += _words(value, _box(field, frame), style)
        finally:
            pdfium.FPDFPage_CloseAnnot(field)


def _value(form: Any, field: Any) -> str:
    if pdfium.FPDFAnnot_GetSubtype(field) != pdfium.FPDF_ANNOT_WIDGET:
        return ""
    if pdfium.FPDFAnnot_GetFormFieldType(form, field) not in _READ:
        return ""
    size = pdfium.FPDFAnnot_GetFormFieldValue(form, field, None, 0)
    if not 2 < size <= 2 * MAX_VALUE:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    pdfium.FPDFAnnot_GetFormFieldValue(form, field, buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00")


def _box(field: Any, frame: Frame) -> tuple[float, float, float, float]:
    rect = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(field, rect)
    x0, y0 = frame.point(rect.left, rect.top)
    x1, y1 = frame.point(rect.right, rect.bottom)
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _words(value: str, box: tuple[float, float, float, float], style: Style) -> list[Word]:
    """A line of the field for each line of the value, its words side by side."""
    left, top, right, bottom = box
    lines = [line.split() for line in value.replace("\r", "\n").split("\n") if line.strip()]
    step = (bottom - top) / max(1, len(lines))
    words = []
    for number, line in enumerate(lines):
        base = top + step * number + min(step, (step + 0.7 * style.size) / 2)
        width = min(0.5 * style.size, (right - left) / max(1, len(" ".join(line))))
        at = left
        for text in line:
            end = at + width * len(text)
            words.append(
                Word(text, at, base - 0.8 * style.size, end, base + 0.2 * style.size, base, style)
            )
            at = end + width
    return words
