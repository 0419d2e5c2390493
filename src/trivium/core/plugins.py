"""What other packages registered: extractors, sources, models. Knows none of them."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

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
