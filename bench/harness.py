"""What all measurements share: how arguments are declared, where the data is and how it is read.

Standard library only, since programs that measure other systems have nothing else.
"""

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["DATA", "REPOSITORY", "Namespace", "arguments", "json_lines", "numbers", "say"]
REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY.parent / "shared" / "data"  # unless --data names another folder
# Options that many measurements have: the default, and what it means.
_SHARED = {
    "data": (DATA, "folder of the shared data"),
    "json": (False, "print JSON instead of a table"),
    "chunks": (100_000, "passages of the library"),
}


def arguments(
    about: str | None, /, *shared: str, argv: Sequence[str] | None = None, **own: Any
) -> Namespace:
    """What the command line says. `shared`: names of options that many have. `own`: others, each a
    default (False: a switch), a type, or one of them with a sentence; or what `add_argument` takes,
    as a dict, with `positional` if it is named by its place."""
    parser = ArgumentParser(description=about, formatter_class=RawDescriptionHelpFormatter)
    for name, declared in ({one: _SHARED[one] for one in shared} | own).items():
        value, says = declared if isinstance(declared, tuple) else (declared, "")
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, dict):
            told = {"help": says} | value
            parser.add_argument(name if told.pop("positional", False) else flag, **told)
        elif value is False:
            parser.add_argument(flag, action="store_true", help=says)
        elif isinstance(value, type):
            parser.add_argument(flag, type=value, help=says)
        else:
            parser.add_argument(flag, type=type(value), default=value, help=says)
    return parser.parse_args(argv)


def numbers(text: str) -> list[int]:
    """The type of an option: numbers with commas."""
    return [int(number) for number in text.split(",")]


def say(text: str) -> None:
    """Beside the result, as it comes."""
    print(text, file=sys.stderr, flush=True)


def json_lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
