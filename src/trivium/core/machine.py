"""What this process may use of its machine."""

import gc
import os
from contextlib import suppress
from functools import cache

COLLECT_AFTER = 50_000  # objects: some 10 MB


def collect_rarely() -> None:
    """Look for circles of objects every 50,000 objects that stay instead of every 700. Reading a
    page makes thousands that are in none, importing what a search needs 140,000."""
    gc.set_threshold(COLLECT_AFTER, 10, 10)


@cache
def memory() -> int:
    """Bytes of it, within a container's limit."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max") as limit:
        return min(machine, int(limit.read()))
    return machine
