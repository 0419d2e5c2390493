"""Lets an OpenAI-compatible server transcribe a recording (`/audio/transcriptions`): OpenAI, Groq,
vLLM, faster-whisper-server. Knows nothing of documents."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite
from typing import Any

from trivium.models.http import Client, FormUpload

Segment = tuple[float, float, tuple[tuple[float, str], ...]]


class Transcriptions:
    """One server behind one address. Threads may share it."""

    def __init__(self, client: Client, language: str = "") -> None:
        self._client = client
        self._language = language
        self.name = f"remote:{client.endpoint.model}"

    def transcribe(self, name: str, data: bytes) -> tuple[str, list[Segment]]:
        """The language, and start, end and words of each segment. Raises ModelUnavailable."""
        fields = [
            ("model", self._client.endpoint.model),
            ("response_format", "verbose_json"),
            ("timestamp_granularities[]", "word"),
            ("timestamp_granularities[]", "segment"),
        ]
        fields += [("language", self._language)] if self._language else []
        reply = self._client.post("/audio/transcriptions", FormUpload(fields, name, data))
        endpoint = self._client.endpoint
        if not isinstance(reply, dict) or not isinstance(reply.get("text"), str):
            raise endpoint.nonsense("returned no transcript")
        try:
            return _language(reply.get("language")), _segments(reply)
        except (KeyError, TypeError, ValueError) as reason:
            raise endpoint.nonsense("returned a transcript without times") from reason


def _segments(fields: dict[str, Any]) -> list[Segment]:
    """Words go to the segment that they begin in; without words, a segment is one."""
    words = [(_second(word["start"]), str(word["word"])) for word in fields.get("words") or ()]
    parts: list[Segment] = []
    segments = fields.get("segments") or ()
    if not segments and not words and fields["text"].strip():
        raise ValueError("neither segments nor words")
    if not segments and words:
        last = _second(fields["words"][-1]["end"])
        return [(words[0][0], last, tuple((at, f" {word.strip()}") for at, word in words))]
    for number, segment in enumerate(segments):
        start, end = _second(segment["start"]), _second(segment["end"])
        until = _second(segments[number + 1]["start"]) if number + 1 < len(segments) else 1e9
        inside = [(at, word) for at, word in words if start <= at < until]
        # The segment's text has the punctuation, which the words of OpenAI lack.
        parts.append(
            (start, end, _aligned(str(segment["text"]), inside) or ((start, segment["text"]),))
        )
    return parts


def _aligned(text: str, words: list[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """The text cut before each word that is in it; empty if there are none."""
    cuts: list[tuple[int, float]] = []
    at = 0
    for second, word in words:
        place = text.find(word.strip(), at)
        if place >= 0:
            cuts.append((place, second))
            at = place + len(word.strip())
    if not cuts:
        return ()
    starts = [0, *(place for place, _ in cuts[1:]), len(text)]
    pieces = [text[a:b] for a, b in pairwise(starts)]
    # A blank goes with the word behind it.
    for number in range(1, len(pieces)):
        bare = pieces[number - 1].rstrip()
        pieces[number] = pieces[number - 1][len(bare) :] + pieces[number]
        pieces[number - 1] = bare
    return tuple((second, piece) for (_, second), piece in zip(cuts, pieces, strict=True))


def _second(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not isfinite(number) or number < 0:
        raise ValueError("not a time")
    return number


_NAMES = {"english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it"}
_NAMES |= {"portuguese": "pt", "dutch": "nl", "polish": "pl", "russian": "ru", "chinese": "zh"}
_NAMES |= {"japanese": "ja", "korean": "ko", "turkish": "tr", "arabic": "ar", "hindi": "hi"}


def _language(answer: object) -> str:
    """OpenAI names it in words, others by its code."""
    name = str(answer or "").lower()
    return name if len(name) == 2 else _NAMES.get(name, "")
