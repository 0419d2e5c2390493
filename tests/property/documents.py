"""Which files the laws of reading are tried on: the golden ones always, and the sample documents
beside the repository, as far as they are there.

A run takes of every folder the smallest file of each type; TRIVIUM_EVERY_DOCUMENT=1 takes all of
them (about 1,000, some minutes).
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.golden.make import files

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "documents"
EVERY = os.environ.get("TRIVIUM_EVERY_DOCUMENT", "") not in ("", "0")


def samples() -> list[Path]:
    found = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    if EVERY:
        return found
    smallest: dict[tuple[str, str], Path] = {}
    for path in sorted(found, key=lambda path: (path.stat().st_size, path)):
        kind = (path.relative_to(FOLDER).parts[0], path.suffix.lower())
        smallest.setdefault(kind, path)
    return sorted(smallest.values())


SAMPLES = {str(path.relative_to(FOLDER)): path for path in samples()}
GOLDEN = {f"golden/{name}": data for name, data in files().items()}


def content(name: str) -> bytes:
    return GOLDEN[name] if name in GOLDEN else SAMPLES[name].read_bytes()


def summary() -> str:
    if not SAMPLES:
        return (
            f"The sample documents (../shared/data/documents) are not there: the laws of reading"
            f" were tried on the {len(GOLDEN)} generated files of tests/golden only."
        )
    which = "every one" if EVERY else "one of each type and folder"
    return f"The laws of reading: {len(SAMPLES)} sample documents ({which}), {len(GOLDEN)} golden."
