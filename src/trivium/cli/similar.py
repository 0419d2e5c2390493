"""`trivium similar`: finds documents or passages like a given one."""

from __future__ import annotations

from typing import Any

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, pass_shell, shared_options
from trivium.operations.searching import Filters, SearchOptions


@click.command("similar")
@click.argument("document", metavar="DOCUMENT")
@click.option("--passage", type=int, help="Find passages like this one, counted from 0.")
@declared(SearchOptions, only=("limit",))
@click.option(
    "--by",
    type=click.Choice(("passage", "document")),
    help="List documents or passages.  [documents; with --passage, passages]",
)
@declared(Filters, only=("audiences", "where"))
@shared_options
@pass_shell
def similar_command(
    shell: Shell,
    /,
    document: str,
    passage: int | None,
    limit: int | None,
    by: str | None,
    **filters: Any,
) -> None:
    """Find documents or passages like a given one, by meaning.

    DOCUMENT is a file name, a path or #id, as `trivium list` shows them.

    \b
    trivium similar rulebook.md
    trivium similar '#12' --passage 3 -n 5
    """

    with shell.library() as library:
        results = library.similar(
            document,
            limit,
            passage=passage,
            by=by,
            filters=Filters(**filters),
        )
    if shell.json:
        from trivium.shapes import ResultsAnswer

        shell.emit(ResultsAnswer.of(results))
        return
    from trivium.cli.results import show_results

    show_results(shell, results, explain=False)
