"""Opens a library in a new process and searches once: the cost of a first search.

Prints seconds for its steps. `bench/search.py` starts it and measures from outside.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter


def main() -> None:
    folder, query = sys.argv[1:]
    started = perf_counter()
    from trivium import Library

    imported = perf_counter()
    with Library.open(Path(folder), create=False) as library:
        opened = perf_counter()
        results = library.search(query)
        found = perf_counter()
        assert len(results) > 0
    steps = {"import": imported - started, "open": opened - imported, "search": found - opened}
    answer = {name: round(seconds, 3) for name, seconds in steps.items()}
    print(json.dumps(answer | {"stages_ms": results.timings_ms}), flush=True)


if __name__ == "__main__":
    main()
