"""`trivium worker`: runs jobs until you stop it, beside any number of other workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

import click

from trivium.cli.output import Shell, logged, with_shell
from trivium.cli.watch import stopping

if TYPE_CHECKING:
    from trivium.library.background import Background


@click.command("worker")
@click.option(
    "--health",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Answer /healthz at this port of every address: 200 while it works, 503 if not.",
)
@with_shell
def worker_command(shell: Shell, health: int | None) -> None:
    """Run jobs that servers and `add --background` have queued, until Ctrl-C.

    Start as many as you like, on any machine that reaches the database. If a worker dies, other
    workers resume its jobs after 15 seconds, and nothing stays half done.

    \b
    trivium worker --library postgresql://me@db.example/team
    trivium worker --health 8421
    """
    from trivium.library.background import Background

    stop = Event()
    with shell.library(create=True) as library, logged(library.backend.folder), stopping(stop):
        shell.note("Waiting for jobs. Ctrl-C stops it.")
        with Background(library) as background, _answering(background, health):
            try:
                stop.wait()
            except KeyboardInterrupt:
                stop.set()
    shell.note(
        "Stopped. Finished the documents in progress; the rest stay queued for other workers."
    )


@contextmanager
def _answering(background: Background, port: int | None) -> Iterator[None]:
    """For a supervisor that restarts a worker which no longer works."""
    if port is None:
        yield
        return
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            alive = background.is_alive
            is_health_check = self.path in ("/healthz", "/readyz")
            self.send_response((200 if alive else 503) if is_health_check else 404)
            self.end_headers()
            if is_health_check:
                self.wfile.write(b"ok" if alive else b"not working")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("", port), Health) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield
        server.shutdown()
        thread.join()
