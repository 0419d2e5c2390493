"""`trivium ask`: prints an answer as it is written, then its citations; without a question it
starts a conversation."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.declared import declared
from trivium.cli.output import EMPTY, Shell, printable, with_shell
from trivium.cli.player import player_command
from trivium.cli.search import QueryCommand
from trivium.core.answers import Depth
from trivium.operations.asking import Ask, AskOptions
from trivium.operations.searching import Filters

if TYPE_CHECKING:
    from rich.text import Text

    from trivium.core.answers import Answer, AnswerEvent, Citation, Turn
    from trivium.library import Library

_KEPT_TURNS = 6  # of a conversation in the terminal that has no name


@click.command("ask", cls=QueryCommand)
@click.argument("question", nargs=-1, metavar="[QUESTION...]")
@declared(AskOptions, without=("depth",))
@declared(Filters)
@click.option(
    "--deep",
    is_flag=True,
    help="Search several times if needed, and show each step.  [setting ask.depth: auto]",
)
@click.option(
    "--json-lines", is_flag=True, help="Print each event as a line of JSON as it arrives."
)
@with_shell
def ask_command(
    shell: Shell, /, question: tuple[str, ...], deep: bool, json_lines: bool, **options: Any
) -> None:
    """Answer a question from your documents, with citations.

    With a language model (setting generate.url), the model writes the answer. Without one, you
    get sentences quoted from your documents. Leave the question out to start a conversation.

    \b
    trivium ask who raised the drowned crown
    trivium ask "what does it cost?" --conversation shopping
    trivium ask how do I parry --audience player --where type:markdown --json
    trivium ask --deep which costs more, a longbow or a crossbow
    trivium ask
    """
    text = " ".join(question)
    request = Ask(question=text, depth=Depth.DEEP if deep else None, **options)
    with shell.library() as library:
        asking = _Asking(library, request)
        if text.strip():
            _answer(shell, asking, text, json_lines)
        elif shell.json or json_lines or not sys.stdin.isatty():
            raise click.UsageError("Type a question.")
        else:
            _converse(shell, asking)


class _Asking:
    """How this call asks, and the turns since the program started."""

    def __init__(self, library: Library, request: Ask) -> None:
        self._library, self._asked = library, request
        self._history: list[Turn] = []

    def events(self, question: str) -> Iterator[AnswerEvent]:
        request = self._asked
        return self._library.ask_stream(
            question,
            history=() if request.conversation else self._history[-_KEPT_TURNS:],
            limit=request.limit,
            filters=request,
            conversation=request.conversation,
            depth=request.depth,
        )

    def advice(self, question: str) -> str:
        """What to do after a refusal."""
        if not self._library.documents.collections():
            return EMPTY
        closest = f"`trivium search {shlex.quote(question)}`"
        return f"Try other words, or see the closest passages with {closest}."

    def remember(self, answer: Answer) -> None:
        self._history.append(answer.turn)


def _converse(shell: Shell, asking: _Asking) -> None:
    """Ask until the person enters an empty line or ends the input."""
    shell.note("Type a question. Press Enter on an empty line to quit.")
    while True:
        try:
            text = click.prompt("?", prompt_suffix=" ", default="", show_default=False)
        except click.Abort:
            break
        if not text.strip():
            break
        asking.remember(_answer(shell, asking, text, as_lines=False))
        shell.say("")


def _answer(shell: Shell, asking: _Asking, question: str, as_lines: bool) -> Answer:
    from trivium.core.answers import Done, Step, Token

    events = asking.events(question)
    for event in events:
        if as_lines:
            shell.emit_line(_line(event))
        elif isinstance(event, Token) and not shell.json:
            click.echo(printable(event.text), nl=False)
        elif isinstance(event, Step) and not shell.json and shell.err.is_terminal:
            _tell_step(shell, event)
        if isinstance(event, Done):
            if shell.json:
                shell.emit(event.answer)
            elif not as_lines:
                click.echo("")
                _show_below(shell, event.answer)
                if event.answer.refused:
                    shell.note(asking.advice(event.answer.asked))
            return event.answer
    raise AssertionError("an answer always ends")


def _line(event: AnswerEvent) -> dict[str, object]:
    from trivium.core.shapes import as_json

    return {"event": type(event).__name__.lower(), **as_json(event)}


def _tell_step(shell: Shell, step: object) -> None:
    from trivium.core.answers import Step

    if isinstance(step, Step) and step.name not in ("write", "extract", "check"):
        shell.err.print(shell.folded(step.line), style="dim", soft_wrap=True)


def _show_below(shell: Shell, answer: Answer) -> None:
    """The citations with page and path, then the statements they don't support."""
    if answer.citations:
        shell.say("")
    for citation in answer.citations:
        shell.say(_cited(citation))
    for statement in answer.unsupported:
        shell.note(f"Not supported: “{statement.text}” ({statement.why}).")
    for note in answer.notes:
        shell.note(note)


def _cited(citation: Citation) -> Text:
    from rich.text import Text

    from trivium.cli.results import titled
    from trivium.text.times import place_parts

    line = Text.assemble((f"[{citation.number}] ", "bold cyan"), titled(citation.title))
    path = [h for at, h in enumerate(citation.headings) if at or h != citation.title]
    if path:
        line.append("  " + printable(" › ".join(path)), style="dim")
    if parts := place_parts(citation):
        line.append(f"  {printable(', '.join(parts))}")
    if citation.paragraph is not None:
        line.append(f"  ¶{citation.paragraph}", style="dim")
    line.append(f"  {printable(citation.link or citation.uri)}", style="dim")
    if citation.seconds and (play := player_command(citation.uri, citation.seconds[0])):
        line.append(f"\n    {printable(play)}", style="dim")
    return line
