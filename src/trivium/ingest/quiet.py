"""Lets people who search go before documents that are added."""

from __future__ import annotations

import os
import sys
import threading

# The niceness of the thread: beside a search it gets a quarter of a core's time. With 10 it got a
# tenth, and other programs that kept all cores busy starved it.
_NICER = 5


def step_back() -> None:
    """Lower the priority of this thread, and of threads and processes that it starts, for good.
    Linux alone knows priorities of threads."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        now = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(19, max(now, _NICER)))
