"""`trivium collections`: what a library is divided into, and how each part is cut."""

from __future__ import annotations

from dataclasses import replace

import click

from trivium.cli.output import Shell, pass_shell, shared_options


@click.command("collections")
@click.option(
    "--audience",
    "audiences",
    multiple=True,
    help="Count as a caller that holds this label, not as the owner. Repeatable.",
)
@shared_options
@pass_shell
def collections_command(shell: Shell, audiences: tuple[str, ...]) -> None:
    """List the collections: documents, passages, and how documents are cut.

    A collection keeps the chunker that `trivium add --chunker` gave it. Without one it follows the
    setting chunk.strategy.

    \b
    trivium collections
    trivium add papers/ --collection papers --chunker sections
    """
    from trivium.library import where
    from trivium.options import Filters

    strategy = shell.settings().settings.chunk_strategy
    with shell.library() as library:
        found = library.documents.collections(where(Filters(audiences=audiences or None)))
    if shell.json:
        listed = [replace(one, chunker=one.chunker or strategy) for one in found]
        shell.emit({"collections": listed})
        return
    if not found:
        shell.note("The library holds no document; `trivium add PATH` adds some.")
        return
    rows = [
        (one.name, f"{one.documents:,}", f"{one.chunks:,}", one.chunker or f"{strategy} (setting)")
        for one in found
    ]
    shell.table(("collection", ">documents", ">chunks", "chunker"), rows)
