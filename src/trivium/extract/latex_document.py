"""Reads LaTeX sources: sections, paragraphs, lists, tables, listings and captions, with formulas as
they are typed. `latex` turns commands into characters, `latex_macros` writes out those that a text
defines. Knows nothing of files that a text includes."""

from __future__ import annotations

import re

from trivium.core.types import Extraction
from trivium.extract.composer import Composer, describe
from trivium.extract.latex import readable
from trivium.extract.latex_macros import expanded, group
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
_SILENT = frozenset({"tikzpicture", "filecontents", "comment", "pgfpicture", "CCSXML"})
# In order: an environment's ends, a heading, an item, a caption, a blank line.
_PIECE = re.compile(
    r"\\(?P<end>begin|end)\s*\{(?P<name>[^{}]*)\}"
    rf"|\\(?P<level>{'|'.join(_LEVELS)})\*?\s*(?:\[[^\]]*\]\s*)?(?=\{{)"
    r"|\\(?P<item>item)\b\s*(?:\[(?P<label>(?:[^\[\]{}]|\{[^{}]*\})*)\])?"
    r"|\\(?P<caption>caption)\*?\s*(?:\[[^\]]*\]\s*)?(?=\{)"
    r"|(?P<blank>\n[ \t]*\n\s*|\\par\b)"
)
# Commands without words: with what is in their braces, or alone.
_DROPPED = re.compile(
    r"\\(?:label|vspace|hspace|includegraphics|input|include|bibliographystyle|bibliography|index"
    r"|pagestyle|thispagestyle|setlength|addtolength|usepackage|newcommand|renewcommand|graphicspath"
    r"|addbibresource|footnotemark|phantom|color|definecolor|hypersetup|setcounter|selectlanguage"
    r"|rule|hypertarget|pdfbookmark|enlargethispage|fontsize|linewidth|columnwidth|addcontentsline"
    r"|thanks|affil|email|orcid|newtheorem|numberwithin|captionsetup|counterwithin|newcolumntype"
    r"|rowcolor|cellcolor|arrayrulecolor|renewcommand|vskip|markboth|renewenvironment|newenvironment)"
    r"\*?\s*(?:\[[^\]]*\]\s*)*(?:\{[^{}]*\}\s*)*"
    r"|\\(?:maketitle|tableofcontents|centering|noindent|newpage|clearpage|hline|toprule|midrule"
    r"|bottomrule|small|large|Large|bfseries|itshape|appendix|printbibliography|raggedright)\b\*?"
)
_BIBLIOGRAPHY_ITEM = re.compile(
    r"\\bibitem\s*(?:\[(?:[^\[\]{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\])?\s*\{[^{}]*\}"
)
_VERBATIM = re.compile(r"\\(?:verb\*?|lstinline\s*(?:\[[^\]]*\])?)([^\sA-Za-z*{])(.*?)\1")
_OPTIONS = re.compile(r"\s*\[[^\]]*\]")
_WITH_ARGUMENT = frozenset({"minipage", "wrapfigure", "multicols", "adjustbox", "thebibliography"})
_CITED = re.compile(r"\\(?:no)?cite[a-z]*\*?\s*(?:\[[^\]]*\]\s*)*\{([^{}]*)\}")
_REFERRED = re.compile(r"\\(?:auto|c|C|eq|page|name)?ref\*?\s*\{([^{}]*)\}")
_LINK = re.compile(r"\\href\s*\{[^{}]*\}\s*\{([^{}]*)\}")
_NOTE = re.compile(r"\\footnote\s*\{")
_LINE_BREAK = re.compile(r"\\\\(?:\[[^\]]*\])?")
_CELL = re.compile(r"(?<!\\)&")
_MATH_SIGN = re.compile(r"\\[\[\]()]")
_SPANNED = re.compile(
    r"\\multi(?P<kind>column|row)\s*(?:\[[^\]]*\]\s*)?\{\s*(?P<count>\d{0,4})[^{}]*\}\s*(?:\[[^\]]*\]\s*)?"
    r"(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\*)\s*(?:\[[^\]]*\]\s*)?(?=\{)"
)
_NESTED_TABLE = re.compile(
    r"\\begin\s*\{(tabular[xy*]?)\}\s*(?:\[[^\]]*\]\s*)?(?:\{(?:[^{}]|\{[^{}]*\})*\})?"
    r"((?:(?!\\begin).)*?)"
    r"\\end\s*\{\1\}",
    re.DOTALL,
)


def _is_latex(blob: Blob) -> bool:
    named = blob.suffix in (".tex", ".latex", ".ltx")
    return named and not binary_kind(blob.data)


@reads("latex/2", _is_latex)
def read_latex(blob: Blob) -> Extraction:
    """Takes texts named as LaTeX."""
    source = expanded(_uncommented_outside(decode(blob)))
    head, begin, body = source.partition(r"\begin{document}")
    head, body = (head, body) if begin else ("", source)
    out = Composer(blob.name)
    _LatexReader(out).read(body.partition(r"\end{document}")[0])
    fields = _uncommented(source)
    return out.finish(
        blob,
        titles=(_plain(_argument(fields, "title")), out.first_heading),
        media_type="application/x-latex",
        metadata=describe({"authors": _authors(fields), "date": _plain(_argument(fields, "date"))}),
    )


class _LatexReader:
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
                words, at = group(source, at)
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
            end = _end_of(source, name, at)
            if name in _TABLES:
                self._table(source[at:end], name)
            return min(len(source), end + len(name) + 6)
        options = _OPTIONS.match(source, at)
        at = options.end() if options else at
        if bare in _WITH_ARGUMENT and source[at : at + 1] == "{":
            at = group(source, at)[1]
        if name == "abstract":
            self._out.heading(1, "Abstract")
        if name == "thebibliography":
            self._out.heading(1, "References")
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
                _, at = group(source, len(source) - len(source.lstrip()))
                source = source[at:]
        source = re.sub(r"\\c(?:mid|)(?:rule|line)\s*(?:\([^)]*\))?\{[^{}]*\}", "", source)
        inner = None
        while inner != source:
            inner, source = source, _NESTED_TABLE.sub(_as_words, source)
        lines = [_SPANNED.sub("", _spread(line)) for line in _split(source, _LINE_BREAK)]
        self._out.table([[_plain(cell) for cell in _split(line, _CELL)] for line in lines])

    def _flush(self) -> None:
        text, self._text = _plain("".join(self._text)), []
        if text:
            self._out.add("list_item" if self._item else "paragraph", text)
            self._item = False


def _listings(body: str, *, whole: bool = False) -> list[tuple[str, bool]]:
    """The body in parts: source, and listings, in which nothing is a command; with `whole` between
    the commands that begin and end them."""
    names = "|".join(map(re.escape, sorted(_LISTINGS)))
    pattern = re.compile(rf"\\begin\{{({names})\}}[^\n]*\n(.*?)\\end\{{\1\}}", re.DOTALL)
    parts: list[tuple[str, bool]] = []
    at = 0
    for match in pattern.finditer(body):
        parts += [
            (body[at : match.start()], False),
            (match[0] if whole else match[2].rstrip(), True),
        ]
        at = match.end()
    return [*parts, (body[at:], False)]


def _uncommented(source: str) -> str:
    return _COMMENT.sub(r"\1", source)


def _uncommented_outside(source: str) -> str:
    """The source without comments, but with its listings as they are."""
    source = _BIBLIOGRAPHY_ITEM.sub(r"\\item ", source)
    return "".join(
        part if listing else _uncommented(_VERBATIM.sub(_quoted, part))
        for part, listing in _listings(source, whole=True)
    )


def _end_of(source: str, name: str, at: int) -> int:
    """Where the environment that began before ends; others of its name may be inside."""
    depth = 1
    for match in re.compile(rf"\\(begin|end)\s*\{{{re.escape(name)}\}}").finditer(source, at):
        depth += 1 if match[1] == "begin" else -1
        if not depth:
            return match.start()
    return len(source)


def _split(source: str, mark: re.Pattern[str]) -> list[str]:
    """The parts between marks that are not in braces."""
    parts, start, depth, at = [], 0, 0, 0
    for match in mark.finditer(source):
        passed = re.sub(r"\\.", "", source[at : match.start()], flags=re.DOTALL)
        depth += passed.count("{") - passed.count("}")
        at = match.end()
        if depth <= 0:
            parts.append(source[start : match.start()])
            start = match.end()
    return [*parts, source[start:]]


def _spread(line: str) -> str:
    """A row in which a cell over three columns is followed by two empty ones."""
    parts = []
    for cell in _split(line, _CELL):
        spanned = _SPANNED.search(cell)
        count = int(spanned["count"] or 1) if spanned and spanned["kind"] == "column" else 1
        parts.append(cell + "&" * min(max(count - 1, 0), 50))
    return "&".join(parts)


def _as_words(table: re.Match[str]) -> str:
    """A table in a cell: its words."""
    return _CELL.sub(" ", _LINE_BREAK.sub(" ", re.sub(r"\\hline\b", " ", table[2])))


def _quoted(verbatim: re.Match[str]) -> str:
    """Code amid a text, with its signs made harmless."""
    signs = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(
        signs.get(sign, f"\\{sign}" if sign in "#$%&_{}" else sign) for sign in verbatim[2]
    )


def _authors(source: str) -> list[str]:
    """The names, without where each works: that is on the lines below."""
    blocks = re.findall(r"\\IEEEauthorblockN\s*\{([^{}]*)\}", source)
    if not blocks:
        blocks = re.split(r"\\(?:and|And|AND|quad|qquad)\b", _argument(source, "author"))
        blocks = [next(filter(str.strip, _LINE_BREAK.split(block)), "") for block in blocks]
    names = []
    for block in blocks:
        words = re.sub(
            r"\$?\^\{?[^{}$]*\}?\$?|\\(?:textsuperscript|inst|thanks)\s*\{[^{}]*\}", "", block
        )
        names += [_plain(name) for name in re.split(r",|\band\b|\\and\b", words)]
    return [name for name in names if name and "@" not in name]


def _argument(source: str, command: str) -> str:
    match = re.search(rf"\\{command}\s*(?:\[[^\]]*\]\s*)?(?=\{{)", source)
    return group(source, match.end())[0] if match else ""


def _plain(source: str) -> str:
    """The words as they would be printed."""
    text = _CITED.sub(r"[\1]", _LINK.sub(r"\1", source))
    text = _REFERRED.sub(r"\1", _NOTE.sub(" {", text))
    text = _CELL.sub(" ", text)
    text = _MATH_SIGN.sub(" ", _LINE_BREAK.sub(" ", _DROPPED.sub(" ", text)))
    return readable(text)
