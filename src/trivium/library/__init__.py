"""The way in for everything outside: one library, opened, filled, searched.

`facade.py` is the class, made of `adding`, `finding`, `past` and `care`; `assembly.py` puts the
models and readers together by the settings; `asking.py` turns what a caller asks for into one typed
request. No logic of its own lives here.
"""

from trivium.library.asking import where
from trivium.library.assembly import (
    blobs_for,
    embedder_for,
    generator_for,
    remote_reranker_for,
)
from trivium.library.facade import Library
from trivium.library.recovery import recover
from trivium.library.report import Report, Shown

__all__ = [
    "Library",
    "Report",
    "Shown",
    "blobs_for",
    "embedder_for",
    "generator_for",
    "recover",
    "remote_reranker_for",
    "where",
]
