"""`trivium search`: the options of a search, and its results as JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from trivium.cli.output import Shell, pairs, pass_shell, shared_options

if TYPE_CHECKING:
    from trivium.types import MetaScalar, Result, Results, Signal, StoredChunk

MODES = ("hybrid", "semantic", "keyword", "fuzzy")


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


def _single(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, MetaScalar]:
    found = pairs(ctx, param, values)
    for key, held in found.items():
        if len(held) > 1:
            raise click.BadParameter(f"`{key}` is given twice; a filter takes one value.")
    return {key: held[0] for key, held in found.items()}


@click.command("search", cls=QueryCommand)
@click.argument("query", nargs=-1, metavar="QUERY...")
@click.option("-n", "--limit", type=int, help="Most results.  [setting search.limit: 10]")
@click.option("--mode", type=click.Choice(MODES), default="hybrid", show_default=True)
@click.option(
    "--weights",
    metavar="M,W,S",
    callback=_weights,
    help="Weights of meaning, words and spelling, e.g. 0.5,0.3,0.2.",
)
@click.option("--k", type=float, help="Rank constant of the fusion; smaller is sharper.")
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
@click.option("--explain", is_flag=True, help="Show how every score came about, and timings.")
@shared_options
@pass_shell
def search_command(
    shell: Shell,
    query: tuple[str, ...],
    limit: int | None,
    mode: str,
    weights: dict[Signal, float] | None,
    k: float | None,
    threshold: float | None,
    audiences: tuple[str, ...],
    collection: tuple[str, ...],
    source: tuple[str, ...],
    category: tuple[str, ...],
    metadata: dict[str, MetaScalar],
    explain: bool,
) -> None:
    """Search by meaning, words and spelling at once.

    The query may hold words, "a phrase" (quote it twice: '"a phrase"'), a OR b, and -not.

    \b
    trivium search who stole the drowned crown
    trivium search battleaxe -n 3 --explain
    trivium search '"short sword" OR dagger' -cursed --category rulebook
    trivium search ambush --audience dm-only --json
    """
    with shell.library() as library:
        results = library.search(
            " ".join(query),
            limit,
            mode=mode,
            weights=weights,
            k=k,
            threshold=threshold,
            audiences=audiences or None,
            collection=collection or None,
            source=source or None,
            category=category or None,
            metadata=metadata,
        )
    if shell.json:
        shell.emit(as_json(results))
        return
    from trivium.cli.results import show_results

    show_results(shell, results, explain=explain)


def as_json(results: Results) -> dict[str, object]:
    return {
        "query": results.query,
        "analysis": {
            "weights": {signal.value: w for signal, w in results.analysis.weights.items()},
            "notes": list(results.analysis.notes),
        },
        "took_ms": results.took_ms,
        "timings_ms": dict(results.timings_ms),
        "results": [_result_as_json(result) for result in results],
        "notes": list(results.notes),
    }


def _result_as_json(result: Result) -> dict[str, object]:
    document = result.found.document
    return {
        "rank": result.rank,
        "score": result.score,
        "match": result.match,
        "document": {
            "id": document.id,
            "title": document.title,
            "uri": document.uri,
            "collection": document.collection,
            "category": document.category,
            "interpretation": document.interpretation,
        },
        "chunk": chunk_as_json(result.found),
        "signals": {
            signal.value: {
                "rank": part.rank,
                "score": part.score,
                "weight": part.weight,
                "contribution": part.contribution,
            }
            for signal, part in result.signals.items()
        },
    }


def chunk_as_json(found: StoredChunk) -> dict[str, object]:
    chunk = found.chunk
    return {
        "id": found.id,
        "index": chunk.index,
        "text": chunk.text,
        "heading": heading(found),
        "section": chunk.section,
        "pages": list(chunk.pages),
        "paragraph": chunk.paragraph,
        "start": chunk.start,
        "end": chunk.end,
    }


def heading(found: StoredChunk) -> str:
    return " › ".join(found.chunk.headings)
