"""An extractor that does whatever the file tells it to, for tests of the sandbox."""

import contextlib
import ctypes
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from trivium.core.errors import FileEmpty, FileTooLarge
from trivium.core.types import Box, Chunked, Element, Enclosed, Extraction, Kind, Place
from trivium.extract import worker
from trivium.extract.pulse import still_working
from trivium.ports import Blob

PLACE = Place(pages=(1,), boxes=(Box(1, 0.5, 1, 2, 3),))
RICH = Extraction(
    text="Ein Würfel\ud800 " * 1000,
    elements=(
        Element("heading", 0, 3, level=1),
        Element("row", 4, 9, headings=("A", "B"), place=Place(sheet="S", rows=(1, 2))),
        Element("paragraph", 9, 12, paragraph=7, header="h | i", place=PLACE),
    ),
    title="T",
    media_type="text/x",
    language="de",
    metadata={"year": 1999, "share": 2.0, "open": True, "tags": ("a", 1), "long": "x" * 10_000},
    kind=Kind.TABLE,
    enclosed=(Enclosed("a.bin", bytes(range(256)) * 100), Enclosed("empty", b"")),
)


class OwnEmpty(FileEmpty):
    """An error of a plugin."""


class Nasty:
    version = "nasty/1"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def accepts(self, blob: Blob) -> bool:
        return True

    def extract(self, blob: Blob) -> Extraction:
        command, _, argument = blob.data.decode().partition(" ")
        found: Callable[[str], object] = getattr(self, f"do_{command}")
        answer = found(argument)
        self.seen.append(command)
        return answer if not isinstance(answer, str) else plain(answer)

    def do_say(self, text: str) -> str:
        return text

    def do_pid(self, _: str) -> str:
        return str(os.getpid())

    def do_rich(self, _: str) -> Extraction:
        return RICH

    def do_crash(self, _: str) -> str:
        return ctypes.string_at(0).decode()

    def do_kill(self, number: str) -> None:
        os.kill(os.getpid(), int(number))

    def do_try(self, argument: str) -> str:
        """What a parser that is taken over would try: "open FILE", "write FILE", "list FOLDER",
        "connect PORT", "run COMMAND"."""
        what, _, target = argument.partition(" ")
        tries: dict[str, Callable[[], object]] = {
            "open": lambda: Path(target).read_text(),
            "write": lambda: Path(target).write_text("taken over"),
            "list": lambda: os.listdir(target),
            "connect": lambda: socket.create_connection(("127.0.0.1", int(target)), 5),
            "run": lambda: subprocess.check_output(target.split(), stderr=subprocess.DEVNULL),
        }
        try:
            return f"done: {tries[what]()}"
        except (OSError, subprocess.CalledProcessError) as reason:
            return f"refused: {type(reason).__name__}"

    def do_exit(self, _: str) -> None:
        sys.exit(0)

    def do_hang(self, file: str) -> None:
        """Writes its process id to the file, then holds the interpreter's lock forever."""
        if file:
            with open(f"{file}.new", "w") as out:
                out.write(str(os.getpid()))
            os.rename(f"{file}.new", file)
        ctypes.PyDLL(None).pause()

    def do_wait(self, _: str) -> None:
        threading.Event().wait()

    def do_start(self, file: str) -> None:
        """Starts another program, then waits forever."""
        child = subprocess.Popen(["sleep", "1000"])
        with open(f"{file}.new", "w") as out:
            out.write(str(child.pid))
        os.rename(f"{file}.new", file)
        child.wait()

    def do_allocate(self, _: str) -> str:
        return str([bytearray(1 << 24) for _ in range(1 << 20)])

    def do_abort_full(self, _: str) -> None:
        """As parsers in C do when they get no memory."""
        pages = []
        with contextlib.suppress(MemoryError):
            while True:
                pages.append(b"x" * (1 << 20))
        os.abort()

    def do_flood(self, size: str) -> str:
        return "x" * int(size)

    def do_swell(self, size: str) -> str:
        return str(len(b"x" * int(size)))

    def do_many(self, count: str) -> Extraction:
        return Extraction("x", (Element("paragraph", 0, 1),) * int(count), "", "text/x")

    def do_bug(self, text: str) -> None:
        raise ZeroDivisionError(text)

    def do_recurse(self, _: str) -> str:
        return self.do_recurse(_) + "x"

    def do_refuse(self, text: str) -> None:
        raise FileTooLarge(text, fix="Cut it.")

    def do_own(self, text: str) -> None:
        raise OwnEmpty(text)

    def do_none(self, _: str) -> None:
        return None

    def do_strange(self, _: str) -> Extraction:
        return Extraction("x", (), "", "text/x", metadata={"lock": threading.Lock()})  # type: ignore[dict-item]

    def do_nest(self, _: str) -> Extraction:
        return Extraction("x", (), "", "text/x", metadata={"a": ((1,),)})  # type: ignore[dict-item]

    def do_garbage(self, _: str) -> str:
        os.write(worker._outbox, b"\x00" * 7 + b"\x05" + b"\x00" * 8 + b"{}{}}")
        return "behind the garbage"

    def do_lie(self, _: str) -> str:
        os.write(worker._outbox, b"\xff" * 16)
        return "behind the lie"

    def do_huge_promise(self, _: str) -> None:
        """Promises the most that is allowed and then says nothing."""
        os.write(worker._outbox, worker.HEAD.pack(10, 1 << 20))
        threading.Event().wait()

    def do_print(self, text: str) -> str:
        print(text, flush=True)
        print(text, file=sys.stderr, flush=True)
        os.write(1, b"raw\n")
        return "printed"

    def do_steps(self, count: str) -> str:
        """Works long, but says so."""
        for _ in range(int(count)):
            threading.Event().wait(0.2)
            still_working()
        return count

    def do_endless_steps(self, _: str) -> None:
        while True:
            still_working()

    def do_spoil(self, _: str) -> str:
        """Leaves the process in a state that the next document pays for."""
        self.do_say = self.do_crash  # type: ignore[method-assign]
        return "spoilt"

    def do_environment(self, _: str) -> str:
        return "\n".join(f"{name}={value}" for name, value in os.environ.items())

    def do_descriptors(self, _: str) -> str:
        return " ".join(sorted(os.listdir("/dev/fd"), key=int))

    def do_oom(self, _: str) -> str:
        return Path("/proc/self/oom_score_adj").read_text().strip()

    def do_write(self, size: str) -> str:
        with open("big", "wb") as file:
            file.write(b"x" * int(size))
        return "written"


def plain(text: str) -> Extraction:
    return Extraction(text, (), "", "text/plain")


EXTRACTORS = (Nasty(),)


def configured(settings: dict[str, str]) -> tuple[Nasty, ...]:
    nasty = Nasty()
    nasty.do_say = lambda text: f"{text} {settings['mark']}"  # type: ignore[method-assign]
    return (nasty,)


class Swelling:
    """Chunks as one does whose memory runs out."""

    def chunk(self, name: str, extraction: Extraction) -> Chunked:
        raise AssertionError(len([bytearray(1 << 24) for _ in range(1 << 20)]))


def swelling(chunking: str) -> Swelling:
    return Swelling()
