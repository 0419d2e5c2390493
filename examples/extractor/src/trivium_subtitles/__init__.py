"""Reads WebVTT subtitles: each cue is a message with its speaker and its time."""

from __future__ import annotations

import re
from typing import Any

from trivium.core.errors import FileEmpty
from trivium.core.types import Extraction, Kind, Place
from trivium.extract.composer import Composer
from trivium.extract.text import decode
from trivium.ports import Blob

_CUE = re.compile(r"(\d\d:)?\d\d:\d\d\.\d{3} --> ")
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)? ([^>]+)>")
_TAG = re.compile(r"<[^<>]*>")


class SubtitleExtractor:
    version = "subtitles/1"

    def __init__(self, settings: Any = None) -> None:
        """Trivium calls the class with the settings of reading; this one needs none."""

    def accepts(self, blob: Blob) -> bool:
        return blob.data.lstrip(b"\xef\xbb\xbf").startswith(b"WEBVTT")

    def extract(self, blob: Blob) -> Extraction:
        out = Composer(blob.name)
        for block in re.split(r"\n[ \t]*\n", decode(blob)):
            lines = block.split("\n")
            at = next((n for n, line in enumerate(lines) if _CUE.match(line)), None)
            if at is None:
                continue
            words = "\n".join(lines[at + 1 :])
            speaker = _SPEAKER.search(words)
            place = Place(authors=(speaker[1],) if speaker else ())
            out.add("message", f"[{lines[at].split()[0]}] {_TAG.sub('', words)}", place=place)
        if not out:
            raise FileEmpty(f"{blob.name} has no subtitles in it.")
        return out.finish(blob, media_type="text/vtt", kind=Kind.MESSAGES)
