"""`trivium eval`: measures the search on a judged set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trivium.cli.output import Shell, pass_shell, shared_options

if TYPE_CHECKING:
    from trivium.evaluate.run import Evaluation


@click.command("eval")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--queries",
    type=click.Path(path_type=Path),
    help="Another file of queries for the same judgments.",
)
@shared_options
@pass_shell
def eval_command(shell: Shell, folder: Path, queries: Path | None) -> None:
    """Measure each signal, the fusion and its reranking on a judged set in BEIR's layout.

    DIR holds corpus.jsonl, queries.jsonl and qrels.tsv. It is indexed once, into a library of its
    own, which is kept for the next time.

    \b
    trivium eval data/scifact
    trivium eval data/scifact --queries data/scifact/queries.misspelled.jsonl --json
    """
    from trivium.evaluate.run import evaluate

    settings = shell.settings().settings
    with _progress(shell) as on_progress:
        found = evaluate(folder, settings, queries=queries, on_progress=on_progress)
    if shell.json:
        shell.emit(asdict(found))
    else:
        _show(shell, found)


def _show(shell: Shell, found: Evaluation) -> None:
    from rich.text import Text

    told = f"{found.dataset}: {found.documents:,} documents, {found.queries:,} queries"
    shell.say(Text(told, style="bold"))
    measures = list(dict.fromkeys(name for run in found.runs.values() for name in run))
    rows = [
        [name, *(f"{run[m]:.4f}" if m in run else "" for m in measures)]
        for name, run in found.runs.items()
    ]
    shell.table(["run", *(f">{measure}" for measure in measures)], rows)
    for note in found.notes:
        shell.note(note)


@contextmanager
def _progress(shell: Shell) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each stage on a terminal, else a line for each, on standard error."""
    if not shell.err.is_terminal:
        told: set[str] = set()

        def tell(stage: str, _done: int, total: int) -> None:
            if stage not in told:
                told.add(stage)
                shell.err.print(f"{stage}: {total:,}")

        yield tell
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=shell.err,
        transient=True,
    ) as progress:
        tasks: dict[str, TaskID] = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():  # a stage begins when the one before it has ended
                    progress.update(task, completed=progress.tasks[task].total)
                tasks[stage] = progress.add_task(stage, total=total)
            progress.update(tasks[stage], completed=done)

        yield advance
