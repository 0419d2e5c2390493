"""Puts the words of a LaTeX text's own commands where they are used: `\\newcommand`, `\\def`,
`\\DeclareMathOperator`. Knows nothing of what a command prints."""

from __future__ import annotations

import re

MAX_PASSES = 4  # of commands that use others
MAX_GROWTH = 4  # times the source; a few lines can be made to grow without end
MAX_GROUP = 20_000  # characters in braces
_DEFINED = re.compile(
    r"\\(?:(?P<kind>(?:re)?new|provide|Declare)(?:Robust)?command\*?\s*+\{?\s*+\\(?P<name>[A-Za-z]+)\s*+\}?"
    r"\s*+(?:\[(?P<count>\d)\])?(?P<default>\s*+\[[^\]]*\])?|def\s*+\\(?P<short>[A-Za-z]+)(?P<marks>(?:#\d)*)"
    r"|DeclareMathOperator\*?\s*+\{\s*+\\(?P<operator>[A-Za-z]+)\s*+\})\s*+(?=\{)"
)
_LAYOUT = re.compile(r"\\(?:begin|end|section|vspace|hspace|fontsize|color|includegraphics)\b|@")
_FALSE = re.compile(r"\\iffalse\b.*?\\fi\b", re.DOTALL)


def group(source: str, at: int) -> tuple[str, int]:
    """The text in the braces that open here, and where it goes on after them."""
    depth = 0
    for end in range(at, min(len(source), at + MAX_GROUP)):
        sign = source[end]
        if sign not in "{}" or source[end - 1 : end] == "\\":
            continue
        depth += 1 if sign == "{" else -1
        if depth <= 0:
            return source[at + 1 : end], end + 1
    return source[at + 1 : at + 300], min(len(source), at + 300)


def expanded(source: str) -> str:
    """The source without the definitions of its commands, and with their words in their place.
    Commands for layout are left to those who know them."""
    source = _FALSE.sub("", source)
    commands: dict[str, tuple[int, str | None, str]] = {}
    remaining, at = [], 0
    while (match := _DEFINED.search(source, at)) is not None:
        body, end = group(source, match.end())
        remaining.append(source[at : match.start()])
        at = end
        name = match["name"] or match["short"] or match["operator"]
        count = int(match["count"] or 0) if match["name"] else (match["marks"] or "").count("#")
        default = (match["default"] or "").strip()
        if not _LAYOUT.search(body):
            commands[name] = (count, default[1:-1] if default else None, body)
    source = "".join((*remaining, source[at:]))
    if not commands:
        return source
    names = "|".join(sorted(map(re.escape, commands), key=lambda name: (-len(name), name)))
    used = re.compile(rf"\\({names})(?![A-Za-z])")
    limit = MAX_GROWTH * len(source) + 10_000
    for _ in range(MAX_PASSES):
        replaced = _replaced(source, used, commands, limit)
        if replaced == source:
            break
        source = replaced
    return source


def _replaced(
    source: str, used: re.Pattern[str], commands: dict[str, tuple[int, str | None, str]], limit: int
) -> str:
    """The source itself if it would grow beyond the limit."""
    parts, at, grown = [], 0, len(source)
    while (match := used.search(source, at)) is not None:
        count, default, body = commands[match[1]]
        parts.append(source[at : match.start()])
        at = match.end()
        arguments = []
        if default is not None and count:
            option = re.compile(r"\s*\[([^\]]*)\]").match(source, at)
            at = option.end() if option else at
            arguments.append(option[1] if option else default)
        while len(arguments) < count:
            blank = re.compile(r"\s*").match(source, at)
            at = blank.end() if blank else at
            if source[at : at + 1] == "{":
                words, at = group(source, at)
            else:
                words, at = source[at : at + 1], at + 1
            arguments.append(words)
        for number, words in enumerate(arguments, start=1):
            body = body.replace(f"#{number}", words)
        # TeX swallows the blank behind a command; who writes it mostly meant it.
        at += 2 if not count and source[at : at + 2] == "{}" else 0
        body = body.replace("\\xspace", " " if source[at : at + 1].isalnum() else "")
        parts.append(body)
        grown += len(body)
        if grown > limit:
            return source
    return "".join((*parts, source[at:]))
