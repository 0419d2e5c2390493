"""Trivium: hybrid search over your own documents. `from trivium import Library` is the way in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"
__all__ = [
    "Filters",
    "Library",
    "Report",
    "SearchOptions",
    "TriviumError",
    "__version__",
    "where",
]

if TYPE_CHECKING:
    from trivium.errors import TriviumError
    from trivium.library import Library, Report, where
    from trivium.options import Filters, SearchOptions


def __getattr__(name: str) -> Any:
    # Loaded on first use: importing the package costs nothing, so `trivium --help` answers at once.
    if name == "TriviumError":
        from trivium.errors import TriviumError

        return TriviumError
    if name in ("Filters", "SearchOptions"):
        from trivium import options

        return getattr(options, name)
    if name in __all__:
        from trivium import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
