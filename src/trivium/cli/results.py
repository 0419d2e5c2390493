"""Prints search results: snippets, highlights and badges; with --explain, how each score adds up
and where the time went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trivium.cli.output import Shell, printable
from trivium.cli.player import player_command
from trivium.core.counting import counted
from trivium.core.results import NOTHING_FITS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from trivium.core.results import RerankPart, Result, Results
    from trivium.core.types import StoredChunk

COLOURS = {"vector": "cyan", "keyword": "green", "trigram": "magenta"}
_LINES = 3  # of a snippet on a screen
_PIPED = 240  # characters of as many lines elsewhere
_INDENT = 4
DEFAULT_COLLECTION = "default"  # isn't named: most libraries have no other
_BAR = 30  # characters of the longest bar


def show_results(shell: Shell, results: Results, *, explain: bool) -> None:
    """Print every result with its snippet and signals; with --explain, how its score adds up."""

    from trivium.text.query import parse
    from trivium.text.snippet import said_in

    meant = [a.suggestion or q for q, a in zip(results.queries, results.analyses, strict=True)]
    words = tuple(word for query in meant for word in parse(query).words)
    spoken = said_in(((r.found.chunk.text, r.found.document.language) for r in results), words)
    _suggest(shell, results)
    if results.items and results.weak:
        shell.say(NOTHING_FITS, "", style="bold")
    folded = [result for result in results if results.is_folded(result)]
    for result in results:
        if result not in folded or explain:
            _show_whole(shell, result, words, spoken)
            if explain:
                _show_parts(shell, result, results)
            shell.say("")
    if folded and not explain:
        shell.say(f"{counted(len(folded), 'weaker match')}:", style="bold")
        shell.say(*map(_header, folded), "")
    if results.items:
        count = counted(len(results), "result")
        shell.say(f"{count} in {results.took_ms:.0f} ms", style="dim")
    else:
        shell.say("No results.")
        if not results.notes:
            shell.note("`trivium list` shows the documents you can search.")
    if explain:
        _show_analysis(shell, results)
    for note in results.notes:
        shell.note(note)


def _suggest(shell: Shell, results: Results) -> None:
    """The likely spelling of a misspelled query, and whether Trivium searched for it too."""
    for analysis in results.analyses:
        if analysis.suggestion:
            searched = any(correction.applied for correction in analysis.corrections)
            text = "Also searched for “{}”." if searched else "Did you mean “{}”?"
            shell.note(text.format(analysis.suggestion))


def _show_whole(
    shell: Shell, result: Result, words: tuple[str, ...], spoken: frozenset[str]
) -> None:
    """A result with its snippet, the text around it if the caller wants it, and its signals."""
    from rich.text import Text

    before, after = " ".join(result.before.split()), " ".join(result.after.split())
    lines = [Text(f"… {printable(before)}", style="dim")] if before else []
    if header := result.found.chunk.header:
        lines.append(Text(printable(header), style="dim"))
    lines.append(highlighted(shell.out, result.found, words, _LINES, spoken))
    lines += [Text(f"{printable(after)} …", style="dim")] if after else []
    shell.say(_header(result))
    shell.say(*lines, _footer(result), indent=_INDENT)


def _header(result: Result) -> Text:
    from trivium.search.multi import shown

    line = title_and_place(result.found, f"{result.rank:>2}. ")
    matches = [part.match for part in result.queries]
    match = shown(result.match, matches) if matches else f"{result.match:.0%}"
    line.append(f"  {match}", style="bold yellow")
    return line


def title_and_place(passage: StoredChunk, before: str = "") -> Text:
    """A passage's document and headings, its labels, pages and paragraph, on one line."""
    from rich.text import Text

    from trivium.text.times import place_parts

    document, chunk = passage.document, passage.chunk
    path = chunk.path_under(document.title)
    place = ", ".join(place_parts(chunk.place))
    if place and place in document.title:  # a message, whose title has its channel too
        path = [h for h in path if h not in document.title and not h.startswith(_day_said(passage))]
        place = ""
    collection = document.collection if document.collection != DEFAULT_COLLECTION else ""
    labels = "/".join(part for part in (collection, document.category) if part)
    line = Text.assemble((f"{before}{titled(document.title)}", "bold"))
    if path:
        line.append("  " + printable(" › ".join(path)), style="dim")
    if labels:
        line.append(f"  {printable(labels)}", style="blue")
    if place:
        line.append(f"  {printable(place)}")
    if chunk.paragraph is not None:
        line.append(f"  ¶{chunk.paragraph}", style="dim")
    return line


def titled(title: str) -> str:
    """A letterhead may be a title: its address at the right margin is 30 blanks away."""
    return printable(" ".join(title.split()))


def _day_said(passage: StoredChunk) -> str:
    """How the heading of a message begins that says who wrote it on which day."""
    return f"{', '.join(passage.chunk.place.authors)}, "


def highlighted(
    console: Console,
    passage: StoredChunk,
    words: tuple[str, ...],
    lines: int,
    said: frozenset[str] = frozenset(),
) -> Text:
    """The part of a passage that covers the query best, with its words marked."""
    from rich.text import Text

    from trivium.text.snippet import snip, without_headings

    width = (console.width - _INDENT - 8) * lines if console.is_terminal else _PIPED * lines // 3
    body = without_headings(passage.chunk.text, passage.chunk.headings)
    cut = snip(printable(body), words, passage.document.language, max(width, 60), said)
    shown = Text(cut.text)
    for start, end in cut.marks:
        shown.stylize("bold reverse" if console.no_color else "bold yellow", start, end)
    return shown


def _footer(result: Result) -> Text:
    from rich.text import Text

    line = Text()
    for signal in result.signals:
        line.append(f"{signal.told} ", style=COLOURS[signal])
    if result.fields:
        line.append(f"({printable(', '.join(result.fields))}) ", style="dim")
    passage = result.found
    line.append(f" {printable(passage.document.uri)}#{passage.chunk.index}", style="dim")
    if passage.link:
        line.append(f"  {printable(passage.link)}", style="dim")
    if (more := result.passages - 1) > 0:
        line.append(f"  and {counted(more, 'more passage')}", style="dim")
    if play := player_command(passage.document.uri, result.at):
        line.append(f"\n{printable(play)}", style="dim")
    return line


def _show_parts(shell: Shell, result: Result, results: Results) -> None:
    """How a result's score adds up, for each query if there are several."""
    columns = ("signal", ">rank", ">raw score", ">weight", ">contribution")
    total = sum(part.contribution for part in result.signals.values())
    total += result.in_order.contribution if result.in_order else 0.0
    answers = [(p.signals, p.score) for p in result.queries] or [(result.signals, total)]
    for query, (signals, score) in zip(results.queries, answers, strict=True):
        if result.queries:
            shell.say(f"“{query}”")
        rows = [
            (
                f"{signal.told} ({signal})",
                str(part.rank),
                f"{part.score:.4f}",
                f"{part.weight:.3g}",
                f"{part.contribution:.6f}",
            )
            for signal, part in signals.items()
        ]
        if in_order := result.in_order:
            text = f"{in_order.words} of {in_order.of} words in order"
            rows.append((text, "", "", "", f"{in_order.contribution:.6f}"))
        shell.table(columns, [*rows, ("sum", "", "", "", f"{score:.6f}")])
    if result.queries:
        matches = ", ".join(f"{part.match:.2f}" for part in result.queries)
        shell.say(f"match = {results.combine} of {matches} = {result.match:.2f}")
    if result.why:
        shell.say(f"match {result.match:.0%}: {result.why}")
    if result.rerank:
        part = result.rerank
        shell.say(
            f"reranked from {part.before}: {part.rerank:.4f} reranker (judged {part.judged:.2f})"
            f" + {part.hybrid:.4f} hybrid + {part.position:.4f} position{_deep(part)}"
            f" = {part.total:.4f}"
        )
    if result.preferences:
        added = " ".join(
            f"{'-' if p.contribution < 0 else '+'} {abs(p.contribution):.4f} {p.name}"
            f" (× {p.factor:.3g})"
            for p in result.preferences
        )
        before = result.score - sum(p.contribution for p in result.preferences)
        shell.say(f"preferred: {before:.4f} {added} = {result.score:.4f}")


def _show_analysis(shell: Shell, results: Results) -> None:
    """The weights chosen for the query, and the time of every stage."""
    from rich.text import Text

    for query, analysis in zip(results.queries, results.analyses, strict=True):
        of = f"“{printable(query)}”: " if len(results.queries) > 1 else ""
        fused = f" Fusion: reciprocal ranks, k {analysis.k:g}." if analysis.k else ""
        shell.say(Text.assemble(of, (analysis.decided, "bold"), fused))
        if analysis.semantic is not None and not analysis.by_answers:
            reasons = "; ".join(map(str, analysis.boosts)) or "no preference"
            shares = f"meaning {analysis.semantic} : words {100 - analysis.semantic}"
            shell.say(f"The query's own words: {shares} ({reasons}).")
        for note in analysis.notes:
            shell.say(note)
        if analysis.hypothesis:
            shell.say(f"HyDE: also searched with this generated answer: {analysis.hypothesis}")
    if results.afterwards:
        shell.say(results.afterwards)
    longest = max(results.timings_ms.values(), default=0.0)
    for stage, ms in results.timings_ms.items():
        bar = "█" * round(_BAR * ms / longest) if longest else ""
        shell.say(Text.assemble(f"{stage:<10}{ms:>9.2f} ms  ", (bar, "cyan")))


def _deep(part: RerankPart) -> str:
    return "" if part.read is None else f" + {part.deep:.4f} cross-encoder (read {part.read:.2f})"
