"""The sample documents that come with Trivium, and searches that show what it can do.

A wheel carries them beside this package; in a checkout they are `examples/documents`.
"""

from __future__ import annotations

from pathlib import Path

import trivium

SAMPLES = "samples"  # the collection they are added to
_PACKAGE = Path(trivium.__file__).parent
# By spelling (the rulebook writes "battle axe"), by meaning (the lore says "leaders of the sylvan
# canopy"), and a question that both words and meaning answer.
SEARCHES = ("battleaxe", "rulers of the woodland canopy", "who poisoned the ferryman")


def sample_folder() -> Path:
    packed = _PACKAGE / "samples"
    return packed if packed.is_dir() else _PACKAGE.parents[1] / "examples" / "documents"
