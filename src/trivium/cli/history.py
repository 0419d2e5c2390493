"""`trivium history`, `diff`, `restore` and `prune`: earlier versions of documents."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from trivium.cli.documents import local_time
from trivium.cli.output import Shell, printable, with_shell
from trivium.core.counting import counted

if TYPE_CHECKING:
    from rich.text import Text

    from trivium.core.history import Difference, Interpretation

_AGE = re.compile(r"(\d+)\s*([dwmy]?)")
_DAYS = {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("history")
@click.argument("document")
@with_shell
def history_command(shell: Shell, document: str) -> None:
    """List every interpretation (version) of a document.

    \b
    trivium history weapons.md
    trivium show weapons.md --interpretation 1     the text it had then
    trivium diff weapons.md 1 2
    trivium restore weapons.md 1
    """
    with shell.library() as library:
        shown = library.documents.get(document)
        past = library.history.of(shown.id)
    if shell.json:
        versions = [asdict(version) for version in past]
        shell.emit({"document": asdict(shown), "interpretations": versions})
        return
    columns = (">number", "made", "retired", "title", ">chunks", ">tokens", ">bytes", "made by")
    shell.table(
        columns, [_row(version) for version in past], optional=("made by", ">bytes", ">tokens")
    )


def _row(version: Interpretation) -> tuple[str, ...]:
    # Which reader and version; chunker and summary, a screen wide, are in --json.
    reader = version.fingerprint.partition("@")[0]
    origin = f"restored from {version.restored_from}" if version.restored_from else reader
    return (
        str(version.number),
        local_time(version.created_at),
        "active" if version.active else local_time(version.retired_at),
        version.title,
        f"{version.chunks:,}",
        f"{version.tokens:,}",
        f"{version.size:,}",
        origin,
    )


@click.command("diff")
@click.argument("document")
@click.argument("old", type=int, required=False)
@click.argument("new", type=int, required=False)
@with_shell
def diff_command(shell: Shell, document: str, old: int | None, new: int | None) -> None:
    """Show what changed between two interpretations of a document.

    With one number, compares that one with the active one; with none, the active one with the
    one before it.

    \b
    trivium diff weapons.md
    trivium diff weapons.md 1
    trivium diff weapons.md 1 3
    """
    with shell.library() as library:
        difference = library.history.diff(library.documents.get(document).id, old, new)
    shell.tell(_as_json(difference), *_lines(difference))


def _as_json(difference: Difference) -> dict[str, object]:
    return {
        "old": difference.old.number,
        "new": difference.new.number,
        "facts": {name: list(pair) for name, pair in difference.facts.items()},
        "added": difference.added,
        "removed": difference.removed,
        "lines": list(difference.lines),
    }


def _lines(difference: Difference) -> list[Text]:
    from rich.text import Text

    old, new = difference.old, difference.new
    stamp = f"{local_time(old.created_at)} → {local_time(new.created_at)}"
    texts = [Text(f"interpretation {old.number} → {new.number}   {stamp}", style="bold")]
    for name, (before, after) in difference.facts.items():
        texts.append(Text(printable(f"{name}: {before} → {after}"), style="dim"))
    for line in difference.lines:
        texts.append(Text(printable(line), style=_COLOURS.get(line[:1], "")))
    if not difference.lines:
        texts.append(Text("The text is the same.", style="dim"))
    return texts


@click.command("restore")
@click.argument("document")
@click.argument("number", type=int, required=False)
@click.option(
    "--original",
    is_flag=True,
    help="Read a document that has changed on disk again from its original, in place of all its"
    " interpretations.",
)
@with_shell
def restore_command(shell: Shell, document: str, number: int | None, original: bool) -> None:
    """Make an old interpretation of a document the active one again.

    It becomes a new interpretation, so you lose nothing and can undo this too. Nothing is read or
    embedded again, and the document's audience stays as it is. If you add the unchanged file again,
    the restored text stays; a changed file replaces it.

    \b
    trivium history weapons.md
    trivium restore weapons.md 1
    trivium restore weapons.md --original
    """
    if (number is None) is not original:
        raise click.UsageError("Give the number of an interpretation, or --original.")
    with shell.library() as library:
        id_ = library.documents.get(document).id
        if number is None:
            restored = library.upkeep.restore_original(id_, on_wait=shell.note)
        else:
            restored = library.restore(id_, number, on_wait=shell.note)
    if shell.json:
        shell.emit({"document": asdict(restored), "restored_from": number})
        return
    if number is None:
        shell.say(f"#{restored.id} {restored.title}: read again from its original.")
        return
    text = f"#{restored.id} {restored.title}: interpretation {number} is active again"
    shell.say(f"{text}, as {restored.interpretation}.")


@click.command("prune")
@click.option(
    "--keep", type=click.IntRange(min=1), metavar="N", help="Keep the newest N of each document."
)
@click.option(
    "--older-than",
    metavar="AGE",
    callback=lambda _ctx, _param, value: _age(value),
    help="Only those replaced longer ago than this: 90d, 12w, 6m, 1y.",
)
@click.option("--document", help="Only for this document.")
@with_shell
def prune_command(
    shell: Shell, keep: int | None, older_than: timedelta | None, document: str | None
) -> None:
    """Delete old interpretations for good. Active ones always stay.

    With both options, Trivium deletes only interpretations that meet both. Run `trivium compact`
    afterwards to free the space.

    \b
    trivium prune --keep 3
    trivium prune --older-than 90d
    trivium prune --document weapons.md --keep 1
    """
    if keep is None and older_than is None:
        raise click.UsageError("Say what to delete: --keep 3, or --older-than 90d.")
    with shell.library() as library:
        chosen = library.documents.get(document).id if document else None
        gone = library.history.prune(chosen, keep=keep, older_than=older_than, on_wait=shell.note)
    shell.tell({"pruned": gone}, f"{counted(gone, 'interpretation')} deleted.")


def _age(text: str | None) -> timedelta | None:
    if text is None:
        return None
    match = _AGE.fullmatch(text.strip().lower())
    if match is None:
        raise click.BadParameter(f"{text!r} isn't an age; write 90d, 12w, 6m or 1y.")
    return timedelta(days=int(match[1]) * _DAYS[match[2]])
