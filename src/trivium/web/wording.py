"""Display names of media types and fields, whose own names are for programs."""

from __future__ import annotations

import re

_TYPES = {
    "pdf": "PDF",
    "markdown": "Markdown",
    "text": "Text",
    "plain": "Text",
    "html": "Web page",
    "csv": "CSV",
    "json": "JSON",
    "epub+zip": "EPUB",
    "rtf": "RTF",
    "ipynb+json": "Notebook",
    "vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "msword": "Word 97",
    "vnd.ms-word": "Word 97",
    "vnd.ms-excel": "Excel 97",
    "vnd.ms-powerpoint": "PowerPoint 97",
    "vnd.ms-outlook": "Outlook mail",
    "vnd.oasis.opendocument.text": "OpenDocument text",
    "vnd.oasis.opendocument.spreadsheet": "OpenDocument sheet",
    "vnd.oasis.opendocument.presentation": "OpenDocument slides",
    "rfc822": "Mail",
    "mbox": "Mailbox",
    "png": "Picture (PNG)",
    "jpeg": "Picture (JPEG)",
    "tiff": "Picture (TIFF)",
    "gif": "Picture (GIF)",
    "webp": "Picture (WebP)",
    "heic": "Picture (HEIC)",
    "avif": "Picture (AVIF)",
    "bmp": "Picture (BMP)",
    "jp2": "Picture (JPEG 2000)",
    "calendar": "Calendar",
    "vcard": "Contacts",
    "vtt": "Subtitles",
    "subrip": "Subtitles",
    "rst": "reStructuredText",
    "asciidoc": "AsciiDoc",
    "org": "Org",
    "latex": "LaTeX",
    "fictionbook+xml": "FB2 book",
    "mobipocket-ebook": "MOBI book",
    "opml": "Outline (OPML)",
    "svg+xml": "Drawing (SVG)",
    "vnd.jgraph.mxfile": "Diagram (draw.io)",
    "vnd.ms-visio.drawing.main+xml": "Visio",
    "plist": "Property list",
    "vnd.sqlite3": "SQLite",
    "vnd.dbf": "dBASE",
    "vnd.apache.parquet": "Parquet",
    "vnd.apple.pages": "Pages",
    "vnd.apple.keynote": "Keynote",
    "vnd.apple.numbers": "Numbers",
    "bibtex": "BibTeX",
    "research-info-systems": "References (RIS)",
    "vnd.citationstyles.csl+json": "References (CSL)",
    "tab-separated-values": "TSV",
    "ndjson": "JSON lines",
    "xml": "XML",
    "rss+xml": "Feed",
    "atom+xml": "Feed",
    "vnd.ms-excel.sheet.binary.macroenabled.12": "Excel (binary)",
    "vnd.slack.channel+json": "Slack channel",
    "slack": "Slack",
    "github": "GitHub",
    "notion": "Notion",
    "linear": "Linear",
    "zotero": "Zotero",
    "source": "Code",
    "zip": "ZIP archive",
    "tar": "TAR archive",
    "gzip": "Compressed file",
    "bzip2": "Compressed file",
    "xz": "Compressed file",
}


def type_name(media_type: str) -> str:
    """The name of a media type, or of the short form that filters take."""
    kind = media_type.rpartition("/")[2].removeprefix("x-")
    return _TYPES.get(kind, kind)


_FACTS = {
    "title": "Title",
    "media_type": "Type",
    "language": "Language",
    "size": "Bytes",
    "content_hash": "Content hash",
    "fingerprint": "Read with",
    "chunks": "Passages",
}


def fact_name(field: str) -> str:
    """The display name of an interpretation's field; metadata keep their own names."""
    return _FACTS.get(field, field.removeprefix("metadata."))


_SLIP = re.compile(r"(No document has the \w+ `(.+)`\.) Did you mean `(.+)`\?")


def slip_of(note: str) -> tuple[str, str, str] | None:
    """Of a note about a mistyped filter: what it says, the value, and the one that was meant."""
    match = _SLIP.fullmatch(note)
    return (match[1], match[2], match[3]) if match else None
