"""`trivium search`: the options of a search."""

from __future__ import annotations

import re
from typing import Any

import click

from trivium.cli.declared import declared
from trivium.cli.output import EMPTY, Shell, with_shell
from trivium.core.modes import Combine
from trivium.operations.searching import Filters, Search, SearchOptions


class QueryCommand(click.Command):
    """Reads `-word` as an excluded word of the query, not as short options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        valued = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for name in param.opts
        }
        options: list[str] = []
        words: list[str] = []
        rest = iter(args)
        for token in rest:
            if token == "--":
                words += rest
            elif token in valued:
                value = next(rest, None)
                if value is None:
                    raise click.BadOptionUsage(token, f"Option {token} needs a value.", ctx)
                options += [token, value]
            elif token.startswith("--") or token == "-h" or re.fullmatch(r"-n\d+", token):
                options.append(token)
            else:
                words.append(token)
        return super().parse_args(ctx, [*options, "--", *words])


@click.command("search", cls=QueryCommand)
@click.argument("query", nargs=-1, metavar="QUERY...")
@declared(SearchOptions, without=("combine",))
@click.option(
    "--and",
    "also",
    metavar="QUERY",
    multiple=True,
    help="Another query that must match too. Up to three.",
)
@click.option(
    "--or", "either", metavar="QUERY", multiple=True, help="Another query that may match instead."
)
@click.option(
    "--formula",
    type=click.Choice([formula.value for formula in Combine if formula is not Combine.MAXIMUM]),
    help="How --and combines the scores of several queries.  [minimum]",
)
@declared(Filters)
@declared(Search, only=("explain",))
@with_shell
def search_command(
    shell: Shell,
    /,
    query: tuple[str, ...],
    also: tuple[str, ...],
    either: tuple[str, ...],
    formula: str | None,
    **options: Any,
) -> None:
    """Search by meaning, words and spelling at once.

    A query can have words, "a phrase" (quote it twice: '"a phrase"'), a OR b, +required and -not.

    \b
    trivium search who stole the drowned crown
    trivium search battleaxe -n 3 --explain
    trivium search '"short sword" OR dagger' -cursed --category rulebook
    trivium search ambush --audience dm-only --json
    trivium search machine learning --and healthcare --and ethics --by document
    trivium search battleaxe --source weapons.md --as-of 1
    trivium search trust in automation --where 'year>=2020 type:pdf' --expand
    """
    if also and either:
        raise click.UsageError("--and and --or can't be combined.")
    if formula and not also:
        raise click.UsageError("--formula needs --and.")
    combine = Combine.MAXIMUM if either else formula
    request = Search(query=[" ".join(query), *also, *either], combine=combine, **options)
    with shell.library() as library:
        results = library.search(request.query, options=request, filters=request)
        library.queries.note(results.query, results)
        is_empty = not results and not library.documents.collections()
    if shell.json:
        from trivium.core.shapes import ResultsAnswer

        shell.emit(ResultsAnswer.of(results))
        return
    if is_empty:
        shell.note(EMPTY)
        return
    from trivium.cli.results import show_results

    show_results(shell, results, explain=request.explain)
