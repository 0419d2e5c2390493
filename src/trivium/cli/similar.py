"""`trivium similar`: finds documents or passages like a given one."""

from __future__ import annotations

import click

from trivium.cli.output import Shell, pass_shell, shared_options


@click.command("similar")
@click.argument("document", metavar="DOCUMENT")
@click.option("--passage", type=int, help="Find passages like this one, counted from 0.")
@click.option(
    "-n", "--limit", type=int, help="Maximum number of results.  [setting search.limit: 10]"
)
@click.option(
    "--by",
    type=click.Choice(("passage", "document")),
    help="List documents or passages.  [documents; with --passage, passages]",
)
@click.option(
    "--audience",
    "audiences",
    multiple=True,
    help="Search as someone with this access label, not as the owner. Repeatable.",
)
@click.option("--where", metavar="FILTER", default="", help="Filter, e.g. type:pdf.")
@shared_options
@pass_shell
def similar_command(
    shell: Shell,
    document: str,
    passage: int | None,
    limit: int | None,
    by: str | None,
    audiences: tuple[str, ...],
    where: str,
) -> None:
    """Find documents or passages like a given one, by meaning.

    DOCUMENT is a file name, a path or #id, as `trivium list` shows them.

    \b
    trivium similar rulebook.md
    trivium similar '#12' --passage 3 -n 5
    """
    from trivium.options import Filters

    with shell.library() as library:
        results = library.similar(
            document,
            limit,
            passage=passage,
            by=by,
            filters=Filters(audiences=audiences or None, where=where),
        )
    if shell.json:
        from trivium.shapes import ResultsAnswer

        shell.emit(ResultsAnswer.of(results))
        return
    from trivium.cli.results import show_results

    show_results(shell, results, explain=False)
