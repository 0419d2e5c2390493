"""`trivium library`: shows where the rows of a library are."""

from __future__ import annotations

import click

from trivium.cli.care import spinner
from trivium.cli.output import Shell, shared_options, with_shell
from trivium.core.upkeep import Spread


@click.group("library", invoke_without_command=True)
@shared_options
@click.pass_context
def library_command(ctx: click.Context) -> None:
    """Show where the library's rows are; spread them over database nodes.

    \b
    trivium library
    trivium library distribute --library postgresql://me@coordinator/team
    """
    if ctx.invoked_subcommand is None:
        shell = ctx.ensure_object(Shell)
        with shell.library() as library:
            _tell(shell, library.upkeep.spread())


@library_command.command("distribute")
@click.option(
    "--shards",
    type=click.IntRange(1, 4096),
    help="Parts of each large table. Default: 4 for each node.",
)
@click.option("--back", is_flag=True, help="Bring everything back to one server.")
@with_shell
def distribute_command(shell: Shell, shards: int | None, back: bool) -> None:
    """Spread the library over the nodes of a Citus database.

    Searches continue meanwhile and rank as before; changes of documents wait until it is done. If
    you interrupt it, run it again: it continues where it stopped.

    \b
    trivium library distribute --library postgresql://me@coordinator/team
    trivium library distribute --shards 32
    trivium library distribute --back
    """
    with shell.library() as library, spinner(shell, "Moving rows between nodes"):
        done = library.upkeep.gather() if back else library.upkeep.distribute(shards)
    _tell(shell, done)


def _tell(shell: Shell, spread: Spread) -> None:
    text = f"Spread over {len(spread.nodes)} nodes in {spread.shards} shards."
    payload = {"nodes": list(spread.nodes), "shards": spread.shards}
    shell.tell(payload, text if spread.shards else "Everything is in one place.")
