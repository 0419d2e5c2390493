"""Finds the extractor for a file by its bytes, then by its name, and runs it.

Knows formats only as a list of extractors: a new format is one more entry. Knows nothing of
sandboxes; call it inside one if you don't trust the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trivium.core.errors import FileEmpty, FileTooLarge, FormatUnknown
from trivium.core.types import Extraction
from trivium.extract.archives import read_seven_zip, read_tar, read_zip
from trivium.extract.bibliography import BibtexExtractor, CslExtractor, RisExtractor
from trivium.extract.calendars import read_calendar
from trivium.extract.code import read_code
from trivium.extract.databases import read_database
from trivium.extract.docx import read_docx
from trivium.extract.email import read_mail, read_mailbox
from trivium.extract.epub import read_epub
from trivium.extract.feeds import read_xml
from trivium.extract.html import read_html
from trivium.extract.iwork import read_iwork
from trivium.extract.latex_document import read_latex
from trivium.extract.legacy import read_doc, read_xls
from trivium.extract.markdown import read_markdown
from trivium.extract.markup import read_markup
from trivium.extract.mobi import read_mobi
from trivium.extract.msg import read_msg, read_pst
from trivium.extract.notebook import read_notebook
from trivium.extract.odf import read_odf
from trivium.extract.ole import read_locked_office
from trivium.extract.ppt import read_ppt
from trivium.extract.pptx import read_pptx
from trivium.extract.rtf import read_rtf
from trivium.extract.slack import read_slack_channel, read_slack_export
from trivium.extract.sniff import ADVICE, binary_kind
from trivium.extract.structured import read_json
from trivium.extract.subtitles import read_subtitle
from trivium.extract.tables import read_table
from trivium.extract.text import read_text
from trivium.extract.xlsx import read_xlsb, read_xlsx
from trivium.extract.xml_documents import read_property_list, read_visio
from trivium.ports import Blob, Extractor

MAX_BYTES = 100 * 1024 * 1024  # of text: some 25 million tokens, 80,000 chunks

# The first that accepts a file reads it: specific formats first, plain text last.
BUILT_IN: tuple[Extractor, ...] = (
    read_docx,
    read_pptx,
    read_xlsx,
    read_xlsb,
    read_odf,
    read_epub,
    read_visio,
    read_iwork,
    read_slack_export,
    read_zip,
    read_tar,
    read_seven_zip,
    read_msg,
    read_pst,
    read_doc,
    read_xls,
    read_ppt,
    read_locked_office,
    read_database,
    read_mobi,
    read_property_list,
    read_rtf,
    read_slack_channel,
    read_notebook,
    CslExtractor(),
    read_json,
    BibtexExtractor(),
    RisExtractor(),
    read_calendar,
    read_subtitle,
    read_mailbox,
    read_mail,
    read_html,
    read_xml,
    read_table,
    read_code,
    read_latex,
    read_markup,
    read_markdown,
    read_text,
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
        fix = "Add it again when there is something in it."
        raise FileEmpty(f"{blob.name} is empty.", fix=fix)
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
