"""Parses BibTeX and BibLaTeX files into CSL items, the format that citation programs exchange.

Forgiving: skips an entry that can't be parsed, and continues at the next `@`. Attached files keep
their paths in `file`. Knows nothing of documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trivium.extract.latex import readable
from trivium.text.lexicon.words import lexicon

Item = dict[str, object]

MAX_ENTRY = 200_000  # characters: abstracts are long, but not that long
MAX_BROKEN = 50  # entries without an end; each costs a search through MAX_ENTRY

_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
_NAME = re.compile(r"\s*,?\s*([^\s=,{}()\"]+)\s*=\s*")
_KEY = re.compile(r"\s*([^,\s{}]*)\s*(?:,|(?=[})]))")
_BARE = re.compile(r"[^\s,#{}()\"]+")
_BRACES = re.compile(r"\\.|[{})]", re.DOTALL)
_QUOTES = re.compile(r"\\.|[{}\"]", re.DOTALL)
_GLUE = re.compile(r"\s*#\s*")
_REST = re.compile(r"[^,]*,")
_NEXT = re.compile(r"^[ \t]*@", re.MULTILINE)
_DATE = re.compile(r"(-?\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_DIRECTORY = re.compile(r"jabref-meta:\s*fileDirectory[^:]*:([^;}]+);?", re.IGNORECASE)
_MONTHS = {name[:3]: number for name, number in lexicon("en").months.items()}
_TYPES = {
    "article": "article-journal", "inproceedings": "paper-conference", "book": "book",
    "conference": "paper-conference", "incollection": "chapter", "inbook": "chapter",
    "phdthesis": "thesis", "mastersthesis": "thesis", "thesis": "thesis", "techreport": "report",
    "report": "report", "online": "webpage", "electronic": "webpage", "software": "software",
    "softwareversion": "software", "patent": "patent", "legislation": "legislation",
    "dataset": "dataset", "unpublished": "manuscript", "talk": "speech",
}  # fmt: skip
_FIELDS = {
    "DOI": ("doi",), "URL": ("url",), "volume": ("volume",), "issue": ("number", "issue"),
    "page": ("pages",), "publisher": ("publisher", "institution", "school", "organization"),
    "container-title": ("journaltitle", "journal", "booktitle", "maintitle"), "note": ("note",),
    "annote": ("annotation", "annote"),
    "abstract": ("abstract",), "keyword": ("keywords", "keyword"),
    "language": ("langid", "language"), "edition": ("edition",), "ISBN": ("isbn",),
    "ISSN": ("issn",), "publisher-place": ("location", "address"), "event-title": ("eventtitle",),
}  # fmt: skip
_VERBATIM = frozenset({"DOI", "URL", "ISBN", "ISSN"})


def parse_bibtex(source: str) -> list[Item]:
    """Every entry as a CSL item."""
    macros = {month: month for month in _MONTHS}
    directory = _DIRECTORY.search(source)
    items = []
    for kind, body in _entries(source):
        if kind == "string":
            macros.update((name.lower(), value) for name, value in _fields(body, 0, macros))
        elif kind not in ("comment", "preamble"):
            key = _KEY.match(body)
            start = key.end() if key else 0
            fields: dict[str, str] = {}
            for name, value in _fields(body, start, macros):
                fields.setdefault(name.lower(), value)
            if fields:
                item = _item(kind, key[1] if key else "", fields)
                if directory and "file" in item:
                    item["file-directory"] = directory[1].strip()
                items.append(item)
    return items


def _entries(source: str) -> Iterator[tuple[str, str]]:
    """Type and body of each entry; a body ends with its brace, or where the next entry starts."""
    position = 0
    broken = 0
    while broken < MAX_BROKEN and (match := _ENTRY.search(source, position)):
        end = _closing(source, match.end(), "}" if match[2] == "{" else ")")
        if end < 0:
            broken += 1
            following = _NEXT.search(source, match.end())
            end = following.start() if following else len(source)
        yield match[1].lower(), source[match.end() : end]
        position = max(end, match.end())


def _closing(source: str, start: int, closing: str) -> int:
    depth = 0
    for sign in _BRACES.finditer(source, start, start + MAX_ENTRY):
        if sign[0] == "{":
            depth += 1
        elif sign[0] == closing and depth == 0:
            return sign.start()
        elif sign[0] == "}":
            depth -= 1
            if depth < 0:
                return -1
    return -1


def _fields(body: str, position: int, macros: dict[str, str]) -> Iterator[tuple[str, str]]:
    while match := _NAME.match(body, position):
        position = match.end()
        parts = []
        while True:
            value, position = _value(body, position, macros)
            parts.append(value)
            glue = _GLUE.match(body, position)
            if glue is None:
                break
            position = glue.end()
        yield match[1], "".join(parts)
        after = _REST.match(body, position)
        position = after.end() if after else len(body)


def _value(body: str, position: int, macros: dict[str, str]) -> tuple[str, int]:
    if body.startswith("{", position):
        end = _closing(body, position + 1, "}")
        end = len(body) if end < 0 else end
        return body[position + 1 : end], end + 1
    if body.startswith('"', position):
        depth = 0
        for sign in _QUOTES.finditer(body, position + 1):
            depth += (sign[0] == "{") - (sign[0] == "}")
            if sign[0] == '"' and depth <= 0:
                return body[position + 1 : sign.start()], sign.end()
        return body[position + 1 :], len(body)
    bare = _BARE.match(body, position)
    if bare is None:
        return "", position
    return macros.get(bare[0].lower(), bare[0]), bare.end()


def _item(kind: str, key: str, fields: dict[str, str]) -> Item:
    item: Item = {"id": key, "citation-key": key, "type": _TYPES.get(kind, kind)}
    title = readable(fields.get("title", ""))
    subtitle = readable(fields.get("subtitle", ""))
    item["title"] = f"{title}: {subtitle}" if subtitle else title
    for role in ("author", "editor"):
        if names := [_name(name) for name in _split_names(fields.get(role, ""))]:
            item[role] = names
    for name, sources in _FIELDS.items():
        raw = next((fields[source] for source in sources if fields.get(source)), "")
        text = raw.replace("\\", "").strip("{} ") if name in _VERBATIM else readable(raw)
        if text:
            item[name] = text
    if date := _issued(fields):
        item["issued"] = {"date-parts": [date]}
    if files := split_files(fields.get("file", "")):
        item["file"] = files
    return {name: value for name, value in item.items() if value}


def _issued(fields: dict[str, str]) -> list[int]:
    match = _DATE.search(readable(fields.get("date") or fields.get("year", "")))
    if match is None:
        return []
    parts = [int(part) for part in match.groups() if part]
    month = readable(fields.get("month", "")).lower()[:3]
    if len(parts) == 1 and (month in _MONTHS or month.isdecimal()):
        number = int(month) if month.isdecimal() else _MONTHS[month]
        parts += [number] if 1 <= number <= 12 else []
    return parts


def _split_names(line: str) -> list[str]:
    """People are joined by "and", except inside braces, where an institution has its name."""
    names, depth, start = [], 0, 0
    for sign in re.finditer(r"[{}]|(?<=\s)and(?=\s)", line):
        depth += (sign[0] == "{") - (sign[0] == "}")
        if sign[0] == "and" and depth <= 0:
            names.append(line[start : sign.start()])
            start = sign.end()
    names.append(line[start:])
    return [name.strip() for name in names if name.strip() and name.strip() != "others"]


def _name(name: str) -> dict[str, str]:
    if name.startswith("{") and name.endswith("}") and _closing(name, 1, "}") == len(name) - 1:
        return {"literal": readable(name)}
    parts = [readable(part) for part in name.split(",")]
    if len(parts) >= 3:
        return {"family": parts[0], "suffix": parts[1], "given": parts[2]}
    if len(parts) == 2:
        return {"family": parts[0], "given": parts[1]}
    first_names, _, family = parts[0].rpartition(" ")
    return {"family": family, "given": first_names} if first_names else {"literal": family}


def split_files(field: str) -> list[str]:
    """Paths from `path`, `description:path:type` and several of them joined by semicolons."""
    paths = []
    for entry in re.split(r"(?<!\\);", field):
        parts = [
            part.replace("\\:", ":").replace("\\;", ";") for part in re.split(r"(?<!\\):", entry)
        ]
        if entry.strip().startswith(("http://", "https://", "ftp://")):
            path = entry
        else:
            path = parts[1] if len(parts) >= 3 else parts[0]
        if path.strip():
            paths.append(path.replace("\\\\", "\\").strip())
    return paths
