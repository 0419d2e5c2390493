"""`trivium collections`: lists collections and how their documents are split into passages."""

from __future__ import annotations

from dataclasses import replace

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, pass_shell, shared_options
from trivium.operations.searching import Filters


@click.command("collections")
@declared(Filters, only=("audiences",))
@shared_options
@pass_shell
def collections_command(shell: Shell, audiences: tuple[str, ...] | None) -> None:
    """List collections: documents, passages, and how documents are split into passages.

    A collection keeps the chunker you gave it with `trivium add --chunker`. Without one it uses the
    setting chunk.strategy.

    \b
    trivium collections
    trivium add papers/ --collection papers --chunker sections
    """
    from trivium.library import where

    strategy = shell.settings().settings.chunk_strategy
    with shell.library() as library:
        found = library.documents.collections(where(Filters(audiences=audiences)))
    if shell.json:
        listed = [replace(one, chunker=one.chunker or strategy) for one in found]
        shell.emit({"collections": listed})
        return
    if not found:
        shell.note("The library is empty; `trivium add PATH` adds documents.")
        return
    rows = [
        (one.name, f"{one.documents:,}", f"{one.chunks:,}", one.chunker or f"{strategy} (setting)")
        for one in found
    ]
    shell.table(("collection", ">documents", ">chunks", "chunker"), rows)
