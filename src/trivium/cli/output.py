"""What all commands share: common options, the two streams, JSON, tables and errors.

Results go to standard output; progress, notes and errors go to standard error. Knows nothing of
searching. Imports rich only to print for a person.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.text import Text

    from trivium.config import Effective
    from trivium.core.types import MetaScalar
    from trivium.library import Library

F = TypeVar("F", bound=Callable[..., Any])

EMPTY = "The library is empty; `trivium add PATH` adds documents."
LOG = "trivium.log"  # in the library's folder: where a fault happened, and with which document
# Control characters, C1 included, and those that reverse the direction of text: a document must
# not be able to move the cursor or to recolour the screen of the person who finds it.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PIECES = re.compile(r"\n|[^\S\n]*(?:`[^`\n]*`\S*|\S+)")
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})")  # 15 digits: what a float still holds exactly
_DECIMAL = re.compile(r"-?(0|[1-9]\d{0,14})\.\d{1,15}")


@dataclass
class Shell:
    """How this call of the program prints, and its settings."""

    json: bool = False
    debug: bool = False
    given: dict[str, str] = field(default_factory=dict)

    @cached_property
    def out(self) -> Console:
        return _console(to_stderr=False)

    @cached_property
    def err(self) -> Console:
        return _console(to_stderr=True)

    def settings(self) -> Effective:
        from trivium.config import load

        return load(self.given)

    @contextmanager
    def library(self, *, create: bool = False) -> Iterator[Library]:
        """Open the library named by the settings. Only adding creates one."""
        from trivium.core.machine import collect_rarely
        from trivium.library import Library

        with Library.open(settings=self.settings().settings, create=create) as library:
            collect_rarely()  # what is imported and opened stays
            yield library

    def say(self, *lines: Text | str, indent: int = 0, style: str = "") -> None:
        """Print a result for a person, made safe. Wraps lines only on a terminal."""
        from rich.padding import Padding
        from rich.text import Text

        for line in lines:
            safe = Text(printable(line), style) if isinstance(line, str) else line
            if self.out.is_terminal:
                self.out.print(Padding(safe, (0, 0, 0, indent), expand=False) if indent else safe)
            else:
                click.echo(" " * indent + str(safe))

    def note(self, text: str) -> None:
        """Print a note beside the result."""
        self.err.print(self.folded(text), style="yellow", soft_wrap=True)

    def folded(self, text: str) -> str:
        """A message in lines that fit the terminal, commands in backticks and paths whole, so
        that they can be copied. A pipe gets it in one line."""
        if not self.err.is_terminal:
            return printable(text)
        from rich.cells import cell_len

        lines = [""]
        for piece in _PIECES.findall(printable(text)):
            if piece == "\n" or (lines[-1] and cell_len(lines[-1] + piece) > self.err.width):
                lines.append("")
            lines[-1] += piece if lines[-1] else piece.lstrip()
        return "\n".join(lines)

    def facts(self, pairs: Iterable[tuple[str, str]], *, indent: int = 0, width: int = 12) -> None:
        """Print names and values side by side; a long value continues below itself."""
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True, min_width=width - 2)
        table.add_column(overflow="fold")
        for name, value in pairs:
            if self.out.is_terminal:
                table.add_row(Text(printable(name)), Text(printable(value)))
            else:
                click.echo(f"{'':<{indent}}{printable(name):<{width}}{printable(value)}".rstrip())
        if table.rows:
            self.out.print(Padding(table, (0, 0, 0, indent)))

    def emit(self, payload: object) -> None:
        """Print a result for a program."""
        from trivium.core.shapes import to_json

        wide = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "") == "utf8"
        click.echo(to_json(payload, ensure_ascii=not wide, indent=2))

    def emit_line(self, payload: object) -> None:
        """Print one of several results as a line of JSON."""
        from trivium.core.shapes import to_json

        click.echo(to_json(payload))
        sys.stdout.flush()

    def tell(self, payload: object, *lines: Text | str, note: str = "") -> None:
        """Print a result: for a program, or its lines, or a note instead, for a person."""
        if self.json:
            self.emit(payload)
        elif note:
            self.note(note)
        else:
            self.say(*lines)

    def fail(self, code: str, message: str, fix: str = "") -> None:
        """Print an error: what happened and, on its own line, what to do."""
        if self.json:
            self.emit({"error": {"code": code, "message": message, "fix": fix}})
            return
        from rich.text import Text

        first = Text(self.folded(f"Error: {message} [{code}]"))
        first.stylize("bold red", 0, len("Error:"))
        first.stylize("dim", len(first) - len(code) - 2)
        for line in (first, Text(self.folded(fix))) if fix else (first,):
            self.err.print(line, soft_wrap=True)

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str | Text]],
        optional: Sequence[str] = (),
    ) -> None:
        """Print rows under headings: a table on a terminal, columns aligned with spaces in a pipe.

        A column whose name begins with `>` is right-aligned. `optional`: columns that a narrow
        terminal goes without, the least important first.
        """
        if self.out.is_terminal:
            self._drawn(columns, rows, optional)
            return
        cells = [[name.lstrip(">") for name in columns], *([str(c) for c in r] for r in rows)]
        cells = [[" ".join(printable(cell).split()) for cell in row] for row in cells]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            line = (
                cell.rjust(width) if name.startswith(">") else cell.ljust(width)
                for name, cell, width in zip(columns, row, widths, strict=True)
            )
            click.echo("  ".join(line).rstrip())

    def _drawn(
        self, columns: Sequence[str], rows: Sequence[Sequence[str | Text]], optional: Sequence[str]
    ) -> None:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        plain = [[c if isinstance(c, Text) else printable(c) for c in row] for row in rows]
        cells = {name: [row[at] for row in plain] for at, name in enumerate(columns)}
        empty = [name for name in optional if not any(map(str, cells[name]))]
        left_out = []
        for name in [*empty, *optional]:
            drawn = [[head.lstrip(">"), *map(str, some)] for head, some in cells.items()]
            if name in empty or (name in cells and not _widths(drawn, self.out.width)):
                left_out += [] if name in empty else [name]
                cells.pop(name, None)
        drawn = [[name.lstrip(">"), *map(str, some)] for name, some in cells.items()]
        widths = _widths(drawn, self.out.width)
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, header_style="bold", pad_edge=False)
        for at, name in enumerate(cells):
            table.add_column(
                name.lstrip(">"),
                justify="right" if name.startswith(">") else "left",
                overflow="fold",
                width=widths[at] if widths else None,
            )
        for row in zip(*cells.values(), strict=True):
            fitted = zip(row, widths or [_LONGEST_WORD] * len(cells), strict=True)
            table.add_row(*(c if isinstance(c, Text) else Text(_broken(c, w)) for c, w in fitted))
        self.out.print(table)
        if left_out:
            self.note(
                f"Not shown, for want of space: {', '.join(n.lstrip('>') for n in left_out)}."
                " --json has all."
            )


_GAP = 3  # columns of the terminal between two of a table
_LONGEST_WORD = 32  # characters; longer ones, such as paths, are broken


def _widths(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """How wide each column is so that all fit and no word or number is broken, the widest ones
    narrowed first; empty if that can't be."""
    from rich.cells import cell_len

    least = [
        min(_LONGEST_WORD, max((cell_len(w) for c in column for w in c.split()), default=1))
        for column in columns
    ]
    wide = [max(low, *map(cell_len, column)) for low, column in zip(least, columns, strict=True)]
    room = width - _GAP * (len(columns) - 1)
    if sum(least) > room:
        return []
    while sum(wide) > room:
        widest = max(range(len(wide)), key=lambda at: (wide[at] > least[at], wide[at]))
        wide[widest] -= 1
    return wide


def _broken(text: str, width: int) -> str:
    """A path that is too long for a column, broken after its slashes where that is possible."""
    if width < 2:
        return text
    long = re.compile(rf"(?=\S{{{width + 1}}})\S{{0,{width - 1}}}[/\\]")
    return long.sub(lambda match: match.group() + "\n", text)


@contextmanager
def logged(folder: Path | None) -> Iterator[None]:
    """Log faults inside Trivium to a file in the library's folder, if it has one, unless the
    caller has set up logging. Creates no file until there is something to write."""
    import logging
    from logging.handlers import RotatingFileHandler

    root = logging.getLogger("trivium")
    if folder is None or root.handlers or logging.getLogger().handlers:
        yield
        return
    handler = RotatingFileHandler(
        folder / LOG, maxBytes=1 << 20, backupCount=1, encoding="utf-8", delay=True,
        errors="backslashreplace",
    )  # fmt: skip
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def printable(text: str) -> str:
    """Make untrusted text safe to print on a terminal."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def _console(*, to_stderr: bool) -> Console:
    from rich.console import Console

    class Quiet(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the program decides what that means, not rich

    return Quiet(stderr=to_stderr, markup=False, highlight=False, emoji=False)


# --- options -------------------------------------------------------------------------------------

pass_shell = click.make_pass_decorator(Shell, ensure=True)


def shared_options(command: F) -> F:
    """The options you can give before or after any command's name."""
    for option in (
        click.option("--debug", is_flag=True, hidden=True, expose_value=False, callback=_debug),
        click.option(
            "--json",
            is_flag=True,
            expose_value=False,
            callback=_json,
            help="Print JSON, errors included.",
        ),
        click.option(
            "--set",
            metavar="NAME=VALUE",
            multiple=True,
            expose_value=False,
            callback=_set,
            help="Change a setting for this call, e.g. --set chunk.size=300. Repeatable.",
        ),
        click.option(
            "--preset",
            metavar="NAME",
            expose_value=False,
            callback=_preset,
            help="Use the settings of a known system: rulebook, codex, papers, team or palace.",
        ),
        click.option(
            "--library",
            metavar="DIR",
            expose_value=False,
            callback=_library,
            help="Library folder. Default: TRIVIUM_LIBRARY, or your data folder.",
        ),
    ):
        command = option(command)
    return command


def with_shell(command: F) -> F:
    """A command with the shared options that gets the shell first."""
    return shared_options(cast(F, pass_shell(command)))


def _json(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.ensure_object(Shell).json |= value


def _debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.ensure_object(Shell).debug |= value


def _library(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is not None:
        if not value:
            raise click.BadParameter("the path is empty.", ctx, _param)
        ctx.ensure_object(Shell).given["library"] = value


def _preset(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Shell).given["preset"] = value


def _set(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> None:
    ctx.ensure_object(Shell).given.update(pair(value, param) for value in values)


def pair(text: str, param: click.Parameter) -> tuple[str, str]:
    """Split `key=value`."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.BadParameter(f"{text!r} isn't KEY=VALUE.", param=param)
    return key.strip(), value


def pairs(
    _ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, list[MetaScalar]]:
    """A repeatable key=value option: every value of each key, numbers as numbers."""
    fields: dict[str, list[MetaScalar]] = {}
    for key, value in (pair(text, param) for text in values):
        fields.setdefault(key, []).append(scalar(value))
    return fields


def scalar(text: str) -> MetaScalar:
    """A number if the text is plainly one (7, -2.5); 007 and 1e3 stay text."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
