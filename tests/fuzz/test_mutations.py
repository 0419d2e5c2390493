"""Two thousand damaged and hostile files: each has a typed outcome, and the process lives on."""

from collections.abc import Iterator

import pytest
from tests.fuzz.mutations import corpus
from tests.fuzz.seeds import SEEDS

from trivium.errors import FileDamaged, FileEmpty, FormatUnknown, ReadError
from trivium.extract.sandbox import Sandbox
from trivium.ports import Blob
from trivium.types import Extraction

FILES = 2000


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    # Small files: what takes so long or needs so much is a bomb.
    with Sandbox(2, 10.0, 512 << 20, 64 << 20) as made:
        yield made


@pytest.mark.parametrize("name", SEEDS)
def test_the_files_to_be_damaged_are_sound(sandbox: Sandbox, name: str) -> None:
    """Else the damage done to them would show nothing. A format nobody reads yet is no failure."""
    try:
        extraction = sandbox.read(Blob(name, SEEDS[name]))
    except FormatUnknown:
        return
    except (FileEmpty, FileDamaged):
        assert name in ("a.png", "a.doc")  # a picture without words, a document without streams
        return
    found = extraction.text + extraction.title + "".join(e.name for e in extraction.enclosed)
    assert "lantern" in found.lower() or extraction.enclosed


def test_every_mutation_has_a_typed_outcome(sandbox: Sandbox) -> None:
    count = texts = 0
    blobs = ((blob.name, blob) for blob in corpus(FILES))
    for name, outcome in sandbox.read_many(blobs):
        count += 1
        if isinstance(outcome, Extraction):
            texts += 1
            spans = [(element.start, element.end) for element in outcome.elements]
            assert all(0 <= a <= b <= len(outcome.text) for a, b in spans), name
        else:
            assert isinstance(outcome, ReadError), name
            assert outcome.code.startswith("file."), name
            assert outcome.message.endswith("."), outcome.message
    assert count == FILES
    assert 0 < texts < FILES
    assert sandbox.read(Blob("a.txt", b"still here")).text == "still here"
