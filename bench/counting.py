"""Counts the instructions of a call: unlike times, these figures repeat.

Processor instructions through `perf stat` where the machine lets it; elsewhere (most virtual
machines) Python's own bytecodes, which leave out work inside SQLite, faiss and numpy.
Valgrind doesn't help: 3.19 dies reading numpy's BLAS on arm64, and takes minutes elsewhere.
"""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

PERF, BYTECODES = "instructions:u", "bytecodes"


def best_counter() -> str:
    """The finest that works on this machine."""
    if shutil.which("perf") and _perf([sys.executable, "-c", "pass"]) is not None:
        return PERF
    return BYTECODES


def instructions(command: Sequence[str]) -> int:
    """Of a whole process, in user space."""
    found = _perf(command)
    if found is None:
        raise RuntimeError(f"`perf stat` could not count {' '.join(command)}")
    return found


def bytecodes(do: Callable[[], object]) -> int:
    """Of a call, in this thread and in threads it starts. Deterministic, and slow."""
    counted: Counter[int] = Counter()  # by thread: a sum that two threads add to loses some

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            counted[threading.get_ident()] += 1
        return trace

    gc.collect()
    gc.disable()  # so that garbage of others isn't collected during the measurement
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        do()
    finally:
        sys.settrace(None)
        threading.settrace(None)
        gc.enable()
    return sum(counted.values())


def _perf(command: Sequence[str]) -> int | None:
    """None if the machine can't count."""
    asked = ["perf", "stat", "-x", ",", "-e", PERF, "--", *command]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        count, _, rest = line.partition(",")
        if PERF in rest and count.isdigit():
            return int(count)
    return None
