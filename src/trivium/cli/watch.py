"""`trivium watch`: keeps the library in step with folders until you stop it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.add import labels_of, short
from trivium.cli.declared import declared
from trivium.cli.output import Shell, logged, printable, with_shell
from trivium.operations.adding import AddFiles

if TYPE_CHECKING:
    from trivium.library.folders import Followed

_COLOURS = {"added": "green", "updated": "green", "moved": "green", "removed": "yellow"}
_WRONG = ("failed", "problem", "vanished", "empty")


@click.command("watch")
@click.argument("folders", nargs=-1, required=True, metavar="DIR...")
@declared(AddFiles)
@click.option(
    "--quiet",
    type=click.FloatRange(0.05, 60),
    default=1.0,
    metavar="SECONDS",
    help="Wait until nothing has changed for this long before adding changes. Default: 1.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Remove a folder's documents even if the folder is empty at the start.",
)
@with_shell
def watch_command(
    shell: Shell, /, folders: tuple[str, ...], quiet: float, force: bool, **options: Any
) -> None:
    """Add folders as `add --prune` does, then follow every change until Ctrl-C.

    If a whole folder disappears (you unplugged the disk), its documents stay, and Trivium checks
    the folder again when it is back. With --json every event is one line.

    \b
    trivium watch ~/notes
    trivium watch ~/notes ~/papers --ignore '*.tmp' --collection mine
    """
    request = AddFiles(**options)
    stop = Event()
    with shell.library(create=True) as library, logged(library.backend.folder), stopping(stop):
        try:
            library.folders.watch(
                folders,
                labels_of(request),
                ignore=request.ignore,
                quiet=quiet,
                force=force,
                stop=stop,
                on_event=lambda event: _say(shell, event),
            )
        except KeyboardInterrupt:
            stop.set()  # the way to end it, so no failure
    if not shell.json:
        shell.note("Stopped. Documents added so far stay in the library.")


@contextmanager
def stopping(stop: Event) -> Iterator[None]:
    """Treat SIGTERM, which service managers send, like Ctrl-C."""
    if current_thread() is not main_thread():
        yield  # signals are for the main thread
        return
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say(shell: Shell, event: Followed) -> None:
    if shell.json:
        fields = {"event": event.kind, "uri": event.uri, "message": event.message}
        click.echo(json.dumps(fields))
        return
    from rich.text import Text

    colour = "bold red" if event.kind in _WRONG else _COLOURS.get(event.kind, "dim")
    line = Text.assemble((f"{event.kind:<11}", colour), printable(short(event.uri)))
    if event.message:
        line.append(f"  {printable(event.message)}", style="dim")
    shell.say(line)
