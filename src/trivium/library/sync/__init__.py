"""Sources that a library syncs.

`kept` is the class that others use: lists sources and works with them. `running` is one run,
`putting` the way through the pipeline, `verifying` the comparison that changes nothing, `items`
turns an item into a document and cuts changes into segments.
"""

from trivium.library.sync.kept import Checked, Sync, period_of, seconds_of
from trivium.library.sync.running import SyncEvent, SyncOptions
from trivium.library.sync.verifying import Verified

__all__ = [
    "Checked",
    "Sync",
    "SyncEvent",
    "SyncOptions",
    "Verified",
    "period_of",
    "seconds_of",
]
