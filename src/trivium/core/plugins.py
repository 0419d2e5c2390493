"""What other packages bring: the extractors, sources and models that they register, and what only
some commands and settings need. Knows none of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from trivium.core.errors import BadSetting, ExtraMissing, TriviumError, install

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def registered(group: str) -> dict[str, EntryPoint]:
    """By name, in the order of names."""
    return _registered(group, tuple(sys.path))


@cache
def _registered(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Every package on the path is looked at, which takes 25 ms, so this is done once for each
    path: every job and every run of a source asks."""
    from importlib.metadata import entry_points  # 22 ms, which `trivium search --help` would wait

    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda e: e.name)}


@contextmanager
def loading(what: str, entry: EntryPoint) -> Iterator[None]:
    """Whatever goes wrong with something of another package is said with the package's name."""
    try:
        yield
    except TriviumError:
        raise
    except Exception as reason:
        owner = entry.dist.name if entry.dist else entry.value
        raise BadSetting(
            f"Couldn't load {what} of {owner} ({type(reason).__name__}: {reason}).",
            fix=f"Update or uninstall {owner}.",
        ) from reason


@contextmanager
def needs(extra: str, message: str = "") -> Iterator[None]:
    """Imports inside need an extra of Trivium; if it is missing, says how to install it."""
    try:
        yield
    except ImportError as reason:  # psycopg without its library raises no narrower one
        if (reason.name or "").partition(".")[0] == "trivium":
            raise  # ours, and a fault
        lacks = f"package {reason.name}, which isn't installed"
        if not isinstance(reason, ModuleNotFoundError):  # an older version, or a broken one
            lacks = f"extra {extra} ({reason})"
        raise ExtraMissing(
            message or f"This needs the {lacks}.",
            fix=install(extra),
            on_page="Ask the person who runs this server to install it.",
        ) from reason
