"""How many texts a second a device embeds, from text to vectors, and whether its vectors agree with
the processor's.

    python -m bench.embedding --device cuda --texts 200000 --model FOLDER
    python -m bench.embedding --device cpu --texts 500

Needs the packages of the model alone, no library. Texts are made up of words of the model's own
vocabulary, any of them as likely as another, all of the same number of tokens, as in the figures
that GPUs are compared by.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from bench.harness import arguments
from trivium.models.local import LocalEmbedder
from trivium.models.tokenising import WordTokens

AGREEING = 64  # texts that both embed


def main() -> None:
    given = arguments(
        __doc__,
        device=("auto", "auto, cpu or cuda"),
        model=(Path, "folder of a model; default: the built-in one"),
        texts=2000,
        tokens=(256, "of each text"),
        rerank=(False, "token vectors too, as `add` does"),
    )
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        there = LocalEmbedder(given.model, cache, max_tokens=given.tokens, device=given.device)
        here = LocalEmbedder(given.model, cache, max_tokens=given.tokens)
        texts = _texts(there, given.texts, given.tokens)
        embed = there.embed_with_tokens if given.rerank else there.embed_documents
        # Loads it, makes `auto` decide, and starts the processes that tokenise for a GPU.
        embed(texts[: max(300, len(texts) // 10)])
        read = _seconds(lambda: there.load().tokeniser.encode_all(texts))
        whole = _seconds(lambda: embed(texts))
        vectors, exact = (e.embed_documents(texts[:AGREEING]) for e in (there, here))
        queries = np.stack([here.embed_query(text) for text in texts[:AGREEING]])
        print(f"| texts of {given.tokens} tokens | a second |")
        print("|---|---|")
        print(f"| tokenised by one thread | {len(texts) / read:,.0f} |")
        print(f"| from text to vectors, {given.device} | {len(texts) / whole:,.0f} |")
        print(f"\nLeast cosine to the processor: {np.vecdot(vectors, exact).min():.5f}")
        print(f"Least cosine to its query vectors: {np.vecdot(vectors, queries).min():.5f}")


def _texts(embedder: LocalEmbedder, count: int, tokens: int) -> list[str]:
    chance = random.Random(15)
    vocabulary = WordTokens(embedder.tokenizer_file()).tokenizer.get_vocab()
    bare = {word.lstrip("▁Ġ") for word in vocabulary}
    words = sorted(word for word in bare if word.isascii() and word.isalpha())
    return [" ".join(chance.choices(words, k=tokens - 2)) for _ in range(count)]


def _seconds(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


if __name__ == "__main__":
    main()
