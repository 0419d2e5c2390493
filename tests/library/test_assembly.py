"""The parts as the settings put them together, with the real model's own tokens."""

from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.types import Element, Extraction, Kind
from trivium.library.assembly import chunker_for, embedder_for
from trivium.models.local import LocalEmbedder

HARD = {
    "english": "The quick brown fox jumps over the lazy dog near the river bank. ",
    "german": "Donaudampfschifffahrtsgesellschaftskapitäne überqueren Überschwemmungsgebiete. ",
    "code": "std::vector<uint32_t> kMakeNumbers_x86(const T&&... args) { return {0x1f, 2}; }\n",
    "japanese": "日本語の文章を検索する。",
    "korean": "한국어 문장을 검색하는 방법을 설명한다. ",
}


@pytest.fixture(scope="module")
def embedder(cache_folder: Path) -> LocalEmbedder:
    return embedder_for(Settings(cache=cache_folder))


@pytest.mark.parametrize("strategy", ["recursive", "sections"])
@pytest.mark.parametrize("name", HARD)
def test_a_chunk_and_its_context_are_within_what_the_model_reads(
    embedder: LocalEmbedder, name: str, strategy: str
) -> None:
    text = HARD[name] * 300
    extraction = Extraction(
        text, (Element("paragraph", 0, len(text)),), "T", "text/plain", kind=Kind.TEXT
    )
    chunker = chunker_for(Settings(), embedder, strategy)
    count = embedder.tokens().count
    chunks = chunker.chunk(extraction)
    sizes = [count(chunk.text) for chunk in chunks]
    assert max(sizes) <= 512 - 80 - 2
    assert max(chunk.tokens for chunk in chunks) > 300, "and no smaller than it must be"


def test_a_model_that_reads_less_makes_smaller_chunks(cache_folder: Path) -> None:
    settings = Settings(cache=cache_folder, embed_max_tokens=128)
    text = HARD["english"] * 50
    chunks = chunker_for(settings, embedder_for(settings)).chunk(
        Extraction(text, (Element("paragraph", 0, len(text)),), "", "text/plain")
    )
    assert max(chunk.tokens for chunk in chunks) <= 128 - 80 - 2
