"""`trivium add`: files and folders into the library, with progress and a summary."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from trivium.cli.output import Shell, ignoring, pairs, pass_shell, printable, shared_options

if TYPE_CHECKING:
    from trivium.ingest.outcomes import Outcome
    from trivium.library import Library, Report
    from trivium.ports import Source, SourceItem
    from trivium.types import Metadata, MetaScalar

MOST_FAILURES = 50  # rows of the table; --json lists all
MOST_NOTES = 20  # likewise
_NAME = 32  # characters of the current file's name beside the bar


@click.command("add")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--collection", default="default", help="Collection the documents belong to.")
@click.option("--category", help="Their category, e.g. rulebook.")
@click.option("--audience", help="Who may see them: `all`, or a label such as dm-only.")
@click.option(
    "--chunker",
    help="How this collection is cut, now and later: auto, recursive, sections, abstract, ...",
)
@click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="Anything else about them; numbers become numbers. Repeatable, the same key too.",
)
@click.option(
    "--ocr",
    type=click.Choice(("off", "auto", "force")),
    help="Text off images: never, for pages without usable text (the default), or for all pages.",
)
@click.option(
    "--languages",
    metavar="ENG+DEU",
    help="Languages of scans, by tesseract's names. Else English and German.",
)
@ignoring
@click.option(
    "--prune",
    is_flag=True,
    help="Then remove what came from these folders and is no longer there, or is ignored now.",
)
@click.option("--force", is_flag=True, help="Prune even where a folder is missing or empty.")
@shared_options
@pass_shell
def add_command(
    shell: Shell,
    paths: tuple[str, ...],
    collection: str,
    category: str | None,
    audience: str | None,
    chunker: str | None,
    metadata: dict[str, list[MetaScalar]],
    ocr: str | None,
    languages: str | None,
    ignore: tuple[str, ...],
    prune: bool,
    force: bool,
) -> None:
    """Add files, folders (to the bottom) or quoted patterns.

    What is there already and unchanged costs no work, so the same command can be run again at any
    time. One file that cannot be read does not stop the others. A label that is not given is taken
    from the document's front matter, else it stays as it was.

    \b
    trivium add ~/notes
    trivium add 'rules/**/*.md' --collection game --category rulebook
    trivium add papers/ --collection papers --chunker sections
    trivium add secrets.md --audience dm-only --metadata year=2024
    trivium add scans/ --ocr force --languages eng+deu
    trivium add ~/notes --prune --ignore 'drafts/' --ignore '*.tmp'
    """
    from trivium.sources.folder import FolderSource
    from trivium.types import Labels

    asked = {"read.ocr": ocr, "read.languages": languages}
    shell.given.update({name: value for name, value in asked.items() if value is not None})
    given = [path for path in paths if not (prune and force) or os.path.lexists(path)]
    # Before a library is made: a wrong path leaves nothing behind.
    source = FolderSource(given, ignore, [shell.settings().settings.library])
    if prune and not all(map(os.path.isdir, given)):
        raise click.UsageError("--prune takes folders: they are what is mirrored.")
    labels = Labels(collection, category, audience, metadata_of(metadata))
    done: list[Outcome] = []
    try:
        with (
            shell.library(create=True) as library,
            _progress(shell, source, len(source)) as (watched, advance),
        ):
            if chunker is not None:
                library.set_chunker(collection, chunker, on_wait=shell.note)

            def on_outcome(outcome: Outcome) -> None:
                done.append(outcome)
                advance(outcome)

            report = library.add_from(watched, labels, on_outcome=on_outcome, on_wait=shell.note)
            removed = _pruned(shell, library, paths, collection, ignore, force) if prune else None
    except KeyboardInterrupt:
        shell.fail(
            "interrupted",
            f"Interrupted: {_kept(done, len(source))}.",
            "Run the same command again to go on.",
        )
        raise click.exceptions.Exit(130) from None
    except Exception:
        if done and not shell.json:
            shell.note(f"It stopped: {_kept(done, len(source))}.")
        raise
    if shell.json:
        shell.emit(as_json(report) | ({} if removed is None else {"removed": removed}))
    else:
        _summarise(shell, report)
        if removed:
            shell.say(f"{len(removed):,} removed: no longer there.")
    if report.failed:
        raise click.exceptions.Exit(1)


def _pruned(
    shell: Shell,
    library: Library,
    folders: tuple[str, ...],
    collection: str,
    ignore: tuple[str, ...],
    force: bool,
) -> list[str]:
    return library.drop_gone(
        folders, collection=collection, ignore=ignore, force=force, on_wait=shell.note
    )


def metadata_of(given: dict[str, list[MetaScalar]]) -> Metadata:
    return {key: v[0] if len(v) == 1 else tuple(v) for key, v in given.items()}


def as_json(report: Report) -> dict[str, object]:
    from trivium.ingest.outcomes import Fate

    return {
        **{fate.value: report.count(fate) for fate in Fate},
        "failures": [
            {"uri": o.uri, "code": o.error.code, "message": str(o.error)}
            for o in report.failed
            if o.error
        ],
        "chunks": report.chunks,
        "seconds": round(report.seconds, 3),
        "embedding_seconds": round(report.embedding_seconds, 3),
        "notes": list(report.notes),
    }


def _kept(done: list[Outcome], files: int) -> str:
    """How much of a run that did not end is safe."""
    from trivium.ingest.outcomes import Fate

    new = sum(o.fate in (Fate.ADDED, Fate.UPDATED) for o in done)
    return f"{len(done):,} of {files:,} files are done, {new:,} of them added or updated for good"


def _summarise(shell: Shell, report: Report) -> None:
    from rich.text import Text

    from trivium.ingest.outcomes import Fate

    if report.failed:
        rows = [(short(o.uri), str(o.error), o.error.code) for o in report.failed if o.error]
        shell.table(("failed", "reason", "code"), rows[:MOST_FAILURES])
        if len(rows) > MOST_FAILURES:
            shell.say(f"and {len(rows) - MOST_FAILURES:,} more; --json lists all.")
    colours = {Fate.ADDED: "green", Fate.UPDATED: "green", Fate.FAILED: "bold red"}
    counts = {fate: report.count(fate) for fate in Fate}
    line = Text(", ").join(
        Text(f"{count:,} {fate}", style=colours.get(fate, ""))
        for fate, count in counts.items()
        if count
    )
    passages = f" · {report.chunks:,} passages" if report.chunks else ""
    line.append(f"{passages} in {report.seconds:.1f} s", style="dim")
    if report.embedding_seconds and report.seconds:
        share = min(1.0, report.embedding_seconds / report.seconds)
        line.append(f" ({share:.0%} embedding)", style="dim")
    if report.outcomes:
        shell.say(line)
    else:
        shell.note("There is no file in it: nothing was added.")
    for text in report.notes[:MOST_NOTES]:
        shell.note(text)
    if len(report.notes) > MOST_NOTES:
        shell.note(f"and {len(report.notes) - MOST_NOTES:,} more notes; --json lists all.")


def short(uri: str) -> str:
    """A path as seen from here, where that is shorter."""
    return min(uri, os.path.relpath(uri), key=len) if os.path.isabs(uri) else uri


@dataclass(frozen=True)
class _Watched:
    """A source that tells which item is being read."""

    source: Source
    on_item: Callable[[SourceItem], None]

    def items(self) -> Iterator[SourceItem]:
        for item in self.source.items():
            self.on_item(item)
            yield item


@contextmanager
def _progress(
    shell: Shell, source: Source, files: int
) -> Iterator[tuple[Source, Callable[[Outcome], None]]]:
    """A bar on a terminal's standard error, else nothing: the source to read from, and what to
    call with every outcome."""
    if not shell.err.is_terminal:
        yield source, lambda outcome: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.fields[files]}/{task.fields[of]} files"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", style="dim"),
        console=shell.err,
        transient=True,
    ) as progress:
        # By bytes: the time left of one long book and ninety notes is the book's.
        total = sum(item.size for item in source.items()) or 1
        task = progress.add_task("", total=total, files=0, of=f"{files:,}", rate="")
        done = 0

        def advance(outcome: Outcome) -> None:
            nonlocal done
            if outcome.enclosed:
                return  # its archive or message is what was counted
            done += 1
            elapsed = progress.tasks[0].elapsed
            rate = f"{done / elapsed:.1f} files/s" if elapsed else ""
            progress.update(task, advance=outcome.size, files=f"{done:,}", rate=rate)

        def name(item: SourceItem) -> None:
            shown = printable(item.name)
            shown = shown if len(shown) <= _NAME else f"{shown[: _NAME - 1]}…"
            progress.update(task, description=shown)

        yield _Watched(source, name), advance
