"""Reads subtitles (SRT, VTT): what is said, each passage with the time where it begins. Knows
nothing of the recording."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from trivium.core.types import Extraction, Place
from trivium.extract.composer import Composer
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob

TOGETHER = 30.0  # seconds of one paragraph, unless a pause or another speaker ends it
PAUSE = 4.0  # seconds of silence
_TIME = r"(?:(\d{1,3}):)?(\d\d):(\d\d)[.,](\d{3})"
_TIMES = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[^\n]*")
_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf)?"
    rb"(?:WEBVTT\b|\s*(?:\d+[ \t]*\r?\n)?[ \t]*(?:\d+:)?\d\d:\d\d[.,]\d{3}[ \t]*-->)"
)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>", re.IGNORECASE)
_SPEAKER = re.compile(r"(?:-\s*)?([A-Z][\w.’' -]{1,30}):\s+(?=\S)")
_TAG = re.compile(r"</?[^<>\n]{1,80}>|\{\\[^}\n]*\}")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"”’)\]]*$")


@dataclass(slots=True)
class _Cue:
    start: float
    end: float
    speaker: str
    text: str


class SubtitleExtractor:
    """Takes texts whose first lines are those of subtitles."""

    version = "subtitles/1"

    def accepts(self, blob: Blob) -> bool:
        return bool(_BEGINNING.match(blob.data[:400])) and not binary_kind(blob.data)

    def extract(self, blob: Blob) -> Extraction:
        text = decode(blob)
        out = Composer(blob.name)
        last = 0.0
        for passage in _passages(list(_cues(text))):
            first = passage[0]
            words = " ".join(cue.text for cue in passage)
            said = f"{first.speaker}: {words}" if first.speaker else words
            place = Place(
                authors=(first.speaker,) if first.speaker else (), link=f"#t={first.start:g}"
            )
            out.add("paragraph", f"[{clock(first.start)}] {said}", place=place)
            last = passage[-1].end
        is_vtt = text.startswith("WEBVTT")
        return out.finish(
            blob,
            media_type="text/vtt" if is_vtt else "application/x-subrip",
            metadata={"duration": round(last, 1)},
        )


def clock(seconds: float) -> str:
    """Hours, minutes and seconds, as players show them."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _cues(text: str) -> Iterator[_Cue]:
    speaker = ""
    for block in re.split(r"\n[ \t]*\n", text):
        match = _TIMES.search(block)
        if match is None:  # a note, a style, the head
            continue
        body = block[match.end() :].strip()
        voice = _VOICE.search(body)
        plain = " ".join(html.unescape(_TAG.sub("", body)).split())
        named = _SPEAKER.match(plain)
        if voice:
            speaker = " ".join(voice[1].split())
        elif named:
            speaker, plain = named[1], plain[named.end() :]
        if plain:
            parts = match.groups()
            yield _Cue(_seconds(*parts[:4]), _seconds(*parts[4:]), speaker, plain)


def _seconds(hours: str | None, minutes: str, seconds: str, parts: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(parts) / 1000


def _passages(cues: list[_Cue]) -> Iterator[list[_Cue]]:
    """Cues that belong together: one speaker, no pause, up to a sentence's end."""
    passage: list[_Cue] = []
    for cue in cues:
        if passage:
            last, first = passage[-1], passage[0]
            if cue.text == last.text:  # shown twice, as programs that roll lines do
                continue
            is_long = cue.start - first.start > TOGETHER and (
                _SENTENCE_END.search(last.text) or cue.start - first.start > 2 * TOGETHER
            )
            if is_long or cue.speaker != first.speaker or cue.start - last.end > PAUSE:
                yield passage
                passage = []
        passage.append(cue)
    if passage:
        yield passage
