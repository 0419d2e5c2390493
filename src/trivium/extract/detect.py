"""Finds the extractor for a file by its bytes, then by its name, and runs it.

Knows formats only as a list of extractors: a new format is one more entry. Knows nothing of
sandboxes; call it inside one if you don't trust the file.
"""

from collections.abc import Sequence
from dataclasses import replace

from trivium.core.errors import FileEmpty, FileTooLarge, FormatUnknown
from trivium.core.types import Extraction
from trivium.extract.archives import SevenZipExtractor, TarExtractor, ZipExtractor
from trivium.extract.bibliography import BibtexExtractor, CslExtractor, RisExtractor
from trivium.extract.calendars import CalendarExtractor
from trivium.extract.code import CodeExtractor
from trivium.extract.databases import DatabaseExtractor
from trivium.extract.docx import DocxExtractor
from trivium.extract.email import MailboxExtractor, MailExtractor
from trivium.extract.epub import EpubExtractor
from trivium.extract.feeds import XmlExtractor
from trivium.extract.html import HtmlExtractor
from trivium.extract.iwork import IworkExtractor
from trivium.extract.latex_document import LatexExtractor
from trivium.extract.legacy import DocExtractor, XlsExtractor
from trivium.extract.markdown import MarkdownExtractor
from trivium.extract.markup import MarkupExtractor
from trivium.extract.mobi import MobiExtractor
from trivium.extract.msg import MsgExtractor, PstExtractor
from trivium.extract.notebook import NotebookExtractor
from trivium.extract.odf import OdfExtractor
from trivium.extract.ole import LockedOfficeExtractor
from trivium.extract.ppt import PptExtractor
from trivium.extract.pptx import PptxExtractor
from trivium.extract.rtf import RtfExtractor
from trivium.extract.slack import SlackChannelExtractor, SlackExportExtractor
from trivium.extract.sniff import ADVICE, binary_kind
from trivium.extract.structured import JsonExtractor
from trivium.extract.subtitles import SubtitleExtractor
from trivium.extract.tables import TableExtractor
from trivium.extract.text import TextExtractor
from trivium.extract.xlsx import XlsbExtractor, XlsxExtractor
from trivium.extract.xml_documents import PropertyListExtractor, VisioExtractor
from trivium.ports import Blob, Extractor

MAX_BYTES = 100 * 1024 * 1024  # of text: some 25 million tokens, 80,000 chunks

# The first that accepts a file reads it: specific formats first, plain text last.
BUILT_IN: tuple[Extractor, ...] = (
    DocxExtractor(),
    PptxExtractor(),
    XlsxExtractor(),
    XlsbExtractor(),
    OdfExtractor(),
    EpubExtractor(),
    VisioExtractor(),
    IworkExtractor(),
    SlackExportExtractor(),
    ZipExtractor(),
    TarExtractor(),
    SevenZipExtractor(),
    MsgExtractor(),
    PstExtractor(),
    DocExtractor(),
    XlsExtractor(),
    PptExtractor(),
    LockedOfficeExtractor(),
    DatabaseExtractor(),
    MobiExtractor(),
    PropertyListExtractor(),
    RtfExtractor(),
    SlackChannelExtractor(),
    NotebookExtractor(),
    CslExtractor(),
    JsonExtractor(),
    BibtexExtractor(),
    RisExtractor(),
    CalendarExtractor(),
    SubtitleExtractor(),
    MailboxExtractor(),
    MailExtractor(),
    HtmlExtractor(),
    XmlExtractor(),
    TableExtractor(),
    CodeExtractor(),
    LatexExtractor(),
    MarkupExtractor(),
    MarkdownExtractor(),
    TextExtractor(),
)


def choose(blob: Blob, extractors: Sequence[Extractor] = BUILT_IN) -> Extractor:
    """The first extractor that takes the file."""
    for extractor in extractors:
        if extractor.accepts(blob):
            return extractor
    kind = binary_kind(blob.data) or "in an unknown format"
    why = f"{blob.name} is {kind}, which Trivium can't read yet."
    raise FormatUnknown(why, fix=ADVICE.get(kind))


def read(
    blob: Blob, *, extractors: Sequence[Extractor] = BUILT_IN, max_bytes: int = MAX_BYTES
) -> Extraction:
    """The text and structure of a file. Raises ReadError with a reason a person understands."""
    size = len(blob.data)
    if size > max_bytes:
        raise too_many_bytes(blob.name, size, max_bytes)
    if not blob.data.strip():
        raise FileEmpty(f"{blob.name} is empty.")
    extractor = choose(blob, extractors)
    extraction = extractor.extract(blob)
    if not isinstance(extraction, Extraction):  # a plugin's word is not its deed
        raise TypeError(f"the extractor gave {type(extraction).__name__}")
    return replace(extraction, reader=reader_name(extractor))


def too_many_bytes(name: str, size: int, limit: int) -> FileTooLarge:
    return FileTooLarge(
        f"{name} has {size:,} bytes; the limit is {limit:,}.",
        fix="Split the file, or raise the setting `read.max_bytes`.",
    )


def reader_name(extractor: Extractor) -> str:
    """Names an extractor and its version: another name, and files are worth reading again."""
    return f"{type(extractor).__name__}-{extractor.version}"
