"""The folder for model files that `Settings()` names in a test. Imported before `trivium`.

It isn't the user's: a cross-encoder that somebody tried there reranks every answer over HTTP, or as
many passages as a busy machine lets it read.
"""

import os
from pathlib import Path

CACHE = Path(__file__).parent.parent / "build" / "test-cache"

_before = os.environ.get("XDG_CACHE_HOME")
os.environ["XDG_CACHE_HOME"] = str(CACHE)

from trivium.config import Settings  # noqa: E402

if _before is None:
    del os.environ["XDG_CACHE_HOME"]
else:
    os.environ["XDG_CACHE_HOME"] = _before

assert Settings().cache.is_relative_to(CACHE), "trivium.config was imported before tests.cache"
