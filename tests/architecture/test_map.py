"""ARCHITECTURE.md is true of the code: the parts of a backend, the files of a library's folder."""

import re
from dataclasses import fields
from io import BytesIO
from pathlib import Path

from tests.quick import SLOW

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.core.work import worker_lease
from trivium.ingest.reembed import REEMBEDDING
from trivium.library import Library
from trivium.library.background import FOLLOWING
from trivium.operations.searching import SearchOptions
from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

MAP = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text()
# Made where something goes wrong, or deleted as soon as it is used.
RARE = {"trivium.log"}


def listed() -> set[str]:
    """The first word of each line of the block that draws a library's folder."""
    (block,) = re.findall(r"```\n(library\.db .*?)```", MAP, re.DOTALL)
    return {line.split()[0].rstrip("/") for line in block.splitlines()}


def test_what_is_left_out_of_the_quick_tests_is_there() -> None:
    tests = Path(__file__).parents[1]
    for name in SLOW:
        file, _, beginning = name.partition("::")
        assert beginning.removeprefix("Test") in (tests / file).read_text("utf-8"), name


def test_the_table_of_parts_is_the_backend() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", MAP, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(f.name for f in fields(Backend) if f.name not in BESIDE)


BESIDE = ("folder", "close", "is_elsewhere")  # no parts


def test_a_folder_holds_what_the_map_draws_and_nothing_else(tmp_path: Path) -> None:
    place, note = tmp_path / "library", tmp_path / "note.md"
    seen: set[str] = set()

    def look() -> None:
        found = (path.name for path in place.iterdir())
        plain = (name for name in found if not name.endswith(("-wal", "-shm")))
        seen.update(re.sub(r"^(worker|sync)-\w+", r"\1-*", name) for name in plain)

    with Library(open_embedded(place), TOY, Settings()) as library:
        backend = library.backend
        for text in ("A lantern burns.", "A candle burns."):
            note.write_text(text)
            library.add(note)
        library.search("lantern", options=SearchOptions(as_of=1))
        library.uploads.receive_later(LOCAL_OWNER, "sent.md", BytesIO(b"Fog."))
        with (
            backend.leases.hold(REEMBEDDING, "embedding"),
            backend.leases.hold(FOLLOWING, "following"),
            backend.leases.hold("sync-notes", "syncing"),
            backend.leases.hold(worker_lease("one"), "working"),
            backend.shelf.writing("mine") as folder,
        ):
            folder.mkdir()
            look()
    assert seen == listed() - RARE


def test_every_module_is_named_in_the_section_of_its_package() -> None:
    package = Path(__file__).parents[2] / "src" / "trivium"
    prose = re.sub(r"```.*?```", "", MAP, flags=re.DOTALL)
    parts = re.split(r"^## ", prose, flags=re.MULTILINE)
    sections = {part.partition("/")[0]: part for part in parts}
    unnamed = []
    for path in sorted(package.rglob("*.py")):
        top, *_ = path.relative_to(package).parts
        if path.stem == "__init__" or path.parent == package:
            continue
        words = " ".join(re.findall(r"`([^`]+)`", sections[top]))
        if not re.search(rf"\b{re.escape(path.stem)}\b", words):
            unnamed.append(str(path.relative_to(package)))
    assert unnamed == [], "name them in ARCHITECTURE.md, with what they are for"
