"""The plugin keeps Trivium's contract and says who speaks when."""

import pytest

from trivium.ports import Blob, Extractor
from trivium.testing.extractor_contract import ExtractorContract
from trivium_subtitles import SubtitleExtractor

SAMPLE = b"""WEBVTT

1
00:00:01.000 --> 00:00:04.000
<v Mara>The ferry leaves at <b>nine</b>.

00:05.000 --> 00:07.000
Then we are late.
"""


class TestSubtitles(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Extractor:
        return SubtitleExtractor()

    @pytest.fixture
    def sample(self) -> Blob:
        return Blob("film.vtt", SAMPLE)

    def test_cues_are_messages(self, extractor: Extractor, sample: Blob) -> None:
        found = extractor.extract(sample)
        assert found.text.startswith("[00:00:01.000] The ferry leaves at nine.")
        assert found.elements[0].place.authors == ("Mara",)
