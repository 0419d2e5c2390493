"""How you name a judged set on the command line, shared by `eval` and `tune`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trivium.cli.output import Shell

if TYPE_CHECKING:
    from trivium.evaluate.dataset import Files

F = TypeVar("F", bound=Callable[..., Any])

SYNTHETIC = (
    "Synthetic queries: generated from the documents, not asked or judged by people. They show"
    " whether something broke, not how good the search is for people."
)
_PATH = click.Path(path_type=Path)


def judged_options(command: F) -> F:
    """DIR, and the options for parts of a judged set that are elsewhere."""
    for add in (
        click.option(
            "--part",
            type=click.Choice(("title", "desc", "narr")),
            default="title",
            show_default=True,
            help="Which field of TREC topics to use as the query.",
        ),
        click.option("--corpus", type=_PATH, help="File or folder of documents, if not in DIR."),
        click.option("--qrels", type=_PATH, help="File of judgments, if not in DIR."),
        click.option(
            "--queries", type=_PATH, help="File of queries or topics, if not the one in DIR."
        ),
        click.argument("folder", metavar="[DIR]", required=False, type=_PATH),
    ):
        command = add(command)
    return command


def own_set(shell: Shell, folder: Path) -> Path:
    """A folder, or a set in the library by its name (`evaluation/NAME`)."""
    from trivium.store.opening import judged_set

    bare = len(folder.parts) == 1 and not folder.exists()
    own = judged_set(shell.settings().settings.library, folder.name) if bare else None
    return own or folder


def judged_files(
    shell: Shell,
    folder: Path | None,
    queries: Path | None,
    qrels: Path | None,
    corpus: Path | None,
    part: str,
) -> Files:
    from trivium.evaluate.dataset import Files

    folder = None if folder is None else own_set(shell, folder)
    if folder is None and (queries is None or qrels is None):
        raise click.UsageError("Name the folder of a judged set, or give --queries and --qrels.")
    return Files(folder, queries, qrels, corpus, part)


def own_library(shell: Shell) -> bool:
    """Whether the caller named a library: then a set without a corpus is about that one."""
    return shell.settings().origins["library"] != "default"


@contextmanager
def writing_files() -> Iterator[None]:
    """Report a file that can't be written as the caller's mistake."""
    try:
        yield
    except OSError as reason:
        raise click.UsageError(f"Couldn't write {reason.filename}: {reason.strerror}.") from reason
