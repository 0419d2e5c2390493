"""Every command on a terminal of 80 columns: no line is wider, and no word or number is broken."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import sys
import termios
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import click
import pytest
from rich.cells import cell_len
from tests.cli.program import call

from trivium.cli.main import COMMANDS, cli, run

COLUMNS = 80
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_PIECE = re.compile(r"`[^`]*`\S*|\S+")
# What a person may try with a library of three files, in an order in which each finds something.
TRIED = """
--version
add {files} --category lore --audience staff
add {files}/absent-file-with-a-rather-long-name-that-nobody-has-ever-seen-in-this-folder.md
list
list --collection nothing-of-this-name
show 1
show 2 --text
show 3 --chunks
show weapons.md
show nothing-of-this-name.md
search who poisoned the ferryman
search --explain battle axe
search --where type:markdwon a very long query that says much and means little to anybody at all
search qqqqqqqq zzzzzzz
ask who raised the crown
ask how far is it to the moon
ask --conversation crowns who raised the crown
conversations
conversations crowns
quote A battle axe needs two hands and a strong back.
quote Nobody has ever written this sentence anywhere.
similar crown.md
similar weapons.md --passage 0
duplicates
contradictions
collections
watch --help
sync
sync status
sync kinds
sync add folder-of-no-kind
sync add slack-export chat --option path={place}/nothing
sync add feed --name news --option url=https://feeds.invalid/a-rather-long-address/of-a-feed.xml
sync status
sync check news
sync pause news
sync remove news
jobs
jobs show 1
jobs watch
jobs clear
worker --help
alert
alert add crown of the harbour
alert
alert check
alert remove nothing
history 1
diff 1
restore 1 1
prune --keep 1
token list
token create --name anna --audience staff
token list
token revoke anna
slack
library
mcp --help
serve --help
log
config
config --set chunk.size=300
doctor
models
models leaf-ir
reembed --stop
backup {place}/kept.tar
recover {place}/kept.tar --library {place}/again
copy {place}/again {place}/third
compact
judge --synthetic 3 --to {place}/made
eval
eval {place}/made
eval {place}/nothing
tune
tune {place}/made
tune {place}/nothing
remove weapons.md
no-such-command
""".strip().splitlines()

TABLES = ("list", "jobs", "history 1", "collections", "models", "token list")
_NOTE = """Not shown, for want of space: language, updated. made by. used. created, created.
collections, collections. --json has all."""


def on_terminal(*arguments: str) -> str:
    """What the program, in this process, shows on a terminal of 80 columns."""
    shown = bytearray()
    reading, writing = os.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))

    def read() -> None:
        try:
            while piece := os.read(reading, 65536):
                shown.extend(piece)
        except OSError:  # Linux says so when the last writer closes
            return

    reader = threading.Thread(target=read)
    reader.start()
    with (
        open(writing, "w", encoding="utf-8", buffering=1, newline="") as terminal,
        redirect_stdout(terminal),
        redirect_stderr(terminal),
    ):
        run(list(arguments))
        sys.stdout.flush()
    reader.join()
    os.close(reading)
    return _STYLE.sub("", shown.decode()).replace("\r\n", "\n")


def too_wide(shown: str) -> list[str]:
    """Lines wider than the terminal. A bar that is redrawn (after a \\r) replaces what it was; a
    path or a command in backticks that is longer by itself stays whole, to be copied."""
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in shown.split("\n")]
    return [n for n in lines if cell_len(n) > COLUMNS and len(_PIECE.findall(n)) > 1]


@pytest.fixture(scope="module")
def place(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import shutil

    place = tmp_path_factory.mktemp("narrow")
    shutil.copytree(library, place / "library")
    return place


def test_every_command_fits(place: Path, documents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("TRIVIUM_LIBRARY", str(place / "library"))
    assert set(COMMANDS) <= {line.split()[0] for line in TRIED}, "a command nobody looked at"
    faults = []
    for line in TRIED:
        shown = on_terminal(*line.format(place=place, files=documents).split())
        print(f"$ trivium {line}\n{shown}")
        faults += [f"{line}: {wide}" for wide in too_wide(shown)]
        if line in TABLES:  # the same words as in a pipe, none of them broken
            piped = call(*line.split())
            whole = {*re.split(r"[\s/]+", piped.out + piped.err), *_NOTE.split()}
            words = {word for word in shown.split() if "/" not in word and "─" not in word}
            faults += [f"{line}: {word}" for word in words - whole]
        if re.search(r"Traceback|\[internal\]", shown):
            faults.append(f"{line}: {shown}")
    assert not faults, "\n".join(faults)


def test_the_help_of_every_command_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    found: list[tuple[str, ...]] = [("--help",)]

    def walk(group: click.Command, path: tuple[str, ...]) -> None:
        found.append((*path, "--help"))
        for name, command in getattr(group, "commands", {}).items():
            walk(command, (*path, name))

    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        walk(command, (name,))
    wide = [(words, line) for words in found for line in too_wide(call(*words).out)]
    assert len(found) > 50
    assert wide == []
