"""What an engine that runs in this very process has used. Standard library only."""

from __future__ import annotations

from time import process_time

from bench.timing import memory


class InProcess:
    """Memory and processor time of this process."""

    def memory_mb(self) -> int:
        return memory().resident

    def cpu_seconds(self) -> float:
        return process_time()
