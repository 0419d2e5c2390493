"""Reads Markdown into the text a person sees, with headings, lists, quotes, tables and code.

Removes markup and keeps structure as elements. Knows nothing of chunks; `frontmatter` reads the
YAML block at the top.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING

from trivium.core.errors import FileEmpty
from trivium.core.types import Extraction
from trivium.extract.composer import Composer
from trivium.extract.frontmatter import parse_front_matter, split_front_matter
from trivium.extract.html_tree import TreeReader, parse_html
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob, reads

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"})
# The parser drops what is nested deeper; its own default of 20 loses quotes in long mail threads.
MAX_NESTING = 100
# Brackets in one paragraph that may begin a link. The parser looks for the end of each through all
# that follow: 10,000 took 16 s, 500 take .13. A paragraph with more is plain text.
MOST_BRACKETS = 500
MOST_LINES = 2  # of a heading that is underlined

_HEADING_LINE = re.compile(r"(?:\A|\n\n)#{1,6} [^\n]+(?=\n\n)")
_INVISIBLE = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.S | re.I)
# No tag goes over the next one's beginning: 100,000 without an end took 30 s to look for theirs.
_LINE_TAG = re.compile(r"<(?:br|/?p|/?div|/?li|/?tr|/?h[1-6])\b[^<>]*>", re.I)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.I)


# A blank line ends a block of HTML, also amid a table. Fenced code comes first: it stays as it is.
_TABLE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)|<table\b.*?</table\s*>", re.S | re.M | re.I)


def _is_markdown(blob: Blob) -> bool:
    suffix = blob.suffix
    if suffix:
        return suffix in SUFFIXES and not binary_kind(blob.data)
    return not binary_kind(blob.data) and _looks_like_markdown(blob)


@reads("markdown/5", _is_markdown)
def read_markdown(blob: Blob) -> Extraction:
    """Takes files named as Markdown, and nameless texts that clearly are."""
    source = decode(blob)
    block, body = split_front_matter(source)
    metadata = parse_front_matter(block) if block else {}
    reader = _MarkdownReader(blob.name)
    if metadata is None:  # no YAML after all: then it is something to read
        reader.out.add("paragraph", block)
        metadata = {}
    reader.read(_parser().parse(_TABLE.sub(_without_blank_lines, body)))
    # A file of nothing but front matter still has something to find.
    if not reader.out and metadata:
        reader.out.add("paragraph", block)
    return reader.out.finish(
        blob,
        titles=(str(metadata.get("title", "")), reader.first_title),
        media_type="text/markdown",
        language=str(metadata.get("lang", metadata.get("language", ""))),
        metadata=metadata,
    )


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.core.ruler.at("inline", _inline)
    return parser.enable(["table", "strikethrough"])


def _inline(state: StateCore) -> None:
    """The parser's own step, but for paragraphs that would take it too long."""
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if token.content.count("[") > MOST_BRACKETS:
            plain = token.content.replace("\n", " ")
            token.children.append(Token("text", "", 0, content=plain))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


class _MarkdownReader:
    """Walks the parser's tokens once and passes on what a person reads."""

    def __init__(self, name: str) -> None:
        self.out = Composer(name)
        self.first_title = ""
        self._lists = 0  # how many lists and quotes are open here
        self._quotes = 0
        self._marker = ""  # number of the ordered item whose text comes next

    def read(self, tokens: list[Token]) -> None:
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                position = self._table(tokens, position)
            elif (
                token.type == "heading_open"
                and token.level == 0
                and _is_short(tokens[position + 1])
            ):
                self._heading(int(token.tag[1]), visible_text(tokens[position + 1]))
                position += 2
            elif token.type == "inline":
                self._block(visible_text(token))
            elif token.type in ("fence", "code_block"):
                self.out.add("code", token.content)
            elif token.type == "html_block" and "<table" in token.content.lower():
                self._page(token.content)
            elif token.type == "html_block":
                self._block(_strip_html(token.content))
            else:
                self._nest(token)
            position += 1

    def _page(self, source: str) -> None:
        """A table written as HTML keeps its rows and cells."""
        root = parse_html(source)
        if root is not None:
            TreeReader(self.out).read(root)

    def _nest(self, token: Token) -> None:
        if token.type in ("bullet_list_open", "ordered_list_open") and not self._lists:
            self.out.part()
        if token.type.endswith("_list_open") or token.type.endswith("_list_close"):
            self._lists += token.nesting
        elif token.type in ("blockquote_open", "blockquote_close"):
            self._quotes += token.nesting
        elif token.type == "list_item_open":
            self._marker = f"{token.info}{token.markup} " if token.info else ""

    def _block(self, text: str) -> None:
        if self._lists:
            self.out.add("list_item", f"{self._marker}{text}" if text else "")
            self._marker = ""
        else:
            self.out.add("quote" if self._quotes else "paragraph", text)

    def _heading(self, level: int, text: str) -> None:
        self.out.heading(level, text)
        if level == 1 and not self.first_title:
            self.first_title = " ".join(text.split())

    def _table(self, tokens: list[Token], position: int) -> int:
        """Adds the table that opens here; returns the position of its end."""
        rows: list[list[str]] = []
        while tokens[position].type != "table_close":
            if tokens[position].type == "tr_open":
                rows.append([])
            elif tokens[position].type == "inline":
                rows[-1].append(visible_text(tokens[position]))
            position += 1
        self.out.table(rows, has_header=True)
        return position


def _without_blank_lines(table: re.Match[str]) -> str:
    return table[0] if table[1] else re.sub(r"\n\s*\n", "\n", table[0])


def visible_text(inline: Token) -> str:
    """The readable part of an inline token: link texts, image descriptions, no markup."""
    parts: list[str] = []
    for child in inline.children or ():
        if child.type == "image":
            parts.append(visible_text(child))
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "hardbreak" or (
            child.type == "html_inline" and _LINE_TAG.match(child.content)
        ):
            parts.append("\n")
        elif child.type != "html_inline":
            parts.append(child.content)  # empty for the marks of emphasis and links
    lines = "".join(parts).split("\n")
    return "\n".join(line.strip() for line in lines).strip()


def _is_short(heading: Token) -> bool:
    """Whether it isn't a whole paragraph: a rule of dashes below one, as receipts have it, would
    make all its lines a heading."""
    return heading.content.count("\n") < MOST_LINES


def _strip_html(source: str) -> str:
    text = _TAG.sub("", _LINE_TAG.sub("\n", _INVISIBLE.sub("", source)))
    lines = (" ".join(line.split()) for line in html.unescape(text).split("\n"))
    return "\n".join(line for line in lines if line)


def _looks_like_markdown(blob: Blob) -> bool:
    """Front matter, or two separate headings: comments of scripts seldom have those."""
    if not blob.data.strip():
        return False
    try:
        text = decode(blob)
    except FileEmpty:
        return False
    if text.startswith("#!"):
        return False
    return bool(split_front_matter(text)[0]) or len(_HEADING_LINE.findall(text)) >= 2
