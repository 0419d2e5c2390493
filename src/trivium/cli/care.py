"""`trivium compact`, `backup`, `recover` and `copy`: rewrite, save, restore and copy a library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from trivium.cli.output import Shell, with_shell

if TYPE_CHECKING:
    from trivium.core.upkeep import Backup


def spinner(shell: Shell, title: str) -> AbstractContextManager[object]:
    return shell.err.status(f"{title} …") if shell.err.is_terminal else nullcontext()


@click.command("compact")
@with_shell
def compact_command(shell: Shell) -> None:
    """Rewrite the library without removed or pruned documents, and free the space.

    You can search meanwhile. Afterwards no file of the library holds a byte of removed documents.

    \b
    trivium compact
    trivium prune --keep 3 && trivium compact
    """
    with shell.library() as library, spinner(shell, "Rewriting the library"):
        done = library.upkeep.compact(on_wait=shell.note)
    if shell.json:
        shell.emit(asdict(done))
        return
    shell.say(f"{done.before:,} bytes before, {done.after:,} after.")
    if done.held_back:
        shell.note(
            "Another process is still reading old pages. Run this again when it has finished."
        )


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
@with_shell
def backup_command(shell: Shell, file: str, force: bool) -> None:
    """Write the library to one file: documents, history, vectors and originals.

    You can search and add meanwhile; the file holds the library as it was when the backup began.
    `trivium recover` rebuilds the search indexes.

    \b
    trivium backup notes-2026-11-15.trivium
    """
    with shell.library() as library, _progress(shell) as advance:
        done = library.upkeep.backup(file, force=force, on_progress=advance)
    _tell(shell, done, f"Saved in {file} ({done.bytes:,} bytes)")


@click.command("recover")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Replace the existing library.")
@with_shell
def recover_command(shell: Shell, file: str, force: bool) -> None:
    """Restore a library from a backup into an empty folder, after checking every byte.

    \b
    trivium recover notes-2026-11-15.trivium
    trivium recover notes-2026-11-15.trivium --library ~/notes.library
    """
    from pathlib import Path

    from trivium.library import backend_options
    from trivium.store.opening import make_from_backup

    settings = shell.settings().settings
    source, options = Path(file).expanduser(), backend_options(settings)
    with _progress(shell) as advance:
        done = make_from_backup(source, settings.library, options, force=force, on_progress=advance)
    _tell(shell, done, f"Recovered into {settings.library}")


@click.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@with_shell
def copy_command(shell: Shell, source: str, target: str) -> None:
    """Copy a library: documents, history, tokens, jobs, conversations and originals.

    Nothing is embedded again. If the copy is interrupted, run the command again to resume.

    \b
    trivium copy ~/notes.library postgresql://me@db.example/team
    trivium copy postgresql://me@db.example/team ~/notes.library
    """
    from trivium.core.places import place_of
    from trivium.library import backend_options
    from trivium.store.copying import copy_library

    settings = shell.settings().settings
    read, made = backend_options(settings, create=False), backend_options(settings)
    with _progress(shell) as advance:
        done = copy_library(place_of(source), place_of(target), read, made, advance)
    if shell.json:
        shell.emit(asdict(done))
        return
    text = f"{done.documents:,} documents, {done.passages:,} passages, {done.originals:,} originals"
    shell.say(f"Copied to {place_of(target)} and checked: {text}.")
    if done.missing:
        shell.note(f"{done.missing:,} originals were already missing from the source.")


def _tell(shell: Shell, done: Backup, title: str) -> None:
    text = f"{done.documents:,} documents, {done.interpretations:,} interpretations"
    shell.tell(asdict(done), f"{title}: {text}, {done.originals:,} originals.")


@contextmanager
def _progress(shell: Shell) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on standard error if it is a terminal, else nothing."""
    if not shell.err.is_terminal:
        yield lambda title, done, total: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        console=shell.err,
        transient=True,
    ) as progress:
        task = progress.add_task("", total=None)
        yield lambda title, done, total: progress.update(
            task, description=title, completed=done, total=total
        )
