"""Reads RTF: paragraphs, headings by style or outline level, list items, tables, code pages.

Pictures, running heads and everything a reader does not see are skipped. Knows one pass over the
bytes and a stack of groups; no layout.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction
from trivium.extract.composer import Composer, describe
from trivium.extract.embedded import embedded_in_rtf
from trivium.extract.properties import real_authors
from trivium.ports import Blob, reads

MAX_GROUPS = 1_000  # nested braces; Word writes some ten

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,9})?[ ]?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])"
    rb"|([^\\{}\r\n]+)|[\r\n]+|\\"
)
_HEADING = re.compile(r"(?:heading|überschrift|titre) (\d)", re.IGNORECASE)


@reads("rtf/4", lambda blob: blob.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"))
def read_rtf(blob: Blob) -> Extraction:
    """Takes what begins as RTF does."""
    reader = _RtfReader(blob.name)
    reader.read(blob.data)
    info = reader.info
    return reader.out.finish(
        blob,
        titles=(info.get("title", ""), reader.out.first_heading),
        media_type="application/rtf",
        metadata=describe(
            {
                "authors": real_authors(info.get("author", "")),
                "subject": info.get("subject", ""),
                "keywords": re.split(r"[,;]\s*", info.get("keywords", "")),
            }
        ),
        enclosed=embedded_in_rtf(blob.data),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds until the closing brace."""

    destination: str = ""  # "": the text; "skip"; or the name of what is collected
    encoding: str = "cp1252"
    skip_after_unicode: int = 1
    hidden: bool = False


@dataclass(slots=True)
class _Paragraph:
    text: list[str] = field(default_factory=list)
    level: int = 0
    in_table: bool = False
    listed: bool = False


class _RtfReader:
    def __init__(self, name: str) -> None:
        self.out = Composer(name)
        self.info: dict[str, str] = {}
        self._name = name
        self._group = _Group()
        self._stack: list[_Group] = []
        self._paragraph = _Paragraph()
        self._bytes = bytearray()  # of one encoding, not yet decoded
        self._styles: dict[int, int] = {}  # style to heading level
        self._style = 0
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._default = "cp1252"
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._columns = 0  # of a row, as it was defined
        self._pending = 0  # characters that stand in for a Unicode one and are to be dropped
        self._collected: list[str] = []
        self._starred = self._begins = False  # of a group

    def read(self, data: bytes) -> None:
        position = 0
        while match := _TOKEN.match(data, position):
            position = match.end()
            word, number, code, symbol, brace, plain = match.groups()
            begins, self._begins = self._begins, brace == b"{"
            if word:
                name = word.decode("ascii")
                value = int(number) if number else None
                if name == "bin" and value:
                    position += max(value, 0)
                self._word(name, value)
            elif code:
                self._byte(bytes([int(code, 16)]))
            elif brace:
                self._brace(brace)
            elif symbol:
                self._starred = begins and symbol == b"*"  # elsewhere a star hides nothing
                self._symbol(symbol)
            elif plain:
                self._byte(plain)
        self._end_row()
        self._end_paragraph()
        self._end_table()

    def _brace(self, brace: bytes) -> None:
        self._decode()
        if brace == b"{":
            self._stack.append(self._group)
            if len(self._stack) > MAX_GROUPS:
                raise FileDamaged(f"{self._name} is nested more than {MAX_GROUPS} levels deep.")
        elif self._stack:
            ended, self._group = self._group.destination, self._stack.pop()
            if ended != self._group.destination or ended == "style":  # these lie in one another
                self._end_destination(ended)

    def _end_destination(self, name: str) -> None:
        text = "".join(self._collected).strip()
        if name in INFO:
            self.info.setdefault(name, text)
            self._collected = []
        elif name == "style":
            if match := _HEADING.match(text):
                self._styles[self._style] = int(match[1])
            self._collected = []
        elif name == "listtext":
            self._collected = []
            self._paragraph.listed = True
            marker = text.strip("\t •·o-")
            self._paragraph.text.append(f"{marker} " if marker else "")
        elif name == "footnote":
            self._paragraph.text.append("]")

    def _word(self, name: str, value: int | None) -> None:
        self._decode()
        starred, self._starred = self._starred, False
        group = self._group
        if name in SKIPPED or (starred and name not in READ_ANYWAY):
            self._group = replace(group, destination="fonts" if name == "fonttbl" else "skip")
        elif name in INFO or name == "listtext":
            self._group = replace(group, destination=name)
        elif name == "stylesheet":
            self._group = replace(group, destination="style")
        elif name == "footnote" and not group.destination:
            self._group = replace(group, destination="footnote")
            self._paragraph.text.append(" [")
        elif name == "info":
            self._group = replace(group, destination="skip")
        elif name == "u" and value is not None:
            self._write(chr(value % 65536))
            self._pending = group.skip_after_unicode
        elif name in SIGNS:
            self._write(SIGNS[name])
        elif not self._character_setting(name, value):
            self._paragraph_setting(name, value)

    def _character_setting(self, name: str, value: int | None) -> bool:
        if name == "uc":
            self._group = replace(self._group, skip_after_unicode=min(value or 0, 10))
        elif name == "ansicpg" and value:
            self._default = "utf-8" if value == 65001 else f"cp{value}"
            self._group = replace(self._group, encoding=self._default)
        elif name in ("f", "deff") and value is not None:
            self._font = value
            self._group = replace(self._group, encoding=self._fonts.get(value, self._default))
        elif name == "fcharset" and self._group.destination == "fonts":
            if value in CHARSETS and value:
                self._fonts[self._font] = CHARSETS[value]
        elif name in ("v", "deleted"):
            self._group = replace(self._group, hidden=value != 0)
        else:
            return False
        return True

    def _paragraph_setting(self, name: str, value: int | None) -> None:
        destination = self._group.destination
        if name == "s" and destination == "style":
            self._style = value or 0
            self._collected = []
        elif destination not in ("", "footnote"):
            return
        elif name in ("par", "sect", "page"):
            self._end_paragraph()
        elif name == "pard":
            self._paragraph = _Paragraph(self._paragraph.text, listed=self._paragraph.listed)
        elif name == "s":
            self._paragraph.level = self._styles.get(value or 0, 0)
        elif name == "outlinelevel" and value is not None and value < 9:
            self._paragraph.level = value + 1
        else:
            self._table_setting(name)

    def _table_setting(self, name: str) -> None:
        if name == "intbl":
            self._paragraph.in_table = True
        elif name == "trowd":
            self._end_row()
            self._columns = 0
        elif name == "cellx":
            self._columns += 1
        elif name in ("cell", "nestcell"):
            if name == "cell" and self._is_row_full():
                self._end_row()
            self._cells.append("".join(self._paragraph.text).strip())
            self._paragraph.text = []
        elif name in ("row", "nestrow"):
            self._end_row()
            self._paragraph.in_table = False

    def _symbol(self, symbol: bytes) -> None:
        self._decode()
        if symbol in b"\r\n":
            self._end_paragraph()
        elif symbol != b"*":
            self._write({b"~": " ", b"_": "‑", b"-": ""}.get(symbol, symbol.decode("latin-1")))

    def _byte(self, raw: bytes) -> None:
        if self._pending:
            dropped = min(self._pending, len(raw))
            self._pending -= dropped
            raw = raw[dropped:]
        self._bytes += raw

    def _decode(self) -> None:
        if self._bytes:
            try:
                text = self._bytes.decode(self._group.encoding, "replace")
            except LookupError:
                text = self._bytes.decode("cp1252", "replace")
            self._bytes.clear()
            self._write(text)

    def _write(self, text: str) -> None:
        group = self._group
        if group.destination in ("", "footnote"):
            if not group.hidden:
                self._paragraph.text.append(text)
        elif group.destination not in ("skip", "fonts"):
            self._collected.append(text)

    def _end_paragraph(self) -> None:
        self._decode()
        paragraph = self._paragraph
        if not paragraph.in_table and self._is_row_full():
            self._end_row()
        if paragraph.in_table or self._cells:
            paragraph.text.append(" ")
            return
        self._end_table()
        text = _joined(paragraph.text)
        if paragraph.level:
            self.out.heading(paragraph.level, text)
        else:
            self.out.add("list_item" if paragraph.listed else "paragraph", text)
        self._paragraph = _Paragraph(level=paragraph.level)

    def _is_row_full(self) -> bool:
        """All its cells are there, though nothing said that the row ends."""
        return 0 < self._columns <= len(self._cells)

    def _end_row(self) -> None:
        if self._cells:
            self._rows.append(self._cells)
            self._cells = []

    def _end_table(self) -> None:
        if self._rows:
            self.out.table([[_joined([cell]) for cell in row] for row in self._rows])
            self._rows = []


def _joined(parts: list[str]) -> str:
    """Halves of characters beyond the first plane come one by one."""
    text = "".join(parts)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()


SKIPPED = frozenset((
    "fonttbl", "colortbl", "pict", "object", "header", "headerl", "headerr", "headerf", "footer",
    "footerl", "footerr", "footerf", "xe", "tc", "nonshppict", "themedata", "datastore",
    "fldinst", "colorschememapping", "latentstyles", "listtable", "listoverridetable", "rsidtbl",
    "generator", "mmathPr", "xmlnstbl", "wgrffmtfilter", "filetbl", "revtbl", "private",
    "template", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "docvar", "pntext", "pntxta",
    "pntxtb", "bkmkstart", "bkmkend",
))  # fmt: skip
READ_ANYWAY = frozenset({"shptxt", "shpinst", "footnote", "shprslt", "title", "author"})
INFO = frozenset({"title", "author", "subject", "keywords"})
SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
}  # fmt: skip
CHARSETS = {
    0: "cp1252", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
