"""Recordings: how well tiny.en hears, how exactly a hit plays, what it costs.

    python -m bench.recordings [--minutes 30]

Speech comes from espeak-ng (Debian), two voices, clean and with noise at 20 and 10 dB, from the
sample documents of this repository. Prints word error rate by voice and noise, how many of 200
known phrases begin within a second, recall@5 of questions against the same text typed, processor
seconds for a minute of speech and memory. Synthetic speech: a person's is another matter.
"""

from __future__ import annotations

import argparse
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
from pathlib import Path
from typing import Any

import numpy as np

from trivium.config import Settings
from trivium.core.types import Extraction
from trivium.library import Library
from trivium.library.assembly import embedder_for, recordings_for, sandbox_for
from trivium.ports import Blob
from trivium.store.embedded.backend import open_embedded

DOCUMENTS = Path(__file__).parents[1] / "examples" / "documents"
VOICES = ("en-gb", "en-us+f3")
NOISES = (None, 20.0, 10.0)  # dB between speech and noise
PHRASES = 200
WORDS = 5  # of a phrase
RATE = 22_050  # samples a second of espeak-ng


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("--minutes", type=float, default=30.0)
    minutes = asked.parse_args().minutes
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(minutes, Path(folder)), indent=1))


def measured(minutes: float, folder: Path) -> dict[str, Any]:
    draws = random.Random(23)
    sentences = _sentences()
    draws.shuffle(sentences)
    settings = Settings(cache=folder / "cache")
    told: dict[str, Any] = {"word_error_rate": {}}
    talks: list[tuple[str, list[tuple[float, str]]]] = []
    share = minutes * 60 / (len(VOICES) * len(NOISES))
    spoken_seconds, began = 0.0, resource.getrusage(resource.RUSAGE_CHILDREN)
    clock = time.monotonic()
    (folder / "spoken").mkdir()
    (folder / "typed").mkdir()
    with sandbox_for(settings, 1) as box:
        read = recordings_for(settings, box.read_all, box.read_all)
        for voice in VOICES:
            for noise in NOISES:
                name = f"{voice}-{noise or 'clean'}"
                sound, said = _talk(sentences, voice, share, draws, noise)
                (folder / "spoken" / f"{name}.wav").write_bytes(sound)
                (folder / "typed" / f"{name}.txt").write_text("\n\n".join(t for _, t in said))
                (got,) = read([Blob(f"{name}.wav", sound)])
                assert isinstance(got, Extraction), got
                errors = word_errors(" ".join(t for _, t in said), got.text)
                told["word_error_rate"][name] = round(errors, 3)
                talks.append((name, said))
                spoken_seconds += said[-1][0]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime - began.ru_utime - began.ru_stime
    told["minutes"] = round(spoken_seconds / 60, 1)
    told["processor_seconds_a_minute"] = round(processor / (spoken_seconds / 60), 2)
    told["seconds_a_minute"] = round((time.monotonic() - clock) / (spoken_seconds / 60), 2)
    told["memory_mb"] = used.ru_maxrss // 1024  # the largest child: the process that hears
    told |= _found(talks, settings, folder, draws)
    return told


def _found(
    talks: list[tuple[str, list[tuple[float, str]]]],
    settings: Settings,
    folder: Path,
    draws: random.Random,
) -> dict[str, Any]:
    """Phrases play where they are said; questions find the spoken sentence as the typed one."""
    clean = [talk for talk in talks if "clean" in talk[0]]
    phrases = [
        (name, second, text) for name, said in clean for second, text in said
        if len(text.split()) > WORDS
    ]  # fmt: skip
    phrases = draws.sample(phrases, min(PHRASES, len(phrases)))
    near = heard = 0
    recall = {"spoken": 0, "typed": 0}
    for kind in recall:
        with Library(
            open_embedded(folder / f"library-{kind}"), embedder_for(settings), settings
        ) as library:
            library.add(folder / kind)
            for name, second, text in phrases:
                results = library.search(text, 5)
                hits = [r for r in results if Path(r.found.document.uri).stem == name]
                if kind == "typed":
                    recall[kind] += any(text in r.found.chunk.text for r in hits)
                    continue
                places = [r.found.chunk.place.seconds for r in hits]
                recall[kind] += any(p and p[0] - 1 <= second <= p[1] + 1 for p in places)
                first = next((r.at for r in hits if r.at is not None), None)
                heard += first is not None
                near += first is not None and abs(first - second) <= 1.0
    count = len(phrases)
    return {
        "phrases": count,
        "found": heard,
        "within_a_second": round(near / max(1, count), 3),
        "recall_at_5": {kind: round(value / max(1, count), 3) for kind, value in recall.items()},
    }


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
