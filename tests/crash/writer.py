"""A process to be killed: adds, changes and removes documents forever, and reports each change.

Run as `python writer.py LIBRARY FOLDER SEED`. Prints `want NAME CONTENT` before it asks the library
for something and `done NAME CONTENT` once that is acknowledged; content 0 means removal.
"""

import random
import sys
from pathlib import Path

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY


def main(place: Path, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    library = Library(open_embedded(place), TOY, Settings())
    print("ready", flush=True)
    while True:
        names = [f"{chance.randrange(40):02}.md" for _ in range(chance.randint(1, 6))]
        contents = {}
        for name in dict.fromkeys(names):
            number = chance.randrange(1, 10**6)
            contents[name] = number
            paragraphs = [f"## Part {n}\n\nmark{number} part{n} of it" for n in range(4)]
            (folder / name).write_text("\n\n".join(paragraphs))
            print("want", name, number, flush=True)
        report = library.add([folder / name for name in contents])
        for outcome in report.outcomes:
            name = Path(outcome.uri).name
            print("done", name, contents[name], flush=True)
        if chance.random() < 0.4:
            gone = chance.choice(library.documents.all())
            print("want", Path(gone.uri).name, 0, flush=True)
            library.remove([gone.id])
            print("done", Path(gone.uri).name, 0, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
