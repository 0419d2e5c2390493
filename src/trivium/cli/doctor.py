"""`trivium doctor`: what is installed, whether the model is there, whether the indexes are whole.

Looks, and reports what it finds; only `--rebuild` changes anything.
"""

from __future__ import annotations

import platform
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import click

from trivium import __version__
from trivium.cli.output import Shell, pass_shell, printable, shared_options

if TYPE_CHECKING:
    from trivium.config import Settings

PACKAGES = {"tantivy": "tantivy", "faiss": "faiss-cpu", "onnxruntime": "onnxruntime"}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    message: str
    fix: str = ""


@click.command("doctor")
@click.option("--rebuild", is_flag=True, help="Make the search indexes anew from the database.")
@shared_options
@pass_shell
def doctor_command(shell: Shell, rebuild: bool) -> None:
    """Check versions, model and indexes. Exit code 1 if something is wrong.

    \b
    trivium doctor
    trivium doctor --rebuild      after a crash of the disk, or if a check asks for it
    """
    settings = shell.settings().settings
    if rebuild:
        with shell.library() as library, _spinner(shell, "Making the indexes anew"):
            library.rebuild(on_wait=shell.note)
    with _spinner(shell, "Looking"):
        facts, checks = _examine(settings)
    if shell.json:
        shell.emit(
            {
                "ok": all(check.ok for check in checks),
                **facts,
                "checks": [asdict(check) for check in checks],
            }
        )
    else:
        _show(shell, facts, checks)
    if not all(check.ok for check in checks):
        raise click.exceptions.Exit(1)


def _spinner(shell: Shell, what: str) -> AbstractContextManager[object]:
    return shell.err.status(f"{what} …") if shell.err.is_terminal else nullcontext()


def _examine(settings: Settings) -> tuple[dict[str, Mapping[str, object]], list[Check]]:
    model, model_check = _model(_with_model_of_the_library(settings))
    library, indexes, library_checks = _library(settings, model["fingerprint"])
    facts: dict[str, Mapping[str, object]] = {
        "versions": versions(),
        "platform": {
            "system": platform.platform(),
            "machine": platform.machine(),
            "executable": sys.executable,
        },
        "library": library,
        "model": model,
        "indexes": indexes,
    }
    return facts, [model_check, *library_checks]


def versions() -> dict[str, str]:
    found = {
        "python": platform.python_version(),
        "trivium": __version__,
        "sqlite": sqlite3.sqlite_version,
    }
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _with_model_of_the_library(settings: Settings) -> Settings:
    """What the settings leave open about the model is as the library's manifest says."""
    from trivium.errors import TriviumError
    from trivium.library.model import settings_for
    from trivium.store.embedded.store import EmbeddedStore

    try:
        store = EmbeddedStore(settings.library, create=False)
    except TriviumError:
        return settings  # `_library` says what is wrong with it
    try:
        return settings_for(settings, store.manifest())
    finally:
        store.close()


def _model(settings: Settings) -> tuple[dict[str, object], Check]:
    from trivium.errors import TriviumError
    from trivium.library import embedder_for

    facts: dict[str, object] = {"fingerprint": "", "dimensions": 0, "ready": False}
    try:
        embedder = embedder_for(settings)
        facts |= {"fingerprint": embedder.fingerprint, "dimensions": embedder.dimensions}
        embedder.load()
    except TriviumError as error:
        without = f"{error.message} Search goes on by words and spelling only."
        return facts, Check("model", False, without, error.fix)
    facts |= {"dimensions": embedder.dimensions, "ready": True}  # a remote one's are known now
    return facts, Check("model", True, "The embedding model is ready.")


def _library(
    settings: Settings, fingerprint: object
) -> tuple[dict[str, object], dict[str, int], list[Check]]:
    from trivium.errors import LibraryNotFound, TriviumError
    from trivium.store.embedded.store import EmbeddedStore

    facts: dict[str, object] = {"path": str(settings.library), "exists": False}
    try:
        # The store, not the Library: that refuses one whose model is another or is missing, and
        # the indexes can be looked at all the same.
        store = EmbeddedStore(settings.library, create=False)
        try:
            manifest, health = store.manifest(), dict(store.health())
        finally:
            store.close()
    except LibraryNotFound as error:
        return facts, {}, [Check("library", True, error.message, error.fix)]
    except TriviumError as error:
        message = f"{error.message} [{error.code}]"
        return facts, {}, [Check("library", False, message, error.fix)]
    facts |= {"exists": True, "format": manifest.schema, "model": manifest.model}
    if manifest.next_model:
        facts["next_model"] = manifest.next_model
    opened = Check("library", True, f"It opens; its format is {manifest.schema}.")
    if manifest.model and fingerprint and manifest.model != fingerprint:
        opened = Check(
            "library",
            False,
            f"It was embedded with {manifest.model}, the settings name {fingerprint}.",
            "`trivium reembed` embeds it anew with that model; or set the embed settings back.",
        )
    return facts, health, [opened, *judge(health)]


def judge(health: Mapping[str, int]) -> Iterator[Check]:
    """A verdict for each index: whether it holds what the database holds."""
    chunks = health["chunks"]
    anew = "Run `trivium doctor --rebuild`."
    for name, fix in (
        ("words", anew),
        (
            "vectors",
            "Passages that were added without a model are embedded by the next `trivium add`;"
            f" else: {anew}",
        ),
    ):
        held = health[name]
        ok = held == chunks
        message = f"{held:,} of {chunks:,} passages are in the index."
        yield Check(name, ok, message, "" if ok else fix)
    known = health["vocabulary"]
    ok = bool(known) or not chunks
    yield Check("vocabulary", ok, f"{known:,} spellings are known.", "" if ok else anew)


def _show(shell: Shell, facts: Mapping[str, Mapping[str, object]], checks: list[Check]) -> None:
    from rich.text import Text

    for name, held in facts.items():
        if held:
            shell.say(Text(name, style="bold"))
        for key, value in held.items():
            told = f"{value:,}" if type(value) is int else printable(str(value))
            shell.say(Text.assemble((f"  {key:<12}", "dim"), told))
    shell.say(Text("checks", style="bold"))
    for check in checks:
        sign = ("  ok    ", "green") if check.ok else ("  WRONG ", "bold red")
        shell.say(Text.assemble(sign, f"{check.name:<12}", printable(check.message)))
        if check.fix:
            shell.say(Text(printable(check.fix), style="yellow"), indent=20)
