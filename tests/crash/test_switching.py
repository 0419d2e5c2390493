"""A kill at every boundary of a change of the model: resumed, it finishes; no search sees two."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def test_a_change_of_the_model_killed_at_every_step(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    place = str(tmp_path / "library")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, str(HERE / "switching.py")]
    changer = subprocess.Popen(
        [*command, place], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment
    )
    assert changer.stdout is not None
    assert changer.stdout.readline() == "ready\n", changer.communicate()
    searcher = subprocess.Popen(
        [*command, "search", place],
        stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment,
    )  # fmt: skip
    assert searcher.stdout is not None
    assert searcher.stdout.readline() == "ready\n"
    out, errors = changer.communicate("go\n")
    searched, complaints = searcher.communicate()
    assert changer.returncode == 0, out + errors
    assert searcher.returncode == 0, complaints
    assert "toy-64=" in searched
    assert "other-48=" in searched  # it followed
    killed = out.splitlines()
    assert killed.count("to the end") == 1
    assert killed.count("at random") == 8
    for step in ("begin", "keep_beside", "append", "_serve", "_drop"):
        assert f"after {step}" in killed
