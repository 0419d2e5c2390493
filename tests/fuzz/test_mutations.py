"""Two thousand damaged and hostile files: each has a typed outcome, and the process lives on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.fuzz.mutations import corpus
from tests.fuzz.seeds import SEEDS

from trivium.core.errors import ReadError
from trivium.core.types import Extraction
from trivium.extract.detect import reader_name
from trivium.extract.sandbox import Sandbox
from trivium.ingest.extractors import FACTORY, extractors
from trivium.ports import Blob

FILES = 2000
# Nothing to find in them: a blank picture, a locked document, a compound file without streams.
SPEECHLESS = ("a.png", "locked.docx", "empty.doc")
SETTINGS = {"ocr": "auto", "languages": "eng"}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    # Small files: what takes so long or needs so much is a bomb.
    with Sandbox(2, 10.0, 512 << 20, 64 << 20, extractors=FACTORY, settings=SETTINGS) as made:
        yield made


def test_the_files_to_be_damaged_are_sound_and_of_every_format() -> None:
    """Else the damage done to them would show nothing."""
    readers = set()
    with Sandbox(1, 240.0, extractors=FACTORY, settings=SETTINGS) as patient:
        for name, data in SEEDS.items():
            if name in SPEECHLESS:
                continue
            found = patient.read(Blob(name, data))
            readers.add(found.reader)
            said = found.text + found.title + "".join(e.name for e in found.enclosed)
            assert "lantern" in said.lower() or found.enclosed, name
    # Damaged recordings have tests of their own: hearing takes seconds. Nothing here can write an
    # Outlook archive.
    speechless = ["ImageExtractor", "LockedOfficeExtractor", "PstExtractor", "RecordingExtractor"]
    unread = {reader_name(e) for e in extractors(SETTINGS)} - readers
    assert sorted(name.partition("-")[0] for name in unread) == speechless


def test_every_mutation_has_a_typed_outcome(sandbox: Sandbox) -> None:
    count = texts = 0
    blobs = list(corpus(FILES))
    with ThreadPoolExecutor(2) as readers:
        outcomes = readers.map(lambda blob: sandbox.read_all([blob]), blobs)
    for name, (outcome,) in zip((blob.name for blob in blobs), outcomes, strict=True):
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
