"""`trivium worker`: works off jobs until it is stopped, beside any number of others."""

from __future__ import annotations

from threading import Event

import click

from trivium.cli.output import Shell, logged, pass_shell, shared_options
from trivium.cli.watch import stopping


@click.command("worker")
@shared_options
@pass_shell
def worker_command(shell: Shell) -> None:
    """Work off jobs that servers and `add --background` have offered, until Ctrl-C.

    Start as many as you like, on any machine that reaches the database. A worker that dies leaves
    nothing half done: after 15 seconds others go on with what it had.

    \b
    trivium worker --library postgresql://me@db.example/team
    """
    from trivium.library.tending import Tender

    stop = Event()
    with shell.library(create=True) as library, logged(library.backend.folder), stopping(stop):
        shell.note("Waiting for jobs. Ctrl-C stops it.")
        with Tender(library):
            try:
                stop.wait()
            except KeyboardInterrupt:
                stop.set()
    shell.note("Stopped. What was begun is finished; the rest waits for others.")
