"""Recordings for tests: a spoken clip, made with espeak-ng (voice en-gb) for this project, and the
same sound in other containers, with tags, chapters, subtitles or faults."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

CLIP = Path(__file__).parent / "harbour.ogg"
SAID = (
    "The harbour master keeps the tide tables in a green ledger."
    " Every morning at six, he writes down the height of the water."
    " The lighthouse was rebuilt in nineteen seventy two, after the great storm."
)
STARTS = (0.0, 3.9, 7.9)  # seconds of the three sentences
RATE = 16_000
# What FFmpeg's encoders of subtitles need to begin.
_ASS = (
    b"[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\n"
    b"Style: Default,Arial,16\n\n[Events]\n"
    b"Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
)


def samples() -> np.ndarray:
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(str(CLIP)) as clip:
        frames = [r.to_ndarray() for f in clip.decode(audio=0) for r in resampler.resample(f)]
    return np.concatenate(frames, axis=1)


def encoded(
    container: str,
    codec: str,
    sound: np.ndarray,
    *,
    layout: str = "mono",
    tags: Mapping[str, str] | None = None,
    chapters: Sequence[tuple[float, float, str]] = (),
    subtitles: Sequence[tuple[float, float, str]] = (),
    subtitle_codec: str = "subrip",
    options: Mapping[str, str] | None = None,
    rate: int = RATE,
    video: str = "",
) -> bytes:
    """`video`: the codec of a black picture that it shows, too."""
    out = io.BytesIO()
    with av.open(out, "w", format=container, options=dict(options or {})) as file:
        file.metadata.update(tags or {})
        stream = file.add_stream(codec, rate=rate, layout=layout)
        shown = file.add_stream(video, rate=5) if video else None
        if shown:
            shown.width = shown.height = 64
            shown.pix_fmt = "yuv420p"
        lines = file.add_stream(subtitle_codec) if subtitles else None
        if lines:
            lines.codec_context.subtitle_header = _ASS
        if chapters:
            file.set_chapters(
                [
                    {
                        "id": number,
                        "start": int(start * 1000),
                        "end": int(end * 1000),
                        "time_base": Fraction(1, 1000),
                        "metadata": {"title": title},
                    }
                    for number, (start, end, title) in enumerate(chapters)
                ]
            )
        resampler = av.AudioResampler(stream.format, layout, rate, frame_size=stream.frame_size)
        if sound.size:
            frame = av.AudioFrame.from_ndarray(sound, format="s16", layout=layout)
            frame.rate, frame.pts = RATE, 0
            for ready in (*resampler.resample(frame), *resampler.resample(None)):
                file.mux(stream.encode(ready))
        file.mux(stream.encode(None))
        for frame in [*(av.VideoFrame(64, 64, "yuv420p") for _ in range(5)), None] if shown else ():
            file.mux(shown.encode(frame))
        for start, end, text in subtitles if lines else ():
            data = text.encode()
            if subtitle_codec == "mov_text":
                data = len(data).to_bytes(2, "big") + data
            packet = av.Packet(data)
            packet.stream, packet.time_base = lines, Fraction(1, 1000)
            packet.pts = packet.dts = int(start * 1000)
            packet.duration = int((end - start) * 1000)
            file.mux(packet)
    return out.getvalue()
