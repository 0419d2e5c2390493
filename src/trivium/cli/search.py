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
    """Takes `-word` for a word of the query that is not wanted, not for a row of short options."""

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
            "three numbers are needed, for meaning, words and spelling: 0.5,0.3,0.2"
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
            raise click.BadParameter(f"`{key}` is given twice; a filter takes one value.")
    return {key: held[0] for key, held in found.items()}


def joined(filters: tuple[str, ...]) -> str:
    """Filters that must all hold, as one."""
    return " ".join(f"({one})" for one in filters if one.strip())


@click.command("search", cls=QueryCommand)
@click.argument("query", nargs=-1, metavar="QUERY...")
@click.option("-n", "--limit", type=int, help="Most results.  [setting search.limit: 10]")
@click.option("--mode", type=click.Choice(MODES), default="hybrid", show_default=True)
@click.option(
    "--by",
    type=click.Choice(("passage", "document")),
    help="Every passage, or each document once with its best.  [setting search.by: passage]",
)
@click.option(
    "--and",
    "also",
    metavar="QUERY",
    multiple=True,
    help="Another query that must find it too. Up to three.",
)
@click.option(
    "--or", "either", metavar="QUERY", multiple=True, help="Another query that may find it instead."
)
@click.option(
    "--formula",
    type=click.Choice(FORMULAS),
    help="How --and makes one score of several.  [minimum]",
)
@click.option(
    "--weights",
    metavar="M,W,S",
    callback=_weights,
    help="Weights of meaning, words and spelling, e.g. 0.5,0.3,0.2.",
)
@click.option(
    "--k", type=float, help="Fuse by reciprocal ranks with this constant; smaller is sharper."
)
@click.option("--threshold", type=float, help="Least similarity of a hit by meaning, -1 to 1.")
@click.option(
    "--audience",
    "audiences",
    multiple=True,
    help="Search as a caller that holds this label, not as the owner. Repeatable.",
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
    help="Any other filter, e.g. 'year>=2020 type:pdf,docx -language:de'. Repeatable: all hold.",
)
@click.option("--expand/--no-expand", default=None, help="Show the text around each passage.")
@click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Rerank the top results (more accurate, slightly slower).",
)
@click.option("--hyde/--no-hyde", default=None, help="HyDE: search with a generated answer, too.")
@click.option(
    "--analysis/--no-analysis",
    default=None,
    help="Let the query's own words move the weights.  [setting analysis.strength]",
)
@click.option(
    "--correct/--no-correct",
    default=None,
    help="Look for what misspelled words were meant to be.  [setting search.correct: on]",
)
@click.option(
    "--every-word/--any-word",
    default=None,
    help="By keyword, find only passages that hold every word; where none does, any."
    "  [setting search.every_word: off]",
)
@click.option(
    "--prefer",
    type=click.Choice(("recent",)),
    help="Let newer documents count more.  [setting search.prefer]",
)
@click.option(
    "--half-life",
    type=float,
    metavar="DAYS",
    help="Days after which being recent adds half as much.  [setting search.half_life: 365]",
)
@click.option(
    "--boost",
    "boosts",
    metavar="FILTER*WEIGHT",
    multiple=True,
    callback=_boosts,
    help="Multiply scores where a filter holds: 'collection:rules*2', 'section:methods*1.5'."
    " Repeatable.",
)
@click.option(
    "--as-of",
    metavar="N|DATE",
    help="As the documents were: in interpretation N, or at 2026-11-01 or 2026-11-01T18:00.",
)
@click.option("--explain", is_flag=True, help="Show how every score came about, and timings.")
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

    The query may hold words, "a phrase" (quote it twice: '"a phrase"'), a OR b, +required and -not.

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
        raise click.UsageError("--and and --or cannot be mixed.")
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
        library.queries.note(results.query, results, results.took_ms)
    if shell.json:
        from trivium.shapes import ResultsAnswer

        shell.emit(ResultsAnswer.of(results))
        return
    from trivium.cli.results import show_results

    show_results(shell, results, explain=explain)
