"""Search finds scanned text as well as typed text."""

from pathlib import Path

from tests.unit.extract.making import photographed, printed, scanned

from trivium.core.types import Mode
from trivium.library import Library
from trivium.operations.searching import SearchOptions

LINES = [
    "The lighthouse keeper of Amble counts",
    "forty wrecks between two winters and",
    "paints each name on the lantern room.",
]


def test_one_query_finds_the_digital_and_the_scanned_page(library: Library, files: Path) -> None:
    from PIL import Image

    (files / "digital.pdf").write_bytes(printed(LINES))
    (files / "scanned.pdf").write_bytes(scanned(LINES))
    Image.fromarray(photographed(printed(LINES))).save(files / "photo.png", dpi=(200, 200))
    (files / "other.md").write_text("Bread rises twice before it is baked.")
    library.add(files)
    for mode in Mode:
        found = library.search(
            "names of wrecks in the lantern room", options=SearchOptions(mode=mode), limit=3
        )
        names = {Path(result.found.document.uri).name for result in found}
        assert names == {"digital.pdf", "scanned.pdf", "photo.png"}, mode
        assert {result.found.chunk.pages for result in found} == {(1,)}
