"""SIGKILL at every boundary between two steps: resume finishes, no search sees half of anything."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_killed_at_every_step(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    place = str(tmp_path / "library")
    steps = subprocess.Popen(
        [sys.executable, str(HERE / "steps.py"), place], stdout=pipe, stderr=pipe, text=True
    )
    assert steps.stdout is not None
    assert steps.stdout.readline() == "ready\n"
    searcher = subprocess.Popen(
        [sys.executable, str(HERE / "searcher.py"), place],
        stdin=pipe, stdout=pipe, stderr=pipe, text=True,
    )  # fmt: skip
    out, errors = steps.communicate()
    searched, complaints = searcher.communicate()
    assert steps.returncode == 0, out + errors
    assert searcher.returncode == 0, complaints
    assert int(searched.split()[1]) > 20
    killed = out.splitlines()
    assert killed.count("add to the end") == killed.count("remove to the end") == 1
    for step in ("create", "claim", "stage", "add", "activate", "end"):
        assert f"add after {step}" in killed
    assert "remove after remove" in killed
