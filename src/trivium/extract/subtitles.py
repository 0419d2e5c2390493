"""Reads subtitles (SRT, VTT, TTML): what is said, and when. Knows nothing of the recording."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction
from trivium.extract.composer import Composer
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.extract.transcript import Segment, compose, cue
from trivium.ports import Blob, reads

ENDINGS = (".vtt", ".srt", ".ttml", ".dfxp")
_TIME = r"(?:(\d{1,3}):)?(\d\d):(\d\d)[.,](\d{3})"
_TIMES = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[^\n]*")
_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf)?"
    rb"(?:WEBVTT\b|\s*(?:\d+[ \t]*\r?\n)?[ \t]*(?:\d+:)?\d\d:\d\d[.,]\d{3}[ \t]*-->)"
)
_TTML = re.compile(rb"<(?:\w+:)?tt\s[^>]*http://www\.w3\.org/(?:ns|2006/\d\d|2006/04)/ttml")
_XML = "{http://www.w3.org/XML/1998/namespace}"
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>", re.IGNORECASE)
_SPEAKER = re.compile(r"(?:-\s*)?([A-Z][\w.’' -]{1,30}):\s+(?=\S)")
_TAG = re.compile(r"</?[^<>\n]{1,80}>|\{\\[^}\n]*\}")
_OFFSET = re.compile(r"(\d+(?:\.\d+)?)(h|m|s|ms|f|t)")
_CLOCK = re.compile(r"(\d{2,}):(\d\d):(\d\d)(?:\.(\d+)|:(\d+))?")


@reads("subtitles/2", lambda blob: bool(_kind(blob.data)) and not binary_kind(blob.data))
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
    if _BEGINNING.match(head):
        return "text/vtt" if b"WEBVTT" in head[:10] else "application/x-subrip"
    return "application/ttml+xml" if _TTML.search(data[:4000]) else ""


def _cues(text: str) -> Iterator[Segment]:
    speaker = ""
    for block in re.split(r"\n[ \t]*\n", text):
        match = _TIMES.search(block)
        if match is None:  # a note, a style, the head
            continue
        body = block[match.end() :].strip()
        voice = _VOICE.search(body)
        plain = plain_text(body)
        named = _SPEAKER.match(plain)
        if voice:
            speaker = " ".join(voice[1].split())
        elif named:
            speaker, plain = named[1], plain[named.end() :]
        if plain:
            parts = match.groups()
            yield cue(_seconds(*parts[:4]), _seconds(*parts[4:]), plain, speaker)


def plain_text(body: str) -> str:
    """A cue without its marks."""
    return " ".join(html.unescape(_TAG.sub("", body)).split())


def _seconds(hours: str | None, minutes: str, seconds: str, parts: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(parts) / 1000


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
    for one in root.iter("{*}p"):
        holder = one.getparent()
        begin = _ttml_seconds(one.get("begin"), frames, ticks)
        end = _ttml_seconds(one.get("end"), frames, ticks)
        length = _ttml_seconds(one.get("dur"), frames, ticks)
        shift = _ttml_seconds(holder.get("begin"), frames, ticks) if holder is not None else None
        for line in one.iter("{*}br"):
            line.tail = f" {line.tail or ''}"
        text = " ".join("".join(one.itertext()).split())
        if begin is None or not text:
            continue
        start = begin + (shift or 0)
        agent = next((v for n, v in one.attrib.items() if etree.QName(n).localname == "agent"), "")
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
