"""`trivium compact`: the library rewritten without what was removed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict

import click

from trivium.cli.output import Shell, pass_shell, shared_options


def spinner(shell: Shell, what: str) -> AbstractContextManager[object]:
    return shell.err.status(f"{what} …") if shell.err.is_terminal else nullcontext()


@click.command("compact")
@shared_options
@pass_shell
def compact_command(shell: Shell) -> None:
    """Rewrite the library without what was removed or pruned, and give the space back.

    Searching goes on meanwhile. Afterwards no file of the library holds a byte of what was removed.

    \b
    trivium remove secrets.md && trivium compact
    trivium prune --keep 3 && trivium compact
    """
    with shell.library() as library, spinner(shell, "Rewriting the library"):
        done = library.compact(on_wait=shell.note)
    if shell.json:
        shell.emit(asdict(done))
        return
    shell.say(f"{done.before:,} bytes before, {done.after:,} after.")
    if done.held_back:
        shell.note("Another process still reads old pages: run it again when that has ended.")
