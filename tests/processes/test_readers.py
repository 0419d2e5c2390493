"""Two processes search while a third adds and changes: no failure, gap, double or mixture."""

import subprocess
import sys
from pathlib import Path

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

READER = Path(__file__).parent / "reader.py"
DOCUMENTS, ROUNDS = 12, 9


def write(folder: Path, name: int, mark: int) -> Path:
    path = folder / f"{name}.md"
    parts = [f"## Part {n}\n\nlantern mark{mark} number {n}" for n in range(3)]
    path.write_text("\n\n".join(parts))
    return path


def test_two_readers_beside_a_writer(tmp_path: Path) -> None:
    place = tmp_path / "library"
    with Library(open_embedded(place), TOY, Settings()) as library:
        library.add(write(tmp_path, 0, 0))
        command = [sys.executable, str(READER), str(place)]
        pipe = subprocess.PIPE
        readers = [
            subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
            for _ in range(2)
        ]
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"
        for round_ in range(1, ROUNDS):
            names = [*range(0, DOCUMENTS, 2)] if round_ % 2 else [*range(DOCUMENTS)]
            library.add([write(tmp_path, name, round_) for name in names])
        for reader in readers:
            out, errors = reader.communicate()
            assert reader.returncode == 0, errors
            searches, documents = map(int, out.split())
            assert searches > 5
            assert documents == DOCUMENTS
