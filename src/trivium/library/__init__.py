"""The way in for everything outside: one library, opened, filled, searched.

`library.py` is the class; its parts have a file each: `documents`, `history`, `jobs`, `uploads`,
`folders`, `sync`, `models`, `upkeep`, `tokens`, `answering` (with conversations), `searching`.
`model.py` is the model they share; `assembly.py` puts models and readers together by the
settings; `asking.py` turns what a caller asks for into one typed request.
"""

from trivium.library.asking import where
from trivium.library.assembly import (
    backend_options,
    embedder_for,
    generator_for,
    remote_reranker_for,
)
from trivium.library.library import Library

__all__ = [
    "Library",
    "backend_options",
    "embedder_for",
    "generator_for",
    "remote_reranker_for",
    "where",
]
