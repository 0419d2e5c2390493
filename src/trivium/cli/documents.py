"""`trivium list`, `show` and `remove`: lists, shows and removes documents."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.declared import declared
from trivium.cli.output import EMPTY, Shell, printable, with_shell
from trivium.operations.listing import OfVersion
from trivium.operations.searching import Filters

if TYPE_CHECKING:
    from trivium.core.types import Document
    from trivium.library.documents import Shown

FIRST_LINES = 12  # of a document, where its text was not asked for
FIRST_CHARACTERS = 1200
_OPTIONAL = ("collection", "audience", "category", "updated", "language")  # as important
_UNTOLD = ("metadata", "seen_hash", "seen_fingerprint")  # shown in their own way, or for programs


@click.command("list")
@declared(Filters, only=("collection", "audiences"))
@with_shell
def list_command(shell: Shell, /, **options: Any) -> None:
    """List the documents in the library.

    \b
    trivium list
    trivium list --collection game
    trivium list --audience players      what a player can see
    """
    from trivium.library import where

    within = where(Filters(**options))
    with shell.library() as library:
        documents = library.documents.all(within)
        slips = () if documents else library.documents.slips(within)
    if shell.json:
        shell.emit({"documents": [asdict(document) for document in documents]})
        return
    if not documents:
        for slip in slips or (EMPTY,):
            shell.note(slip)
        return
    from trivium.text.titles import file_of

    files = [file_of(document.uri, folders=0) for document in documents]
    for at, count in enumerate(map(Counter(files).get, files)):
        if count != 1:  # told apart by their folders
            files[at] = file_of(documents[at].uri)
    columns = (">id", "title", "file", *_OPTIONAL, ">passages")
    shell.table(
        columns, [_row(*pair) for pair in zip(documents, files, strict=True)], _OPTIONAL[::-1]
    )


def _row(document: Document, file: str) -> tuple[str, ...]:
    return (
        str(document.id),
        document.title,
        file,
        document.collection,
        document.audience,
        document.category,
        local_time(document.updated_at)[:10],
        document.language,
        f"{document.chunks:,}",
    )


def local_time(stamp: str) -> str:
    try:
        return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return stamp


@click.command("show")
@click.argument("document")
@click.option("--text", "whole", is_flag=True, help="Print only the full text.")
@click.option("--chunks", is_flag=True, help="Print the passages.")
@declared(OfVersion)
@click.option("--original", is_flag=True, help="Write the original file.")
@with_shell
def show_command(
    shell: Shell,
    document: str,
    whole: bool,
    chunks: bool,
    interpretation: int | None,
    original: bool,
) -> None:
    """Show one document, named by id, #id, path or file name.

    \b
    trivium show 3
    trivium show weapons.md --chunks
    trivium show weapons.md --text > weapons.txt
    trivium show weapons.md --interpretation 1     an earlier version
    trivium show rules.pdf --original > rules.pdf
    """
    with shell.library() as library:
        if original:
            named = library.documents.get(document).id
            sys.stdout.buffer.write(library.history.original(named, interpretation=interpretation))
            return
        shown = library.show(library.documents.get(document).id, interpretation=interpretation)
    if shell.json:
        shell.emit(_shown_as_json(shown))
    elif whole:
        click.echo(printable(shown.text) if shell.out.is_terminal else shown.text)
    elif chunks:
        _show_chunks(shell, shown)
    else:
        _show_summary(shell, shown)


def _shown_as_json(shown: Shown) -> dict[str, object]:
    from trivium.core.shapes import ChunkAnswer

    return {
        "document": asdict(shown.document),
        "interpretation": asdict(shown.interpretation),
        "original": shown.original,
        "text": shown.text,
        "chunks": [ChunkAnswer.of(passage) for passage in shown.passages],
    }


def _facts(shown: Shown) -> dict[str, object]:
    """The fields shown for a document and the interpretation on display."""
    fields = asdict(shown.document)
    then = asdict(shown.interpretation)
    facts = {n: then.get(n, v) for n, v in fields.items() if n not in _UNTOLD}
    facts["interpretation"] = shown.interpretation.number
    facts["original"] = shown.original
    facts["size"] = f"{shown.interpretation.size:,} bytes"
    for name in ("added_at", "updated_at"):
        facts[name] = local_time(fields[name])
    return facts | {f"metadata.{name}": v for name, v in shown.interpretation.metadata.items()}


def _show_summary(shell: Shell, shown: Shown) -> None:
    facts = {
        name.replace("_", " "): ", ".join(map(str, v)) if isinstance(v, tuple) else str(v)
        for name, v in _facts(shown).items()
        if v not in ((), "", None)
    }
    shell.facts(facts.items(), width=max(map(len, facts)) + 2)
    text = shown.text.strip()
    first = "\n".join(text[:FIRST_CHARACTERS].splitlines()[:FIRST_LINES]).rstrip()
    shell.say("", first)
    if len(first) < len(text):
        rest = f"… {len(text) - len(first):,} more characters: --text shows all"
        shell.say(rest, style="dim")


def _show_chunks(shell: Shell, shown: Shown) -> None:
    from rich.text import Text

    from trivium.core.shapes import heading
    from trivium.text.times import span

    for passage in shown.passages:
        chunk = passage.chunk
        pages = f" · pages {', '.join(map(str, chunk.pages))}" if chunk.pages else ""
        pages += f" · {span(chunk.place.seconds)}" if chunk.place.seconds else ""
        place = f"{chunk.start:,}–{chunk.end:,} · {chunk.tokens:,} tokens{pages}"
        name = printable(heading(passage))
        shell.say(Text.assemble((f"#{chunk.index} {name}", "bold"), "  ", (place, "dim")))
        shell.say(chunk.text, "")


@click.command("remove")
@click.argument("names", nargs=-1, required=True, metavar="DOCUMENT...")
@click.option("-y", "--yes", is_flag=True, help="Don't ask for confirmation.")
@click.option(
    "--compact",
    is_flag=True,
    help="Also rewrite the library, so that no byte of the documents remains.",
)
@with_shell
def remove_command(shell: Shell, names: tuple[str, ...], yes: bool, compact: bool) -> None:
    """Remove documents: text, passages, vectors, history and archived originals.

    The files you added stay where they are.

    Name them by id, #id, path or file name. If one doesn't exist, nothing is removed.

    \b
    trivium remove 3 7
    trivium remove old-rules.md --yes
    """
    with shell.library() as library:
        documents = {d.id: d for d in (library.documents.get(name) for name in names)}
        if not yes and sys.stdin.isatty() and shell.err.is_terminal:
            for document in documents.values():
                shell.note(f"#{document.id} {document.title}  {_names(document)}")
            plural = "" if len(documents) == 1 else "s"
            if not click.confirm(f"Remove {len(documents)} document{plural}?", err=True):
                shell.note("Nothing was removed.")
                raise click.exceptions.Exit(1)
        removed = library.remove(documents, on_wait=shell.note)
        if compact:
            library.upkeep.compact(on_wait=shell.note)
    if shell.json:
        names_of = ("id", "title", "uri", "collection")
        shell.emit({"removed": [{n: getattr(d, n) for n in names_of} for d in removed]})
        return
    for document in removed:
        shell.say(f"Removed #{document.id} {document.title}  {_names(document)}")


def _names(document: Document) -> str:
    """Every name of the document: if you remove it by one name, you should know the others."""
    return ", ".join((document.uri, *document.names))
