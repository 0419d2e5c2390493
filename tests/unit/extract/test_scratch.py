"""Temporary folders of killed processes are cleared, those of living ones are not."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from trivium.extract.process import Scratch

HOLD = """
import sys
from trivium.extract.process import Scratch
scratch = Scratch("trivium-test-")
print(scratch.path, flush=True)
sys.stdin.read()
"""


def test_the_folder_of_a_killed_process_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=pipe, stdout=pipe, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        os.utime(left, (0, 0))
        first = Scratch("trivium-test-")
        assert left.is_dir()  # its owner lives
        process.send_signal(signal.SIGKILL)
    os.utime(left, (0, 0))
    second = Scratch("trivium-test-")
    assert not left.exists()
    assert first.path.is_dir()
    first.cleanup()
    second.cleanup()
    assert not list(tmp_path.iterdir())
