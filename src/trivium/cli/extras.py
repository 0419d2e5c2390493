"""Packages that only some commands need: says how to install a missing one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Imports inside need an extra of Trivium."""
    from trivium.core.errors import ExtraMissing, install

    try:
        yield
    except ModuleNotFoundError as reason:
        if (reason.name or "").partition(".")[0] == "trivium":
            raise  # ours, and a fault
        raise ExtraMissing(
            f"This needs the package {reason.name}, which isn't installed.", fix=install(extra)
        ) from reason
