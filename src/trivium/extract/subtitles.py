"""Reads subtitles (SRT, VTT, SBV, TTML): what is said, and when, each line once even if cues repeat
it while it rolls up. Knows nothing of the recording."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction
from trivium.extract.charsets import encoding_of
from trivium.extract.composer import Composer
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.extract.transcript import Segment, compose, cue
from trivium.ports import Blob, reads

ENDINGS = (".vtt", ".srt", ".sbv", ".ttml", ".dfxp")
_TIME = r"(?:(\d{1,3}):)?(\d\d):(\d\d)(?:[.,:](\d{1,3}))?"
_TIMES = re.compile(rf"^[ \t]*{_TIME}(?:[ \t]*-->[ \t]*|,){_TIME}(?!\d)[^\n]*", re.MULTILINE)
_CLOCK_HEAD = rb"[ \t]*(?:\d+:)?\d\d:\d\d"
_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:WEBVTT\b"
    rb"|\s*(?:\d+[ \t]*\r?\n)?" + _CLOCK_HEAD + rb"(?:[.,:]\d{1,3})?[ \t]*-->"
    rb"|\s*\d+:\d\d:\d\d\.\d{3},\d+:\d\d:\d\d\.\d{3}\s)"
)
_NUMBER = re.compile(r"\n\s*\d+\s*\Z")  # of the cue that follows
_LONE_NUMBER = re.compile(r"\n[ \t]*\n\s*\d+[ \t]*(?=\n)")  # of a cue that has lost its times
# The share of cues that begin with what the one before showed from which captions count as
# rolling: 2 of 3 and more in YouTube's; 1 of 865 in a series, 2 of 1,332 in a film.
_ROLLING = 0.5
_TTML = re.compile(rb"<(?:\w+:)?tt\s[^>]*http://www\.w3\.org/(?:ns|2006/\d\d|2006/04)/ttml")
_XML = "{http://www.w3.org/XML/1998/namespace}"
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>", re.IGNORECASE)
_SPEAKER = re.compile(r"(?:-\s*)?([A-Z][\w.’' -]{1,30}):\s+(?=\S)")
_TAG = re.compile(r"</?[^<>\n]{1,80}>|\{\\[^}\n]*\}")
_OFFSET = re.compile(r"(\d+(?:\.\d+)?)(h|m|s|ms|f|t)")
_CLOCK = re.compile(r"(\d{2,}):(\d\d):(\d\d)(?:\.(\d+)|:(\d+))?")


@reads("subtitles/3", lambda blob: bool(_kind(blob.data)) and not binary_kind(blob.data))
def read_subtitle(blob: Blob) -> Extraction:
    """Takes texts whose first lines are those of subtitles."""
    segments, language = segments_of(blob)
    out = Composer(blob.name)
    compose(out, segments)
    last = max((segment.end for segment in segments), default=0.0)
    return out.finish(
        blob, media_type=_kind(blob.data), language=language, metadata={"duration": round(last, 1)}
    )


def segments_of(blob: Blob) -> tuple[list[Segment], str]:
    """What a file of subtitles says, and the language that it names."""
    if _kind(blob.data) == "application/ttml+xml":
        return _ttml(blob)
    return list(_cues(decode(blob))), ""


def _kind(data: bytes) -> str:
    head = data[:400]
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        head = head.decode(encoding_of(data), "ignore").encode()
    if _BEGINNING.match(head):
        if b"WEBVTT" in head[:10]:
            return "text/vtt"
        return "application/x-subrip" if b"-->" in head else "text/x-sbv"
    return "application/ttml+xml" if _TTML.search(data[:4000]) else ""


@dataclass(slots=True)
class _Cue:
    start: float
    end: float
    lines: list[str]
    speaker: str = ""


def _cues(text: str) -> Iterator[Segment]:
    cues = [cue for cue in _shown(text) if cue.lines]
    speaker = ""
    for caption in _unrolled(cues):
        plain = " ".join(caption.lines)
        named = _SPEAKER.match(plain)
        if caption.speaker:
            speaker = caption.speaker
        elif named:
            speaker, plain = named[1], plain[named.end() :]
        if plain:
            yield cue(caption.start, caption.end, plain, speaker)


def _shown(text: str) -> Iterator[_Cue]:
    """The cues as they are on the screen. In SRT all up to the next time is said, blank lines or
    not; in VTT blank lines end a cue, and what is behind them may be a note or a style."""
    is_vtt = text.lstrip("\ufeff").startswith("WEBVTT")
    times = list(_TIMES.finditer(text))
    for at, match in enumerate(times):
        following = times[at + 1] if at + 1 < len(times) else None
        body = text[match.end() : following.start() if following else len(text)]
        if is_vtt:
            # YouTube's first line may hold a blank alone.
            body = re.split(r"\n[ \t]*\n(?!\s*\S+<)", body.removeprefix("\n"), maxsplit=1)[0]
        elif following:
            body = _NUMBER.sub("", body) or body
        if not is_vtt:
            body = _LONE_NUMBER.sub("", body)
        voice = _VOICE.search(body)
        parts = match.groups()
        yield _Cue(
            _seconds(*parts[:4]),
            _seconds(*parts[4:]),
            [line for line in map(plain_text, body.split("\n")) if line],
            " ".join(voice[1].split()) if voice else "",
        )


def _unrolled(cues: list[_Cue]) -> list[_Cue]:
    """Each line once. A cue of captions that roll shows the last lines again above a new one, or
    the line so far with a word more."""
    repeated = [0, *(_repeated(a.lines, b.lines) for a, b in pairwise(cues))]
    if sum(count > 0 for count in repeated) < _ROLLING * (len(cues) - 1) or len(cues) < 2:
        return cues
    unrolled = []
    for caption, count in zip(cues, repeated, strict=True):
        words = " ".join(caption.lines)[count:].strip()
        if words:
            unrolled.append(_Cue(caption.start, caption.end, [words], caption.speaker))
    return unrolled


def _repeated(before: list[str], lines: list[str]) -> int:
    """How many characters of the joined lines were shown with the cue before."""
    for first in range(len(before)):
        tail, now = " ".join(before[first:]), " ".join(lines)
        if now == tail or now.startswith(f"{tail} "):
            return len(tail)
    return 0


def plain_text(body: str) -> str:
    """A cue without its marks."""
    return " ".join(html.unescape(_TAG.sub("", body)).split())


def _seconds(hours: str | None, minutes: str, seconds: str, parts: str | None) -> float:
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole + float(f".{parts or 0}")


def _ttml(blob: Blob) -> tuple[list[Segment], str]:
    """Timed Text Markup: each `p` is a cue; agents of the head are its speakers."""
    from lxml import etree

    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        root = etree.fromstring(blob.data, parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise FileDamaged(f"{blob.name} is damaged: its subtitles can't be read.")
    rates = {etree.QName(name).localname: value for name, value in root.attrib.items()}
    frames = float(rates.get("frameRate") or 30)
    ticks = float(rates.get("tickRate") or 1)
    names = {
        agent.get(f"{_XML}id"): " ".join("".join(agent.itertext()).split())
        for agent in root.iter("{*}agent")
    }
    segments = []
    for paragraph in root.iter("{*}p"):
        holder = paragraph.getparent()
        begin = _ttml_seconds(paragraph.get("begin"), frames, ticks)
        end = _ttml_seconds(paragraph.get("end"), frames, ticks)
        length = _ttml_seconds(paragraph.get("dur"), frames, ticks)
        shift = _ttml_seconds(holder.get("begin"), frames, ticks) if holder is not None else None
        for line in paragraph.iter("{*}br"):
            line.tail = f" {line.tail or ''}"
        text = " ".join("".join(paragraph.itertext()).split())
        if begin is None or not text:
            continue
        start = begin + (shift or 0)
        agent = next(
            (v for n, v in paragraph.attrib.items() if etree.QName(n).localname == "agent"), ""
        )
        last = start + length if length else (end + (shift or 0) if end else start)
        segments.append(cue(start, last, text, names.get(agent, "")))
    language = root.get(f"{_XML}lang", "")
    return segments, language


def _ttml_seconds(text: str | None, frames: float, ticks: float) -> float | None:
    """`00:01:02.5`, `00:01:02:12` (with frames), `62.5s`, `1551t`."""
    if not text:
        return None
    if match := _CLOCK.fullmatch(text.strip()):
        hours, minutes, seconds, part, frame = match.groups()
        rest = float(f"0.{part}") if part else float(frame or 0) / frames
        return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + rest
    if match := _OFFSET.fullmatch(text.strip()):
        unit = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "f": 1 / frames, "t": 1 / ticks}
        return float(match[1]) * unit[match[2]]
    return None
