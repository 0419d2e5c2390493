"""Reads recordings beside other files: one at a time, with what was heard before a crash, and by a
service if one is set up.

What the model has heard is saved piece by piece, under the hash of the file and the name of the
model, until the document is read. Around the sandbox and not within: the worker that opens files
has no network, and no folder of yours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import time

from trivium.core.errors import FileUnreadable, ModelError, ReadError
from trivium.core.types import Enclosed, Extraction, StoredChunk
from trivium.extract.recordings import (
    AUDIO,
    COMPARED,
    LOUDNESS_RATE,
    VIDEO,
    is_recording,
    piece_line,
)
from trivium.extract.subtitles import ENDINGS as SUBTITLES
from trivium.models.transcriptions import Transcriptions
from trivium.ports import HEARD, Blob, Reader, SourceItem, Transcribed

TRANSCRIBED_BY = "transcribed_by"  # metadata: which model heard it
_APART, _APART_SHARE = 3.0, 0.02  # seconds, and of its length, by which the same talk may differ
# Correlation of their loudness, and the part of the longer one that is compared. The same speech in
# another codec, with noise at 20 dB or a fourth as loud has .95 or more; of 264 pairs of other
# speech, 3 to 60 s, one has .86 and the next .76.
_ALIKE, _COMPARED_SHARE = 0.9, 0.9
_MOST_SUBTITLES = 20 << 20  # bytes
_KEPT_DAYS = 30  # that what was heard of an unfinished file is kept


@dataclass(eq=False)
class RecordingReading:
    """Reads recordings by `hear`, everything else by `read`."""

    _read: Reader
    _hear: Reader
    _model: str
    _folder: Path  # what was heard of unfinished recordings
    _service: Transcriptions | None = None

    def __call__(self, blobs: Sequence[Blob]) -> list[Extraction | ReadError]:
        hears = [is_recording(blob) and COMPARED not in blob.parts for blob in blobs]
        others = [blob for blob, heard in zip(blobs, hears, strict=True) if not heard]
        read = iter(self._read(others) if others else ())
        together = zip(blobs, hears, strict=True)
        return [self._transcribed(blob) if heard else next(read) for blob, heard in together]

    def _transcribed(self, blob: Blob) -> Extraction | ReadError:
        if any(part.name == HEARD for part in blob.parts):  # of an earlier version of the document
            return self._hear([blob])[0]
        if self._service is not None:
            return self._by_service(blob, self._service)
        saved = self._folder / self._key(blob)
        before = saved.read_bytes() if saved.is_file() else b""

        def save(heard: Transcribed) -> None:
            if heard.piece:
                saved.parent.mkdir(parents=True, exist_ok=True)
                with saved.open("ab") as file:
                    file.write(f"{heard.piece}\n".encode())
            if blob.on_transcribed is not None:
                blob.on_transcribed(heard)

        parts = (*blob.parts, Enclosed(HEARD, before)) if before else blob.parts
        if before and not before.endswith(b"\n"):  # its last line was being written
            saved.write_bytes(before[: before.rfind(b"\n") + 1])
        outcome = self._hear([replace(blob, parts=parts, on_transcribed=save)])[0]
        saved.unlink(missing_ok=True)
        self._tidy()
        return outcome

    def _key(self, blob: Blob) -> str:
        digest = hashlib.sha256(blob.data)
        digest.update(self._model.encode())
        return f"{digest.hexdigest()}.jsonl"

    def _tidy(self) -> None:
        for left in self._folder.glob("*.jsonl"):
            if time() - left.stat().st_mtime > _KEPT_DAYS * 86_400:
                left.unlink(missing_ok=True)

    def _by_service(self, blob: Blob, service: Transcriptions) -> Extraction | ReadError:
        """Read here first: where there are subtitles, nobody need be asked."""
        here = self._hear([blob])[0]
        if isinstance(here, ReadError) or here.text:
            return here
        try:
            language, segments = service.transcribe(blob.name, blob.data)
        except ModelError as error:
            why = f"Couldn't transcribe {blob.name}: {error.message}"
            return FileUnreadable(why, fix=error.fix)
        line = piece_line(max((s[1] for s in segments), default=0.0), language, segments)
        part = Enclosed(HEARD, line.encode())
        outcome = self._hear([replace(blob, parts=(*blob.parts, part))])[0]
        if isinstance(outcome, ReadError):
            return outcome
        metadata = {**outcome.metadata, TRANSCRIBED_BY: service.name}
        return replace(outcome, metadata=metadata)


def heard_before(text: str, passages: Sequence[StoredChunk]) -> Enclosed:
    """What was heard for a document's last version, for when only its chunks change."""
    places = {p.chunk.start + at: second for p in passages for at, second in p.chunk.place.spoken}
    ends = [p.chunk.place.seconds[1] for p in passages if p.chunk.place.seconds]
    segments: list[tuple[float, float, tuple[tuple[float, str], ...]]] = []
    starts = sorted(places)
    for at, start in enumerate(starts):
        end = starts[at + 1] if at + 1 < len(starts) else len(text)
        word = text[start:end].partition("\n\n")[0].rstrip()
        is_first = not segments or "\n\n" in text[starts[at - 1] : start]
        second = places[start]
        if is_first:
            segments.append((second, second, ((second, word),)))
        else:
            first, _, words = segments[-1]
            blank = " " if text[start - 1].isspace() else ""
            segments[-1] = (first, second, (*words, (second, f"{blank}{word}")))
    language = passages[0].document.language if passages else ""
    return Enclosed(HEARD, piece_line(max(ends, default=0.0), language, segments).encode())


def parts_beside(item: SourceItem) -> tuple[Enclosed, ...]:
    """The subtitles that lie beside a recording, under its name."""
    source_item = _beside(item, SUBTITLES)
    if (
        source_item is None
        or isinstance(source_item.content, Extraction)
        or source_item.size > _MOST_SUBTITLES
    ):
        return ()
    return (Enclosed(source_item.name, source_item.content()),)


def recording_beside(item: SourceItem) -> SourceItem | None:
    """The recording that a file belongs to: subtitles to any of their name, sound to a video."""
    name = item.name.lower()
    if name.endswith(SUBTITLES):
        return _beside(item, (*VIDEO, *AUDIO))
    if name.endswith(AUDIO):
        before = AUDIO[: next(at for at, e in enumerate(AUDIO) if name.endswith(e))]
        return _beside(item, (*VIDEO, *before))
    return None


def is_same_talk(read: Reader, sound: Blob, video: SourceItem) -> bool:
    """Whether a sound is that of the recording of its name: as long, and loud at the same times.
    With subtitles beside, its length is enough."""
    if isinstance(video.content, Extraction):
        return True
    subtitled = bool(sound.parts)
    blobs = (sound, Blob(video.name, video.content()))
    extractions = [
        extraction
        for extraction in read([replace(blob, parts=(COMPARED,)) for blob in blobs])
        if isinstance(extraction, Extraction)
    ]
    if len(extractions) < len(blobs):  # of a damaged video, its subtitles are read
        return subtitled
    first, second = (
        float(str(extraction.metadata.get("duration", 0))) for extraction in extractions
    )
    if first and second and abs(first - second) > max(_APART, _APART_SHARE * second):
        return False
    return subtitled or _is_alike(*(extraction.text for extraction in extractions))


def _is_alike(loudness: str, other: str) -> bool:
    """Whether two sounds are loud at the same times, one of them a little later."""
    import numpy as np

    a, b = (np.array([*map(ord, text)], dtype=float) for text in (loudness, other))
    most, least = round(_APART * LOUDNESS_RATE), _COMPARED_SHARE * max(len(a), len(b))
    for lag in range(-most, most + 1):
        left, right = a[max(0, lag) :], b[max(0, -lag) :]
        both = min(len(left), len(right))
        left, right = left[:both], right[:both]
        is_heard = both >= least and left.std() and right.std()  # silence is like nothing
        if is_heard and np.corrcoef(left, right)[0, 1] >= _ALIKE:
            return True
    return False


def _beside(item: SourceItem, endings: Sequence[str]) -> SourceItem | None:
    stem = item.name.rpartition(".")[0]
    if item.beside is None or not stem or item.enclosed:
        return None
    beside = (item.beside(f"{stem}{ending}") for ending in endings)
    return next((source_item for source_item in beside if source_item is not None), None)
