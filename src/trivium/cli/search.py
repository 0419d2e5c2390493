"""`trivium search`: the options of a search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.output import Shell, pairs, pass_shell, shared_options

if TYPE_CHECKING:
    from trivium.types import MetaScalar, Signal

MODES = ("hybrid", "semantic", "keyword", "fuzzy")
FORMULAS = ("minimum", "product", "average")


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


def _weights(
    _ctx: click.Context, _param: click.Parameter, value: str | None
) -> dict[Signal, float] | None:
    if value is None:
        return None
    from trivium.types import Signal

    try:
        numbers = [float(part) for part in value.split(",")]
        return dict(zip(Signal, numbers, strict=True))
    except ValueError as reason:
        raise click.BadParameter(
            "give three numbers, for meaning, words and spelling: 0.5,0.3,0.2"
        ) from reason


def _boosts(
    _ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]
) -> dict[str, float] | None:
    if not values:
        return None
    from trivium.search.prefer import boosts_written

    return boosts_written(values)


def _single(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, MetaScalar]:
    found = pairs(ctx, param, values)
    for key, held in found.items():
        if len(held) > 1:
            raise click.BadParameter(f"You gave `{key}` twice; a filter takes one value.")
    return {key: held[0] for key, held in found.items()}


def joined(filters: tuple[str, ...]) -> str:
    """Join filters that must all match."""
    return " ".join(f"({one})" for one in filters if one.strip())


@click.command("search", cls=QueryCommand)
@click.argument("query", nargs=-1, metavar="QUERY...")
@click.option(
    "-n", "--limit", type=int, help="Maximum number of results.  [setting search.limit: 10]"
)
@click.option("--mode", type=click.Choice(MODES), default="hybrid", show_default=True)
@click.option(
    "--by",
    type=click.Choice(("passage", "document")),
    help="List passages, or each document once with its best.  [setting search.by: passage]",
)
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
    type=click.Choice(FORMULAS),
    help="How --and combines the scores of several queries.  [minimum]",
)
@click.option(
    "--weights",
    metavar="M,W,S",
    callback=_weights,
    help="Weights of meaning, words and spelling, e.g. 0.5,0.3,0.2.",
)
@click.option(
    "--k",
    type=float,
    help="Fuse by reciprocal rank with this k; a smaller k favours the top ranks.",
)
@click.option("--threshold", type=float, help="Minimum similarity for a match by meaning, -1 to 1.")
@click.option(
    "--audience",
    "audiences",
    multiple=True,
    help="Search as someone with this access label, not as the owner. Repeatable.",
)
@click.option("--collection", multiple=True, help="Only in this collection. Repeatable: any.")
@click.option(
    "--source", multiple=True, help="Only in this document: file name, path or #id. Repeatable."
)
@click.option("--category", multiple=True, help="Only in this category. Repeatable: any.")
@click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_single,
    help="Only documents with this value. Repeatable: all.",
)
@click.option(
    "--where",
    metavar="FILTER",
    multiple=True,
    help="Any other filter, e.g. 'year>=2020 type:pdf -language:de'. Repeatable: all must match.",
)
@click.option("--expand/--no-expand", default=None, help="Show the text around each passage.")
@click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Rerank the top results (more accurate, slightly slower).",
)
@click.option("--hyde/--no-hyde", default=None, help="HyDE: also search with a generated answer.")
@click.option(
    "--analysis/--no-analysis",
    default=None,
    help="Adjust the weights to the words of the query.  [setting analysis.strength]",
)
@click.option(
    "--correct/--no-correct",
    default=None,
    help="Correct misspelled words.  [setting search.correct: on]",
)
@click.option(
    "--every-word/--any-word",
    default=None,
    help="Keyword search: require every word; if no passage has them all, accept any word."
    "  [setting search.every_word: off]",
)
@click.option(
    "--prefer",
    type=click.Choice(("recent",)),
    help="Rank newer documents higher.  [setting search.prefer]",
)
@click.option(
    "--half-life",
    type=float,
    metavar="DAYS",
    help="Days after which the bonus for newer documents halves.  [setting search.half_life: 365]",
)
@click.option(
    "--boost",
    "boosts",
    metavar="FILTER*WEIGHT",
    multiple=True,
    callback=_boosts,
    help="Multiply scores that match a filter: 'collection:rules*2', 'section:methods*1.5'."
    " Repeatable.",
)
@click.option(
    "--partial/--no-partial",
    default=None,
    help="While a database node is away, show results from the other nodes."
    "  [setting search.partial: off]",
)
@click.option(
    "--as-of",
    metavar="N|DATE",
    help="Search documents as they were: in interpretation N, or at 2026-11-01[T18:00].",
)
@click.option("--explain", is_flag=True, help="Show how each score adds up, and timings.")
@shared_options
@pass_shell
def search_command(
    shell: Shell,
    /,
    query: tuple[str, ...],
    also: tuple[str, ...],
    either: tuple[str, ...],
    formula: str | None,
    audiences: tuple[str, ...],
    collection: tuple[str, ...],
    source: tuple[str, ...],
    category: tuple[str, ...],
    metadata: dict[str, MetaScalar],
    where: tuple[str, ...],
    explain: bool,
    **given: Any,  # the rest are fields of SearchOptions, under the same names
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
    queries = [" ".join(query), *also, *either]
    from trivium.options import Filters, SearchOptions

    options = SearchOptions(combine="maximum" if either else formula, **given)
    filters = Filters(
        audiences=audiences or None,
        collection=collection or None,
        source=source or None,
        category=category or None,
        metadata=metadata,
        where=joined(where),
    )
    with shell.library() as library:
        results = library.search(queries, options=options, filters=filters)
        library.queries.note(results.query, results)
    if shell.json:
        from trivium.shapes import ResultsAnswer

        shell.emit(ResultsAnswer.of(results))
        return
    from trivium.cli.results import show_results

    show_results(shell, results, explain=explain)
