"""`trivium watch`: keeps the library in step with folders until you stop it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING

import click

from trivium.cli.add import metadata_of, short
from trivium.cli.output import (
    Shell,
    ignoring,
    logged,
    pairs,
    pass_shell,
    printable,
    shared_options,
)

if TYPE_CHECKING:
    from trivium.library import Followed
    from trivium.types import MetaScalar

_COLOURS = {"added": "green", "updated": "green", "moved": "green", "removed": "yellow"}
_WRONG = ("failed", "problem", "vanished", "empty")


@click.command("watch")
@click.argument("folders", nargs=-1, required=True, metavar="DIR...")
@click.option("--collection", default="default", help="Collection to add the documents to.")
@click.option("--category", help="Category of the documents, e.g. rulebook.")
@click.option("--audience", help="Who can see them: `all`, or a label such as dm-only.")
@click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="Any other field. Numbers stay numbers. Repeatable, even with the same key.",
)
@ignoring
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
@shared_options
@pass_shell
def watch_command(
    shell: Shell,
    folders: tuple[str, ...],
    collection: str,
    category: str | None,
    audience: str | None,
    metadata: dict[str, list[MetaScalar]],
    ignore: tuple[str, ...],
    quiet: float,
    force: bool,
) -> None:
    """Add folders as `add --prune` does, then follow every change until Ctrl-C.

    If a whole folder disappears (you unplugged the disk), its documents stay, and Trivium checks
    the folder again when it is back. With --json every event is one line.

    \b
    trivium watch ~/notes
    trivium watch ~/notes ~/papers --ignore '*.tmp' --collection mine
    """
    from trivium.types import Labels

    labels = Labels(collection, category, audience, metadata_of(metadata))
    stop = Event()
    with shell.library(create=True) as library, logged(library.backend.folder), stopping(stop):
        try:
            library.folders.watch(
                folders,
                labels,
                ignore=ignore,
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
        told = {"event": event.kind, "uri": event.uri, "message": event.message}
        click.echo(json.dumps(told))
        return
    from rich.text import Text

    colour = "bold red" if event.kind in _WRONG else _COLOURS.get(event.kind, "dim")
    line = Text.assemble((f"{event.kind:<11}", colour), printable(short(event.uri)))
    if event.message:
        line.append(f"  {printable(event.message)}", style="dim")
    shell.say(line)
