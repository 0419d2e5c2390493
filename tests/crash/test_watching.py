"""A watcher killed at random moments, and at every boundary between two steps: the next one brings
the library in step with the folder, and no search sees half a change."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tests.crash.following import check, write

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KILLS = 5


def stir(folder: Path, chance: random.Random, mark: int) -> None:
    """Some files come, some change, one moves, one goes. Those called `same` stay."""
    for number in chance.sample(range(12), 4):
        write(folder, f"new{number}.md", mark)
    others = sorted(folder.glob("new*.md"))
    chance.choice(others).rename(folder / f"new-moved{mark}.md")
    chance.choice(sorted(folder.glob("new*.md"))).unlink()


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
    check(place, folder)


def test_a_watcher_killed_at_every_step(tmp_path: Path) -> None:
    place, folder, pipe = tmp_path / "library", tmp_path / "folder", subprocess.PIPE
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    follower = subprocess.Popen(
        [sys.executable, str(HERE / "following.py"), str(place), str(folder)],
        stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment,
    )  # fmt: skip
    assert follower.stdout is not None
    assert follower.stdout.readline() == "ready\n", follower.communicate()
    searcher = subprocess.Popen(
        [sys.executable, str(HERE / "searcher.py"), str(place)],
        stdin=pipe, stdout=pipe, stderr=pipe, text=True,
    )  # fmt: skip
    assert searcher.stdout is not None
    assert searcher.stdout.readline() == "ready\n"
    out, errors = follower.communicate("go\n")
    searched, complaints = searcher.communicate()
    assert follower.returncode == 0, out + errors
    assert searcher.returncode == 0, complaints
    assert int(searched) > 20
    killed = out.splitlines()
    assert killed.count("to the end") == 1
    for step in ("create", "claim", "stage", "add", "activate", "end", "rename", "remove"):
        assert f"after {step}" in killed
