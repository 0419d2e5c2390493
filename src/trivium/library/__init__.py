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
from trivium.library.documents import Shown
from trivium.library.folders import Followed
from trivium.library.jobs import Report
from trivium.library.library import Library
from trivium.library.models import Reembedded
from trivium.library.sync import (
    Checked,
    Difference,
    SyncEvent,
    SyncOptions,
    Verified,
    period_of,
    seconds_of,
)
from trivium.library.upkeep import repaired

__all__ = [
    "Checked",
    "Difference",
    "Followed",
    "Library",
    "Reembedded",
    "Report",
    "Shown",
    "SyncEvent",
    "SyncOptions",
    "Verified",
    "backend_options",
    "embedder_for",
    "generator_for",
    "period_of",
    "remote_reranker_for",
    "repaired",
    "seconds_of",
    "where",
]
