"""`trivium reembed`: changes the embedding model of a library that stays in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from trivium.cli.models import download
from trivium.cli.output import Shell, printable, with_shell

if TYPE_CHECKING:
    from trivium.config import Settings
    from trivium.core.types import Manifest
    from trivium.ingest.reembed import ReembedProgress
    from trivium.library import Library
    from trivium.library.models import Reembedded


@click.command("reembed")
@click.option(
    "--model",
    metavar="MODEL",
    help="Name of a model (`trivium models` lists them), all-MiniLM-L6-v2, the folder of a"
    " sentence-transformers model, or with embed.url the name of a model there. Default: the model"
    " in your settings, or the change you started and did not finish.",
)
@click.option("--stop", is_flag=True, help="Cancel an unfinished change, wherever it runs.")
@with_shell
def reembed_command(shell: Shell, model: str | None, stop: bool) -> None:
    """Embed the library again with another model, then switch to it at once.

    You can search and add meanwhile, with the old model. After the switch every process uses the
    new one, without any settings. If it is interrupted, run the same command again to resume.

    \b
    trivium reembed --model leaf-ir
    trivium reembed --model ~/models/my-own-model
    trivium reembed --model text-embedding-3-small \\
        --set embed.url=https://api.openai.com/v1
    trivium reembed               resume an unfinished change
    trivium reembed --stop        keep the old model
    """
    from trivium.library import Library
    from trivium.library.model import wanted_settings
    from trivium.models import catalogue

    if stop and model:
        raise click.UsageError("--stop and --model can't be combined.")
    settings = shell.settings().settings
    with Library.open(settings=settings, create=False, as_made=True) as library:
        if stop:
            _stop(shell, library)
            return
        catalogued = catalogue.known(model or "")
        if catalogued is not None and catalogued.kind == "embedding":
            download(shell, settings, catalogued)
        wanted = wanted_settings(settings, library.models.manifest(), model)
        _say(shell, _worked(shell, library, wanted))
        _warn_of_settings(shell, library.models.manifest())


def go_on(shell: Shell, library: Library) -> None:
    """Resume the unfinished change of the model."""
    report = _worked(shell, library, None)
    if not shell.json:
        _say(shell, report)


def _worked(shell: Shell, library: Library, wanted: Settings | None) -> Reembedded:
    try:
        with _progress(shell) as advance:
            return library.models.reembed(wanted, on_progress=advance, on_wait=shell.note)
    except KeyboardInterrupt:
        shell.fail(
            "interrupted",
            "Interrupted. The new vectors so far are kept; searches still use the old model.",
            "`trivium reembed` resumes; `trivium reembed --stop` cancels the change.",
        )
        raise click.exceptions.Exit(130) from None


def _stop(shell: Shell, library: Library) -> None:
    stopped, serving = library.models.stop(), library.models.manifest().model
    if shell.json:
        shell.emit({"stopped": stopped, "model": serving})
    elif stopped:
        shell.say(f"Cancelled the change to {stopped}. The library still uses {serving}.")
    else:
        shell.say("No change of model is under way.")


def _say(shell: Shell, report: Reembedded) -> None:
    if shell.json:
        shell.emit(
            {
                "before": report.before,
                "model": report.model,
                "passages": report.passages,
                "seconds": round(report.seconds, 3),
            }
        )
        return
    if report.before == report.model and not report.passages:
        shell.say(f"Every passage already has a vector from {report.model}.")
        return
    took = f"{report.passages:,} passages in {report.seconds:.1f} s"
    shell.say(f"{took}: from {report.before or 'none'} to {report.model}.")


def _warn_of_settings(shell: Shell, manifest: Manifest) -> None:
    """Warn if a configuration file or the environment still names another model."""
    from trivium.config import load
    from trivium.library.model import NAMING, names_another

    lasting = load({n: text for n, text in shell.given.items() if not n.startswith("embed.")})
    if names_another(lasting.settings, manifest):
        naming = {n: lasting.origins[n] for n in NAMING if lasting.origins[n] != "default"}
        where = ", ".join(f"{name} ({origin})" for name, origin in naming.items())
        shell.note(f"The settings still name another model. Remove or change {where}.")


@contextmanager
def _progress(shell: Shell) -> Iterator[Callable[[ReembedProgress], None]]:
    """A progress bar on standard error if it is a terminal, else nothing."""
    if not shell.err.is_terminal:
        yield lambda progress: None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    with Bars(
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} passages"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=shell.err,
        transient=True,
    ) as bars:
        task = bars.add_task("", total=1, rate="")

        def advance(progress: ReembedProgress) -> None:
            rate = printable(f"{progress.rate:.1f} passages/s")
            bars.update(task, completed=progress.done, total=max(1, progress.total), rate=rate)

        yield advance
