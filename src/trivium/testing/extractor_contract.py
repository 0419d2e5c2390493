"""What every extractor must keep, as a pytest suite. Subclass it and say what is tested:

    class TestSubtitles(ExtractorContract):
        @pytest.fixture
        def extractor(self) -> Extractor:
            return read_subtitle

        @pytest.fixture
        def sample(self) -> Blob:
            return Blob("film.vtt", b"WEBVTT ...")

Knows nothing of formats.
"""

from __future__ import annotations

import re

import pytest

from trivium.core.errors import ReadError
from trivium.core.types import Extraction
from trivium.extract.wire import frame, pack, structure_of, unpack
from trivium.ports import Blob, Extractor

_UNPRINTABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_GARBAGE = (b"", b"\x00", b"\xff" * 100, b"plain words", b"PK\x03\x04", b"%PDF-", b"{", b"<a>")


class ExtractorContract:
    @pytest.fixture
    def extractor(self) -> Extractor:
        raise NotImplementedError("Give the extractor that is tested.")

    @pytest.fixture
    def sample(self) -> Blob:
        raise NotImplementedError("Give a file that it reads.")

    def test_it_has_a_version(self, extractor: Extractor) -> None:
        """Part of the fingerprint: without it nobody knows which files to read again."""
        assert isinstance(extractor.version, str)
        assert extractor.version

    def test_it_accepts_what_it_reads(self, extractor: Extractor, sample: Blob) -> None:
        assert extractor.accepts(sample) is True

    def test_it_looks_at_any_bytes_without_raising(
        self, extractor: Extractor, sample: Blob
    ) -> None:
        half = sample.data[: len(sample.data) // 2]
        for data in (*_GARBAGE, half, sample.data[::-1]):
            assert extractor.accepts(Blob(sample.name, data)) in (True, False)
            assert extractor.accepts(Blob("", data)) in (True, False)

    def test_damaged_files_are_refused_with_a_reason_or_read(
        self, extractor: Extractor, sample: Blob
    ) -> None:
        size = len(sample.data)
        for data in (sample.data[: size // 2], sample.data[: size - 1], sample.data + b"\x00"):
            try:
                extraction = extractor.extract(Blob(sample.name, data))
            except ReadError as reason:
                if not reason.message.strip():
                    pytest.fail("It refuses a file without a word.")
            else:
                _check(extraction)

    def test_the_same_bytes_give_the_same(self, extractor: Extractor, sample: Blob) -> None:
        assert extractor.extract(sample) == extractor.extract(sample)

    def test_elements_are_ranges_of_the_text_in_order(
        self, extractor: Extractor, sample: Blob
    ) -> None:
        _check(extractor.extract(sample))

    def test_it_comes_through_the_sandbox_as_it_is(
        self, extractor: Extractor, sample: Blob
    ) -> None:
        extraction = extractor.extract(sample)
        attached: list[bytes] = []
        pieces = b"".join(frame(pack(extraction, attached)))
        assert unpack(structure_of(pieces[16:]), b"".join(attached)) == extraction

    def test_the_name_of_a_file_is_no_path_it_follows(
        self, extractor: Extractor, sample: Blob
    ) -> None:
        """Only its own bytes: no extractor opens files beside a file."""
        moved = Blob(f"/no/such/folder/{sample.name.rsplit('/', 1)[-1]}", sample.data)
        assert extractor.extract(moved).text == extractor.extract(sample).text


def _check(read: Extraction) -> None:
    assert isinstance(read, Extraction)
    assert read.media_type.count("/") == 1
    assert read.language == "" or re.fullmatch("[a-z]{2}", read.language)
    assert read.title.strip()
    assert not _UNPRINTABLE.search(read.text)
    end = 0
    for element in read.elements:
        assert end <= element.start < element.end <= len(read.text)
        assert read.text[element.start : element.end].strip()
        end = element.end
    assert read.elements or read.enclosed
    for inner in read.enclosed:
        assert inner.name
        assert not inner.name.startswith("/")
        assert ".." not in inner.name.split("/")
        assert inner.data
