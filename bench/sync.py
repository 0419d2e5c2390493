"""A first sync of many messages, killed and resumed, then another with nothing new.

    python -m bench.sync --messages 100000

The messages come from a Slack export that is made up here. A toy embeds them under the default
model's name: what is measured is everything else, and the model would hide it. Each run is a
process of its own, the last ones `trivium sync run chat` as a person types it. We report processor
time beside the clock, because other work slows only the clock.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness import Namespace, arguments
from bench.timing import memory
from trivium.config import Settings
from trivium.core.work import KeptSource
from trivium.library import Library, backend_options
from trivium.library.assembly import embedder_for
from trivium.store.opening import open_backend
from trivium.testing.samples import ToyEmbedder

CHANNELS = 20
PEOPLE = 50
_WORDS = (
    *("fog", "lamp", "rain", "tower", "map", "ship", "bell", "salt"),
    *("crown", "river", "guild", "market", "night", "bridge", "song"),
)


def made_export(place: Path, messages: int) -> None:
    """Channels of equal size, a file a day of 500 messages, a tenth of them replies."""
    throw = random.Random(7)
    people = [{"id": f"U{n}", "profile": {"display_name": f"Person {n}"}} for n in range(PEOPLE)]
    channels = [{"id": f"C{n:02}", "name": f"channel-{n:02}"} for n in range(CHANNELS)]
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("users.json", json.dumps(people))
        archive.writestr("channels.json", json.dumps(channels))
        each = max(1, messages // CHANNELS)
        for channel in channels:
            made, day = 0, 0
            while made < each:
                said, opener = [], ""
                for n in range(min(500, each - made)):
                    stamp = f"{1_500_000_000 + day * 86_400 + n}.{made:06}"
                    text = " ".join(throw.choices(_WORDS, k=12)) + f" {throw.randrange(10**9)}"
                    one = {"user": f"U{throw.randrange(PEOPLE)}", "text": text, "ts": stamp}
                    if opener and n % 10 == 0:
                        one["thread_ts"] = opener
                    elif n % 50 == 1:
                        one["thread_ts"] = opener = stamp
                    said.append(one)
                    made += 1
                archive.writestr(f"{channel['name']}/{day:05}.json", json.dumps(said))
                day += 1


def synced(folder: Path, export: Path) -> None:
    """One run in its own process; the last line says how long it took."""
    started, spent = time.perf_counter(), time.process_time()
    backend = open_backend(folder, backend_options(Settings()))
    with Library(backend, _StandIn(), Settings()) as library:
        if not library.sync.all():
            library.sync.add(KeptSource("chat", "slack-export", {"path": str(export)}))
        opened, opened_spent = time.perf_counter(), time.process_time()
        run = library.sync.run("chat")
        ran, ran_spent = time.perf_counter(), time.process_time()
        count = library.sync.count("chat")
    told = {
        "open_seconds": round(opened - started, 2),
        "run_seconds": round(ran - opened, 2),
        "import_processor": round(spent, 2),
        "open_processor": round(opened_spent - spent, 2),
        "run_processor": round(ran_spent - opened_spent, 2),
        "count_processor": round(time.process_time() - ran_spent, 2),
        "process_processor": round(time.process_time(), 2),
        "counts": dict(run.counts),
        "items": count,
        "peak_mb": memory().peak,
    }
    print(json.dumps(told))


class _StandIn(ToyEmbedder):
    """Has the default model's name and size, so that the program opens the library."""

    def __init__(self) -> None:
        model = embedder_for(Settings())
        self.fingerprint, self.dimensions = model.fingerprint, model.dimensions


def _commanded(folder: Path) -> dict[str, object]:
    """The time a person waits who types the command."""
    program = "from trivium.cli.main import main; main()"
    asked = ["--library", str(folder), "sync", "run", "chat"]
    command = [sys.executable, "-c", program, *asked]
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "trivium sync run": done.stdout.strip(),
        "process_seconds": round(time.perf_counter() - begun, 2),
        "process_processor": round(spent, 2),
    }


def _run(folder: Path, export: Path, kill_after: int = 0) -> dict[str, object]:
    """`kill_after`: kill it as soon as it has so many documents."""
    command = [sys.executable, "-m", "bench.sync", "--run", str(folder), "--export", str(export)]
    begun = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    if kill_after:
        while child.poll() is None and _documents(folder) < kill_after:
            time.sleep(0.2)
        child.kill()
        child.wait()
        return {"killed_at": _documents(folder)}
    out, _ = child.communicate()
    found: dict[str, object] = json.loads(out.splitlines()[-1])
    return {"process_seconds": round(time.perf_counter() - begun, 2), **found}


def _documents(folder: Path) -> int:
    import sqlite3

    try:
        with sqlite3.connect(f"file:{folder / 'library.db'}?mode=ro", uri=True) as db:
            (count,) = db.execute("SELECT count(*) FROM documents WHERE interpretation > 0")
            return int(count[0])
    except sqlite3.Error:
        return 0


def measure_messages(messages: int) -> None:
    with TemporaryDirectory(prefix="trivium-bench-") as aside:
        export, folder = Path(aside) / "export.zip", Path(aside) / "library"
        made_export(export, messages)
        print(f"{messages:,} messages, killed in the middle, continued, then nothing new: 4 times")
        for kill_after in (messages // 2, 0, 0):
            print(json.dumps(_run(folder, export, kill_after)), flush=True)
        for _ in range(3):
            print(json.dumps(_commanded(folder)), flush=True)


def _arguments() -> Namespace:
    return arguments(
        __doc__, messages=100_000, run=(Path, "for itself: one run in this library"), export=Path
    )


def main() -> None:
    asked = _arguments()
    if asked.run:
        synced(asked.run, asked.export)
        return
    measure_messages(asked.messages)


if __name__ == "__main__":
    main()
