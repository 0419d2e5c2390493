"""SIGKILL at random instants loses nothing acknowledged, doubles nothing and mixes nothing."""

import random
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

from trivium.config import Settings
from trivium.core.types import OWNER, Signal
from trivium.library import Library
from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, probe

WRITER = Path(__file__).parent / "writer.py"
KILLS = 15
GONE = 0


def test_a_killed_writer_leaves_a_whole_library(tmp_path: Path) -> None:
    chance = random.Random(20261115)
    files = tmp_path / "files"
    files.mkdir()
    held: dict[str, int] = {}  # each document's content, GONE if it is removed
    for round_ in range(KILLS):
        wanted = run_and_kill(tmp_path / "library", files, round_, chance.uniform(0, 0.6), held)
        store = open_embedded(tmp_path / "library")
        with Library(store, TOY, Settings()) as library:
            now = {
                Path(d.uri).name: content_of(library, store, d.id) for d in library.documents.all()
            }
            for name in held.keys() | wanted.keys() | now.keys():
                acknowledged = held.get(name, GONE)
                assert now.get(name, GONE) in (acknowledged, wanted.get(name, acknowledged))
            held = now
            assert_healthy(store)


def run_and_kill(
    place: Path, files: Path, seed: int, delay: float, held: dict[str, int]
) -> dict[str, int]:
    """Update `held` with what the writer acknowledged; returns what it was about to do."""
    command = [sys.executable, str(WRITER), str(place), str(files), str(seed)]
    wanted: dict[str, int] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        timer = threading.Timer(delay, process.send_signal, [signal.SIGKILL])
        timer.start()
        for line in process.stdout:
            if not line.endswith("\n"):
                break  # cut off by the kill, so not acknowledged
            action, name, content = line.split()
            if action == "want":
                wanted[name] = int(content)
            else:
                held[name] = int(content)
                wanted.pop(name)
        timer.join()
    return wanted


def content_of(library: Library, store: Backend, document: int) -> int:
    """Which content a document has, after all three signals have agreed on it with SQLite."""
    shown = library.show(document)
    marks = {mark for p in shown.passages for mark in re.findall(r"mark\d+", p.chunk.text)}
    assert len(marks) == 1, "a mixture of interpretations"
    assert len(shown.passages) == shown.document.chunks
    mark = marks.pop()
    for kind in Signal:
        hits = store.signals.search(kind, probe(mark), OWNER, 1000)
        chunks = store.documents.chunks([hit.chunk_id for hit in hits], OWNER)
        assert len(chunks) == len({hit.chunk_id for hit in hits}) == len(hits)
        assert sorted(c.id for c in chunks if mark in c.chunk.text) == [
            p.id for p in shown.passages
        ], kind
    return int(mark.removeprefix("mark"))


def assert_healthy(store: Backend) -> None:
    before = store.upkeep.health()
    assert before["chunks"] == before["words"] == before["vectors"]
    with store.writer.writing():
        pass  # the next writer clears up
    assert store.upkeep.health() == before | {"leftovers": 0}
