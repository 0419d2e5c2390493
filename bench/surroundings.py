"""Date, machine and versions of a measurement."""

from __future__ import annotations

import os
import platform
import sqlite3
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import trivium

_PACKAGES = ("faiss-cpu", "numpy", "onnxruntime", "SQLAlchemy")
# What /proc/cpuinfo of an ARM core says instead of a name; the commonest of servers.
_ARM_PARTS = {
    "0xd0c": "Neoverse N1",
    "0xd40": "Neoverse V1",
    "0xd49": "Neoverse N2",
    "0xd4f": "Neoverse V2",
}


def surroundings() -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "architecture": platform.machine(),
            "cores": len(os.sched_getaffinity(0)),
            "processor": _processor(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        },
        "load_average": os.getloadavg(),
        "versions": {
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "trivium": trivium.__version__,
            **{name: version(name) for name in _PACKAGES},
        },
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
        if name.strip() == "CPU part":
            return _ARM_PARTS.get(value.strip(), f"ARM part {value.strip()}")
    return "unknown"
