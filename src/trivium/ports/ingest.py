"""From sources to passages: sources, readers, chunkers, summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from trivium.core.errors import ReadError
from trivium.core.types import Chunk, Chunked, Enclosed, Extraction, Metadata


@dataclass(frozen=True, slots=True)
class SourceItem:
    """Something a source offers: bytes to extract, or a text that needs no extraction."""

    uri: str
    name: str
    content: Callable[[], bytes] | Extraction  # called once; raises ReadError
    size: int = 0  # bytes, for progress; 0 when unknown
    enclosed: bool = False  # it is inside another item that was offered before
    title: str = ""  # where the source knows it better than the file
    metadata: Metadata = field(default_factory=dict)  # the same
    key: bytes = b""  # how a LastingSource finds it again; empty: only here and now
    # Finds a file that this one names, if the source has it and may read it; otherwise None.
    beside: Callable[[str], SourceItem | None] | None = None
    # Whether another uri of this source still exists. Without it, or in doubt, assume it does.
    exists: Callable[[str], bool] | None = None
    # Read with it, as one document: a paper's reference, its notes, its other files.
    parts: tuple[SourceItem, ...] = ()


class Source(Protocol):
    """Where documents come from."""

    def items(self) -> Iterator[SourceItem]: ...


@runtime_checkable
class LastingSource(Source, Protocol):
    """A source whose items another process can get too, after this one has died."""

    kind: str  # names what can make it again

    def options(self) -> Mapping[str, Any]:
        """What another process needs to make it again, as JSON."""

    def again(self, key: bytes) -> SourceItem:
        """The item with this key. If it is gone, reading it raises ReadError."""


HEARD = "\x00heard"  # no file has such a name


@dataclass(frozen=True, slots=True)
class Transcribed:
    """How far the reading of a recording is."""

    done: float  # seconds of the recording
    total: float
    piece: str = ""  # what was heard in the last of them, as JSON


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of one document, and the name they came under."""

    name: str
    data: bytes
    title: str = ""  # where its source knows it better than the file
    uri: str = ""  # where it came from
    # Of a recording: subtitles beside it, and under the name `HEARD` what was heard of it before.
    parts: tuple[Enclosed, ...] = ()
    # Told of a recording how far its reading is; raise an error to stop it.
    on_transcribed: Callable[[Transcribed], None] | None = None

    @property
    def suffix(self) -> str:
        """The last one of its name, in small letters. A dozen readers ask for it: 24 µs of a file
        that takes 2,000."""
        return _suffix(self.name)


@lru_cache(256)
def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower()


class FileChunker(Protocol):
    """Chunks documents in the process that reads them."""

    def chunk(self, name: str, extraction: Extraction) -> Chunked:
        """`name`: the file's, for errors. Raises ReadError when there are too many chunks."""


class Extractor(Protocol):
    """Turns bytes into text with structure. Pure: the same bytes give the same extraction."""

    version: str  # part of the pipeline's fingerprint: bump it when the output changes

    def accepts(self, blob: Blob) -> bool: ...

    def extract(self, blob: Blob) -> Extraction:
        """Raises ReadError when the bytes cannot be read."""


def reads(
    version: str, accepts: Callable[[Blob], bool]
) -> Callable[[Callable[[Blob], Extraction]], Extractor]:
    """Makes an extractor of a function `read_…`. Its type is named after the function: libraries
    keep that name, and read files again if it changes."""

    def make(extract: Callable[[Blob], Extraction]) -> Extractor:
        kind = extract.__name__.removeprefix("read_").title().replace("_", "")
        says = {"version": version, "__doc__": extract.__doc__, "__module__": extract.__module__}
        does = {"accepts": staticmethod(accepts), "extract": staticmethod(extract)}
        return cast(Extractor, type(f"{kind}Extractor", (), says | does)())

    return make


# Reads files: for each, an extraction or the reason why there is none.
Reader: TypeAlias = Callable[[Sequence[Blob]], Sequence[Extraction | ReadError]]


class Tokens(Protocol):
    """Counts tokens the way some model does."""

    name: str

    def count(self, text: str) -> int: ...


@runtime_checkable
class ByWord(Tokens, Protocol):
    """May count a text as the sum of its words, parted at white space."""

    is_by_word: bool


class Chunker(Protocol):
    """Cuts an extraction into passages that cover its text in order."""

    fingerprint: str

    def chunk(self, extraction: Extraction) -> tuple[Chunk, ...]: ...

    def note(self, extraction: Extraction, chunks: Sequence[Chunk]) -> str:
        """What people should know about this chunking, such as what was left out; otherwise
        empty."""


class Summariser(Protocol):
    """Says in a line or two what a document is about, for the model that embeds its chunks."""

    fingerprint: str

    def summarise(self, extraction: Extraction) -> str:
        """One paragraph, or nothing if there is nothing to say. May raise ModelError."""
