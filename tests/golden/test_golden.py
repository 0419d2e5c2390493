"""Every format reads as its snapshot says. `python -m tests.golden --update` renews them."""

import pytest
from tests.golden.make import files
from tests.golden.snapshot import FOLDER, snapshot
from tests.unit.extract.making import check_offsets

from trivium.extract.detect import read
from trivium.ingest.extractors import extractors
from trivium.ports import Blob

FILES = files()
# product.md, section 1: every format that it names.
FORMATS = """
    .pdf .docx .pptx .xlsx .xlsb .csv .tsv .html .md .txt .json .jsonl .eml .msg .mbox .epub .odt
    .ods .odp .rtf .doc .xls .ppt .ipynb .js .png .bib .csl.json .zip .tar
""".split()  # noqa: SIM905 - one look at them all


@pytest.mark.parametrize("name", FILES)
def test_it_reads_as_the_snapshot_says(name: str) -> None:
    expected = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert snapshot(name, FILES[name]) == expected


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith(".png")])
def test_offsets_are_in_order(name: str) -> None:
    check_offsets(read(Blob(name, FILES[name]), extractors=extractors({"ocr": "off"})))


def test_every_format_has_a_snapshot_and_every_snapshot_a_file() -> None:
    for suffix in FORMATS:
        assert any(name.endswith(suffix) for name in FILES), suffix
    assert {path.name for path in FOLDER.glob("*.txt")} == {f"{name}.txt" for name in FILES}
