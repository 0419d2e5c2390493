"""Reads LaTeX sources: sections, paragraphs, lists, tables, listings and captions, with formulas as
they are typed. `latex` turns commands into characters. Knows nothing of macros that a text defines.
"""

from __future__ import annotations

import re

from trivium.core.types import Extraction
from trivium.extract.composer import Composer, describe
from trivium.extract.latex import readable
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob, reads

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?[ \t]*")
_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_LISTINGS = frozenset({"verbatim", "lstlisting", "minted", "alltt", "Verbatim"})
_TABLES = frozenset({"tabular", "tabular*", "tabularx", "longtable", "tabulary"})
_FORMULAS = frozenset(
    {"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math"}
)
_SILENT = frozenset({"tikzpicture", "thebibliography", "filecontents", "comment", "pgfpicture"})
# In order: an environment's ends, a heading, an item, a caption, a blank line.
_PIECE = re.compile(
    r"\\(?P<end>begin|end)\s*\{(?P<name>[^{}]*)\}"
    rf"|\\(?P<level>{'|'.join(_LEVELS)})\*?\s*(?:\[[^\]]*\]\s*)?(?=\{{)"
    r"|\\(?P<item>item|bibitem)\b\s*(?:\[(?P<label>[^\]]*)\])?"
    r"|\\(?P<caption>caption)\*?\s*(?:\[[^\]]*\]\s*)?(?=\{)"
    r"|(?P<blank>\n[ \t]*\n\s*|\\par\b)"
)
# Commands without words: with what is in their braces, or alone.
_DROPPED = re.compile(
    r"\\(?:label|vspace|hspace|includegraphics|input|include|bibliographystyle|bibliography|index"
    r"|pagestyle|thispagestyle|setlength|addtolength|usepackage|newcommand|renewcommand|graphicspath"
    r"|addbibresource|footnotemark|phantom|color|definecolor|hypersetup|setcounter|selectlanguage)"
    r"\*?\s*(?:\[[^\]]*\]\s*)*(?:\{[^{}]*\}\s*)*"
    r"|\\(?:maketitle|tableofcontents|centering|noindent|newpage|clearpage|hline|toprule|midrule"
    r"|bottomrule|small|large|Large|bfseries|itshape|appendix|printbibliography|raggedright)\b\*?"
)
_OPTIONS = re.compile(r"\s*\[[^\]]*\]")
_WITH_ARGUMENT = frozenset({"minipage", "wrapfigure", "multicols", "adjustbox", "thebibliography"})
_CITED = re.compile(r"\\(?:no)?cite[a-z]*\*?\s*(?:\[[^\]]*\]\s*)*\{([^{}]*)\}")
_REFERRED = re.compile(r"\\(?:auto|c|C|eq|page|name)?ref\*?\s*\{([^{}]*)\}")
_LINK = re.compile(r"\\href\s*\{[^{}]*\}\s*\{([^{}]*)\}")
_NOTE = re.compile(r"\\footnote\s*\{")
_LINE_BREAK = re.compile(r"\\\\(?:\[[^\]]*\])?")
_CELL = re.compile(r"(?<!\\)&")
_MATH_SIGN = re.compile(r"\\[\[\]()]")
_SPANNED = re.compile(r"\\multi(?:column|row)\s*\{[^{}]*\}\s*\{[^{}]*\}\s*")


def _is_latex(blob: Blob) -> bool:
    named = blob.suffix in (".tex", ".latex", ".ltx")
    return named and not binary_kind(blob.data)


@reads("latex/1", _is_latex)
def read_latex(blob: Blob) -> Extraction:
    """Takes texts named as LaTeX."""
    source = decode(blob)
    head, begin, body = source.partition(r"\begin{document}")
    head, body = (head, body) if begin else ("", source)
    out = Composer(blob.name)
    _Reader(out).read(body.partition(r"\end{document}")[0])
    fields = _uncommented(source)
    authors = [_plain(a) for a in re.split(r"\\and\b|\\\\", _argument(fields, "author"))]
    return out.finish(
        blob,
        titles=(_plain(_argument(fields, "title")), out.first_heading),
        media_type="application/x-latex",
        metadata=describe(
            {"authors": [a for a in authors if a], "date": _plain(_argument(fields, "date"))}
        ),
    )


class _Reader:
    """A body, piece by piece."""

    def __init__(self, out: Composer) -> None:
        self._out = out
        self._text: list[str] = []
        self._item = False
        self._above = 1  # levels that the text doesn't have

    def read(self, body: str) -> None:
        self._above = 0 if re.search(r"\\chapter\b", body) else 1
        for source, listing in _listings(body):
            if listing:
                self._flush()
                self._out.add("code", source)
            else:
                self._prose(_uncommented(source))
        self._flush()

    def _prose(self, source: str) -> None:
        at = 0
        while (piece := _PIECE.search(source, at)) is not None:
            self._text.append(source[at : piece.start()])
            at = piece.end()
            if piece["end"] == "begin":
                at = self._begin(source, piece["name"], at)
            elif piece["end"]:
                self._end(piece["name"])
            elif piece["level"] or piece["caption"]:
                words, at = _group(source, at)
                self._flush()
                if piece["level"]:
                    level = max(1, _LEVELS.index(piece["level"]) - self._above)
                    self._out.heading(level, _plain(words))
                else:
                    self._out.add("paragraph", _plain(words))
            else:
                self._flush()
                self._item = bool(piece["item"]) or (self._item and piece["blank"] is None)
                self._text.append(f"{piece['label']} " if piece["label"] else "")
        self._text.append(source[at:])

    def _begin(self, source: str, name: str, at: int) -> int:
        bare = name.rstrip("*")
        if bare in _FORMULAS:
            return at
        self._flush()
        if name in _TABLES or bare in _SILENT:
            end = source.find(f"\\end{{{name}}}", at)
            end = len(source) if end < 0 else end
            if name in _TABLES:
                self._table(source[at:end], name)
            return min(len(source), end + len(name) + 6)
        options = _OPTIONS.match(source, at)
        at = options.end() if options else at
        if bare in _WITH_ARGUMENT and source[at : at + 1] == "{":
            at = _group(source, at)[1]
        if name == "abstract":
            self._out.heading(1, "Abstract")
        return at

    def _end(self, name: str) -> None:
        if name.rstrip("*") in _FORMULAS:
            return
        self._flush()
        self._item = False
        if name in ("itemize", "enumerate", "description"):
            self._out.part()
        if name == "abstract":
            self._out.leave(1)

    def _table(self, source: str, name: str) -> None:
        for _ in range(2 if name in ("tabular*", "tabularx", "tabulary") else 1):
            source = re.sub(r"\A\s*\[[^\]]*\]", "", source)
            if source.lstrip().startswith("{"):
                _, at = _group(source, len(source) - len(source.lstrip()))
                source = source[at:]
        source = re.sub(r"\\c(?:mid|)(?:rule|line)\s*(?:\([^)]*\))?\{[^{}]*\}", "", source)
        lines = [_SPANNED.sub("", line) for line in _LINE_BREAK.split(source)]
        self._out.table([[_plain(cell) for cell in _CELL.split(line)] for line in lines])

    def _flush(self) -> None:
        text, self._text = _plain("".join(self._text)), []
        if text:
            self._out.add("list_item" if self._item else "paragraph", text)
            self._item = False


def _listings(body: str) -> list[tuple[str, bool]]:
    """The body in parts: source, and listings, in which nothing is a command."""
    names = "|".join(map(re.escape, sorted(_LISTINGS)))
    pattern = re.compile(rf"\\begin\{{({names})\}}[^\n]*\n(.*?)\\end\{{\1\}}", re.DOTALL)
    parts: list[tuple[str, bool]] = []
    at = 0
    for match in pattern.finditer(body):
        parts += [(body[at : match.start()], False), (match[2].rstrip(), True)]
        at = match.end()
    return [*parts, (body[at:], False)]


def _uncommented(source: str) -> str:
    return _COMMENT.sub(r"\1", source)


def _group(source: str, at: int) -> tuple[str, int]:
    """The text in the braces that open here, and where it goes on after them."""
    depth = 0
    for end in range(at, min(len(source), at + 20_000)):
        sign = source[end]
        if source[end - 1 : end] == "\\":
            continue
        depth += (sign == "{") - (sign == "}")
        if depth <= 0:
            return source[at + 1 : end], end + 1
    return source[at + 1 : at + 300], min(len(source), at + 300)


def _argument(source: str, command: str) -> str:
    match = re.search(rf"\\{command}\s*(?:\[[^\]]*\]\s*)?(?=\{{)", source)
    return _group(source, match.end())[0] if match else ""


def _plain(source: str) -> str:
    """The words as they would be printed."""
    text = _CITED.sub(r"[\1]", _LINK.sub(r"\1", source))
    text = _REFERRED.sub(r"\1", _NOTE.sub(" {", text))
    text = _MATH_SIGN.sub(" ", _LINE_BREAK.sub(" ", _DROPPED.sub(" ", text)))
    return readable(text)
