"""A folder of notes as Obsidian, Logseq and others keep them: front matter, wiki links, tags.

Every file is an item, notes and attachments alike. Knows nothing of Markdown beyond what such
programs add to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from trivium.core.errors import ReadError, SourceUnreachable
from trivium.core.types import EVERYONE, Metadata, MetaValue
from trivium.extract.frontmatter import parse_front_matter, split_front_matter
from trivium.ports import Change, Failed, Gone, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.folder import read
from trivium.sources.ignore import IgnoreRules
from trivium.sources.listed import Stamp, compared, existing, stamp_of

SUFFIXES = (".md", ".markdown")
CANVAS = ".canvas"
_MOST = 200  # links or tags of a note
# Leave code as it is.
_CODE = r"(?P<code>^(?P<fence>```|~~~).*?(?:^(?P=fence)|\Z)|`[^`\n]+`)"
_WIKI = re.compile(
    _CODE + r"|(?P<embed>!?)\[\[(?P<target>[^\[\]|\n]+?)(?:\\?\|(?P<shown>[^\[\]\n]*))?\]\]",
    re.DOTALL | re.MULTILINE,
)
_SIZE = re.compile(r"\d+(x\d+)?")
_TAG = re.compile(
    _CODE + r"|(?:(?<=\s)|\A)#(?P<tag>[^\W\d_][\w/-]*|[\w/-]*[^\W\d][\w/-]*)",
    re.DOTALL | re.MULTILINE,
)


class NotesSource:
    deletions: Deletions = "told"

    def __init__(
        self, folder: Path, ignore: Sequence[str] = (), without: Sequence[Path] = ()
    ) -> None:
        self.folder = folder
        self._ignore = ignore
        self._without = without

    def changes(self, cursor: str) -> Iterator[Change]:
        before = json.loads(cursor)["files"] if cursor else {}
        now = {name: list(stamp) for name, stamp in sorted(self._files().items())}
        yield from compared(before, now, lambda name: [self._change(name)], under="files")

    def ids(self) -> Iterator[str | Wait]:
        yield from sorted(self._files())

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        there = self._files()
        for name in ids:
            yield self._change(name) if name in there else Gone(name)

    def _files(self) -> dict[str, Stamp]:
        if not self.folder.is_dir():
            raise SourceUnreachable(
                f"The folder {self.folder} doesn't exist.", fix="Check that its disk is connected."
            )
        files = {}
        for path in IgnoreRules(self.folder, self._ignore, self._without).walk():
            if (stamp := stamp_of(path)) is not None:
                files[path.relative_to(self.folder).as_posix()] = stamp
        return files

    def _change(self, name: str) -> Change:
        path = self.folder / name
        where = PurePosixPath(name)
        about: dict[str, MetaValue] = {"path": name, "folder": str(where.parent).strip(".")}
        about = {field: value for field, value in about.items() if value}
        if where.suffix.lower() not in (*SUFFIXES, CANVAS):
            stamp = stamp_of(path)
            size = stamp[1] if stamp else 0
            return Put(
                name, where.name, partial(read, path), metadata=about, audience=EVERYONE, size=size
            )
        try:
            data = read(path)
        except ReadError as reason:
            return Failed(name, str(reason), reason.code)
        text = data.decode("utf-8", "replace")
        if where.suffix.lower() == CANVAS:
            text = canvas_text(text)
        block, body = split_front_matter(text)
        front = (parse_front_matter(block) if block else None) or {}
        about |= _note(front, body)
        label = front.get("audience")
        shown = (text[: len(text) - len(body)] + readable(body)).encode()
        return Put(
            name,
            f"{where.name}.md" if where.suffix.lower() == CANVAS else where.name,
            partial(bytes, shown),
            title=str(front.get("title") or where.stem),
            metadata=about,
            audience=label if isinstance(label, str) and label else EVERYONE,
            size=len(shown),
        )


def _note(front: Metadata, body: str) -> Metadata:
    """Tags, aliases and links, from the front matter and the text."""
    tags = _values(front.get("tags", front.get("tag", ())))
    tags += tuple(match["tag"] for match in _TAG.finditer(body) if match["tag"])
    aliases = _values(front.get("aliases", front.get("alias", ())))
    links = tuple(
        PurePosixPath(match["target"].partition("#")[0].strip()).name
        for match in _WIKI.finditer(body)
        if match["target"]
    )
    fields = {"tags": tuple(tag.lstrip("#") for tag in tags), "aliases": aliases, "links": links}
    return {
        name: tuple(dict.fromkeys(value for value in values if value))[:_MOST]
        for name, values in fields.items()
        if any(values)
    }


def readable(body: str) -> str:
    """Wiki links as plain words: `[[Target

    shown]]` becomes shown, `[[Target#Part]]` becomes Target.
    """

    def show(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match[0]
        target = match["target"].partition("#")[0].strip() or match["target"].strip("# ")
        shown = (match["shown"] or "").strip()
        if match["embed"] and _SIZE.fullmatch(shown):  # ![[picture.png|300]]: how wide it is
            shown = ""
        return shown or PurePosixPath(target).name

    return _WIKI.sub(show, body)


def canvas_text(data: str) -> str:
    """The texts of a canvas's cards, from top to bottom, with the names of what it shows and of
    its arrows (jsoncanvas.org, version 1.0)."""
    try:
        canvas = json.loads(data) if data.strip() else {}
    except (ValueError, RecursionError):
        return data
    if not isinstance(canvas, dict):
        return data
    nodes = [node for node in canvas.get("nodes") or () if isinstance(node, dict)]
    nodes.sort(key=lambda node: [_number(node.get(side)) for side in ("y", "x")])
    parts = []
    for node in nodes:
        file = f"[[{node['file']}]]" if node.get("file") else ""
        parts += [node.get("label"), node.get("text"), file, node.get("url")]
    parts += [edge.get("label") for edge in canvas.get("edges") or () if isinstance(edge, dict)]
    return "\n\n".join(str(part) for part in parts if part)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0.0


def _values(value: MetaValue) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return tuple(str(part) for part in value)
    return tuple(part.strip() for part in str(value).split(",") if part.strip())


def _make(request: SourceAsked) -> NotesSource:
    folder = existing(request.option("path"))
    return NotesSource(folder, request.several("ignore"), request.without)


KIND = SourceKind(
    "notes",
    "a folder of notes (Obsidian and the like): front matter, wiki links, tags, aliases",
    _make,
    {"path": "the folder", "ignore": ".gitignore rules for notes to ignore, comma-separated"},
    required=("path",),
    files=("path",),
)
