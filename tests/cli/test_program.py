"""The program as a whole: help, options, errors and exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.program import Program, call

from trivium import __version__
from trivium.cli.main import COMMANDS, GROUPS
from trivium.library import Library
from trivium.operations.catalogue import LINES


def test_help_loads_nothing_heavy_and_searching_no_readers() -> None:
    code = (
        "import sys; from trivium.cli.main import run; run(['--help'])\n"
        "heavy = {'numpy', 'rich', 'sqlalchemy', 'faiss', 'onnxruntime'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)), 'trivium.library' in sys.modules)\n"
        "import trivium.library\n"
        "print('ALSO', {'trivium.extract.detect', 'trivium.answer.run'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "LOADED [] False\nALSO set()" in done.stdout


def test_help_names_every_command_and_exit_code() -> None:
    answer = call("--help")
    assert answer.code == 0
    for name, summary in ((name, LINES[name]) for name in COMMANDS):
        assert re.search(rf"^  {name} +{re.escape(summary)}$", answer.out, re.MULTILINE)
    for code in ("0", "1", "2", "3", "4", "70", "130"):
        assert f"\n    {code:<5}" in answer.out


def test_without_a_command_the_four_that_matter_are_shown() -> None:
    answer = call()
    assert (answer.code, answer.err) == (0, "")
    shown = re.findall(r"^  trivium (\w+) ", answer.out, re.MULTILINE)
    assert shown == ["add", "search", "ask", "serve"]
    assert f"lists all {len(COMMANDS)} commands" in answer.out


def test_help_groups_its_commands() -> None:
    titles = re.findall(r"^(\S.*):$", call("--help").out, re.MULTILINE)
    assert titles == ["Options", *GROUPS]
    assert max(map(len, GROUPS.values())) <= 9


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_an_example(name: str) -> None:
    answer = call(name, "-h")
    assert answer.code == 0
    assert answer.out.count(f"\n  trivium {name}") >= 1
    assert "--json" in answer.out
    assert "--library" in answer.out
    assert "--debug" not in answer.out


def test_version() -> None:
    assert call("--version").out == f"trivium {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["serch", "x"],
        ["search", "x", "--bogus"],
        ["search", "x", "--audience"],
        ["search", "x", "-n", "many"],
        ["search", "x", "--weights", "1,2"],
        ["search", "x", "--weights", "a,b,c"],
        ["search", "x", "--mode", "psychic"],
        ["search", "x", "--metadata", "year"],
        ["search", "x", "--metadata", "a=1", "--metadata", "a=2"],
        ["add"],
        ["config", "--set", "nonsense"],
        ["list", "--library", ""],
    ],
)
def test_wrong_usage_is_said_in_two_lines(arguments: list[str]) -> None:
    answer = call(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    first, second = answer.err.splitlines()
    assert first.startswith("Error: ")
    assert first.endswith(" [usage]")
    assert "--help` shows how." in second
    as_json = call(*arguments, "--json") if arguments[-1] != "--audience" else None
    if as_json:
        assert (as_json.code, as_json.err) == (2, "")
        assert as_json.error["code"] == "usage"
        assert set(as_json.error) == {"code", "message", "fix"}


def test_a_mistyped_command_is_guessed() -> None:
    assert "Did you mean `search`?" in call("serch", "x").err


SEMANTIC = ["search", "x", "--mode", "semantic"]


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["search", ""], 2, "query.empty"),
        (["search"], 2, "query.empty"),
        (["search", "?!…"], 2, "query.empty"),
        (["search", "x" * 100_000], 2, "query.too_long"),
        (["search", "x", "-n", "0"], 2, "setting.bad"),
        (["search", "x", "--k", "nan"], 2, "setting.bad"),
        (["search", "x", "--weights", "0,0,0"], 2, "setting.bad"),
        (["search", "x", "--set", "no.such=1"], 2, "setting.bad"),
        (["search", "x", "--set", "chunk.size=big"], 2, "setting.bad"),
        (["add", "/no/such/folder"], 2, "path.not_found"),
        (["eval", "/no/such/folder"], 2, "dataset.invalid"),
        (["show", "nothing.md"], 1, "document.not_found"),
        (["show", "#999"], 1, "document.not_found"),
        (["remove", "nothing.md"], 1, "document.not_found"),
        (["list", "--library", "/no/such/library"], 3, "library.not_found"),
        (["doctor", "--rebuild", "--library", "/no/such/library"], 3, "library.not_found"),
        ([*SEMANTIC, "--set", "embed.folder=/no/such/model"], 4, "model.unavailable"),
    ],
)
def test_errors_have_a_code_and_an_exit_code(
    trivium: Program, arguments: list[str], code: int, name: str
) -> None:
    plain, as_json = trivium(*arguments), trivium(*arguments, "--json")
    assert (plain.code, as_json.code) == (code, code)
    assert plain.out == ""
    assert as_json.err == ""
    assert as_json.error["code"] == name
    lines = plain.err.splitlines()
    assert lines[0] == f"Error: {as_json.error['message']} [{name}]"
    assert "\n".join(lines[1:]) == as_json.error["fix"]


def test_json_may_stand_before_the_command(trivium: Program) -> None:
    assert call("--json", "show", "x", "--library", "/no/such").error["code"] == "library.not_found"
    assert trivium("--json", "list").json == trivium("list", "--json").json


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_fault_shows_no_traceback_unless_asked(
    trivium: Program, monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the moon is full")

    monkeypatch.setattr(Library, "open", broken)
    answer = trivium("list", *flags)
    assert answer.code == 70
    assert "the moon is full" in answer.out + answer.err
    assert "report" in answer.out + answer.err
    assert "Traceback" not in answer.out + answer.err
    assert "Traceback" in trivium("list", "--debug", *flags).err


@pytest.mark.parametrize("command", [["show", "long.md", "--text"], ["list"], ["--help"]])
def test_a_closed_pipe_ends_quietly(tmp_path: Path, command: list[str]) -> None:
    # More than a pipe holds (64 KiB), so that the program is still writing when its reader goes.
    (tmp_path / "long.md").write_text("The sea is wide.\n\n" * 6000, encoding="utf-8")
    place = tmp_path / "library"
    if command[0] != "--help":
        chunky = ("--set", "chunk.size=4000", "--set", "chunk.overlap=0")
        assert call("add", tmp_path / "long.md", "--library", place, *chunky).code == 0
    program = [sys.executable, "-m", "trivium.cli.main", "--library", str(place), *command]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stderr
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


def test_any_bytes_as_query(trivium: Program) -> None:
    answer = trivium("search", "crown \udcff 🜁", "--json")
    assert answer.code == 0
    assert answer.json["query"] == "crown \udcff 🜁"


@pytest.mark.skipif(sys.platform == "win32", reason="every user of Windows has a home")
def test_a_user_without_a_home(library: Path) -> None:
    """Services and containers run as users that no table of users has."""
    code = (
        "import os, pwd, sys\n"
        "def unknown(number): raise KeyError(number)\n"
        "pwd.getpwuid = unknown\n"
        "os.environ.pop('HOME', None)\n"
        "from trivium.extract.box import readable\n"
        "from trivium.cli.main import run\n"
        "readable()\n"
        "sys.exit(run(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "list", "--library", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_but_our_own_files_appears_in_the_home(library: Path, tmp_path: Path) -> None:
    """ONNX Runtime would leave an identifier of the machine there, and send events to its maker."""
    surroundings = {**os.environ, "HOME": str(tmp_path)}
    surroundings.pop("ORT_DISABLE_TELEMETRY", None)
    surroundings.pop("XDG_CACHE_HOME", None)
    program = [sys.executable, "-m", "trivium.cli.main", "--library", str(library)]
    subprocess.run([*program, "search", "battleaxe"], env=surroundings, check=True)
    left = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert not [path for path in left if "trivium" not in path.parts], left


def test_the_module_runs_as_a_program(library: Path) -> None:
    program = [sys.executable, "-m", "trivium.cli.main", "list", "--json"]
    done = subprocess.run(
        [*program, "--library", str(library)], capture_output=True, text=True, check=True
    )
    assert len(json.loads(done.stdout)["documents"]) == 3
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("--set", "serch.limit=3", "list"), "Did you mean `search.limit`?"),
        (("sync", "add", "slak"), "Did you mean `slack`?"),
        (("add", "https://example.org/a.html"), "https://example.org/a.html is a web address"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(
    tmp_path: Path, typed: tuple[str, ...], meant: str
) -> None:
    answer = call("--library", tmp_path / "library", *typed)
    assert answer.code == 2
    assert meant in answer.err
