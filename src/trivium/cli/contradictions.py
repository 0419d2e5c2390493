"""`trivium contradictions`: passages about the same thing that may disagree."""

from __future__ import annotations

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, with_shell
from trivium.cli.progress import stages
from trivium.operations.searching import Filters
from trivium.text.titles import file_of

MOST = 50


@click.command("contradictions")
@click.option(
    "-n", "--limit", type=int, default=MOST, show_default=True, help="Show at most this many pairs."
)
@declared(Filters, only=("collection",))
@with_shell
def contradictions_command(shell: Shell, limit: int, collection: tuple[str, ...] | None) -> None:
    """List pairs of passages that may disagree. They are hints: read both before you decide.

    Compares passages that are similar or name the same person, place or thing by their numbers,
    dates, names and negations. If a language model is set up, it judges each pair, and pairs it
    rejects are left out; it also looks for pairs itself.

    \b
    trivium contradictions
    trivium contradictions --collection lore -n 10
    """
    from trivium.library import where

    within = where(Filters(collection=collection))
    with shell.library() as library, stages(shell) as advance:
        contradictions = library.contradictions.find(
            within, limit=limit, on_progress=lambda *far: advance("compare", *far)
        )
    if shell.json:
        rows = [
            {
                "why": pair.why,
                "judged": pair.judged,
                "first": {"document": pair.one.document.id, "text": pair.first},
                "second": {"document": pair.other.document.id, "text": pair.second},
            }
            for pair in contradictions
        ]
        shell.emit({"contradictions": rows})
        return
    for pair in contradictions:
        shell.say(f"{pair.why}{' (judged by the language model)' if pair.judged else ''}")
        for passage, text in ((pair.one, pair.first), (pair.other, pair.second)):
            document = passage.document
            place = f"{document.title} #{document.id}, {file_of(document.uri)}"
            shell.say(f"{place}: {text}", indent=2)
        shell.say("")
    plural = "" if len(contradictions) == 1 else "s"
    shell.say(
        f"{len(contradictions)} pair{plural} that may disagree. These are hints, not findings."
    )
