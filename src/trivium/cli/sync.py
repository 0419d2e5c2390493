"""`trivium sync`: keeps the library in step with sources."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from trivium.cli.declared import declared, texts
from trivium.cli.output import Shell, logged, printable, shared_options, with_shell
from trivium.core.shapes import (
    CheckedSyncAnswer,
    DifferenceAnswer,
    SyncAnswer,
    SyncFailureAnswer,
    SyncKindAnswer,
    SyncRunAnswer,
)
from trivium.operations.adding import AddSync, RunSync
from trivium.operations.listing import RemoveSync, VerifySync

if TYPE_CHECKING:
    from trivium.core.work import SyncRun
    from trivium.library.sync import Checked, SyncEvent
    from trivium.ports import SourceKind

_SHOWN = 20  # failures and differences; --json lists all
_SAID = ("added", "updated", "relabelled", "removed", "failed")


@click.group("sync", invoke_without_command=True)
@shared_options
@click.pass_context
def sync_command(ctx: click.Context) -> None:
    """List sources, such as Slack or a notes folder; add, run, verify, pause or remove them.

    \b
    trivium sync kinds
    trivium sync add notes ~/vault --every 10m
    trivium sync run
    trivium sync verify vault
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(status_command)


@sync_command.command("kinds")
@with_shell
def kinds_command(shell: Shell) -> None:
    """List the kinds of sources, with their options and secrets."""
    from trivium.sources import kinds

    source_kinds = [kinds.kind_of(name) for name in kinds.entries()]
    if shell.json:
        shell.emit({"kinds": [SyncKindAnswer.of(kind) for kind in source_kinds]})
        return
    for kind in source_kinds:
        shell.say(f"{kind.name}: {kind.help}")
        for option, help_ in kind.options.items():
            mark = " (required)" if option in kind.required else ""
            shell.say(f"{option}: {help_}{mark}", indent=4)
        for secret in kind.secrets:
            shell.say(f"secret {secret}: env:NAME or file:PATH", indent=4)


@sync_command.command("add")
@click.argument("kind")
@click.argument("place", required=False)
@declared(AddSync, only=("name", "options"))
@click.option(
    "--secret",
    "secrets",
    metavar="KEY=PLACE",
    multiple=True,
    callback=texts,
    help="Where to find a secret: env:NAME or file:PATH. Default: env:TRIVIUM_KIND_KEY, if set.",
)
@declared(AddSync, only=("collection", "category", "audience"))
@click.option(
    "--every", default="", metavar="PERIOD", help="How often `trivium serve` runs it: 10m, 1h, 1d."
)
@click.option("--run/--no-run", default=False, help="Run it at once.")
@click.option(
    "--check/--no-check", default=True, help="Read the first item before adding the source."
)
@shared_options
@click.pass_context
def add_command(
    ctx: click.Context,
    kind: str,
    place: str | None,
    name: str | None,
    options: dict[str, str],
    secrets: dict[str, str],
    collection: str,
    category: str | None,
    audience: str | None,
    every: str,
    run: bool,
    check: bool,
) -> None:
    """Add a source and keep the library in step with it.

    PLACE is a folder, a file or an address: the source's first required option, or its path. In a
    terminal, Trivium asks for what is missing.

    \b
    trivium sync add notes ~/vault
    trivium sync add slack --secret token=env:SLACK_TOKEN --every 10m
    trivium sync add feed https://example.org/feed.xml --run
    """
    from pathlib import PurePath

    from trivium.core.work import KeptSource
    from trivium.library.sync import seconds_of
    from trivium.sources import kinds

    shell = ctx.ensure_object(Shell)
    source_kind = kinds.kind_of(kind)
    values, named = dict(options), dict(secrets)
    if place is not None:
        meant = [
            *source_kind.required,
            *(option for option in ("path",) if option in source_kind.options),
        ]
        if not meant:
            raise click.UsageError(f"{kind} takes no place; see `trivium sync kinds`.")
        values.setdefault(meant[0], place)
    if sys.stdin.isatty() and not shell.json:
        ask_for(
            source_kind,
            values,
            named,
            lambda text: str(click.prompt(text, default="", show_default=False)),
        )
    called = name or _called(kind, PurePath(place or "").name)
    source = KeptSource(
        called, kind, values, named, collection, category, audience, seconds_of(every)
    )
    with shell.library(create=True) as library:
        if check and library.sync.is_new(source):
            _say_checked(shell, library.sync.check(source))
        added = library.sync.add(source)
        answer = SyncAnswer.of(added, running=False, items=0, failed=0)
    if run:
        ctx.invoke(run_command, names=(added.name,))
    elif shell.json:
        shell.emit(answer)
    else:
        shell.say(f"Added {added.name}. `trivium sync run {added.name}` reads it.")


@sync_command.command("check")
@click.argument("name")
@with_shell
def check_command(shell: Shell, name: str) -> None:
    """Check a source: its options, token and permissions.

    Reads its first item and changes nothing.
    """
    with shell.library() as library:
        checked = library.sync.check(library.sync.get(name))
    if shell.json:
        shell.emit(CheckedSyncAnswer.of(checked))
    else:
        _say_checked(shell, checked)
    if not checked.item:
        click.get_current_context().exit(1)


def _say_checked(shell: Shell, checked: Checked) -> None:
    outcome = f"reads “{checked.item}”" if checked.item else checked.message
    shell.note(f"{checked.source}: {outcome}")


def ask_for(
    kind: SourceKind, options: dict[str, str], named: dict[str, str], ask: Callable[[str], str]
) -> None:
    """Ask for the options that a kind needs, and where its secrets are, if nobody said so."""
    from trivium.config.secrets import usual_secret
    from trivium.sources.kinds import usual_variable

    for option in kind.required:
        if not options.get(option) and (text := ask(f"{option} ({kind.options[option]})").strip()):
            options[option] = text
    for secret in kind.secrets:
        if named or usual_secret(usual_variable(kind.name, secret)):
            return
        text = ask(f"{secret}: env:NAME, file:PATH or command:COMMAND (empty: none)").strip()
        if text:
            named[secret] = text


def _called(kind: str, place: str) -> str:
    import re

    short = re.sub(r"[^a-z0-9._-]+", "-", place.lower()).strip("-._")
    return short[:64] or kind


@sync_command.command("run")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@declared(RunSync)
@click.option("--dry-run", "dry", is_flag=True, help="Show what would change, and change nothing.")
@click.option(
    "--compare",
    is_flag=True,
    help="Compare all ids, and remove items that are gone from the source.",
)
@click.option("--force", is_flag=True, help="Remove items even if the source lists nothing at all.")
@click.option("--no-wait", is_flag=True, help="Stop when a service asks to wait; run again later.")
@with_shell
def run_command(
    shell: Shell,
    names: tuple[str, ...] = (),
    full: bool = False,
    dry: bool = False,
    compare: bool = False,
    force: bool = False,
    no_wait: bool = False,
) -> None:
    """Sync all sources, or those you name. Ctrl-C stops; the next run continues from there.

    \b
    trivium sync run
    trivium sync run work --full
    trivium sync run work --dry-run
    """
    from trivium.core.errors import TriviumError
    from trivium.library.sync import SyncOptions

    options = SyncOptions(full, dry, compare, force, longest_wait=0.0 if no_wait else None)
    wrong = 0
    runs = []
    with shell.library() as library, logged(library.backend.folder):
        chosen = names or tuple(source.name for source in library.sync.all() if not source.paused)
        if not chosen and not shell.json:
            shell.note("No sources to run; `trivium sync add KIND` adds one.")
        for name in chosen:
            try:
                run = library.sync.run(
                    name, options, on_event=_teller(shell, name), on_wait=shell.note
                )
            except TriviumError as error:
                if len(chosen) == 1:
                    raise
                shell.fail(error.code, f"{name}: {error.message}", error.fix)
                wrong += 1
                continue
            failures = [] if dry else library.sync.failures(name)
            wrong += bool(failures)
            runs.append(
                {
                    "source": name,
                    "run": SyncRunAnswer.of(run),
                    "failures": [SyncFailureAnswer.of(failure) for failure in failures],
                }
            )
            if not shell.json:
                shell.say(f"{name}: {_line(run, dry=dry)}")
                for failure in failures[:_SHOWN]:
                    shell.note(f"{failure.item}: {failure.message}")
    if shell.json:
        shell.emit({"runs": runs})
    if wrong:
        raise click.exceptions.Exit(1)


def _teller(shell: Shell, name: str):  # type: ignore[no-untyped-def]
    def tell(event: SyncEvent) -> None:
        if shell.json:
            return
        if event.kind == "waiting":
            shell.note(f"{name}: {event.message}{_left(event.run)}")
        elif event.kind == "checkpoint" and shell.err.is_terminal and event.run.steps:
            run = event.run
            shell.err.print(
                printable(f"{name}: {run.done:,} of {run.steps:,}{_left(run)}"),
                end="\r",
                style="dim",
            )

    return tell


def _left(run: SyncRun) -> str:
    if run.seconds_left is None:
        return ""
    minutes = run.seconds_left / 60
    left = f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
    return f" · about {left if minutes >= 1 else 'a minute'} left"


def _line(run: SyncRun, *, dry: bool = False) -> str:
    counts = [f"{run.counts[fate]:,} {fate}" for fate in _SAID if run.counts.get(fate)]
    text = ", ".join(counts) or ("nothing would change" if dry else "nothing new")
    if dry and counts:
        text = f"would be {text}"
    return f"{text}. {run.message}".strip() if run.message else f"{text}."


@sync_command.command("status")
@click.argument("name", required=False)
@with_shell
def status_command(shell: Shell, name: str | None = None) -> None:
    """List sources: state, items, last run, errors. With a NAME, also list what failed."""
    with shell.library() as library:
        sources = library.sync.all() if name is None else [library.sync.get(name)]
        answers = [library.sync.told(source) for source in sources]
        failures = [] if name is None else library.sync.failures(name)
    if shell.json:
        failed = [SyncFailureAnswer.of(failure) for failure in failures]
        shell.emit(
            {"sources": answers} if name is None else {"source": answers[0], "failures": failed}
        )
        return
    if not sources:
        shell.note("No sources; `trivium sync add KIND` adds one.")
        return
    columns = ("name", "kind", "state", ">items", ">failed", "last run", "every", "result")
    shell.table(columns, [_row(row, run.run) for row, run in zip(answers, sources, strict=True)])
    for failure in failures[:_SHOWN]:
        shell.note(f"{failure.item}: {failure.message}")


def _row(answer: SyncAnswer, run: SyncRun) -> tuple[str, ...]:
    from trivium.library.sync import period_of

    state = answer.state
    if state == "running" and run.steps:
        state = f"running, {run.done:,} of {run.steps:,}{_left(run)}"
    return (
        answer.name,
        answer.kind,
        state,
        f"{answer.items:,}",
        f"{answer.failed:,}",
        run.ended_at or run.started_at or "never",
        period_of(answer.every),
        _line(run) if run.ended_at else "",
    )


@sync_command.command("verify")
@click.argument("name")
@declared(VerifySync)
@with_shell
def verify_command(shell: Shell, name: str, ids: bool) -> None:
    """Compare a source with the library item by item.

    Lists every difference with its reason.

    Changes nothing.

    \b
    trivium sync verify work
    trivium sync verify work --ids --json
    """
    with shell.library() as library:
        verified = library.sync.verify(name, ids_only=ids, on_event=_teller(shell, name))
    if shell.json:
        rows = [DifferenceAnswer.of(difference) for difference in verified.differences]
        shell.emit({"source": name, "compared": verified.compared, "differences": rows})
    else:
        for difference in verified.differences:
            shell.say(f"{difference.kind:<10}  {difference.item}  {difference.reason}")
        same = "in step" if verified.in_step else f"{len(verified.differences):,} differences"
        shell.say(f"{name}: {verified.compared:,} items compared, {same}.")
    if not verified.in_step:
        raise click.exceptions.Exit(1)


@sync_command.command("pause")
@click.argument("name")
@with_shell
def pause_command(shell: Shell, name: str) -> None:
    """Pause a source: no new run starts, and a current one stops."""
    with shell.library() as library:
        _said(shell, library.sync.told(library.sync.pause(name)), "Paused")


@sync_command.command("resume")
@click.argument("name")
@with_shell
def resume_command(shell: Shell, name: str) -> None:
    """Let a paused source run again."""
    with shell.library() as library:
        _said(shell, library.sync.told(library.sync.resume(name)), "Resumed")


def _said(shell: Shell, answer: SyncAnswer, done: str) -> None:
    shell.emit(answer) if shell.json else shell.say(f"{done} {answer.name}.")


@sync_command.command("remove")
@click.argument("name")
@declared(RemoveSync)
@with_shell
def remove_command(shell: Shell, name: str, keep_documents: bool) -> None:
    """Remove a source and its documents."""
    with shell.library() as library:
        count = library.sync.remove(name, keep_documents=keep_documents, on_wait=shell.note)
    shell.tell(
        {"removed": name, "documents": count},
        f"Removed {name} and {count:,} of its items.",
    )
