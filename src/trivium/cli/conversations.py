"""`trivium conversations`: lists, shows and deletes saved conversations."""

from __future__ import annotations

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, with_shell
from trivium.core.counting import counted
from trivium.operations.searching import Filters


@click.command("conversations")
@click.argument("name", required=False)
@click.option("--forget", is_flag=True, help="Delete the conversation.")
@declared(Filters, only=("audiences",))
@with_shell
def conversations_command(
    shell: Shell, name: str | None, forget: bool, audiences: tuple[str, ...] | None
) -> None:
    """List the conversations you saved with `ask --conversation`; show or delete one.

    \b
    trivium conversations
    trivium conversations shopping
    trivium conversations shopping --forget
    """
    from trivium.library import where

    within = where(Filters(audiences=audiences))
    if forget and name is None:
        raise click.UsageError("Name the conversation to delete.")
    with shell.library() as library:
        if name is None:
            listed = library.conversations.all(within)
            if shell.json:
                shell.emit({"conversations": listed})
            elif listed:
                rows = [
                    (
                        conversation.name,
                        str(conversation.turns),
                        conversation.began,
                        conversation.last,
                    )
                    for conversation in listed
                ]
                shell.table(("name", ">turns", "began", "last"), rows)
            else:
                shell.say("No saved conversations.")
                shell.note("`trivium ask --conversation NAME` starts one.")
            return
        if forget:
            gone = library.conversations.forget(name, within)
            shell.tell({"forgotten": gone}, f"{counted(gone, 'turn')} deleted.")
            return
        turns = library.conversations.get(name, within)
    if shell.json:
        shell.emit({"name": name, "turns": turns})
        return
    for turn in turns:
        shell.say(f"? {turn.question}", turn.answer, "")
