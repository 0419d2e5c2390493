"""A watcher killed at random instants: the next one comes up to the folder, no search sees half."""

import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.store import EmbeddedStore
from trivium.testing.samples import TOY

HERE = Path(__file__).parent
KILLS = 5
PARTS = 3


def write(folder: Path, name: str, mark: int) -> None:
    parts = [f"## Part {n}\n\nlantern mark{mark} number {n} of {name}" for n in range(PARTS)]
    (folder / name).write_text("\n\n".join(parts))


def stir(folder: Path, chance: random.Random, mark: int) -> None:
    """Some files come, some change, one moves, one goes. Those called `same` stay."""
    for number in chance.sample(range(12), 4):
        write(folder, f"new{number}.md", mark)
    others = sorted(folder.glob("new*.md"))
    chance.choice(others).rename(folder / f"new-moved{mark}.md")
    chance.choice(sorted(folder.glob("new*.md"))).unlink()


def held(place: Path) -> dict[str, str]:
    """The text of every document, once all of the library agrees on it."""
    with Library(EmbeddedStore(place), TOY, Settings()) as library:
        documents = library.documents()
        assert len({d.uri for d in documents}) == len(documents)
        with library._store.writing():
            pass  # the next writer clears up
        health = library.health()
        assert health["chunks"] == health["words"] == health["vectors"] == PARTS * len(documents)
        return {Path(d.uri).name: library.show(d.id).text for d in documents}


def test_a_killed_watcher_is_followed_by_another(tmp_path: Path) -> None:
    chance = random.Random(20261115)
    place, folder, pipe = tmp_path / "library", tmp_path / "folder", subprocess.PIPE
    folder.mkdir()
    for number in range(3):
        write(folder, f"same{number}.md", 0)
    command = [sys.executable, str(HERE / "watcher.py"), str(place), str(folder)]
    searcher = None
    for round_ in range(1, KILLS + 1):
        with subprocess.Popen(command, stdout=pipe, text=True) as watcher:
            assert watcher.stdout is not None
            if searcher is None:
                assert any(line.startswith("watching") for line in watcher.stdout)
                searcher = subprocess.Popen(
                    [sys.executable, str(HERE / "searcher.py"), str(place)],
                    stdin=pipe, stdout=pipe, stderr=pipe, text=True,
                )  # fmt: skip
                assert searcher.stdout is not None
                assert searcher.stdout.readline() == "ready\n"
            stir(folder, chance, round_)
            timer = threading.Timer(chance.uniform(0, 2), watcher.send_signal, [signal.SIGKILL])
            timer.start()
            for _ in watcher.stdout:
                pass
            timer.join()
    with subprocess.Popen(command, stdout=pipe, text=True) as watcher:
        assert watcher.stdout is not None
        assert any(line.startswith("watching") for line in watcher.stdout)
        watcher.send_signal(signal.SIGKILL)
    assert searcher is not None
    out, complaints = searcher.communicate()
    assert searcher.returncode == 0, complaints
    assert int(out) > 5
    texts = held(place)
    assert texts.keys() == {path.name for path in folder.iterdir()}
    for name, text in texts.items():
        assert text.replace("\n", " ").split() == _words(folder / name)


def _words(path: Path) -> list[str]:
    return path.read_text().replace("## ", "").split()
