"""Recordings: how well tiny.en hears, how exactly a hit plays, what it costs.

    python -m bench.recordings [--minutes 30]

Speech comes from espeak-ng (Debian), two voices, clean and with noise at 20 and 10 dB, from the
sample documents of this repository. Prints word error rate by voice and noise, how many of 200
known phrases begin within a second, recall@5 of questions against the same text typed, processor
seconds for a minute of speech and memory. Synthetic speech: a person's is another matter.
"""

from __future__ import annotations

import io
import json
import random
import re
import resource
import subprocess
import tempfile
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import arguments
from trivium.config import Settings
from trivium.core.results import Result
from trivium.library import Library
from trivium.library.assembly import embedder_for
from trivium.operations.searching import Filters
from trivium.store.embedded.backend import open_embedded

DOCUMENTS = Path(__file__).parents[1] / "examples" / "documents"
VOICES = ("en-gb", "en-us+f3")
NOISES = (None, 20.0, 10.0)  # dB between speech and noise
PHRASES = 200
WORDS = 6  # of a phrase
RATE = 22_050  # samples a second of espeak-ng


def main() -> None:
    minutes = arguments(__doc__, minutes=30.0).minutes
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(minutes, Path(folder)), indent=1))


def measured(minutes: float, folder: Path) -> dict[str, Any]:
    draws = random.Random(23)
    sentences = _sentences()
    settings = Settings()
    talks: dict[str, list[tuple[float, str]]] = {}
    share = minutes * 60 / (len(VOICES) * len(NOISES))
    for kind in ("spoken", "typed"):
        (folder / kind).mkdir()
    for voice in VOICES:
        for noise in NOISES:
            name = f"{voice}-{noise or 'clean'}"
            sound, talks[name] = _talk(sentences, voice, share, draws, noise)
            (folder / "spoken" / f"{name}.wav").write_bytes(sound)
            typed = "\n\n".join(text for _, text in talks[name])
            (folder / "typed" / f"{name}.txt").write_text(typed)
    length = sum(said[-1][0] for said in talks.values()) / 60
    told: dict[str, Any] = {"minutes": round(length, 1)}
    began, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with _library(folder, "spoken", settings) as library:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - began.ru_utime - began.ru_stime
        told["processor_seconds_a_minute"] = round(processor / length, 2)
        told["seconds_a_minute"] = round((time.monotonic() - clock) / length, 2)
        told["memory_mb"] = used.ru_maxrss // 1024  # the largest child: the process that hears
        told["word_error_rate"] = {
            name: round(word_errors(" ".join(text for _, text in said), _text(library, name)), 3)
            for name, said in talks.items()
        }
        told |= _phrases(library, talks, draws)
        spoken = _recall(library, talks, spoken=True)
    with _library(folder, "typed", settings) as library:
        told["recall_at_5"] = {"spoken": spoken, "typed": _recall(library, talks, spoken=False)}
    return told


@contextmanager
def _library(folder: Path, kind: str, settings: Settings) -> Iterator[Library]:
    backend = open_embedded(folder / f"library-{kind}")
    with Library(backend, embedder_for(settings), settings) as library:
        report = library.add(folder / kind)
        assert not [one for one in report.outcomes if one.error], report.outcomes
        yield library


def _text(library: Library, name: str) -> str:
    found = next(d for d in library.documents.all() if Path(d.uri).stem == name)
    return library.documents.text(found.id)


def _phrases(
    library: Library, talks: dict[str, list[tuple[float, str]]], draws: random.Random
) -> dict[str, Any]:
    """The first words of sentences: how many best hits begin where their own talk says them, and
    how many are a passage that says them at all. The others are found wrongly, not timed so."""
    clean = [said for name, said in talks.items() if name.endswith("clean")]
    known = sorted({text for said in clean for _, text in said})
    chosen = draws.sample(known, min(PHRASES, len(known)))
    near = near_any = right = 0
    where = Filters(where="source:" + ",".join(f"{n}.wav" for n in talks if n.endswith("clean")))
    for text in chosen:
        best, *others = library.search(" ".join(text.split()[:WORDS]), 5, filters=where)
        seconds = _seconds(best, talks, text)
        near += _is_near(best, seconds)
        near_any += any(_is_near(hit, _seconds(hit, talks, text)) for hit in (best, *others))
        first, last = best.found.chunk.place.seconds or (0.0, 0.0)
        right += any(first - 1 <= second <= last for second in seconds)
    return {
        "phrases": len(chosen),
        "within_a_second": round(near / len(chosen), 3),
        "within_a_second_among_five": round(near_any / len(chosen), 3),
        "in_a_passage_that_says_it": round(right / len(chosen), 3),
    }


def _seconds(hit: Result, talks: dict[str, list[tuple[float, str]]], text: str) -> list[float]:
    return [at for at, said in talks[Path(hit.found.document.uri).stem] if said == text]


def _is_near(hit: Result, seconds: list[float]) -> bool:
    return hit.at is not None and any(abs(hit.at - second) <= 1.0 for second in seconds)


def _recall(library: Library, talks: dict[str, list[tuple[float, str]]], *, spoken: bool) -> float:
    """Whether five words of a sentence, in any order, find a passage that says it."""
    draws = random.Random(7)
    known = sorted({text for said in talks.values() for _, text in said})
    found = 0
    for text in known:
        long = [word.strip(",.'") for word in text.split() if len(word) > 4]
        results = library.search(" ".join(draws.sample(long, min(5, len(long)))), 5)
        for one in results:
            place = one.found.chunk.place.seconds or (0.0, 0.0)
            said = talks[Path(one.found.document.uri).stem]
            times = [at for at, sentence in said if sentence == text]
            is_there = any(place[0] - 1 <= at <= place[1] + 1 for at in times)
            if is_there if spoken else text in one.found.chunk.text:
                found += 1
                break
    return round(found / len(known), 3)


def word_errors(said: str, heard: str) -> float:
    """Words that were changed, left out or added, by the words that were said."""
    a, b = _words(said), _words(heard)
    row = np.arange(len(b) + 1)
    other = np.array([hash(word) for word in b])
    for number, word in enumerate(a, 1):
        differs = (other != hash(word)).astype(int)
        best = np.minimum(row[1:] + 1, row[:-1] + differs)
        new = np.empty_like(row)
        new[0] = number
        # Insertions run along the row: the least of what stands before, plus the way from there.
        offsets = np.arange(1, len(b) + 1)
        run = np.minimum.accumulate(np.concatenate(([number], best - offsets)))
        new[1:] = run[1:] + offsets
        row = new
    return float(row[-1]) / max(1, len(a))


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower().replace("'", ""))


def _sentences() -> list[str]:
    """Sentences of the samples that are words alone: how a number is written is another matter."""
    found = []
    for path in sorted(DOCUMENTS.rglob("*.md")):
        for sentence in re.split(r"(?<=[.!?])\s+", path.read_text()):
            plain = " ".join(sentence.split())
            if re.fullmatch(r"[A-Z][a-z', -]{30,160}[.]", plain):
                found.append(plain)
    return list(dict.fromkeys(found))


def _talk(
    sentences: list[str], voice: str, seconds: float, draws: random.Random, noise: float | None
) -> tuple[bytes, list[tuple[float, str]]]:
    """A WAV of about so many seconds, and when each of its sentences begins."""
    parts: list[np.ndarray[Any, np.dtype[np.float64]]] = []
    said: list[tuple[float, str]] = []
    at = 0.0
    for text in _endless(sentences, draws):
        samples = _spoken(text, voice)
        pause = np.zeros(int(RATE * draws.uniform(0.3, 1.2)))
        said.append((at, text))
        parts += [samples, pause]
        at += (len(samples) + len(pause)) / RATE
        if at >= seconds:
            break
    sound = np.concatenate(parts)
    if noise is not None:
        level = float(np.sqrt(np.mean(sound**2))) / 10 ** (noise / 20)
        sound = sound + np.random.default_rng(23).normal(0, level, len(sound))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.clip(sound, -32768, 32767).astype("<i2").tobytes())
    return out.getvalue(), said


def _endless(sentences: list[str], draws: random.Random) -> Iterator[str]:
    while True:
        yield from draws.sample(sentences, len(sentences))


def _spoken(text: str, voice: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    made = subprocess.run(
        ["espeak-ng", "-v", voice, "--stdout", text], capture_output=True, check=True
    ).stdout
    return np.frombuffer(made[44:], dtype="<i2").astype(np.float64)


if __name__ == "__main__":
    main()
