"""What the processes that read files are given: extractors, and a chunker.

Which extractor reads which file: registered ones of other packages first, then ours.

An extractor is registered under the entry point group `trivium.extractors`: as one, a sequence, or
a function that makes either from the settings. Ours are registered the same way. Here and not in
`extract`, which knows nothing of models and chunks. The sandbox imports it in its workers.

Documents are chunked in the process that read them, under its limits of time and memory: large
ones always: the process that asked may be a server, whose other requests would wait. All of
them where the processors don't embed: counting tokens would keep the process that asked from
feeding the GPU.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import cast

from trivium.chunk.choose import AutoChunker
from trivium.core.errors import BadSetting, FileTooLarge, ModelUnavailable
from trivium.core.plugins import loading, registered
from trivium.core.types import Chunked, Extraction
from trivium.extract.detect import BUILT_IN
from trivium.extract.images import ImageExtractor
from trivium.extract.pdf.extractor import PdfExtractor
from trivium.extract.pdf.scans import OcrMode, Recognise
from trivium.extract.pulse import still_working
from trivium.extract.recordings import INSTALL, RecordingExtractor
from trivium.ingest.remote_reading import RemotelyRead
from trivium.models.ocr import Tesseract
from trivium.models.tokenising import LocalTokens, WordTokens
from trivium.models.whisper import Whisper
from trivium.ports import Extractor, Tokens
from trivium.text.nearness import sketch
from trivium.text.summary import ExtractiveSummariser
from trivium.text.tokens import Cl100kTokens, SlicedTokens, StricterTokens

OCR_MODES = ("off", "auto", "force")
FACTORY = "trivium.ingest.extractors:extractors"
CHUNKER = "trivium.ingest.extractors:planned"
GROUP = "trivium.extractors"
OURS = EntryPoint(
    "trivium", "trivium.ingest.extractors:built_in", GROUP
)  # as pyproject.toml has it


def extractors(settings: Mapping[str, str]) -> tuple[Extractor, ...]:
    """Every format; the first that accepts a file reads it, and those of others are asked before
    ours. Loaded on call, in the order of their names."""
    others = [entry for entry in registered(GROUP).values() if entry.value != OURS.value]
    loaded = [_loaded(entry, settings) for entry in (*others, OURS)]
    return tuple(extractor for some in loaded for extractor in some)


def built_in(settings: Mapping[str, str]) -> tuple[Extractor, ...]:
    """`ocr`: off, auto or force; `languages`: tesseract's names, joined by +. Without tesseract
    images and scans are refused, and say why; who asks for all pages, or for a language, and cannot
    have it gets ModelUnavailable. `remote`: the model of a service that reads before us."""
    mode = settings.get("ocr", "auto")
    if mode not in OCR_MODES:
        raise BadSetting(
            f"`read.ocr` can't be {mode!r}.", fix=f"Choose from {', '.join(OCR_MODES)}."
        )
    ocr = cast(OcrMode, mode)
    recognise = None if ocr == "off" else _recognise(ocr, settings.get("languages", ""))
    images = ImageExtractor(recognise, ocr=ocr, vision=settings.get("vision", ""))
    recordings = recordings_by(settings)
    remote = [RemotelyRead(settings["remote"])] if settings.get("remote") else []
    return (*remote, PdfExtractor(recognise, ocr=ocr), images, recordings, *BUILT_IN)


def recordings_by(settings: Mapping[str, str]) -> RecordingExtractor:
    """`audio`: the name of a speech model, `audio_folder`: where it is; nowhere, and recordings
    without subtitles are refused, with what to install."""
    name, folder = settings.get("audio", ""), settings.get("audio_folder", "")
    if settings.get("audio_remote"):
        return RecordingExtractor(remote=settings["audio_remote"])
    if folder and find_spec("faster_whisper") is not None:
        language, device = settings.get("audio_language", ""), settings.get("audio_device", "auto")
        return RecordingExtractor(Whisper(Path(folder), name, language, device))
    return RecordingExtractor(missing=settings.get("audio_missing") or INSTALL)


def _loaded(entry: EntryPoint, settings: Mapping[str, str]) -> Sequence[Extractor]:
    """What an entry point registers."""
    with loading(f"the extractor {entry.name}", entry):
        loaded = entry.load()
        made = loaded if _is_extractor(loaded) or isinstance(loaded, Sequence) else loaded(settings)
        some = [made] if _is_extractor(made) else list(made)
        if not all(_is_extractor(extractor) for extractor in some):
            raise TypeError("it gives no extractor")
    return some


def _is_extractor(candidate: object) -> bool:
    """An object that reads; a class is called to make one."""
    parts: tuple[Callable[..., object] | None, ...] = (
        getattr(candidate, "accepts", None),
        getattr(candidate, "extract", None),
    )
    has_version = isinstance(getattr(candidate, "version", None), str)
    return not isinstance(candidate, type) and has_version and all(map(callable, parts))


def _recognise(ocr: OcrMode, languages: str) -> Recognise | None:
    try:
        return Tesseract(languages, on_wait=still_working)
    except ModelUnavailable:
        if ocr == "force" or languages:
            raise
        return None


_PULSE = 1.0  # seconds between two signs of progress


@dataclass(frozen=True, slots=True)
class ChunkingPlan:
    """How documents are chunked, in a form that can be sent to other processes."""

    size: int
    overlap: int
    minimum: int
    ceiling: int
    most: int
    strategy: str
    limit: int  # chunks of one document
    wanted: int = 0  # the ceiling that was asked for, where the model reads less
    tokenizer: str = ""  # file of the embedding model's, where that runs here
    lower: bool = False  # that one is for small letters

    def chunker(self, tokens: Tokens) -> AutoChunker:
        return AutoChunker(
            SlicedTokens(tokens),
            self.size,
            self.overlap,
            self.minimum,
            ceiling=self.ceiling,
            most=self.most,
            strategy=self.strategy,
            wanted=self.wanted,
        )

    def as_text(self) -> str:
        return json.dumps(asdict(self))


def planned(plan: str) -> PlannedChunker:
    return PlannedChunker(ChunkingPlan(**json.loads(plan)))


class PlannedChunker:
    def __init__(self, plan: ChunkingPlan) -> None:
        tokens: Tokens = Cl100kTokens()
        if plan.tokenizer:
            words = WordTokens(Path(plan.tokenizer), lower=plan.lower)
            tokens = StricterTokens(Cl100kTokens(), lambda: LocalTokens("model", words))
        self._chunker = plan.chunker(_Pulsing(tokens))
        self._limit = plan.limit

    def chunk(self, name: str, extraction: Extraction) -> Chunked:
        chunks = self._chunker.chunk(extraction)
        check_count(name, len(chunks), self._limit)
        return Chunked(
            chunks,
            self._chunker.fingerprint,
            self._chunker.note(extraction, chunks),
            ExtractiveSummariser().summarise(extraction),
            len(extraction.elements),
            sketch(extraction.text),
        )


def check_count(name: str, chunks: int, limit: int) -> None:
    if chunks > limit:
        raise FileTooLarge(
            f"{name} has {chunks:,} passages; the limit is {limit:,}.",
            fix="Split the file, or raise the setting `chunk.limit`.",
        )


class _Pulsing:
    """Counts, and says now and then that it does: 20 MB of prose take longer than a file may
    without a sign."""

    def __init__(self, tokens: Tokens) -> None:
        self.name = tokens.name
        self._tokens = tokens
        self._last_pulse = monotonic()

    def count(self, text: str) -> int:
        if monotonic() - self._last_pulse > _PULSE:
            self._last_pulse = monotonic()
            still_working()
        return self._tokens.count(text)
