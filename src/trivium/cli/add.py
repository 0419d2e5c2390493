"""`trivium add`: adds files and folders, with progress and a summary."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.declared import declared
from trivium.cli.output import LOG, Shell, logged, with_shell
from trivium.cli.progress import drawn
from trivium.core.counting import counted
from trivium.operations.adding import AddFiles

if TYPE_CHECKING:
    from trivium.core.types import Labels
    from trivium.core.work import Job, JobId
    from trivium.library import Library
    from trivium.library.jobs import Report

MOST_FAILURES = 50  # rows of the table; --json lists all
MOST_NOTES = 20  # likewise


@click.command("add")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@declared(AddFiles)
@click.option(
    "--chunker",
    help="How to split this collection into passages, now and later: auto, recursive, sections,"
    " abstract, ...",
)
@click.option(
    "--ocr",
    type=click.Choice(("off", "auto", "force")),
    help="Read text in images: never, on pages without usable text (default), or on all pages.",
)
@click.option(
    "--languages",
    metavar="ENG+DEU",
    help="Languages of scans, by tesseract's names. Default: English and German.",
)
@click.option(
    "--priority",
    type=click.Choice(("interactive", "bulk")),
    help="Priority. By default small jobs (100 documents or fewer) run first.",
)
@click.option(
    "--password",
    is_flag=True,
    help="Ask for the password of locked files (PDF, Office, ZIP). It is kept nowhere.",
)
@click.option("--background", is_flag=True, help="Only queue the job; `trivium jobs run` runs it.")
@click.option(
    "--prune",
    is_flag=True,
    help="Also remove documents whose files are no longer in these folders or are now ignored.",
)
@click.option("--force", is_flag=True, help="Prune even if a folder is missing or empty.")
@with_shell
def add_command(
    shell: Shell,
    /,
    paths: tuple[str, ...],
    chunker: str | None,
    ocr: str | None,
    languages: str | None,
    priority: str | None,
    password: bool,
    background: bool,
    prune: bool,
    force: bool,
    **options: Any,
) -> None:
    """Add files, folders with everything below them, or quoted patterns.

    Unchanged files cost no work, so you can run the same command again at any time. A file that
    can't be read does not stop the others. Labels you don't give come from the document's front
    matter, or stay as they were.

    Adding is a job: interrupted jobs resume after a crash (see `trivium jobs`).

    \b
    trivium add ~/notes
    trivium add 'rules/**/*.md' --collection game --category rulebook
    trivium add papers/ --collection papers --chunker sections
    trivium add secrets.md --audience dm-only --metadata year=2024
    trivium add scans/ --ocr force --languages eng+deu
    trivium add ~/notes --prune --ignore 'drafts/' --ignore '*.tmp'
    """
    from trivium.core.work import Priority
    from trivium.library.jobs import told_of
    from trivium.sources.folder import FolderSource

    request = AddFiles(**options)
    read = {"read.ocr": ocr, "read.languages": languages}
    shell.given.update({name: value for name, value in read.items() if value is not None})
    there = [path for path in paths if not (prune and force) or os.path.lexists(path)]
    # Before a library is made: a wrong path leaves nothing behind.
    place = shell.settings().settings.library
    source = FolderSource(there, request.ignore, [place] if isinstance(place, Path) else [])
    if prune and (background or not all(map(os.path.isdir, there))):
        raise click.UsageError("--prune needs folders and can't be combined with --background.")
    if password and background:
        raise click.UsageError("--password can't be combined with --background.")
    secret = click.prompt("Password", hide_input=True, err=True) if password else ""
    labels = labels_of(request)
    with shell.library(create=True) as library:
        if chunker is not None:
            library.documents.set_chunker(request.collection, chunker, on_wait=shell.note)
        urgency = Priority[priority.upper()] if priority else None
        job = library.jobs.enqueue(source, labels, what=told_of(paths), priority=urgency)
        if background:
            _say_queued(shell, job)
            return
        if notice := library.jobs.notice(job.tasks):
            shell.note(notice)
        report = work(shell, library, job.id)
        if secret:
            report = library.add_locked(report, labels, secret, on_wait=shell.note)
        removed = _pruned(shell, library, paths, request, force) if prune else None
        left = [j for j in library.jobs.all(ended=False) if j.id != job.id]
    finish(shell, report, removed)
    if left and not shell.json:
        numbers = ", ".join(str(j.id) for j in left)
        are = f"Jobs {numbers} are" if len(left) > 1 else f"Job {numbers} is"
        shell.note(f"{are} unfinished; `trivium jobs run` resumes.")
    if report.failed:
        raise click.exceptions.Exit(1)


def work(shell: Shell, library: Library, job: JobId | None) -> Report:
    """Run a job, or all of them, with progress on the terminal; Ctrl-C stops it."""
    from trivium.core.errors import DocumentFailed

    try:
        with logged(library.backend.folder), drawn(shell, library, job):
            report = library.jobs.work(job, on_wait=shell.note)
        if any(isinstance(outcome.error, DocumentFailed) for outcome in report.failed):
            log = library.backend.folder / LOG if library.backend.folder else None
            has_log = log is not None and log.exists()
            shell.note(f"The log is {log}." if has_log else "See your log.")
        return report
    except KeyboardInterrupt:
        unfinished = [library.jobs.get(job)] if job is not None else library.jobs.all(ended=False)
        done, of = sum(j.ended for j in unfinished), sum(j.tasks for j in unfinished)
        number = f" {job}" if job is not None else "s"
        shell.fail(
            "interrupted",
            f"Interrupted. {done:,} of {of:,} documents are done and stay in the library.",
            f"`trivium jobs run` resumes job{number}; `trivium jobs cancel` drops the rest.",
        )
        raise click.exceptions.Exit(130) from None


def finish(
    shell: Shell,
    report: Report,
    removed: list[str] | None = None,
    nothing: str = "The folder is empty, so nothing was added.",
) -> None:
    """Print the summary; `nothing` is printed if no document was processed."""
    if shell.json:
        shell.emit(as_json(report) | ({} if removed is None else {"removed": removed}))
    else:
        _summarise(shell, report, nothing)
        if removed:
            _say_removed(shell, removed)


def _say_removed(shell: Shell, uris: list[str]) -> None:
    for uri in uris[:MOST_NOTES]:
        shell.say(f"removed  {short(uri)}")
    shell.say(f"{len(uris):,} removed: gone from the folder, or ignored now.")


def _say_queued(shell: Shell, job: Job) -> None:
    from trivium.core.shapes import JobAnswer

    shell.tell(
        {"job": JobAnswer.of(job)},
        f"Job {job.id}: {job.tasks:,} documents queued; `trivium jobs run` adds them.",
    )


def _pruned(
    shell: Shell, library: Library, folders: tuple[str, ...], args: AddFiles, force: bool
) -> list[str]:
    return library.folders.drop_gone(
        folders, collection=args.collection, ignore=args.ignore, force=force, on_wait=shell.note
    )


def labels_of(request: AddFiles) -> Labels:
    """The labels as given; of several values of a field all."""
    from trivium.core.types import Labels

    listed = {
        name: tuple(value) if isinstance(value, list) else (value,)
        for name, value in (request.metadata or {}).items()
    }
    metadata = {name: v[0] if len(v) == 1 else v for name, v in listed.items()}
    return Labels(request.collection, request.category, request.audience, metadata)


def as_json(report: Report) -> dict[str, object]:
    from trivium.ingest.outcomes import Fate

    return {
        "job": report.job.id if report.job else None,
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


def _summarise(shell: Shell, report: Report, nothing: str) -> None:
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
    passages = f" · {counted(report.chunks, 'passage')}"
    passages = passages if report.chunks else ""
    line.append(f"{passages} in {report.seconds:.1f} s", style="dim")
    if report.embedding_seconds and report.seconds:
        share = min(1.0, report.embedding_seconds / report.seconds)
        line.append(f" ({share:.0%} embedding)", style="dim")
    if report.counts:
        shell.say(line)
    elif not report.notes:
        shell.note(nothing)
    for text in report.notes[:MOST_NOTES]:
        shell.note(text)
    if len(report.notes) > MOST_NOTES:
        shell.note(f"and {len(report.notes) - MOST_NOTES:,} more notes; --json lists all.")


def short(uri: str) -> str:
    """The path relative to the current folder, if that is shorter."""
    return min(uri, os.path.relpath(uri), key=len) if os.path.isabs(uri) else uri
