"""One worker process as its parent sees it: started, asked, listened to, ended.

Keeps the limits of time and output; why a file failed and what follows is `sandbox`'s business.
`Scratch` is its temporary folder.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, time
from typing import IO, Literal, TypeAlias, cast

from filelock import FileLock, Timeout

from trivium.extract.wire import HEAD, Order, frame, structure_of
from trivium.extract.worker import OUT_OF_MEMORY
from trivium.ports import Blob, Transcribed

# Not `python -m`: the module would exist twice, as __main__ and under its name.
MAIN = "from trivium.extract.worker import main; main()"
PIECE = 1 << 20  # bytes read at once
MAX_NOTE = 4000  # bytes of a dying parser's output
# Of the output, what may be structure: a list takes 20 times its JSON, text and files once.
STRUCTURE_SHARE = 16
Failure: TypeAlias = Literal["crash", "time", "memory", "output", "nonsense"]


@dataclass(frozen=True, slots=True)
class Limits:
    seconds: float
    longest: float
    memory: int
    output: int


@dataclass(frozen=True, slots=True)
class Reply:
    verb: str
    peak: int  # bytes of memory that the worker ever held
    rest: list[object]
    attached: bytearray


class Lost(Exception):
    """The worker is gone or must go."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure: Failure = failure


class Worker:
    """One process and the pipes to it. Used by one thread at a time; any may kill it."""

    def __init__(self, order: Order, limits: Limits, folder: str) -> None:
        self._limits = limits
        self.documents = 0
        self._ahead = bytearray()  # bytes read beyond the expected answer
        self.allowed = limits.seconds  # for the answer that is waited for
        self._lock = threading.Lock()
        self._is_reaped = False
        self._peak = 0  # bytes, known once it has ended, if it was larger than ours
        self._printed: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        command = [sys.executable, "-P", "-c", MAIN, json.dumps(asdict(order))]
        # Descriptors other than these three are closed; a group of its own is killed as a whole,
        # with the programs a parser started, and a Ctrl-C in the terminal does not reach it.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            bufsize=0,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
        # On Linux a process starts with the peak of the one that started it.
        self._inherited = _high_water()
        to_worker, from_worker = self._process.stdin, self._process.stdout
        assert to_worker is not None
        assert from_worker is not None
        self._in, self._out = to_worker.fileno(), from_worker.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(self._in, select.POLLOUT)
        self._readable.register(self._out, select.POLLIN)

    def ask(self, blobs: Sequence[Blob], chunking: str) -> Iterator[Reply]:
        """An answer for each. Read them all, or end the worker."""
        self.documents += len(blobs)
        files = [
            (b.name, len(b.data), b.title, b.uri, [(p.name, len(p.data)) for p in b.parts])
            for b in blobs
        ]
        data = [data for b in blobs for data in (b.data, *(part.data for part in b.parts))]
        self.allowed = self._limits.seconds
        deadline = monotonic() + self._limits.seconds
        for piece in frame([chunking, files], data):
            view = memoryview(piece)
            while view:
                _wait(self._writable, deadline)
                try:
                    view = view[os.write(self._in, view) :]
                except BrokenPipeError:
                    raise Lost("crash") from None
        for blob in blobs:
            yield self._answer(blob)

    def _answer(self, blob: Blob) -> Reply:
        """The next answer, while its reader reports progress in time."""
        now = monotonic()
        self.allowed = self._limits.seconds
        deadline, last = now + self._limits.seconds, now + self._limits.longest
        heard = 0.0
        while (answer := self.receive(deadline)).verb in ("still working", "heard"):
            if answer.verb == "heard":
                progress = _transcribed(answer)
                if (
                    progress.piece and progress.done > heard
                ):  # minutes are done: others may take as long
                    heard, last = progress.done, monotonic() + self._limits.longest
                if blob.on_transcribed is not None:
                    blob.on_transcribed(progress)
            deadline = min(monotonic() + self._limits.seconds, last)
            self.allowed = self._limits.longest if deadline == last else self._limits.seconds
        return answer

    def receive(self, deadline: float) -> Reply:
        size, attached = HEAD.unpack(self._read(HEAD.size, deadline))
        if size == attached == 0:
            return Reply("still working", 0, [], bytearray())
        if size + attached > self._limits.output or size > self._limits.output // STRUCTURE_SHARE:
            raise Lost("output")
        head, data = self._read(size, deadline), self._read(attached, deadline)
        try:
            verb, peak, *rest = cast(list[object], structure_of(head))
        except (ValueError, TypeError, RecursionError, MemoryError):
            raise Lost("nonsense") from None
        if not isinstance(verb, str) or not isinstance(peak, int):
            raise Lost("nonsense")
        return Reply(verb, peak, rest, data)

    def _read(self, size: int, deadline: float) -> bytearray:
        data = self._ahead  # grows with what comes: the size is only the worker's word
        while len(data) < size:
            try:
                piece = os.read(self._out, PIECE)
            except BlockingIOError:
                _wait(self._readable, deadline)
                continue
            if not piece:
                raise Lost("crash")
            data += piece
        self._ahead = data[size:]
        del data[size:]
        return data

    def is_idle(self) -> bool:
        """It waits for a document: it has not ended, and nothing is left of an answer."""
        return not self._ahead and not self._readable.poll(0)

    def is_swollen(self, peak: int) -> bool:
        """Memory that it keeps would be missing for the next document."""
        return peak > self._limits.memory // 2

    def kill(self) -> None:
        with self._lock:
            if not self._is_reaped:  # afterwards the number may be another's
                # macOS answers PermissionError for a process that has ended.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> str:
        """Kills, waits and closes; returns the end of its output."""
        self.kill()
        with self._lock:
            if self._is_reaped:
                return ""
            status = 0
            with suppress(ChildProcessError):  # someone else waits for every child
                _, status, used = os.wait4(self._process.pid, 0)
                if used.ru_maxrss > self._inherited:
                    self._peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            self._is_reaped = True
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        with self._printed as printed:
            printed.seek(max(0, os.fstat(printed.fileno()).st_size - MAX_NOTE))
            return printed.read(MAX_NOTE).decode("utf-8", "replace").strip()

    def failure(self, seen: Failure, note: str) -> Failure:
        """What really happened, once it has ended: a crash may be a limit that was met."""
        if seen != "crash":
            return seen
        status = self._process.returncode
        if status == -signal.SIGXCPU:
            return "time"
        # Killed, but not by us: by a system short of memory. Many parsers in C abort when they
        # get none.
        is_full = self._peak > self._limits.memory * 3 // 4 or "bad_alloc" in note
        return "memory" if is_full or status in (-signal.SIGKILL, OUT_OF_MEMORY) else "crash"


def _transcribed(answer: Reply) -> Transcribed:
    try:
        done, total, piece = answer.rest
        return Transcribed(float(cast(float, done)), float(cast(float, total)), str(piece))
    except (ValueError, TypeError):
        raise Lost("nonsense") from None


def _wait(poller: select.poll, deadline: float) -> None:
    left = deadline - monotonic()
    if left <= 0 or not poller.poll(left * 1000 + 1):
        raise Lost("time")


def _high_water() -> int:
    """This process's greatest memory so far, in the units of `ru_maxrss`: a child's peak starts
    there. From Linux itself where it says so, since `ru_maxrss` also remembers our own parent's."""
    with suppress(OSError), open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _environment(folder: str) -> dict[str, str]:
    """The little that a worker needs: no key or token of the parent's reaches a parser."""
    return {
        "PATH": os.pathsep.join((os.path.dirname(sys.executable), "/usr/local/bin", os.defpath)),
        "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path),
        "PYTHONUTF8": "1",
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        # Workers run side by side; threads inside them would only compete.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


_LOCK = "owner.lock"
_SETTLED = 60.0  # seconds: microseconds pass between making a folder and locking it


class Scratch:
    """A temporary folder that is deleted with its process, or by the next one after a kill. Its
    owner holds a lock in it while it lives; a folder whose lock is free has no owner."""

    def __init__(self, prefix: str) -> None:
        """Makes a folder, and deletes those of the same prefix that killed processes left."""
        _sweep(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock = FileLock(self.path / _LOCK)
        self._lock.acquire()

    def cleanup(self) -> None:
        self._lock.release()
        shutil.rmtree(self.path, ignore_errors=True)


def _sweep(prefix: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # another process sweeps too, or it is someone else's
            status = folder.lstat()
            mine = (
                hasattr(os, "getuid") and status.st_uid == os.getuid() and not folder.is_symlink()
            )
            if mine and folder.is_dir() and time() - status.st_mtime > _SETTLED:
                _delete_ownerless(folder)


def _delete_ownerless(folder: Path) -> None:
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
