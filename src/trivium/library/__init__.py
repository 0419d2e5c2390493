"""The way in for everything outside: one library, opened, filled, searched.

`facade.py` is the class, made of parts: `adding`, `working`, `mirroring`, `watching`, `finding`,
`past`, `reembedding` and `care`. `model.py` says which embedding model it uses; `assembly.py` puts
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
from trivium.library.care import repaired
from trivium.library.facade import Library
from trivium.library.recovery import recover
from trivium.library.reembedding import Reembedded
from trivium.library.report import Report, Shown
from trivium.library.watching import Followed

__all__ = [
    "Followed",
    "Library",
    "Reembedded",
    "Report",
    "Shown",
    "blobs_for",
    "embedder_for",
    "generator_for",
    "recover",
    "remote_reranker_for",
    "repaired",
    "where",
]
