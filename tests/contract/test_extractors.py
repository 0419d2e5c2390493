"""The contract of extractors over ours, and over the example that others may copy."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.golden.make import files

from trivium.extract.detect import choose
from trivium.ingest.extractors import extractors
from trivium.ports import Blob, Extractor
from trivium.testing.extractor_contract import ExtractorContract

REPOSITORY = Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "examples" / "extractor"
_OURS = extractors({"ocr": "off"})


def _samples() -> dict[str, tuple[Extractor, Blob]]:
    """For each extractor of ours the smallest file of the golden ones that it takes and reads."""
    found: dict[str, tuple[Extractor, Blob]] = {}
    for name, data in sorted(files().items(), key=lambda item: (len(item[1]), item[0])):
        if not name.endswith(".png"):  # needs OCR
            extractor = choose(Blob(name, data), _OURS)
            found.setdefault(type(extractor).__name__, (extractor, Blob(name, data)))
    return found


_SAMPLES = _samples()


class TestOurs(ExtractorContract):
    @pytest.fixture(params=sorted(_SAMPLES))
    def pair(self, request: pytest.FixtureRequest) -> tuple[Extractor, Blob]:
        return _SAMPLES[request.param]

    @pytest.fixture
    def extractor(self, pair: tuple[Extractor, Blob]) -> Extractor:
        return pair[0]

    @pytest.fixture
    def sample(self, pair: tuple[Extractor, Blob]) -> Blob:
        return pair[1]


def test_most_extractors_of_ours_are_under_the_contract() -> None:
    assert len(_SAMPLES) >= 20


def test_the_example_keeps_it_and_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "trivium_subtitles-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: trivium-subtitles\n")
    (installed / "entry_points.txt").write_text(
        "[trivium.extractors]\nsubtitles = trivium_subtitles:SubtitleExtractor\n"
    )
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
    monkeypatch.syspath_prepend(str(tmp_path))
    blob = Blob("film.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello there.\n")
    first, *rest = extractors({"ocr": "off"})
    assert type(first).__name__ == "SubtitleExtractor"
    assert [type(one) for one in rest] == [type(one) for one in _OURS]
    assert choose(blob, (first, *rest)) is first
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE)],
        env={"PYTHONPATH": f"{EXAMPLE / 'src'}:{REPOSITORY / 'src'}", "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2000:]
