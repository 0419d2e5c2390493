"""`trivium models`: which models Trivium knows by name, which are here, what the library uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from trivium.cli.output import Shell, printable, with_shell

if TYPE_CHECKING:
    from pathlib import Path

    from trivium.config import Settings
    from trivium.models.catalogue import KnownModel
    from trivium.models.hub import Report

_UNKNOWN = "not verified"


@click.command("models")
@click.argument("name", required=False)
@click.option("--get", is_flag=True, help="Download the model NAME and check every file.")
@with_shell
def models_command(shell: Shell, name: str | None, get: bool) -> None:
    """List the models that you can use by name, or show the details of one.

    Embedding models make the vectors: `trivium reembed --model NAME` downloads one and changes the
    library to it. Rerankers and late interaction models read the top results again: set
    rerank.model to the name of one that you downloaded. Once a model is downloaded, nothing needs
    the network. Some models also come with a Python package: `trivium models NAME` shows the
    command.

    \b
    trivium models                    list models, and what this library uses
    trivium models leaf-ir            show one model
    trivium models ettin-17m --get    download a model
    """
    from trivium.models.catalogue import MODELS, named

    settings = shell.settings().settings
    if name is None:
        if get:
            raise click.UsageError("--get needs the NAME of a model.")
        _list(shell, settings, MODELS)
        return
    model = named(name)
    if get:
        download(shell, settings, model)
    fields = _told(model, settings)
    if shell.json:
        shell.emit(fields)
        return
    shell.facts(
        ((key.replace("_", " "), str(value)) for key, value in fields.items() if value), width=16
    )


def download(shell: Shell, settings: Settings, model: KnownModel) -> Path:
    """The model's folder, with a progress bar while it is downloaded."""
    from trivium.models.hub import carrier_folder, fetch, local_copy

    if local_copy(model, settings.cache) is None and carrier_folder(model) is None:
        size = f" ({model.megabytes} MB)" if model.megabytes else ""
        shell.note(f"Downloading {model.name}{size} from {settings.models_hub}")
    with _progress(shell) as report:
        return fetch(model, settings.cache, settings.models_hub, report)


def _list(shell: Shell, settings: Settings, models: tuple[KnownModel, ...]) -> None:
    from trivium.models.weights import NAME

    library = _of_library(settings)
    rows = [_told(model, settings) for model in models]
    if shell.json:
        shell.emit({"library": library, "built_in": NAME, "models": rows})
        return
    shell.table(
        ("name", "kind", ">MB", "languages", "quality", "here"),
        [
            (
                row["name"],
                row["kind"],
                str(row["megabytes"] or "?"),
                row["languages"],
                f"{row['quality']:.3f}".lstrip("0") if row["quality"] else "",
                "yes" if row["folder"] else "",
            )
            for row in rows
        ],
    )
    shell.say("Quality: mean nDCG@10 of our eleven test sets; empty: not tried yet.")
    shell.say(f"Built in: {NAME}, which every library uses until you choose another.")
    if library:
        shell.say(f"This library uses {library['model'] or 'no embedding model yet'}.")
        if library["folder"]:
            shell.say(f"Its files are in {library['folder']}.")


def _told(model: KnownModel, settings: Settings) -> dict[str, Any]:
    """Describe a model; if it is downloaded, by its own files."""
    from trivium.core.errors import TriviumError
    from trivium.models.hub import carrier_folder, local_copy
    from trivium.models.layout import read, receipt

    names = ("name", "kind", "repository", "revision", "licence", "megabytes", "languages")
    of_embedding = ("dimensions", "query_prompt", "document_prompt", "pooling")
    fields: dict[str, Any] = {
        **{name: getattr(model, name) for name in (*names, *of_embedding)},
        "licence": model.licence or _UNKNOWN,
        "score": model.score or _UNKNOWN,
        "source": model.source,
        "quality": model.trial.quality if model.trial else None,
        "speed": model.trial.speed if model.trial else "not tried",
        "install": model.carrier.command if model.carrier else "",
        "use": _use(model),
        "folder": "",
    }
    folder = local_copy(model, settings.cache) or carrier_folder(model)
    if folder is None:
        return fields
    if not receipt(folder):  # installed, and copied when it is first used
        return fields | {"folder": str(folder)}
    fields |= {"folder": str(folder), "revision": receipt(folder)["revision"]}
    if model.kind == "embedding":
        try:
            layout = read(folder)
        except TriviumError as error:
            return fields | {"use": error.message}
        fields |= {
            "dimensions": layout.dimensions,
            "pooling": layout.shape.pooling,
            "query_prompt": layout.query_prompt,
            "document_prompt": layout.document_prompt,
        }
    return fields


def _use(model: KnownModel) -> str:
    if model.kind == "embedding":
        return f"trivium reembed --model {model.name}"
    return f"trivium models {model.name} --get, then set rerank.model={model.name}"


def _of_library(settings: Settings) -> dict[str, Any] | None:
    """The model the library was embedded with, or nothing without a library."""
    from trivium.core.errors import TriviumError
    from trivium.store.opening import BackendOptions, open_backend

    try:
        backend = open_backend(settings.library, BackendOptions(create=False))
    except TriviumError:
        return None
    try:
        manifest = backend.models.manifest()
    finally:
        backend.close()
    return {
        "path": str(settings.library),
        "model": manifest.model,
        "folder": manifest.settings.get("embed.folder", ""),
        "settings": dict(manifest.settings),
    }


@contextmanager
def _progress(shell: Shell) -> Iterator[Report]:
    """A progress bar on standard error if it is a terminal, else nothing."""
    if not shell.err.is_terminal:
        yield lambda file, done, total: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TransferSpeedColumn(), console=shell.err, transient=True) as bars:
        task = bars.add_task("", total=1)

        def report(file: str, done: int, total: int) -> None:
            bars.update(task, description=printable(file), completed=done, total=max(1, total))

        yield report
