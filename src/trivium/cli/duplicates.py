"""`trivium duplicates`: lists documents whose texts are nearly the same."""

from __future__ import annotations

import click

from trivium.cli.output import Shell, with_shell
from trivium.cli.progress import stages


@click.command("duplicates")
@click.option(
    "--threshold",
    type=float,
    help="How much text they must share: the share of three-word sequences, 0 to 1.  [0.8]",
)
@with_shell
def duplicates_command(shell: Shell, threshold: float | None) -> None:
    """List groups of documents that are nearly the same: drafts, exports, signed copies.

    The first document of a group is the oldest; the others show how much text they share with it.
    Files with exactly the same bytes are already one document with several names.

    \b
    trivium duplicates
    trivium duplicates --threshold 0.5
    """
    from trivium.library.documents import NEARLY_EQUAL

    least = NEARLY_EQUAL if threshold is None else threshold
    with shell.library() as library, stages(shell) as advance:
        groups = library.documents.duplicates(
            least, on_progress=lambda *far: advance("compare", *far)
        )
    if shell.json:
        rows = [
            [
                {"id": copy.document.id, "uri": copy.document.uri, "similarity": copy.similarity}
                for copy in group
            ]
            for group in groups
        ]
        shell.emit({"groups": rows})
        return
    if not groups:
        shell.note("No two documents are nearly the same.")
    for group in groups:
        for at, copy in enumerate(group):
            share = f"{copy.similarity:.0%}".rjust(4) if at else "    "
            shell.say(f"{share} #{copy.document.id} {copy.document.title}  {copy.document.uri}")
        shell.say("")
