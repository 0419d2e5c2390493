"""Tokenises in other processes, where a GPU embeds: it takes 27 µs for a text of 256 tokens, one
thread 48 to tokenise it. They are started when first needed, and end with this process.

Knows nothing of vectors.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING
from weakref import finalize

from trivium.models.tokenising import Tokeniser, WordTokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Texts a second on an H200: 21,200 and 21,500. With 8: 21,600 and 22,400; with 4: 17,400 and
# 19,800; with none: 8,300 and 8,700.
MOST = 6
PIECE = 128  # texts that a process gets at once
# Not `python -m`: the module would exist twice, as __main__ and under its name.
MAIN = "from trivium.models.token_processes import serve; serve()"

log = logging.getLogger("trivium.models")


def usual_count() -> int:
    return min(MOST, (os.cpu_count() or 1) // 2)


class TokenProcesses:
    """Gives what `Tokeniser.encode_all` gives. One thread at a time asks it."""

    def __init__(self, tokenizer: Path, tokeniser: Tokeniser, *, lower: bool, count: int) -> None:
        """`tokeniser`: the same one here, which does the work of a process that failed."""
        self._here = tokeniser
        self._order = [str(tokenizer), lower, tokeniser.max_tokens]
        # Each thread has a process of its own.
        self._threads = ThreadPoolExecutor(count, "trivium-tokens")
        self._own = local()
        self._started: list[subprocess.Popen[bytes]] = []
        finalize(self, _end, self._started)

    def encode_all(self, texts: Sequence[str], prompt: str = "") -> Iterator[NDArray[np.int32]]:
        pieces = (texts[start : start + PIECE] for start in range(0, len(texts), PIECE))
        rows = self._threads.map(lambda piece: self._encoded(piece, prompt), pieces)
        return chain.from_iterable(rows)

    def close(self) -> None:
        self._threads.shutdown()
        _end(self._started)

    def _encoded(self, texts: Sequence[str], prompt: str) -> list[NDArray[np.int32]]:
        if not getattr(self._own, "is_lost", False):
            try:
                return _ask(self._process(), texts, prompt)
            except (OSError, EOFError) as reason:
                self._own.is_lost = True  # another one would most likely end in the same way
                log.warning("A process that tokenises ended; Trivium goes on without: %r", reason)
        return self._here.encode_all(texts, prompt)

    def _process(self) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = subprocess.Popen(
                [sys.executable, "-P", "-c", MAIN, json.dumps(self._order)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
                    "TOKENIZERS_PARALLELISM": "false",
                    "OPENBLAS_NUM_THREADS": "1",
                },
                start_new_session=True,  # a Ctrl+C in the terminal is for this process
            )
            self._started.append(process)
        return process


def _ask(
    process: subprocess.Popen[bytes], texts: Sequence[str], prompt: str
) -> list[NDArray[np.int32]]:
    import numpy as np

    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps([prompt, texts]).encode() + b"\n")
    process.stdin.flush()
    lengths = np.frombuffer(_read(process, 4 * len(texts)), np.int32)
    ends = lengths.cumsum()
    ids = np.frombuffer(_read(process, 4 * int(ends[-1])), np.int32)
    return np.split(ids, ends[:-1])


def _read(process: subprocess.Popen[bytes], size: int) -> bytes:
    assert process.stdout is not None
    data = process.stdout.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        process.wait()


def serve() -> None:
    """The process itself, until its input ends."""
    import numpy as np

    path, lower, max_tokens = json.loads(sys.argv[1])
    tokeniser = Tokeniser(Path(path), WordTokens(Path(path), lower=lower), max_tokens)
    for line in sys.stdin.buffer:
        prompt, texts = json.loads(line)
        rows = tokeniser.encode_all(texts, prompt)
        out = sys.stdout.buffer
        out.write(np.array([len(row) for row in rows], np.int32).tobytes())
        out.write(np.concatenate(rows).tobytes())
        out.flush()
