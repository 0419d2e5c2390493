"""The process that reads untrusted files.

Knows only the documents of one request. `sandbox` decides how long one may take and what happens
then; `wire` defines the form of its answers.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import importlib
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias, cast

from trivium.core.errors import ReadError
from trivium.core.machine import collect_rarely
from trivium.core.types import Enclosed, Extraction
from trivium.extract.box import close_in
from trivium.extract.cleaning import cleaned
from trivium.extract.detect import read
from trivium.extract.pulse import on_pulse
from trivium.extract.wire import (
    HEAD,
    SMALL,
    STILL_WORKING,
    Order,
    frame,
    pack,
    pack_chunked,
    structure_of,
)
from trivium.ports import Blob, Extractor, FileChunker
from trivium.text.titles import placed

MAX_REASON = 2000  # characters of an error's sentence
MAX_FILE = 64 << 20  # bytes of any file a parser writes: none needs to, a page's image may pass
# A document with more than this is always chunked here and not in the parent, which may be a
# server: 10 MB of quotes keep one busy for minutes. A long novel has 1,000,000 characters.
LARGE_TEXT = 200_000  # characters
LARGE_ELEMENTS = 5_000
# Name, length, title and uri of a file, and the names and lengths of what belongs to it.
_File: TypeAlias = tuple[str, int, str, str, list[tuple[str, int]]]
OUT_OF_MEMORY = 71  # exit status of a worker that measures its own memory

_outbox = -1  # in a worker, the pipe to its parent
_cpu_seconds = 0.0  # in a worker, processor time for each document


def main() -> None:
    global _outbox, _cpu_seconds  # noqa: PLW0603 - this process is the worker
    collect_rarely()
    order = Order(**json.loads(sys.argv[1]))
    # A parser's output must not get among the answers.
    inbox, _outbox = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    faulthandler.enable(2)  # a file: its end becomes a note on the error
    _cpu_seconds = order.seconds * (os.cpu_count() or 1) + 5
    on_pulse(_restart_clock)
    _die_with(order.parent)
    _limit(order.memory_bytes)
    if order.readable:
        close_in(order.readable, [os.getcwd()])
    try:
        extractors = _load(order)
    except Exception:
        _tell(["bug", _peak(), "no extractors", traceback.format_exc()])
        return
    gc.freeze()  # what is loaded stays: looking through it again took a tenth of the time
    _tell(["ready", _peak()])
    while (request := _receive(inbox)) is not None:
        chunking, blobs = request
        os.lseek(2, 0, os.SEEK_SET)
        with suppress(OSError):
            os.ftruncate(2, 0)
        answers = b""  # of small files together: whoever waits for them wakes up once
        for left, blob in zip(reversed(range(len(blobs))), blobs, strict=True):
            _allow_time()
            pieces = _answer(blob, extractors, order, chunking)
            if left and len(answers) + sum(map(len, pieces)) <= SMALL:
                answers += b"".join(pieces)
            else:
                for piece in (answers, *pieces):
                    _write(piece)
                answers = b""


def _load(order: Order) -> Sequence[Extractor]:
    extractors = _named(order.extractors)
    return cast(
        Sequence[Extractor], extractors(order.settings) if callable(extractors) else extractors
    )


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _answer(
    blob: Blob, extractors: Sequence[Extractor], order: Order, chunking: str
) -> list[bytes]:
    attached: list[bytes] = []
    try:
        extraction = read(blob, extractors=extractors, max_bytes=order.max_bytes)
        if order.chunker and chunking and _is_chunked_here(extraction, order):
            structure = _packed_chunked(blob, extraction, _made(order.chunker, chunking), attached)
        else:
            structure = pack(extraction, attached)
        return frame(["read", _peak(), structure], attached)
    except ReadError as error:
        # The class that the other side knows, should a plugin have made one of its own.
        error_class = next(k for k in type(error).__mro__ if k.__module__ == ReadError.__module__)
        return frame(
            ["refused", _peak(), error_class.__name__, _cut(error.message), _cut(error.fix)]
        )
    except MemoryError:
        attached.clear()
    except Exception as reason:
        reason_text = f"{type(reason).__name__}: {reason}" if str(reason) else type(reason).__name__
        return frame(["bug", _peak(), _cut(reason_text), traceback.format_exc()[-2 * MAX_REASON :]])
    return frame(["memory", _peak()])  # here the parser's memory is free again


def _is_chunked_here(extraction: Extraction, order: Order) -> bool:
    """A picture not, unless a book is in it: in the parent, a model may describe it first."""
    is_large = len(extraction.text) > LARGE_TEXT or len(extraction.elements) > LARGE_ELEMENTS
    return is_large or (order.chunks_all and not extraction.media_type.startswith("image/"))


def _packed_chunked(
    blob: Blob, extraction: Extraction, chunker: FileChunker, attached: list[bytes]
) -> object:
    """Under the title that its document will have: it stands over every chunk."""
    title = blob.title or placed(extraction.title, blob.uri)
    extraction = cleaned(replace(extraction, title=title))
    return pack_chunked(extraction, chunker.chunk(blob.name, extraction), attached)


@lru_cache(1)
def _made(name: str, chunking: str) -> FileChunker:
    """When first needed: the tokenisers take .3 s and 52 MB."""
    return cast(FileChunker, _named(name)(chunking))


def _cut(text: str) -> str:
    """The beginning and the end: the reason comes after a name of any length."""
    half = MAX_REASON // 2
    return text if len(text) <= MAX_REASON else f"{text[:half]}…{text[1 - half :]}"


def _restart_clock(done: float, total: float, piece: str) -> None:
    _allow_time()
    if total:
        _tell(["heard", _peak(), done, total, piece])
    else:
        _write(STILL_WORKING)


def _tell(structure: object) -> None:
    for piece in frame(structure):
        _write(piece)


def _write(piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[os.write(_outbox, view) :]


def _receive(inbox: int) -> tuple[str, list[Blob]] | None:
    """The next request: how files are chunked, and the files. Nothing when the parent closed the
    pipe or is gone."""
    head = _read_exactly(inbox, HEAD.size)
    if head is None:
        return None
    request_size, size = HEAD.unpack(head)
    request, data = _read_exactly(inbox, request_size), _read_exactly(inbox, size)
    if request is None or data is None:
        return None
    blobs, start = [], 0
    chunking, files = cast(tuple[str, list[_File]], structure_of(request))
    for name, length, title, uri, inner in files:
        parts = []
        for part, size in ((name, length), *inner):
            parts.append(Enclosed(part, bytes(data[start : start + size])))
            start += size
        blobs.append(Blob(name, parts[0].data, title, uri, tuple(parts[1:])))
    return chunking, blobs


def _read_exactly(inbox: int, size: int) -> bytearray | None:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = os.readv(inbox, [view])
        if not count:
            return None
        view = view[count:]
    return data


# --- limits ------------------------------------------------------------------------------------


def _peak() -> int:
    """The most memory this process ever held, in bytes."""
    if sys.platform == "linux":
        # Not getrusage: there a process starts with the peak of the one that started it.
        with open("/proc/self/status", "rb") as file:
            return next((int(line.split()[1]) << 10 for line in file if line[:5] == b"VmHWM"), 0)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _limit(memory_bytes: int) -> None:
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, MAX_FILE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing more fails, and the parser continues
    # What is written to counts as data; address space is also reserved for threads and for mapped
    # files that cost nothing, so that its limit is only behind the other one.
    _set_limit(resource.RLIMIT_DATA, memory_bytes)
    _set_limit(resource.RLIMIT_AS, memory_bytes + (4 << 30))
    if sys.platform == "linux":
        # When memory runs out, this process goes first.
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    else:
        # macOS takes these limits and does not keep them: a thread looks, as long as the parser
        # lets go of the interpreter's lock.
        watch = threading.Thread(target=_watch, args=(memory_bytes, os.getppid()), daemon=True)
        watch.start()


def _set_limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with suppress(ValueError, OSError):  # macOS refuses some
        resource.setrlimit(kind, (value, value))


def _allow_time() -> None:
    """Processor time for one document, behind the clock that the parent holds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + _cpu_seconds)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _die_with(parent: int) -> None:
    """No parser outlives the process that asked for it, also when that is killed."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died before we asked
        os._exit(0)


def _watch(memory_bytes: int, parent: int) -> None:
    while os.getppid() == parent:
        if _peak() > memory_bytes:
            os._exit(OUT_OF_MEMORY)
        time.sleep(0.1)
    os._exit(0)
