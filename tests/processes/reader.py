"""A process that searches until its standard input ends, and checks every answer.

Run as `python reader.py LIBRARY`. Every document of the library holds the same word three times,
once in each of its chunks, beside a mark of its interpretation. Searches at least LEAST times, the
last time after the end.
"""

import re
import sys
import threading
from collections import defaultdict
from pathlib import Path

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

PARTS = 3
LEAST = 10
PAUSE = 0.03  # seconds between two searches, so that it doesn't take a whole core


def main(place: Path) -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    searches = least = 0
    with Library(open_embedded(place), TOY, Settings()) as library:
        print("ready", flush=True)
        is_last = False
        while not is_last or searches < LEAST:
            is_last = ended.wait(PAUSE)
            marks = defaultdict(list)
            for result in library.search("lantern", 1000):
                mark = re.findall(r"mark\d+", result.found.chunk.text)[0]
                marks[result.found.document.uri].append(mark)
            for uri, found in marks.items():
                assert len(found) == PARTS, f"{uri}: {len(found)} of {PARTS} parts"
                assert len(set(found)) == 1, f"{uri}: a mixture of {set(found)}"
            assert len(marks) >= least, f"{least} documents before, {len(marks)} now"
            least = len(marks)
            searches += 1
    print(searches, least, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
