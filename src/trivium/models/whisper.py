"""Hears speech with Whisper, on ctranslate2: words with their times, and the language. Knows
nothing of files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import ModelDamaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Half of the processors, and 4 at most: threads that wait for each other spin. On two that other
# programs kept busy (load 12), two took 20.7 s of processor time for a minute of speech, one 8.6.
MOST_THREADS = 4
_NICE = 5  # documents that are read beside a recording go first
_FIX = (
    "Fetch the model again, or choose another with `audio.model`. If a GPU is why, set"
    " `audio.device` to `cpu`."
)


class Whisper:
    def __init__(self, folder: Path, name: str, language: str = "", device: str = "auto") -> None:
        """`folder`: of a model as faster-whisper has it. Loaded when first used."""
        self.name = f"whisper:{name}" + (f":{language}" if language else "")
        self._folder = folder
        self._language = language
        self._device = device

    def __call__(
        self, samples: NDArray[np.float32], language: str
    ) -> tuple[str, Iterator[tuple[float, float, tuple[tuple[float, str], ...]]]]:
        segments, info = self._model.transcribe(
            samples,
            language=language or self._language or None,
            vad_filter=True,
            word_timestamps=True,
            beam_size=5,
            condition_on_previous_text=False,  # or one loop goes on to the end of the recording
        )
        return info.language, (
            (
                float(segment.start),
                float(segment.end),
                tuple((float(word.start), word.word) for word in segment.words or ()),
            )
            for segment in segments
        )

    @cached_property
    def _model(self) -> Any:
        from faster_whisper import WhisperModel

        with suppress(OSError):
            os.nice(_NICE)
        threads = max(1, min(MOST_THREADS, (os.cpu_count() or 1) // 2))
        device = self._device
        if device == "auto":
            device = "cuda" if has_gpu() else "cpu"
        try:
            return WhisperModel(
                os.fspath(self._folder),
                device=device,
                compute_type="float16" if device == "cuda" else "int8",
                cpu_threads=threads,
                local_files_only=True,
            )
        except MemoryError:
            raise
        except Exception as error:  # a tokenizer that is damaged raises just that
            raise ModelDamaged(
                f"the speech model in {self._folder} can't be loaded ({error}).", fix=_FIX
            ) from error


def has_gpu() -> bool:
    import ctranslate2

    return bool(ctranslate2.get_cuda_device_count())
