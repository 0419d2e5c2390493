"""SIGKILL at every boundary of compact, backup, recover and restore: nothing is lost."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def test_killed_at_every_step(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, str(HERE / "caring.py"), str(tmp_path / "library")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    killed = done.stdout.splitlines()
    for step in (
        "compact after rebuild",
        "compact after _vacuum",
        "backup after _copy_database",
        "backup after replace",
        "recover after rename",
        "restore after stage_restored",
        "restore after activate",
    ):
        assert step in killed, killed
