"""`trivium doctor`: checks versions, model, database, indexes and archive.

Only `--repair` and `--rebuild` change anything.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import click

from trivium import __version__
from trivium.cli.care import spinner
from trivium.cli.output import Shell, printable, with_shell

if TYPE_CHECKING:
    from trivium.config import Settings
    from trivium.core.errors import TriviumError
    from trivium.core.upkeep import Finding
    from trivium.ports import Embedder


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    ok: bool
    message: str
    fix: str = ""


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Repair what can be repaired.")
@click.option(
    "--deep", is_flag=True, help="Check every byte of the indexes and every row of documents."
)
@click.option("--rebuild", is_flag=True, help="Rebuild the search indexes from the database.")
@with_shell
def doctor_command(shell: Shell, repair: bool, deep: bool, rebuild: bool) -> None:
    """Check versions, model, database, indexes and archive. Exit code 1 if something is wrong.

    \b
    trivium doctor
    trivium doctor --deep         check every byte of the indexes and all passages
    trivium doctor --repair       repair what the checks find
    trivium doctor --rebuild      rebuild the indexes, whatever the checks say
    """
    settings = _with_model_of_the_library(shell.settings().settings)
    if rebuild:
        with shell.library() as library, spinner(shell, "Rebuilding the indexes"):
            library.upkeep.rebuild(on_wait=shell.note)
    repaired: list[str] = []
    if repair:
        with spinner(shell, "Repairing"):
            repaired = [*_salvage(settings, shell), *_repair(settings, shell)]
    with spinner(shell, "Checking"):
        facts, checks = _examine(settings, deep)
    if shell.json:
        shell.emit(
            {
                "ok": all(check.ok for check in checks),
                **({"repaired": repaired} if repair else {}),
                **facts,
                "checks": [asdict(check) for check in checks],
            }
        )
    else:
        _show(shell, facts, checks)
        for line in repaired or ["Nothing needed repair."] if repair else ():
            shell.say(line)
    if not all(check.ok for check in checks):
        raise click.exceptions.Exit(1)


def _examine(settings: Settings, deep: bool) -> tuple[dict[str, Mapping[str, object]], list[Check]]:
    model, model_check = _model(settings)
    library, indexes, library_checks = _library(settings, model["fingerprint"], deep)
    facts: dict[str, Mapping[str, object]] = {
        "versions": versions(),
        "platform": {
            "system": platform.platform(),
            "machine": platform.machine(),
            "executable": sys.executable,
            "readers": _isolation(settings),
        },
        "library": library,
        "model": model,
        "indexes": indexes,
    }
    return facts, [model_check, *library_checks]


def _isolation(settings: Settings) -> str:
    """What keeps the processes that read files from your other files and from the network."""
    from trivium.extract.box import available

    box = available()
    if not settings.read_isolate:
        return "not isolated (read.isolate is off)"
    files = f"files by {box.files}" if box.files else "files not isolated"
    network = f"network by {box.network}" if box.network else "network not isolated"
    return f"isolated: {files}, {network}" if box.is_closed else f"{files}, {network}"


def versions() -> dict[str, str]:
    from trivium.store.opening import engine_versions

    try:
        runtime = version("onnxruntime")
    except PackageNotFoundError:
        runtime = "not installed"
    ours = {"python": platform.python_version(), "trivium": __version__}
    return {**ours, **engine_versions(), "onnxruntime": runtime}


def _with_model_of_the_library(settings: Settings) -> Settings:
    """Fill in the model settings you left open from the library's manifest."""
    from trivium.core.errors import TriviumError
    from trivium.library.model import settings_for
    from trivium.store.opening import BackendOptions, open_backend

    try:
        backend = open_backend(settings.library, BackendOptions(create=False))
    except TriviumError:
        return settings  # `_library` says what is wrong with it
    try:
        return settings_for(settings, backend.models.manifest())
    finally:
        backend.close()


def _model(settings: Settings) -> tuple[dict[str, object], Check]:
    from trivium.core.errors import TriviumError
    from trivium.library import embedder_for

    facts: dict[str, object] = {"fingerprint": "", "dimensions": 0, "ready": False}
    try:
        embedder = embedder_for(settings)
        facts |= {"fingerprint": embedder.fingerprint, "dimensions": embedder.dimensions}
        embedder.embed_query("ready")
    except TriviumError as error:
        without = f"{error.message} Until then, search uses words and spelling only."
        return facts, Check("model", False, without, error.fix)
    facts |= {"dimensions": embedder.dimensions, "ready": True}  # a remote one's are known now
    return facts, Check("model", True, "The embedding model is ready.")


def _library(
    settings: Settings, fingerprint: object, deep: bool
) -> tuple[dict[str, object], dict[str, int], list[Check]]:
    from trivium.core.errors import LibraryDamaged, LibraryNotFound, TriviumError
    from trivium.ingest.outcomes import hash_of
    from trivium.library import backend_options
    from trivium.library.model import stored_separation
    from trivium.store.opening import open_backend

    facts: dict[str, object] = {"path": str(settings.library), "exists": False}
    try:
        # The backend, not the Library: that refuses one whose model is another or is missing, and
        # the indexes can be looked at all the same.
        backend = open_backend(settings.library, backend_options(settings, create=False))
        try:
            manifest, health = backend.models.manifest(), dict(backend.upkeep.health())
            findings = backend.upkeep.examine(hash_of if deep else None)
            separation = stored_separation(backend, manifest.model)
        finally:
            backend.close()
    except LibraryNotFound as error:
        return facts, {}, [Check("library", True, error.message, error.fix)]
    except LibraryDamaged as error:
        return facts, {}, [_damaged(settings, error)]
    except TriviumError as error:
        message = f"{error.message} [{error.code}]"
        return facts, {}, [Check("library", False, message, error.fix)]
    facts |= {"exists": True, "format": manifest.schema, "model": manifest.model}
    if manifest.next_model:
        facts["next_model"] = manifest.next_model
    if separation is not None:
        facts["separation"] = f"{separation.value:.3f} at {separation.passages:,} passages"
        if separation.alike is not None:
            facts["alike"] = f"{separation.alike:.3f} to the nearest passage of another document"
    opened = Check("library", True, f"The library opens (format {manifest.schema}).")
    if manifest.model and fingerprint and manifest.model != fingerprint:
        opened = Check(
            "library",
            False,
            f"The library uses the model {manifest.model}, but your settings name {fingerprint}.",
            "Run `trivium reembed` to change the library's model, or change your settings back.",
        )
    return facts, health, [opened, *map(judged, findings)]


def _damaged(settings: Settings, error: TriviumError) -> Check:
    """If the library doesn't open, say which documents can still be read."""
    from trivium.core.errors import LibraryDamaged
    from trivium.store.opening import rescue_of

    try:
        text = f"{rescue_of(settings.library).survey().told()} [{error.code}]"
    except LibraryDamaged as worse:
        return Check("library", False, f"{worse.message} [{worse.code}]", worse.fix)
    return Check("library", False, text, "Run `trivium doctor --repair` to save what can be read.")


def _salvage(settings: Settings, shell: Shell) -> list[str]:
    """If pages of the database can't be read, write a new one with the rest and read lost
    documents again from their originals."""
    from trivium.core.errors import TriviumError
    from trivium.library import Library
    from trivium.store.opening import rescue_of

    rescue = rescue_of(settings.library)
    if not rescue.is_damaged():
        return []
    with rescue.alone(shell.note):
        saved = rescue.salvage()
    done = [saved.told(), f"Wrote a new database. Keep the damaged one: {saved.kept}."]
    if not saved.lost:
        return done
    try:
        with Library.open(settings=_with_model_of_the_library(settings), create=False) as library:
            return done + library.upkeep.reread(saved.lost, on_wait=shell.note)
    except TriviumError as error:
        return [*done, f"Couldn't read lost documents again from their originals: {error.message}"]


def judged(finding: Finding) -> Check:
    """The store's finding, with the command that repairs it."""
    fix = f"{finding.repair} Run `trivium doctor --repair`." if finding.repair else ""
    if not finding.ok and not fix:
        fix = "Restore the library from a backup with `trivium recover`."
    return Check(finding.name, finding.ok, finding.message, fix)


def _repair(settings: Settings, shell: Shell) -> list[str]:
    from trivium.core.errors import ModelUnavailable
    from trivium.library import backend_options, embedder_for
    from trivium.library.upkeep import repaired
    from trivium.store.opening import open_backend

    backend = open_backend(settings.library, backend_options(settings, create=False))
    try:
        embedder: Embedder | None
        try:
            embedder = embedder_for(settings)
        except ModelUnavailable:
            embedder = None
        model = backend.models.manifest().model
        if embedder and model and embedder.fingerprint != model:
            embedder = None  # vectors of two models do not mix
        return repaired(backend, embedder, shell.note)
    finally:
        backend.close()


def _show(shell: Shell, facts: Mapping[str, Mapping[str, object]], checks: list[Check]) -> None:
    from rich.text import Text

    for name, fields in facts.items():
        if fields:
            shell.say(name, style="bold")
        shown = ((key, f"{v:,}" if type(v) is int else str(v)) for key, v in fields.items())
        shell.facts(shown, indent=2)
    shell.say("checks", style="bold")
    for check in checks:
        sign = ("  ok    ", "green") if check.ok else ("  WRONG ", "bold red")
        shell.say(Text.assemble(sign, f"{check.name:<12}", printable(check.message)))
        if check.fix:
            shell.say(check.fix, indent=20, style="yellow")
