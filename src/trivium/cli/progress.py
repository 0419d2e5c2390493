"""Progress bars for jobs and other long work, on a terminal's standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from trivium.cli.output import Shell, printable
from trivium.core.pace import TimeLeft, time_left

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from trivium.core.work import Job, JobId, Task
    from trivium.library import Library

_LOOK = 0.2  # seconds between two looks
_NAME = 32  # characters of a document's name beside the bar
_NAMED = 2  # documents that are named while they are read
_CLAIMED = 200  # tasks that workers hold: most of them are read and wait to be embedded


@contextmanager
def drawn(shell: Shell, library: Library, job: JobId | None = None) -> Iterator[None]:
    """Draw a bar for this job, or for each unfinished job, while the block runs; nothing if
    standard error isn't a terminal."""
    if not shell.err.is_terminal:
        yield
        return
    with _bars(shell) as progress:
        stop = Event()
        thread = Thread(target=_draw, args=(library, job, progress, stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def watch(shell: Shell, library: Library, job: JobId | None) -> None:
    """Draw until this job, or every job, has ended."""
    with _bars(shell) as progress:
        _draw(library, job, progress, Event(), until_done=True)


@contextmanager
def stages(shell: Shell) -> Iterator[Callable[[str, int, int], None]]:
    """A bar per stage on a terminal, else a line per stage, on standard error."""
    if not shell.err.is_terminal:
        shown: set[str] = set()

        def tell(stage: str, _done: int, total: int) -> None:
            if stage not in shown:
                shown.add(stage)
                shell.err.print(f"{stage}: {total:,}")

        yield tell
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
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
    ) as bars:
        tasks: dict[str, TaskID] = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():  # a stage begins when the one before it has ended
                    bars.update(task, completed=bars.tasks[task].total)
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done)

        yield advance


def _bars(shell: Shell) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.fields[counts]}"),
        BarColumn(),
        TextColumn("{task.fields[pace]}"),
        TextColumn("{task.description}", style="dim"),
        console=shell.err,
        transient=True,
    )


def _draw(
    library: Library,
    job: JobId | None,
    progress: Progress,
    stop: Event,
    *,
    until_done: bool = False,
) -> None:
    bars: dict[JobId, TaskID] = {}
    clocks: dict[JobId, TimeLeft] = {}
    while True:
        jobs = [library.jobs.get(job)] if job is not None else library.jobs.all(ended=False)
        for gone in set(bars) - {current.id for current in jobs}:
            progress.remove_task(bars.pop(gone))
        for current in reversed(jobs):
            _show(library, current, progress, bars, clocks.setdefault(current.id, TimeLeft()))
        over = all(current.state.has_ended for current in jobs)
        if (until_done and over) or stop.wait(_LOOK):
            return


def _show(
    library: Library, job: Job, progress: Progress, bars: dict[JobId, TaskID], clock: TimeLeft
) -> None:
    from trivium.core.work import TaskState, at_work, work_of

    now, work = monotonic(), work_of([job])
    left = clock.after(now, work.done, work.left)
    if job.id not in bars:
        bars[job.id] = progress.add_task("", total=1, counts="", pace="")
        left = clock.expect(now, job.seconds_left)
    claimed = library.jobs.tasks(job.id, states=(TaskState.WORKING,), limit=_CLAIMED)
    begun = [_named(task) for task in at_work(claimed)]
    running = not job.state.has_ended
    # After many documents, the index of words is rewritten once: .5 ms a passage.
    text = printable(job.what) if running else "Tidying the index for faster searches"
    progress.update(
        bars[job.id],
        completed=work.share,
        counts=f"{job.ended:,} of {job.tasks:,} {job.unit}",
        pace=time_left(left) if running else "",
        description=", ".join(begun[:_NAMED]) or text,
    )


def _named(task: Task) -> str:
    name = printable(task.name)
    short = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
    return f"{short} ({task.passages_done})" if task.passages_done else short
