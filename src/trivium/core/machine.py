"""What this process may use of its machine."""

import gc
import os
from contextlib import suppress
from functools import cache

COLLECT_AFTER = 50_000  # objects: some 10 MB
COLLECT_STARTING_AFTER = 400_000  # a search's imports make 140,000 that stay, a server's 260,000


def collect_nothing_starting() -> None:
    """Look for no circles of objects while a program is imported: its modules stay. Each look took
    20 to 30 ms, two of them before a search and four before a server."""
    gc.set_threshold(COLLECT_STARTING_AFTER, 10, 10)


def collect_rarely() -> None:
    """Look for circles of objects every 50,000 objects that stay instead of every 700, and not in
    what there is already. Reading a page makes thousands that are in none."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 10, 10)


@cache
def memory() -> int:
    """Bytes of it, within a container's limit."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max") as limit:
        return min(machine, int(limit.read()))
    return machine
