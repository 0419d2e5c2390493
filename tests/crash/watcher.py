"""A process to be killed: it watches a folder forever. Run as `python watcher.py LIBRARY FOLDER`.

Prints a line for everything it follows.
"""

import sys
from pathlib import Path

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY


def main(place: Path, folder: Path) -> None:
    with Library(open_embedded(place), TOY, Settings()) as library:
        library.folders.watch(
            [folder],
            quiet=0.05,
            on_event=lambda e: print(e.kind, Path(e.uri).name, e.message, flush=True),
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
