"""Results of a search for a person: snippets, highlights and badges; explained, where each score
comes from and where the time went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trivium.cli.output import Shell, printable

if TYPE_CHECKING:
    from rich.text import Text

    from trivium.types import Chunk, Result, Results

BADGES = {"vector": "meaning", "keyword": "words", "trigram": "spelling"}
COLOURS = {"vector": "cyan", "keyword": "green", "trigram": "magenta"}
_LINES = 3  # of a snippet on a screen
_PIPED = 240  # characters of a snippet elsewhere: about as much
_INDENT = 4
_BAR = 30  # characters of the longest bar


def show_results(shell: Shell, results: Results, *, explain: bool) -> None:
    """Every result with its snippet and signals; explained, where its score comes from too."""
    from rich.text import Text

    from trivium.text.query import parse

    words = parse(results.query).words
    for result in results:
        shell.say(_header(result))
        shell.say(_snippet(shell, result, words), _footer(result), indent=_INDENT)
        if explain:
            _show_parts(shell, result)
        shell.say("")
    if results.items:
        plural = "" if len(results) == 1 else "s"
        shell.say(Text(f"{len(results)} result{plural} in {results.took_ms:.0f} ms", style="dim"))
    else:
        shell.say("Nothing was found.")
        shell.note("`trivium list` shows what there is to find; --mode fuzzy forgives spelling.")
    if explain:
        _show_analysis(shell, results)
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


def _show_parts(shell: Shell, result: Result) -> None:
    """The signals' parts of one result, and their sum, which is its score."""
    rows = [
        (
            signal.value,
            str(part.rank),
            f"{part.score:.4f}",
            f"{part.weight:g}",
            f"{part.contribution:.6f}",
        )
        for signal, part in result.signals.items()
    ]
    rows.append(("sum = score", "", "", "", f"{result.score:.6f}"))
    shell.table(("signal", ">rank", ">raw score", ">weight", ">contribution"), rows)


def _show_analysis(shell: Shell, results: Results) -> None:
    """What was decided about the query, and the time of every stage."""
    from rich.text import Text

    told = ", ".join(f"{signal} {w:g}" for signal, w in results.analysis.weights.items())
    shell.say(Text.assemble(("\nweights ", "bold"), told))
    for note in results.analysis.notes:
        shell.say(printable(note))
    longest = max(results.timings_ms.values(), default=0.0)
    for stage, ms in results.timings_ms.items():
        bar = "█" * round(_BAR * ms / longest) if longest else ""
        shell.say(Text.assemble(f"{stage:<10}{ms:>9.2f} ms  ", (bar, "cyan")))
