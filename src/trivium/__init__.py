"""Trivium: hybrid search over your own documents. `from trivium import Library` is the way in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# Before anything loads ONNX Runtime: its packages keep an identifier of the machine in the home
# folder and send what they do to Microsoft, and only this keeps them from it from the beginning.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__version__ = "0.2.0"
__all__ = [
    "Filters",
    "Library",
    "Report",
    "SearchOptions",
    "TriviumError",
    "__version__",
    "errors",
    "where",
]

if TYPE_CHECKING:
    from trivium.core import errors
    from trivium.core.errors import TriviumError
    from trivium.library import Library, where
    from trivium.library.jobs import Report
    from trivium.operations.searching import Filters, SearchOptions

_OTHER = {
    "TriviumError": "trivium.core.errors",
    "Filters": "trivium.operations.searching",
    "SearchOptions": "trivium.operations.searching",
    "Report": "trivium.library.jobs",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: importing the package costs nothing, so `trivium --help` answers at once.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "errors":
        return import_module("trivium.core.errors")
    return getattr(import_module(_OTHER.get(name, "trivium.library")), name)
