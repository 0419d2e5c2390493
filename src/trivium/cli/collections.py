"""`trivium collections`: lists collections and how their documents are split into passages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, with_shell
from trivium.operations.searching import Filters

if TYPE_CHECKING:
    from trivium.core.access import Quota
    from trivium.library.quotas import Use


@click.command("collections")
@declared(Filters, only=("audiences",))
@with_shell
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
        collections = library.documents.collections(where(Filters(audiences=audiences)))
        limits = library.quotas.collections
        used = library.quotas.used()[1] if limits else {}
    if shell.json:
        listed = [
            replace(collection, chunker=collection.chunker or strategy)
            for collection in collections
        ]
        shell.emit({"collections": listed})
        return
    if not collections:
        shell.note("The library is empty; `trivium add PATH` adds documents.")
        return
    titles = ["collection", ">documents", ">passages", "chunker"]
    rows = [
        [
            collection.name,
            f"{collection.documents:,}",
            f"{collection.chunks:,}",
            collection.chunker or f"{strategy} (setting)",
        ]
        for collection in collections
    ]
    if limits:
        titles.append("used of limit")
        rows = [[*row, _limited(limits.get(row[0]), used.get(row[0]))] for row in rows]
    shell.table(titles, rows)


def _limited(quota: Quota | None, use: Use | None) -> str:
    if quota is None or use is None:
        return ""
    limits = (("documents", use.documents, quota.documents), ("bytes", use.bytes, quota.bytes))
    return ", ".join(f"{have:,} of {most:,} {unit}" for unit, have, most in limits if most)
