"""Sources that a library keeps in step with.

`kept` is the class that others use: which sources there are, and what can be done with one.
`running` is one run, `segments` what it takes at a time, `putting` its way through the pipeline,
`verifying` the comparison that changes nothing, `items` how an item becomes a document.
"""

from trivium.library.sync.items import uri_prefix
from trivium.library.sync.kept import Sync, period_of, seconds_of
from trivium.library.sync.running import SyncEvent, SyncOptions
from trivium.library.sync.verifying import Difference, Verified

__all__ = [
    "Difference",
    "Sync",
    "SyncEvent",
    "SyncOptions",
    "Verified",
    "period_of",
    "seconds_of",
    "uri_prefix",
]
