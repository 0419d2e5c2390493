"""Opens documents that are zip archives of XML (Office, OpenDocument, EPUB) without trusting them.

Checks sizes before unpacking, and refuses XML with its own entities. Knows nothing of what the
members mean.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree

from trivium.core.errors import FileDamaged, FileLocked, FileTooLarge
from trivium.ports import Blob

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_MEMBERS = 50_000
MAX_UNPACKED = 1 << 30  # of all members together, most of them pictures that nobody unpacks
# A tree takes five to eight times its XML: 64 MB, some 3,000 pages, stay below 500 MB.
MAX_XML = 64 << 20
MAX_STREAMED_XML = 512 << 20  # read piece by piece, as sheets are
MAX_RATIO = 200  # XML of real documents packs 5 to 40 times; deflate reaches 1,032
RATIO_FREE = 16 << 20  # below this size no ratio is dangerous
_OPEN_DOCUMENT = ":opendocument:xmlns:"
# OpenDocument's usual prefixes, where the namespace is called otherwise.
_PREFIXES = {"drawing": "draw", "svg-compatible": "svg"}
MAX_NAMES = 8192  # of elements and attributes, that are remembered
MAX_DEPTH = 200  # of nested elements: Word stays below 60, and readers recurse

# zipfile raises any of these on damaged input, also NotImplementedError for unknown methods.
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    KeyError,
    IndexError,
    OverflowError,
)


def is_zip(data: bytes) -> bool:
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def open_zip(blob: Blob) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(blob.data))
    except ZIP_ERRORS as reason:
        raise FileDamaged(f"{blob.name} is a damaged archive: it may be cut short.") from reason


@lru_cache(maxsize=1)  # six readers ask the same of one file; 10,000 members take 60 ms
def member_names(blob: Blob) -> frozenset[str]:
    """The members of a zip archive; nothing if it isn't one."""
    if not is_zip(blob.data):
        return frozenset()
    try:
        with open_zip(blob) as archive:
            return frozenset(archive.namelist())
    except FileDamaged:
        return frozenset()


class Package:
    """A zipped document: its members by name, and the relations between them."""

    def __init__(self, blob: Blob) -> None:
        self._name = blob.name
        self._zip = open_zip(blob)
        members = self._zip.infolist()
        self.names = frozenset(member.filename for member in members)
        if len(members) > MAX_MEMBERS:
            raise FileTooLarge(f"{blob.name} holds {len(members):,} parts.")
        check_sizes(
            blob.name,
            sum(member.file_size for member in members),
            sum(member.compress_size for member in members),
        )

    def read(self, name: str, limit: int = MAX_XML) -> bytes | None:
        """The bytes of a member; None if there is none with that name."""
        with_limit = self._info(name, limit)
        if with_limit is None:
            return None
        try:
            return self._zip.read(with_limit)
        except RuntimeError as reason:  # what zipfile says of an encrypted member
            raise FileLocked(f"{self._name} is protected by a password.") from reason
        except ZIP_ERRORS as reason:
            raise FileDamaged(f"{self._name} is damaged: {name} can't be unpacked.") from reason

    def xml(self, name: str) -> ElementTree.Element | None:
        data = self.read(name)
        return None if data is None else parse_xml(data, f"{self._name} ({name})")

    def parts(self, name: str, tag: str, **having: str) -> list[ElementTree.Element]:
        """The elements right below the root of a member that have this tag and these attributes.
        Nothing else of it becomes an object of Python: Word and python-docx write a styles.xml of
        350 kB into every file."""
        data = self.read(name)
        return [] if data is None else _parts(data, f"{self._name} ({name})", tag, having)

    def stream(self, name: str) -> IO[bytes] | None:
        info = self._info(name, MAX_STREAMED_XML)
        if info is None:
            return None
        try:
            return self._zip.open(info)
        except (RuntimeError, *ZIP_ERRORS) as reason:
            raise FileDamaged(f"{self._name} is damaged: {name} can't be unpacked.") from reason

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """The targets of a part's references: id to (last word of the type, member name)."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        targets: dict[str, tuple[str, str]] = {}
        for relation in root if root is not None else ():
            if relation.get("TargetMode") != "External":
                kind = relation.get("Type", "").rsplit("/", 1)[-1]
                target = relation.get("Target", "")
                targets[relation.get("Id", "")] = (kind, resolve(folder, target))
        return targets

    def _info(self, name: str, limit: int) -> zipfile.ZipInfo | None:
        if name not in self.names:
            return None
        info = self._zip.getinfo(name)
        if info.file_size > limit:
            raise FileTooLarge(
                f"{self._name} unpacks to {info.file_size:,} bytes in {name}, "
                f"the limit is {limit:,}."
            )
        return info


def check_sizes(name: str, unpacked: int, packed: int, limit: int = MAX_UNPACKED) -> None:
    """Refuse what grows beyond measure when unpacked."""
    if unpacked > limit:
        raise FileTooLarge(
            f"{name} unpacks to {unpacked:,} bytes; the limit is {limit:,}.",
            fix="Unpack it yourself, and add only the files you need.",
        )
    if unpacked > RATIO_FREE and unpacked > MAX_RATIO * max(packed, 1):
        raise FileTooLarge(
            f"{name} unpacks to {unpacked // max(packed, 1):,} times its size: it looks like a "
            "zip bomb.",
            fix="Unpack it yourself if you trust it.",
        )


def resolve(folder: str, target: str) -> str:
    """The member that a reference inside a folder of the package names."""
    path = unquote(target.split("#", 1)[0]).replace("\\", "/")
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


def parse_xml(data: bytes, name: str) -> ElementTree.Element:
    """A tree with short names: `p` for `{…/wordprocessingml/…}p`, relation ids as `r:id`."""
    refuse_entities(data[:65536], name)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as reason:
        raise FileDamaged(f"{name} is damaged: it isn't well-formed XML.") from reason
    _check_depth(root, name)
    for element in root.iter():  # `shorten`, without a call for each
        if isinstance(element.tag, str):
            element.tag = _TAGS[element.tag]
        if element.attrib:
            element.attrib = {_ATTRIBUTES[key]: value for key, value in element.attrib.items()}
    return root


def _parts(
    data: bytes, name: str, tag: str, having: Mapping[str, str]
) -> list[ElementTree.Element]:
    from lxml import etree

    refuse_entities(data[:65536], name)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as reason:
        raise FileDamaged(f"{name} is damaged: it isn't well-formed XML.") from reason
    parts = []
    for element in root.iterchildren(f"{{*}}{tag}"):
        attributes = {_ATTRIBUTES[key]: value for key, value in element.items()}
        if all(attributes.get(key) == value for key, value in having.items()):
            parts.append(_copied(element))
    return parts


def _copied(node: _Element) -> ElementTree.Element:
    """An element of lxml as those of `parse_xml`. libxml2 itself refuses more than 256 levels."""
    attributes = {_ATTRIBUTES[key]: value for key, value in node.items()}
    element = ElementTree.Element(_TAGS[node.tag], attributes)
    element.text = node.text
    element.extend([_copied(child) for child in node])
    return element


def refuse_entities(head: bytes, name: str) -> None:
    if b"<!ENTITY" in head.replace(b"\x00", b""):  # also when written in UTF-16
        raise FileDamaged(f"{name} defines XML entities, which real documents don't do.", fix="")


def shorten(element: ElementTree.Element) -> None:
    """Take the namespaces out of an element's names. OpenDocument's keep their prefix, because
    there `text:p` and `draw:p` differ."""
    if isinstance(element.tag, str):
        element.tag = _TAGS[element.tag]
    if element.attrib:
        element.attrib = {_ATTRIBUTES[key]: value for key, value in element.attrib.items()}


class _Names(dict[str, str]):
    """Short names by their long ones. A document uses some 200, each thousands of times: working
    them out took half of the time that Office files took."""

    def __init__(self, relation: str = "") -> None:
        self._relation = relation

    def __missing__(self, name: str) -> str:
        if len(self) >= MAX_NAMES:  # a hostile file may invent a million of them
            self.clear()
        self[name] = _short(name, self._relation)
        return self[name]


_TAGS, _ATTRIBUTES = _Names(), _Names("r:")


def _short(name: str, relation: str) -> str:
    if not name.startswith("{"):
        return name
    space, _, local = name[1:].partition("}")
    if _OPEN_DOCUMENT in space and (prefix := space.split(":")[-2]) != "xmlns":
        return f"{_PREFIXES.get(prefix, prefix)}:{local}"
    if space.endswith("/relationships"):
        return f"{relation}{local}"
    return local


def _check_depth(root: ElementTree.Element, name: str) -> None:
    level = [root]
    for _ in range(MAX_DEPTH):
        level = [child for element in level for child in element]
        if not level:
            return
    raise FileDamaged(f"{name} is nested more than {MAX_DEPTH} levels deep.", fix="")


def stream_elements(
    stream: IO[bytes], name: str, *, wanted: frozenset[str]
) -> Iterator[ElementTree.Element]:
    """Elements of these short names as they end, one at a time: memory stays small."""
    stack: list[ElementTree.Element] = []
    try:
        refuse_entities(stream.read(4096), name)
        stream.seek(0)
        for event, element in ElementTree.iterparse(stream, events=("start", "end")):
            if event == "start":
                stack.append(element)
                if len(stack) > MAX_DEPTH:
                    raise FileDamaged(f"{name} is nested more than {MAX_DEPTH} levels deep.")
                continue
            stack.pop()
            shorten(element)
            if element.tag in wanted:
                yield element
            if element.tag in wanted and stack:
                element.clear()
                stack[-1].remove(element)
    except (ElementTree.ParseError, RuntimeError, LookupError, *ZIP_ERRORS) as reason:
        raise FileDamaged(f"{name} is damaged.") from reason
