"""`trivium search`: asks the library and prints the results, for people or as JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from trivium.cli.output import Shell, pairs, pass_shell, printable, shared_options

if TYPE_CHECKING:
    from rich.text import Text

    from trivium.types import Chunk, MetaScalar, Result, Results, Signal, StoredChunk

MODES = ("hybrid", "semantic", "keyword", "fuzzy")
BADGES = {"vector": "meaning", "keyword": "words", "trigram": "spelling"}
COLOURS = {"vector": "cyan", "keyword": "green", "trigram": "magenta"}
_LINES = 3  # of a snippet on a screen
_PIPED = 240  # characters of a snippet elsewhere: about as much
_INDENT = 4


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
                options += [token, *(v for v in [next(rest, None)] if v is not None)]
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
    _show(shell, results, explain)


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


def _show(shell: Shell, results: Results, explain: bool) -> None:
    from rich.text import Text

    from trivium.cli.explain import show_analysis, show_parts
    from trivium.text.query import parse

    words = parse(results.query).words
    for result in results:
        shell.say(_header(result))
        shell.say(_snippet(shell, result, words), _footer(result), indent=_INDENT)
        if explain:
            show_parts(shell, result)
        shell.say("")
    if results.items:
        plural = "" if len(results) == 1 else "s"
        shell.say(Text(f"{len(results)} result{plural} in {results.took_ms:.0f} ms", style="dim"))
    else:
        shell.say("Nothing was found.")
        shell.note("`trivium list` shows what there is to find; --mode fuzzy forgives spelling.")
    if explain:
        show_analysis(shell, results)
    for note in results.notes:
        shell.note(note)


def _header(result: Result) -> Text:
    from rich.text import Text

    document, chunk = result.found.document, result.found.chunk
    path = [h for at, h in enumerate(chunk.headings) if at or h != document.title]
    labels = "/".join(part for part in (document.collection, document.category) if part)
    line = Text.assemble((f"{result.rank:>2}. {printable(document.title)}", "bold"))
    if path or chunk.section:
        line.append("  " + printable(" › ".join(path) or chunk.section), style="dim")
    line.append(f"  {printable(labels)}", style="blue")
    if chunk.pages:
        first, last = chunk.pages[0], chunk.pages[-1]
        line.append(f"  p. {first}" if first == last else f"  pp. {first}–{last}")
    line.append(f"  {result.match:.0%}", style="bold yellow")
    return line


def _snippet(shell: Shell, result: Result, words: tuple[str, ...]) -> Text:
    from rich.text import Text

    from trivium.cli.snippet import snip

    found = result.found
    width = (shell.out.width - _INDENT - 8) * _LINES if shell.out.is_terminal else _PIPED
    body = _without_headings(found.chunk)
    cut = snip(printable(body), words, found.document.language, max(width, 60))
    text = Text(cut.text)
    for start, end in cut.marks:
        text.stylize("bold reverse" if shell.out.no_color else "bold yellow", start, end)
    return text


def _without_headings(chunk: Chunk) -> str:
    """A passage without the headings it begins with: the line above it shows them."""
    body = chunk.text.lstrip()
    for heading_ in chunk.headings:
        body = body.removeprefix(heading_).lstrip()
    return body or chunk.text


def _footer(result: Result) -> Text:
    from rich.text import Text

    line = Text()
    for signal in result.signals:
        line.append(f"{BADGES[signal]} ", style=COLOURS[signal])
    line.append(f" {printable(result.found.document.uri)}#{result.found.chunk.index}", style="dim")
    return line
