"""`trivium worker`: runs jobs until you stop it, beside any number of other workers."""

from __future__ import annotations

from threading import Event

import click

from trivium.cli.output import Shell, logged, pass_shell, shared_options
from trivium.cli.watch import stopping


@click.command("worker")
@shared_options
@pass_shell
def worker_command(shell: Shell) -> None:
    """Run jobs that servers and `add --background` have queued, until Ctrl-C.

    Start as many as you like, on any machine that reaches the database. If a worker dies, other
    workers resume its jobs after 15 seconds, and nothing stays half done.

    \b
    trivium worker --library postgresql://me@db.example/team
    """
    from trivium.library.background import Background

    stop = Event()
    with shell.library(create=True) as library, logged(library.backend.folder), stopping(stop):
        shell.note("Waiting for jobs. Ctrl-C stops it.")
        with Background(library):
            try:
                stop.wait()
            except KeyboardInterrupt:
                stop.set()
    shell.note(
        "Stopped. Finished the documents in progress; the rest stay queued for other workers."
    )
