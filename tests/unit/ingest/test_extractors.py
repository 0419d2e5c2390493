"""Extractors of others: found by their entry points, asked first, named when they are broken."""

from pathlib import Path

import pytest

from trivium.core.errors import BadSetting
from trivium.ingest.extractors import extractors

MODULE = """
class Odd:
    version = "odd/1"
    def accepts(self, blob):
        return blob.name.endswith(".odd")
    def extract(self, blob):
        raise NotImplementedError

one = Odd()
several = [Odd(), Odd()]

def made(settings):
    return Odd()

def wrong(settings):
    return 7
"""


def register(folder: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    installed = folder / "odd_files-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-files\n")
    (installed / "entry_points.txt").write_text(f"[trivium.extractors]\nodd = {value}\n")
    (folder / f"odd_{folder.name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize(("attribute", "count"), [("one", 1), ("several", 2), ("made", 1)])
def test_every_form_of_registration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attribute: str, count: int
) -> None:
    ours = len(extractors({"ocr": "off"}))
    register(tmp_path, monkeypatch, f"odd_{tmp_path.name}:{attribute}")
    found = extractors({"ocr": "off"})
    assert len(found) == ours + count
    assert [one.version for one in found[:count]] == ["odd/1"] * count


@pytest.mark.parametrize("value", ["no_such_module_here:x", "odd_{}:wrong", "odd_{}:missing"])
def test_a_broken_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    register(tmp_path, monkeypatch, value.format(tmp_path.name))
    with pytest.raises(BadSetting, match="Couldn't load the extractor odd of odd-files"):
        extractors({"ocr": "off"})
