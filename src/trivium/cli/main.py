"""The program `trivium`: finds the command, runs it, and turns whatever happens into an exit code.

Imports click and nothing heavier: each command is loaded when it is called, so `trivium --help`
answers at once (about 40 ms beyond Python itself).
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from trivium import __version__
from trivium.cli.output import Shell, shared_options
from trivium.core.machine import collect_nothing_starting
from trivium.operations.catalogue import LINES

GROUPS = {
    "Start here": ("add", "search", "ask", "serve"),
    "Documents": (
        "list",
        "show",
        "quote",
        "similar",
        "duplicates",
        "contradictions",
        "collections",
        "remove",
        "conversations",
    ),
    "Keeping up": ("watch", "sync", "jobs", "worker", "alert"),
    "Versions": ("history", "diff", "restore", "prune"),
    "Sharing": ("token", "slack", "copy", "library", "mcp"),
    "Upkeep": ("log", "config", "doctor", "models", "reembed", "backup", "recover", "compact"),
    "Measuring": ("eval", "judge", "tune"),
}
# A command is in the file of its name, but for these.
_ELSEWHERE = {
    "documents": ("list", "show", "remove"),
    "history": ("diff", "restore", "prune"),
    "care": ("copy", "backup", "recover", "compact"),
    "evaluate": ("eval",),
}
COMMANDS = {name: name for group in GROUPS.values() for name in group} | {
    name: file for file, names in _ELSEWHERE.items() for name in names
}
FIRST = f"""Trivium {__version__}: search your own documents by meaning, words and spelling at once.

  trivium add ~/Documents      add files and folders
  trivium search QUERY         find passages; --explain shows why
  trivium ask QUESTION         get an answer with citations
  trivium serve                do all of it in a browser

`trivium --help` lists all {len(COMMANDS)} commands; `trivium COMMAND --help` explains one.
"""
FAULT = 70  # sysexits' EX_SOFTWARE: a fault of ours must not look like "some documents failed"
INTERRUPTED = 130  # 128 + SIGINT, as shells say it
EXIT_CODES = f"""\b
Exit codes:
  0    success
  1    some documents failed, or the document you named doesn't exist
  2    wrong usage or bad input
  3    the library can't be used
  4    a model is missing
  {FAULT}   a bug in Trivium
  {INTERRUPTED}  interrupted

\b
Set any setting with --set NAME=VALUE, with an environment variable
(TRIVIUM_SEARCH_LIMIT for search.limit) or in config.toml; `trivium config`
lists them."""


class Program(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"trivium.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise click.UsageError(f"Unknown command `{name}`.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for group, commands in GROUPS.items():
            with formatter.section(group):
                rows = [(f"{name:<{widest}}", LINES[name]) for name in commands]
                formatter.write_dl(rows)  # padded, so that the columns of all groups line up

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:  # `trivium --help | head`: click itself would call that a failure
            raise click.exceptions.Exit(_leave_quietly()) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Always ends with click's Exit or a UsageError."""
        shell = ctx.ensure_object(Shell)
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException):
            raise
        except (KeyboardInterrupt, click.Abort):
            shell.fail("interrupted", "Interrupted.")
            code = INTERRUPTED
        except BrokenPipeError:
            code = _leave_quietly()
        except Exception as error:  # the last resort: no one shall see a traceback unasked
            code = _explain(shell, error)
        raise click.exceptions.Exit(code)


@click.group(
    cls=Program,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", message="trivium %(version)s")
@shared_options
def cli() -> None:
    """Search your own documents by meaning, words and spelling at once.

    \b
    trivium add ~/notes               index a folder
    trivium search where is the crown
    trivium search --explain Shortsord
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the console script."""
    collect_nothing_starting()
    # Threads of OpenBLAS, which comes with numpy, sleep until they are needed. Otherwise each spins
    # for .1 s of a processor when it starts.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    # Plug-ins of pydantic, which `serve` imports: looking for them reads what every package offers.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    code = run(list(sys.argv[1:] if arguments is None else arguments))
    gc.freeze()  # Python looks for circles as it ends: .1 s of 140,000 objects that end anyway
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the program and return its exit code."""
    _speak_any_text()
    try:
        code = _run(arguments)
        sys.stdout.flush()  # here, where a closed pipe can still be forgiven
    except BrokenPipeError:
        return _leave_quietly()
    return code


def _run(arguments: list[str]) -> int:
    if not arguments:
        click.echo(FIRST, nl=False)
        return 0
    try:
        code = cli.main(arguments, prog_name="trivium", standalone_mode=False)
    except click.UsageError as error:
        return _explain_usage(error, arguments)
    except (KeyboardInterrupt, click.Abort):  # before a command had begun
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _explain(shell: Shell, error: Exception) -> int:
    """Print what went wrong and what to do; returns the exit code."""
    from trivium.core.errors import (
        DocumentNotFound,
        InputError,
        ModelError,
        StoreError,
        TriviumError,
        as_input_error,
    )

    if shell.debug:
        import traceback

        traceback.print_exc()
    error = as_input_error(error) or error
    if not isinstance(error, TriviumError):
        shell.fail(
            "internal",
            f"Something went wrong inside Trivium: {type(error).__name__}: {error}",
            "Please report it. Run the same command with --debug to see where it happened.",
        )
        return FAULT
    shell.fail(error.code, error.message, error.fix)
    if isinstance(error, DocumentNotFound):
        return 1
    codes: dict[type[TriviumError], int] = {InputError: 2, StoreError: 3, ModelError: 4}
    return next((code for kind, code in codes.items() if isinstance(error, kind)), 1)


def _explain_usage(error: click.UsageError, arguments: list[str]) -> int:
    # The parser may have stopped before it met --json.
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    shell = Shell(json="--json" in options)
    path = error.ctx.command_path if error.ctx else "trivium"
    shell.fail("usage", error.format_message(), f"`{path} --help` shows how.")
    return 2


def _speak_any_text() -> None:
    """Escape characters in file names and texts that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


def _leave_quietly() -> int:
    """The reader (`| head`) is gone: write nothing more, not even at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (OSError, ValueError):
            continue  # not a real file: a test's capture
    return 0


if __name__ == "__main__":
    main()
