"""`trivium quote`: finds where a pasted sentence or paragraph comes from."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, with_shell
from trivium.cli.player import player_command
from trivium.cli.search import QueryCommand
from trivium.operations.quoting import QuoteOptions
from trivium.operations.searching import Filters
from trivium.text.times import span
from trivium.text.titles import file_of

if TYPE_CHECKING:
    from trivium.core.answers import QuotedPlace

NOT_THERE = "Not in your documents."
OTHER_FIGURES = "Not in your documents. Nearly the same words, with other figures or dates:"


@click.command("quote", cls=QueryCommand)
@click.argument("text", nargs=-1, metavar="[TEXT...]")
@declared(QuoteOptions)
@declared(Filters)
@with_shell
def quote_command(shell: Shell, /, text: tuple[str, ...], limit: int, **filters: Any) -> None:
    """Find the document, page and paragraph that a text was quoted from, and what was changed.

    Paste a sentence or a paragraph, or send it to standard input. Case, punctuation, hyphens and
    ligatures make no difference, and up to a third of the words may differ.

    \b
    trivium quote "Divers raised the crown from the harbour of Port Amble."
    pbpaste | trivium quote
    """
    pasted = " ".join(text)
    if not pasted.strip() and not sys.stdin.isatty():
        pasted = sys.stdin.read()
    if not pasted.strip():
        raise click.UsageError("Paste a sentence.")
    with shell.library() as library:
        quotation = library.quote(pasted, limit, filters=Filters(**filters))
    if shell.json:
        shell.emit(quotation)
        return
    if not quotation.places:
        shell.say(OTHER_FIGURES if quotation.similar else NOT_THERE)
    for place in quotation.places or quotation.similar:
        _show(shell, place)


def _show(shell: Shell, place: QuotedPlace) -> None:
    where = [f"{place.title} #{place.document}", file_of(place.uri)]
    if place.pages:
        where.append(
            f"p. {'–'.join(str(page) for page in (place.pages[0], *place.pages[1:][-1:]))}"
        )
    where += [span(place.seconds)] if place.seconds else []
    where += [f"paragraph {place.paragraph}"] if place.paragraph else []
    share = "word for word" if not place.changes else f"{place.kept:.0%} of the words"
    shell.say(f"{', '.join(where)} ({share})")
    shell.say(" ".join(place.text.split()), indent=2)
    if place.seconds and (play := player_command(place.uri, place.seconds[0])):
        shell.say(play, indent=2)
    for change in place.changes:
        shell.say(f"{change.quoted or '(left out)'} → {change.source or '(added)'}", indent=4)
    shell.say("")
