"""Two servers and four workers share a library in PostgreSQL, and things go wrong.

    python -m bench.many [--seconds 60] [--documents 400]

A folder of small documents is offered as one job, and more are uploaded to both servers. Every 5 s
one worker is killed and another started; halfway through PostgreSQL itself is restarted. All the
while clients search on both servers, and every answer must be right, or a typed error that says to
try again. Afterwards every document must be in the library exactly once, and `doctor` must pass.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import httpx2
from tests.postgres import Server

from bench.harness import arguments
from bench.serving import served
from trivium.core.work import TaskState
from trivium.library import Library

WORKERS = 4
KILL_SECONDS = 5.0
_PORT = 54640
_RETRY = (429, 503)
_WORDS = ("harbour", "lantern", "crown", "meadow", "copper", "anchor", "velvet", "thunder")


def main() -> None:
    given = arguments(__doc__, seconds=60.0, documents=400)
    found = run(given.seconds, given.documents)
    print(json.dumps(found, indent=1))
    sys.exit(0 if found["wrong"] == [] else 1)


def run(seconds: float, documents: int) -> dict[str, Any]:
    database = Server("many", _PORT)
    database.start()
    library = f"{database.address}?schema=many_{uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory() as made, ExitStack() as held:
        folder = Path(made) / "documents"
        folder.mkdir()
        for number in range(documents):
            (folder / f"{number}.md").write_text(_document(number), encoding="utf-8")
        _trivium("add", str(folder), "--background", "--library", library)
        servers = [held.enter_context(served(library, []))[0] for _ in range(2)]
        crew = _Crew(library)
        held.callback(crew.end)
        asking = _Asking(servers, documents)
        held.callback(asking.end)
        _trouble(crew, asking, database, seconds)
        asking.end()
        return _outcome(library, crew, asking, documents)


def _document(number: int) -> str:
    word = _WORDS[number % len(_WORDS)]
    return f"# Note {number}\n\nThe {word} of note{number} stands on page {number * 7}.\n"


def _trouble(crew: _Crew, asking: _Asking, database: Server, seconds: float) -> None:
    started, restarted = monotonic(), False
    while monotonic() - started < seconds:
        sleep(KILL_SECONDS)
        crew.replace_one()
        if not restarted and monotonic() - started > seconds / 2:
            database.stop()
            database.start()
            restarted = True


class _Crew:
    """Workers, each a process."""

    def __init__(self, library: str) -> None:
        self._library = library
        self._processes = [self._one() for _ in range(WORKERS)]
        self.killed = 0

    def _one(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "trivium.cli.main", "worker", "--library", self._library]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, stdout=quiet, stderr=quiet)

    def replace_one(self) -> None:
        oldest = self._processes.pop(0)
        os.kill(oldest.pid, signal.SIGKILL)
        oldest.wait()
        self.killed += 1
        self._processes.append(self._one())

    def end(self) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(60)
        self._processes = []


class _Asking:
    """Searches and uploads, by a thread for each server."""

    def __init__(self, servers: list[str], documents: int) -> None:
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.uploaded: list[str] = []
        self._documents = documents
        self._seen: set[tuple[str, int]] = set()  # the other server may hear of a change later
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._ask, args=(server, at))
            for at, server in enumerate(servers)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, server: str, at: int) -> None:
        turn = 0
        while not self._stop.is_set():
            turn += 1
            number = (turn * 13 + at * 7) % self._documents
            self._search(server, number)
            if turn % 10 == 0 and turn < 300:
                self._upload(server, f"sent-{at}-{turn}.md", _document(10_000 + at * 1_000 + turn))
            self._stop.wait(0.1)

    def _search(self, server: str, number: int) -> None:
        body = {"query": f"note{number}", "limit": 3}
        status, answer = _call(f"{server}/v1/search", json=body)
        self.answers[f"search {status} {answer.get('code', '')}".strip()] += 1
        if status == 200:
            first = json.dumps(answer["results"][:1])
            if f"note{number} " in first:
                self._seen.add((server, number))
            elif (server, number) in self._seen:
                self.wrong.append(f"note{number} was first, and is not any more: {first}")
        elif status not in _RETRY:
            self.wrong.append(f"search: {status} {answer}")

    def _upload(self, server: str, name: str, text: str) -> None:
        sent = {"file": (name, text.encode(), "text/markdown")}
        status, answer = _call(f"{server}/v1/documents?wait=false", files=sent)
        self.answers[f"upload {status} {answer.get('code', '')}".strip()] += 1
        if status in (200, 201, 202):
            self.uploaded.append(name)
        elif status not in _RETRY:
            self.wrong.append(f"upload: {status} {answer}")


def _call(url: str, **body: Any) -> tuple[int, dict[str, Any]]:
    try:
        answer = httpx2.post(url, timeout=60, **body)
        return answer.status_code, answer.json()
    except (httpx2.HTTPError, ValueError) as lost:
        return 0, {"code": type(lost).__name__}


def _outcome(library: str, crew: _Crew, asking: _Asking, documents: int) -> dict[str, Any]:
    wrong = list(asking.wrong)
    with Library.open(library) as opened:
        opened.jobs.work()
        held = opened.documents.all()
        titles = Counter(document.title for document in held)
        wanted = {f"Note {number}" for number in range(documents)}
        wrong += [f"{title} is missing" for title in sorted(wanted - titles.keys())]
        wrong += [f"{title}: {count} times" for title, count in titles.items() if count > 1]
        for job in (job for job in opened.jobs.all() if job.failed):
            failed = opened.jobs.tasks(job.id, states=[TaskState.FAILED])
            wrong += [f"job {job.id}, {task.name}: {task.message}" for task in failed]
        findings = opened.backend.upkeep.examine()
        wrong += [finding.message for finding in findings if not finding.ok]
        again = sum(document.interpretation > 1 for document in held)
    return {
        "documents": len(held),
        "uploaded": len(asking.uploaded),
        "put twice": again,
        "workers killed": crew.killed,
        "answers": dict(asking.answers),
        "wrong": wrong,
    }


def _trivium(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "trivium.cli.main", *arguments], check=True)


if __name__ == "__main__":
    main()
