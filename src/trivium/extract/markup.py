"""Reads texts in light markup: reStructuredText, AsciiDoc and Org. One walk over the lines; each
format is a table of what its lines mean. Knows nothing of LaTeX (`latex_document`) or Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from trivium.core.types import Extraction
from trivium.extract.composer import Composer, describe
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob, reads

MAX_DEPTH = 20  # of boxes in boxes
MAX_NAMES = 4  # in the values of others
MAX_NAMED = 20_000  # characters more by one pass; a few names can be made to grow without end
_ITEM = re.compile(r"\s*(?:[-*+•]|[*.-]{1,5}|(?:\d+|[a-z]|#)[.)])\s+(?=\S)")
_RST_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_RST_DIRECTIVE = re.compile(r"(\s*)\.\. ([\w:-]+)::\s*(.*)$")
_RST_GRID = re.compile(r"\s*\+[-=+]{3,}\+\s*$")
_RST_COLUMNS = re.compile(r"\s*=+(?:\s+=+)+\s*$")
_RST_CODE = frozenset(
    {"code", "code-block", "sourcecode", "literalinclude", "math", "parsed-literal"}
)
_RST_SILENT = frozenset(
    {"toctree", "include", "image", "contents", "raw", "index", "highlight", "default-role", "role"}
    | {"currentmodule", "module", "automodule", "meta", "only", "tags", "replace"}
)
_ORG_HEADING = re.compile(
    r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#\w\]\s+)?(.*?)(?:\s+:[\w@:]+:)?\s*$"
)
_ORG_KEYWORD = re.compile(r"#\+(\w+):\s*(.*)$", re.IGNORECASE)
_ORG_BEGIN = re.compile(r"\s*#\+begin_(\w+)", re.IGNORECASE)
_ADOC_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?\s*$")
_ADOC_FENCE = re.compile(r"(-{4,}|\.{4,}|`{3,}|\+{4,}|/{4,})\s*\w*\s*$")
_ADOC_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):\s*(.*)$")
_ADOC_SILENT = re.compile(
    r"//(?!//)|\[[^\]]*\]\s*$|(?:image|include|toc|video|ifdef|endif|ifndef)::"
)
_ADOC_NAME = re.compile(r"\{([\w][\w-]*)\}")
_ADOC_BUILT_IN = {
    "sp": " ", "nbsp": " ", "empty": "", "blank": "", "zwsp": "", "apos": "'", "lsquo": "‘",
    "rsquo": "’", "ldquo": "“", "rdquo": "”", "deg": "°", "plus": "+", "amp": "&", "lt": "<",
    "gt": ">", "cpp": "C++", "asterisk": "*", "backtick": "`", "tilde": "~", "caret": "^",
    "vbar": "|", "startsb": "[", "endsb": "]", "brvbar": "¦",
}  # fmt: skip
_ORG_MACROS = re.compile(r"\{\{\{\w+\(([^{}]*)\)\}\}\}")  # of a key, a name: its words
_WORDS = r"(?<![\w{0}]){0}(?=\S)([^{0}\n]+?)(?<=\S){0}(?![\w{0}])"

# In order: what is replaced, and by what.
_INLINE: dict[str, list[tuple[re.Pattern[str], str]]] = {
    "rst": [
        (re.compile(r"``(.+?)``"), r"\1"),
        (re.compile(r":[\w:+-]+:`([^`<]*?)\s*(?:<[^`>]*>)?`"), r"\1"),
        (re.compile(r"`([^`<]+?)\s*<[^`>]*>`__?"), r"\1"),
        (re.compile(r"`([^`]+)`_{0,2}"), r"\1"),
        (re.compile(r"\*\*([^*\n]+)\*\*"), r"\1"),
        (re.compile(_WORDS.format(r"\*")), r"\1"),
        (re.compile(r"\|([^|\s][^|\n]*)\|_{0,2}"), r"\1"),
        (re.compile(r"(\[[\w#*-]+\])_"), r"\1"),
        (re.compile(r"(?<=\w)__?(?=\W|$)"), ""),
    ],
    "org": [
        (re.compile(r"\[\[[^\]]*\]\[([^\]]*)\]\]"), r"\1"),
        (re.compile(r"\[\[([^\]]*)\]\]"), r"\1"),
        *((re.compile(_WORDS.format(mark)), r"\1") for mark in (r"\*", "/", "=", "~", r"\+")),
    ],
    "adoc": [
        (re.compile(r"\[{2,3}[^\]\[]*\]{2,3}|anchor:[\w-]+\[[^\]]*\]"), ""),
        (re.compile(r"image:[^\s\[:][^\s\[]*\[([^\],]*)[^\]]*\]"), r"\1"),
        (re.compile(r"icon:[\w-]+\[[^\]]*\]"), ""),
        (re.compile(r"(?:kbd|btn|pass|footnote|stem|latexmath):(?:[\w-]*)\[([^\]]*)\]"), r"\1"),
        (re.compile(r"menu:([^\[\]]+)\[([^\]]+)\]"), r"\1 > \2"),
        (re.compile(r"(?:link:|xref:|mailto:)(\+\+)?([^\s\[]+?)(?:\+\+)?\[\]"), r"\2"),
        (
            re.compile(
                r"(?:link:|xref:|mailto:)?(?:https?://[^\s\[]+|[\w./#@%&;-]+)(?<=\S)"
                r"\[\"?([^\]\"^,]+)\"?\^?(?:,[^\]]*)?\]"
            ),
            r"\1",
        ),
        (re.compile(r"<<[^,>]*,\s*([^>]*)>>"), r"\1"),
        (re.compile(r"<<([^>]*)>>"), r"\1"),
        (re.compile(r"\*\*([^*\n]+)\*\*"), r"\1"),
        *((re.compile(_WORDS.format(mark)), r"\1") for mark in (r"\*", "_", "`", r"\+")),
        (re.compile(r"__([^_\n]+)__|``([^`\n]+)``"), r"\1\2"),
        (re.compile(r"\[[.\w%-]+\]#{1,2}([^#\n]+)#{1,2}"), r"\1"),
        (re.compile(r"(?<=\w)[~^]([^~^\s]+)[~^]"), r"\1"),
    ],
}
_SUFFIXES = {
    ".rst": "rst", ".rest": "rst", ".org": "org",
    ".adoc": "adoc", ".asciidoc": "adoc", ".asc": "adoc",
}  # fmt: skip
_MEDIA_TYPES = {"rst": "text/x-rst", "org": "text/org", "adoc": "text/asciidoc"}


@reads(
    "markup/2",
    lambda blob: blob.suffix in _SUFFIXES and not binary_kind(blob.data),
)
def read_markup(blob: Blob) -> Extraction:
    """Takes texts named as reStructuredText, AsciiDoc or Org."""
    form = _SUFFIXES[blob.suffix]
    out = Composer(blob.name)
    reader = _MarkupReader(out, form, decode(blob).expandtabs(8).split("\n"))
    reader.read()
    fields = reader.known
    return out.finish(
        blob,
        titles=(fields.get("title", ""), out.first_heading),
        media_type=_MEDIA_TYPES[form],
        metadata=describe({"authors": [fields.get("author", "")], "date": fields.get("date", "")}),
    )


class _MarkupReader:
    """A text's lines, from top to bottom."""

    def __init__(self, out: Composer, form: str, lines: list[str], depth: int = 0) -> None:
        self.known: dict[str, str] = {}
        self._out = out
        self._form = form
        self._depth = depth
        self._lines = lines
        self._at = 0
        self._inline = _INLINE[form]
        self._levels: list[str] = []  # reStructuredText: marks of headings in order
        self._rules: tuple[Callable[[], bool], ...] = {
            "rst": (self._rst_heading, self._rst_table, self._rst_directive),
            "org": (self._org_heading, self._org_block, self._org_table),
            "adoc": (self._adoc_heading, self._adoc_block, self._adoc_table),
        }[form]

    def read(self) -> None:
        while self._at < len(self._lines):
            if not self._lines[self._at].strip():
                self._out.part()
                self._at += 1
            elif not any(rule() for rule in self._rules):
                self._text()

    # --- for all ---------------------------------------------------------------------------------

    def _line(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""

    def _plain(self, text: str) -> str:
        if self._form == "adoc":  # the names that a text gives to addresses and words
            for _ in range(MAX_NAMES):
                named = _ADOC_NAME.sub(self._named, text)
                if named == text or len(named) > MAX_NAMED + len(text):
                    break
                text = named
            text = html.unescape(re.sub(r"(?<=\S) \+(?= |$)", "", text))  # a line's end
        elif self._form == "org":
            text = _ORG_MACROS.sub(r"\1", text)
        for pattern, replacement in self._inline:
            text = pattern.sub(replacement, text)
        return text.replace("\\", "")

    def _named(self, name: re.Match[str]) -> str:
        return self.known.get(name[1], _ADOC_BUILT_IN.get(name[1], name[0]))

    def _text(self) -> None:
        """A paragraph or an item, up to a blank line, another item, or a line of another kind."""
        first = self._line()
        item = _ITEM.match(first)
        lines = [first[item.end() :] if item else first]
        self._at += 1
        depth = len(first) - len(first.lstrip())
        # Only in Org an item may follow a paragraph's line: elsewhere "Version\n8. This" goes on.
        is_list = bool(item) or self._form == "org"
        while (line := self._line()).strip() and not self._begins(line):
            if is_list and _ITEM.match(line):
                break
            lines.append(line)
            self._at += 1
        is_code = lines[-1].rstrip().endswith("::") and self._form == "rst"
        text = self._plain(" ".join(line.strip() for line in lines))
        text = text[:-1] if is_code else text
        self._out.add("list_item" if item else "paragraph", "" if text == ":" else text)
        if is_code:
            self._out.add("code", self._indented(depth + 1))

    def _begins(self, line: str) -> bool:
        """Whether a line begins something else amid a paragraph."""
        if self._form == "adoc":
            begins = _ADOC_FENCE.match(line) or _ADOC_SILENT.match(line)
            is_box = line.strip() in ("+", "====", "****", "____", "--")
            return bool(begins) or line.startswith("|===") or is_box
        return line.startswith(".. ") if self._form == "rst" else line.startswith(("#+", "|"))

    def _inside(self, lines: list[str]) -> None:
        """What a note, a quote or a box holds."""
        if self._depth < MAX_DEPTH:
            _MarkupReader(self._out, self._form, lines, self._depth + 1).read()
        else:
            self._out.add("paragraph", "\n".join(lines))

    def _indented(self, least: int = 1) -> str:
        """The lines that follow indented by so much, without their common indentation."""
        lines: list[str] = []
        while self._at < len(self._lines):
            line = self._line()
            if line.strip() and not line.startswith(" " * least):
                break
            lines.append(line)
            self._at += 1
        depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        return "\n".join(line[depth:] for line in lines).strip("\n")

    def _until(self, is_end: Callable[[str], bool]) -> list[str]:
        """The lines up to one that ends them, which is used up too."""
        lines: list[str] = []
        while self._at < len(self._lines) and not is_end(self._line()):
            lines.append(self._line())
            self._at += 1
        self._at += 1
        return lines

    def _rows(self, is_row: Callable[[str], bool]) -> list[str]:
        lines: list[str] = []
        while self._at < len(self._lines) and is_row(self._line()):
            lines.append(self._line())
            self._at += 1
        return lines

    # --- reStructuredText ------------------------------------------------------------------------

    def _rst_heading(self) -> bool:
        over = _RST_RULE.match(self._line())
        at = 1 if over else 0
        under, text = _RST_RULE.match(self._line(at + 1)), self._line(at)
        if not under or not text.strip() or (over and over[1] != under[1]):
            if over and not self._line(1).strip():  # a line across
                self._at += 1
                return True
            return False
        if not over and (text.startswith(" ") or len(under[0].rstrip()) < len(text.rstrip()) - 2):
            return False
        mark = f"{'over' if over else ''}{under[1]}"
        if mark not in self._levels:
            self._levels.append(mark)
        self._out.heading(self._levels.index(mark) + 1, self._plain(text.strip()))
        self._at += at + 2
        return True

    def _rst_table(self) -> bool:
        if _RST_GRID.match(self._line()):
            rows = self._rst_grid()
        elif _RST_COLUMNS.match(self._line()):
            rows = self._rst_columns()
        else:
            return False
        self._out.table([[self._plain(cell) for cell in row] for row in rows])
        return True

    def _rst_grid(self) -> list[list[str]]:
        """Cells between bars; a row may take several lines."""
        rows: list[list[str]] = [[]]
        for line in self._rows(lambda line: line.lstrip()[:1] in ("+", "|")):
            if line.lstrip().startswith("+"):
                rows.append([])
                continue
            parts = [part.strip() for part in line.strip().strip("|").split("|")]
            if len(parts) == len(rows[-1]):
                parts = [f"{a} {b}".strip() for a, b in zip(rows[-1], parts, strict=True)]
                rows.pop()
            rows.append(parts)
        return [row for row in rows if row]

    def _rst_columns(self) -> list[list[str]]:
        """Cells below the rules of the first line."""
        starts = [match.start() for match in re.finditer(r"=+", self._line())]
        ends = [*starts[1:], None]
        self._at += 1
        rows: list[list[str]] = []
        while self._at < len(self._lines):
            line = self._line()
            self._at += 1
            if _RST_COLUMNS.match(line):
                if not self._line().strip():
                    break
            elif line.strip() and not set(line.strip()) <= {"-", " "}:
                cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
                if not cells[0] and rows:  # the row above goes on
                    rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
                else:
                    rows.append(cells)
        return rows

    def _rst_directive(self) -> bool:
        line = self._line()
        if field := re.match(r"( *):([\w -]+):(?:\s+(.*)|$)", line):
            self._at += 1
            more = (
                self._indented(len(field[1]) + 1).split("\n\n")[0] if self._line().strip() else ""
            )
            name, value = field[2], " ".join(f"{field[3] or ''} {more}".split())
            if name.lower() in ("author", "date"):
                self.known[name.lower()] = value
            else:
                self._out.add("paragraph", self._plain(f"{name}: {value}"))
            return True
        if not line.lstrip().startswith((".. ", "__ ")) and line.strip() != "..":
            return False
        match = _RST_DIRECTIVE.match(line)
        self._at += 1
        name, argument = (match[2], match[3]) if match else ("", "")
        body = self._indented()
        if match is None or name in _RST_SILENT:  # a comment, a target, a file somewhere else
            note = re.match(r"\s*\.\. (\[[\w#*-]+\])\s+(.*)", line)
            if note:
                self._out.add("paragraph", self._plain(f"{note[1]} {note[2]} {body}"))
            return True
        body = re.sub(r"\A(?:\s*:[\w-]+:.*\n?)+", "", body).strip("\n")
        if name in _RST_CODE:
            self._out.add("code", body)
        else:
            self._out.add("paragraph", self._plain(argument))
            self._inside(body.split("\n"))
        return True

    # --- Org -------------------------------------------------------------------------------------

    def _org_heading(self) -> bool:
        match = _ORG_HEADING.match(self._line())
        if match is None:
            return False
        self._out.heading(len(match[1]), self._plain(match[2]))
        self._at += 1
        return True

    def _org_block(self) -> bool:
        line = self._line()
        if begin := _ORG_BEGIN.match(line):
            self._at += 1
            end = f"#+end_{begin[1].lower()}"
            body = self._until(lambda line: line.strip().lower().startswith(end))
            if begin[1].lower() in ("src", "example", "export"):
                self._out.add("code", "\n".join(body))
            elif begin[1].lower() != "comment":
                self._inside(body)
            return True
        if keyword := _ORG_KEYWORD.match(line):
            self.known.setdefault(keyword[1].lower(), keyword[2])
            self._at += 1
            return True
        if re.match(r"\s*:[\w-]+:\s*$", line):
            self._at += 1
            self._until(lambda line: line.strip().upper() == ":END:")
            return True
        if line.startswith(("# ", "#+")) or re.match(r"\s*-{5,}\s*$", line):
            self._at += 1
            return True
        if re.match(r"\s*: ", line):
            rows = self._rows(lambda line: bool(re.match(r"\s*:( |$)", line)))
            self._out.add("code", "\n".join(row.strip()[2:] for row in rows))
            return True
        return False

    def _org_table(self) -> bool:
        if not self._line().lstrip().startswith("|"):
            return False
        lines = self._rows(lambda line: line.lstrip().startswith("|"))
        rows = [
            [self._plain(cell.strip()) for cell in line.strip().strip("|").split("|")]
            for line in lines
            if not re.fullmatch(r"\s*\|[-+|\s]*", line)
        ]
        self._out.table(rows)
        return True

    # --- AsciiDoc --------------------------------------------------------------------------------

    def _adoc_heading(self) -> bool:
        match = _ADOC_HEADING.match(self._line())
        if match is None:
            return False
        is_title = len(match[1]) == 1 and not self._out
        self._out.heading(len(match[1]), self._plain(match[2]))
        self._at += 1
        if is_title and re.match(r"[^\W\d].*(<[^>]+@[^>]+>)?$", self._line()):
            line = self._line()
            if "<" in line and "@" in line:
                self.known["author"] = line.split("<")[0].strip()
                self._at += 1
                if re.match(r"v?\d", self._line()):
                    self._at += 1
        return True

    def _adoc_block(self) -> bool:
        line = self._line()
        if fence := _ADOC_FENCE.match(line):
            self._at += 1
            mark = fence[1]
            body = self._until(lambda line: line.strip() == mark)
            if not mark.startswith("/"):
                self._out.add("code", "\n".join(body))
            return True
        if attribute := _ADOC_ATTRIBUTE.match(line):
            value = attribute[2]
            self._at += 1
            while value.endswith(" \\"):
                value = f"{value[:-1].rstrip()} {self._line().strip()}"
                self._at += 1
            self.known.setdefault({"revdate": "date"}.get(attribute[1], attribute[1]), value)
            return True
        if re.match(r" +\S", line) and not _ITEM.match(line):  # a literal paragraph
            rows = self._rows(lambda line: bool(line.strip()))
            self._out.add("code", "\n".join(row[1:] for row in rows))
            return True
        boxes = ("+", "'''", "<<<", "====", "****", "____", "--")
        if _ADOC_SILENT.match(line) or line.strip() in boxes:
            self._at += 1
            return True
        if re.match(r"\.[A-Z]", line):  # a caption
            self._out.add("paragraph", self._plain(line[1:]))
            self._at += 1
            return True
        return False

    def _adoc_table(self) -> bool:
        if not re.match(r"[|,:!]={3,}\s*$", self._line()):
            return False
        mark = self._line().strip()
        self._at += 1
        body = self._until(lambda line: line.strip() == mark)
        lines = [line for line in body if line.strip()]
        width = max((line.count("|") for line in lines[:1]), default=0)
        cells: list[str] = []
        for line in lines:
            head, *parts = re.split(r"(?:^|\s)(?:\d*(?:\.\d+)?[+*]?[<^>]?[a-z]?)\|", line)
            if head.strip() and cells:
                cells[-1] = f"{cells[-1]} {head.strip()}"
            cells += [part.strip() for part in parts]
        width = width or 1
        rows = [cells[at : at + width] for at in range(0, len(cells), width)]
        self._out.table([[self._plain(cell) for cell in row] for row in rows])
        return True
