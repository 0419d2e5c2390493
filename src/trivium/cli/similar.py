"""`trivium similar`: finds documents or passages like a given one."""

from __future__ import annotations

from typing import Any

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, with_shell
from trivium.operations.searching import Filters, Similar


@click.command("similar")
@click.argument("document", metavar="DOCUMENT")
@declared(Similar, without=("explain",))
@declared(Filters, only=("audiences",))
@with_shell
def similar_command(
    shell: Shell, /, document: str, audiences: tuple[str, ...] | None, **options: Any
) -> None:
    """Find documents or passages like a given one, by meaning.

    DOCUMENT is a file name, a path or #id, as `trivium list` shows them.

    \b
    trivium similar rulebook.md
    trivium similar '#12' --passage 3 -n 5
    """
    request = Similar(**options)
    with shell.library() as library:
        results = library.similar(
            document,
            request.limit,
            passage=request.passage,
            by=request.by,
            filters=Filters(audiences=audiences, where=request.where),
        )
    if shell.json:
        from trivium.core.shapes import ResultsAnswer

        shell.emit(ResultsAnswer.of(results))
        return
    from trivium.cli.results import show_results

    show_results(shell, results, explain=False)
