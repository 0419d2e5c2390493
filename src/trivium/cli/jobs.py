"""`trivium jobs`: lists jobs, follows, cancels, retries and runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trivium.cli.declared import declared
from trivium.cli.output import Shell, shared_options, with_shell
from trivium.core.counting import counted
from trivium.core.pace import time_left
from trivium.core.shapes import JobAnswer, TaskAnswer
from trivium.operations.listing import ListJobs

if TYPE_CHECKING:
    from trivium.core.work import Job, Task
    from trivium.library import Library

MOST_TASKS = 50  # rows of `show`; --json lists all


@click.group("jobs", invoke_without_command=True)
@declared(ListJobs, only=("limit",))
@shared_options
@click.pass_context
def jobs_command(ctx: click.Context, limit: int) -> None:
    """List jobs, newest first; watch, cancel, retry or run them.

    Every `add` is a job. If a process was stopped or died, `run` resumes its jobs, and so does the
    next `add` that would otherwise wait for them.

    \b
    trivium jobs
    trivium jobs show 7
    trivium jobs watch
    trivium jobs retry 7
    trivium jobs run
    """
    if ctx.invoked_subcommand is not None:
        return
    shell = ctx.ensure_object(Shell)
    with shell.library() as library:
        jobs = library.jobs.all(limit=limit)
        done = [library.jobs.worked(job) for job in jobs]
    if shell.json:
        shell.emit({"jobs": [JobAnswer.of(job) for job in jobs]})
    elif not jobs:
        shell.note("No jobs; `trivium add PATH` starts one.")
    else:
        columns = (">job", "what", "state", ">done", ">failed", "left", "created")
        shell.table(
            columns, [_row(*pair) for pair in zip(jobs, done, strict=True)], ("created", "left")
        )
        _say_idle(shell, jobs)


@jobs_command.command("show")
@click.argument("job", type=int)
@click.option("--failed", is_flag=True, help="Only the documents that failed.")
@with_shell
def show_command(shell: Shell, job: int, failed: bool) -> None:
    """Show a job: each document, its state and step, and why it failed.

    \b
    trivium jobs show 7
    trivium jobs show 7 --failed --json
    """
    from trivium.core.work import TaskState

    with shell.library() as library:
        shown = library.jobs.get(job)
        states = (TaskState.FAILED,) if failed else None
        tasks = library.jobs.tasks(job, states=states, limit=None if shell.json else MOST_TASKS)
        fates, done = library.jobs.fates(job), library.jobs.worked(shown)
    if shell.json:
        answers = [TaskAnswer.of(task) for task in tasks]
        shell.emit({"job": JobAnswer.of(shown), "fates": dict(fates), "tasks": answers})
        return
    shell.say(f"Job {shown.id}: {shown.what} ({_state(shown)}), {_done(shown, done)} {shown.unit}")
    if fates:
        shell.say(", ".join(f"{count:,} {fate}" for fate, count in sorted(fates.items())))
    for note in shown.notes:
        shell.note(note)
    if tasks:
        shell.table((">task", "document", "state", "step", ">seconds", "reason"), _rows(tasks))
    listed = shown.failed if failed else shown.tasks
    if listed > len(tasks) == MOST_TASKS:
        shell.say(f"and more; --json lists all {listed:,}.")


@jobs_command.command("watch")
@click.argument("job", type=int, required=False)
@with_shell
def watch_command(shell: Shell, job: int | None) -> None:
    """Follow a job, or all running jobs, live.

    It doesn't matter which process runs them. With --json, or if the output is not a terminal,
    prints a line of JSON for every change.

    \b
    trivium jobs watch
    trivium jobs watch 7 --json
    """
    from trivium.cli.progress import watch

    with shell.library() as library:
        jobs = [library.jobs.get(job)] if job is not None else library.jobs.all(ended=False)
        _say_idle(shell, jobs)
        if not jobs and not shell.json:
            shell.note("No job is running or waiting.")
        if shell.err.is_terminal and not shell.json:
            watch(shell, library, job)
            return
        left = [job] if job is not None else [j.id for j in reversed(library.jobs.all(ended=False))]
        for number in left:
            for changed in library.jobs.follow(number):
                shell.emit_line(JobAnswer.of(changed))


@jobs_command.command("cancel")
@click.argument("jobs", type=int, nargs=-1, required=True, metavar="JOB...")
@with_shell
def cancel_command(shell: Shell, jobs: tuple[int, ...]) -> None:
    """Stop jobs at their next document. Documents already added stay.

    \b
    trivium jobs cancel 7
    """
    with shell.library() as library:
        cancelled = [library.jobs.cancel(job) for job in jobs]
        done = [library.jobs.worked(job) for job in cancelled]
    _tell(shell, cancelled, done)


@jobs_command.command("retry")
@click.argument("job", type=int, required=False)
@click.option("--all", "every", is_flag=True, help="Retry everything that failed, in every job.")
@click.option("--task", type=int, help="Retry only this document of the job.")
@click.option("--background", is_flag=True, help="Only queue it; `trivium jobs run` runs it.")
@with_shell
def retry_command(
    shell: Shell, job: int | None, every: bool, task: int | None, background: bool
) -> None:
    """Retry failed documents, and resume a cancelled job.

    A document that was added without vectors, because the embedding model failed, gets them now.

    \b
    trivium jobs retry 7
    trivium jobs retry 7 --task 1024
    trivium jobs retry --all
    """
    if (job is None) == (not every) or (every and task is not None):
        raise click.UsageError("Name a job, or give --all.")
    with shell.library() as library:
        retried = [library.jobs.get(job)] if job is not None else _with_failures(library)
        count = sum(library.jobs.retry(stored.id, task) for stored in retried)
        if count and not background:
            _work(shell, library)
            return
    shell.tell(
        {"waiting": count},
        note=f"To be tried again: {counted(count, 'document')}." if count else _NOTHING,
    )


@jobs_command.command("run")
@with_shell
def run_command(shell: Shell) -> None:
    """Run every queued or interrupted job.

    \b
    trivium jobs run
    """
    with shell.library() as library:
        _work(shell, library)


@jobs_command.command("clear")
@with_shell
def clear_command(shell: Shell) -> None:
    """Clear finished jobs and their failures from the list. Documents stay.

    \b
    trivium jobs clear
    """
    with shell.library() as library:
        count = library.jobs.clear()
    shell.tell({"cleared": count}, note=f"Cleared {counted(count, 'finished job')}.")


_NOTHING = "Nothing in that job can be retried; add the files again."


def _work(shell: Shell, library: Library) -> None:
    from trivium.cli.add import finish, work
    from trivium.cli.reembed import go_on
    from trivium.core.work import REEMBED

    report = work(shell, library, None)
    changing = any(job.kind == REEMBED for job in library.jobs.all(ended=False))
    if report.counts or report.notes or not changing:
        finish(shell, report, nothing="No documents are queued.")
    if changing:
        go_on(shell, library)
    if report.failed:
        raise click.exceptions.Exit(1)


def _with_failures(library: Library) -> list[Job]:
    """Leave out all changes of the model but the last: the others are over, however they ended."""
    from trivium.core.work import REEMBED, JobState

    jobs = library.jobs.all()
    change = next((job for job in jobs if job.kind == REEMBED), None)
    return [
        job
        for job in reversed(jobs)
        if job.failed or (job is change and job.state is JobState.FAILED)
    ]


def _say_idle(shell: Shell, jobs: list[Job]) -> None:
    """Say which started jobs no process is working on."""
    from trivium.core.work import JobState

    idle = [str(job.id) for job in jobs if job.state is JobState.QUEUED and job.started_at]
    if idle:
        shell.note(f"No process is working on {', '.join(idle)}; `trivium jobs run` resumes.")


def _tell(shell: Shell, jobs: list[Job], done: list[int]) -> None:
    lines = (
        f"Job {job.id}: {_state(job)}, {_done(job, count)} {job.unit} done"
        for job, count in zip(jobs, done, strict=True)
    )
    shell.tell({"jobs": [JobAnswer.of(job) for job in jobs]}, *lines)


def _row(job: Job, done: int) -> tuple[str, ...]:
    from trivium.cli.documents import local_time

    left = "" if job.state.has_ended else time_left(job.seconds_left)
    failed = f"{job.failed:,}" if job.failed else ""
    created = local_time(job.created_at)
    return (str(job.id), job.what, _state(job), _done(job, done), failed, left, created)


def _state(job: Job) -> str:
    """As people say it: 52 of 55 added, 3 damaged, is no failed job."""
    from trivium.core.work import JobState

    partly = job.state is JobState.FAILED and job.ended > job.failed
    return "partly failed" if partly else job.state.value


def _done(job: Job, done: int) -> str:
    return f"{done:,} of {job.tasks:,}"


def _rows(tasks: list[Task]) -> list[tuple[str, ...]]:
    return [
        (
            str(task.id),
            task.uri,
            task.fate or task.state.value,
            task.step,
            f"{sum(task.seconds.values()):.2f}" if task.seconds else "",
            f"{task.message} [{task.code}]" if task.code else "",
        )
        for task in tasks
    ]
