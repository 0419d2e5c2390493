"""The words that `sandbox` and its workers exchange.

A request is the names and bytes of some files; the answers, one a file and in their order, are
extractions or the reason why there is none. The form is JSON beside raw bytes, decoded against the
types of `trivium.core.types` alone: an answer comes from a process that read a hostile file, and
unpickling it, even with a list of allowed classes, lets it set attributes of those classes and
reserve memory at will.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from trivium.core.types import Chunk, Chunked, Extraction

HEAD = struct.Struct("!QQ")  # lengths of the JSON and of the raw bytes behind it
STILL_WORKING = HEAD.pack(0, 0)
# A longer string travels as raw bytes: 100 MB of text take 0.1 s so, and 1.1 s as JSON.
LONG = 4096
# Chunks whose JSON is read at once: 1.2 ms in which no other thread of the parent moves.
PORTION = 500
SMALL = 1 << 16  # bytes of a message that are copied together: what a pipe takes at once


@dataclass(frozen=True, slots=True)
class Order:
    """A worker's settings when it starts."""

    extractors: str  # "module:attribute": a sequence of extractors, or what makes one of settings
    settings: Mapping[str, str]
    max_bytes: int
    memory_bytes: int
    seconds: float
    parent: int  # process id
    chunker: str = ""  # "module:attribute": makes a FileChunker of what a request says
    chunks_all: bool = False  # every file, not only large ones
    readable: Sequence[str] = ()  # all that it may open besides its scratch; empty: everything


def frame(structure: object, attached: Sequence[bytes] = ()) -> list[bytes]:
    """A message as pieces to write one after the other; a small one is a single piece, so that the
    receiver wakes up once."""
    head = json.dumps(structure, ensure_ascii=False, separators=(",", ":"))
    data = head.encode("utf-8", "surrogatepass")
    pieces = [HEAD.pack(len(data), sum(map(len, attached))), data, *attached]
    return [b"".join(pieces)] if sum(map(len, pieces)) <= SMALL else pieces


def structure_of(data: bytes | bytearray) -> object:
    """The JSON of a message. Raises ValueError or RecursionError when it is none."""
    return cast(object, json.loads(data.decode("utf-8", "surrogatepass")))


_AS_IT_IS = frozenset({int, float, bool, NoneType})


def pack(value: object, attached: list[bytes]) -> object:
    """A value of `core.types` as JSON; bytes and long strings go to `attached`, in order."""
    if isinstance(value, str):
        if len(value) < LONG:
            return value
        attached.append(value.encode("utf-8", "surrogatepass"))
        return {"": len(attached[-1])}
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, tuple | list):
        return [pack(item, attached) for item in value]
    if isinstance(value, bytes):
        attached.append(value)
        return len(value)
    if isinstance(value, Mapping):
        return {str(name): pack(item, attached) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return _pack_fields(value, attached)
    raise TypeError(f"{type(value).__name__} is no part of an extraction")


def _pack_fields(value: Any, attached: list[bytes]) -> list[object]:
    """The fields in order, without those at the end that have their default."""
    kind: Any = type(value)
    values_of, defaults = _shape(kind)
    values = values_of(value)
    count = len(values)
    while count and (
        values[count - 1] is defaults[count - 1] or values[count - 1] == defaults[count - 1]
    ):
        count -= 1
    return [v if type(v) in _AS_IT_IS else pack(v, attached) for v in values[:count]]


@cache
def _shape(kind: Any) -> tuple[Callable[[Any], tuple[object, ...]], tuple[object, ...]]:
    """What gives all fields at once, and their defaults."""
    names = [field.name for field in fields(kind)]
    factories = [
        f.default if f.default_factory is MISSING else f.default_factory() for f in fields(kind)
    ]
    return attrgetter(*names), tuple(factories)


class _Attached:
    """The raw bytes of an answer, taken in the order in which they were put."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = memoryview(data)
        self._next = 0
        self.seen: dict[Any, Any] = {}  # equal headings of many elements become one object

    def take(self, size: object) -> memoryview:
        if type(size) is not int or not 0 <= size <= len(self._data) - self._next:
            raise ValueError("no such bytes")
        self._next += size
        return self._data[self._next - size : self._next]

    def share(self, value: Any) -> Any:
        return self.seen.setdefault(value, value)


_Decode: TypeAlias = Callable[[Any, _Attached], Any]


def unpack(structure: object, data: bytes | bytearray) -> Extraction:
    """The extraction that `pack` took apart. Raises ValueError or TypeError for anything else."""
    attached = _Attached(data)
    if not isinstance(structure, dict):
        return cast(Extraction, _decoder(Extraction)(structure, attached))
    from trivium.text.nearness import is_sketch  # loads numpy, which workers do without

    extraction: Extraction = _decoder(Extraction)(structure["read"], attached)
    chunked: Chunked = _decoder(Chunked)(structure["chunked"], attached)
    if not is_sketch(chunked.sketch):
        raise ValueError("not a sketch")
    chunks: list[Chunk] = []
    decode = _decoder(tuple[Chunk, ...])
    for size in structure["portions"]:
        for chunk in decode(structure_of(bytes(attached.take(size))), attached):
            if not 0 <= chunk.start < chunk.end <= len(extraction.text):
                raise ValueError("a chunk beyond the text")
            text = extraction.text[chunk.start : chunk.end]
            chunks.append(replace(chunk, index=len(chunks), text=text))
    return replace(extraction, elements=(), chunked=replace(chunked, chunks=tuple(chunks)))


def pack_chunked(extraction: Extraction, chunked: Chunked, attached: list[bytes]) -> object:
    """An extraction with its chunks and without its elements. The chunks' texts are ranges of
    the document's, and stay out too."""
    packed = pack(replace(extraction, elements=()), attached)
    about = pack(replace(chunked, chunks=()), attached)
    portions: list[bytes] = []
    texts: list[bytes] = []  # long ones of a portion: they follow it
    for start in range(0, len(chunked.chunks), PORTION):
        bare = [replace(c, text="") for c in chunked.chunks[start : start + PORTION]]
        data = json.dumps(pack(bare, texts), ensure_ascii=False, separators=(",", ":"))
        portions.append(data.encode("utf-8", "surrogatepass"))
        attached += [portions[-1], *texts]
        texts.clear()
    return {"read": packed, "chunked": about, "portions": [len(portion) for portion in portions]}


_EXACT: dict[object, tuple[type, ...]] = {
    int: (int,),
    float: (int, float),
    bool: (bool,),
    NoneType: (NoneType,),
}


@cache
def _decoder(hint: Any) -> _Decode:
    """What turns JSON into a value of this type, or raises ValueError or TypeError."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is str:
        return _text
    if hint is bytes:
        return lambda value, attached: bytes(attached.take(value))
    if hint in _EXACT:
        return _exactly(*_EXACT[hint])
    if origin is Literal:
        return _one_of(inner)
    if origin in (Union, UnionType):
        return _first_of([_decoder(kind) for kind in inner])
    if origin is tuple:
        return _tuple(inner)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_decoder(inner[1]))
    if issubclass(hint, Enum):
        return lambda value, attached: hint(value)
    if is_dataclass(hint):
        return _fields(hint)
    raise TypeError(f"no wire form for {hint}")


def _text(value: Any, attached: _Attached) -> str:
    if type(value) is str:
        return cast(str, attached.share(value))
    return str(attached.take(value[""]), "utf-8", "surrogatepass")


def _exactly(*kinds: type) -> _Decode:
    def decode(value: Any, attached: _Attached) -> Any:
        if type(value) not in kinds:
            raise ValueError(f"not {kinds[0].__name__}")
        return value

    return decode


def _one_of(allowed: tuple[object, ...]) -> _Decode:
    def decode(value: Any, attached: _Attached) -> Any:
        if value not in allowed:
            raise ValueError("an unknown word")
        return value

    return decode


def _first_of(decoders: list[_Decode]) -> _Decode:
    def decode(value: Any, attached: _Attached) -> Any:
        for decoder in decoders:
            with suppress(ValueError, TypeError):
                return decoder(value, attached)
        raise ValueError("none of the types it may have")

    return decode


def _tuple(inner: tuple[Any, ...]) -> _Decode:
    alike = len(inner) == 2 and inner[1] is Ellipsis
    decoders = [_decoder(kind) for kind in inner if kind is not Ellipsis]
    shared = inner[0] is str

    def decode(value: Any, attached: _Attached) -> Any:
        if type(value) is not list:
            raise ValueError("not a list")
        if not alike:
            return tuple(
                decode_item(v, attached) for decode_item, v in zip(decoders, value, strict=True)
            )
        items = tuple([decoders[0](item, attached) for item in value])
        return attached.share(items) if shared else items

    return decode


def _mapping(inner: _Decode) -> _Decode:
    def decode(value: Any, attached: _Attached) -> Any:
        if type(value) is not dict:
            raise ValueError("not a mapping")
        return {name: inner(item, attached) for name, item in value.items()}

    return decode


def _fields(kind: Any) -> _Decode:
    hints = [get_type_hints(kind)[field.name] for field in fields(kind)]
    # Most fields are plain numbers: no call for those. 200,000 paragraphs take half the time.
    decoders = [(_plain(hint), _decoder(hint)) for hint in hints]

    def decode(value: Any, attached: _Attached) -> Any:
        if type(value) is not list or len(value) > len(decoders):
            raise ValueError("not its fields")
        pairs = zip(decoders, value, strict=False)
        return kind(
            *[
                v if type(v) is plain else decode_field(v, attached)
                for (plain, decode_field), v in pairs
            ]
        )

    return decode


def _plain(hint: Any) -> type | None:
    """The type of JSON that is a value of this type already, where that is a number."""
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return next((kind for kind in (int, float) if kind in choices), None)
