"""What this process may use of its machine."""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path


@cache
def memory() -> int:
    """Bytes of it, within a container's limit."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return machine
