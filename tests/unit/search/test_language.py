"""When a search says that the model knows little of a language."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reference import open_memory

from trivium.core.types import OWNER, Signal, StoredChunk
from trivium.models.catalogue import languages_of
from trivium.search.language import weak_language
from trivium.testing.samples import TOY, sample

ENGLISH = frozenset({"en"})
LEANING = {Signal.VECTOR: 0.2, Signal.KEYWORD: 0.5, Signal.TRIGRAM: 0.3}
MEANING = {Signal.VECTOR: 1.0}


def passages(*languages: str) -> list[StoredChunk]:
    store = open_memory()
    store.writer.put([sample("a.md", *map(str, range(len(languages))))], TOY.fingerprint)
    found = store.documents.chunks(list(range(1, len(languages) + 1)), OWNER)
    return [
        replace(one, document=replace(one.document, language=language))
        for one, language in zip(found, languages, strict=True)
    ]


def test_german_results_of_an_english_model_are_said_in_one_line() -> None:
    told = weak_language(passages("de", "de", "en"), ENGLISH, LEANING)
    assert told == "The model knows little German: ranked mostly by words and spelling."
    told = weak_language(passages("ko"), ENGLISH, MEANING)
    assert told == "The model knows little Korean: results by meaning may be wrong."


@pytest.mark.parametrize(
    ("languages", "known", "weights"),
    [
        (("en", "en", "de"), ENGLISH, LEANING),
        (("de", "en"), ENGLISH, LEANING),
        (("", ""), ENGLISH, LEANING),
        (("de",), frozenset(), LEANING),
        (("de",), ENGLISH, {Signal.KEYWORD: 1.0}),
        ((), ENGLISH, LEANING),
    ],
)
def test_otherwise_nothing_is_said(
    languages: tuple[str, ...], known: frozenset[str], weights: dict[Signal, float]
) -> None:
    assert weak_language(passages(*languages), known, weights) == ""


def test_which_models_know_english_only() -> None:
    assert languages_of("all-MiniLM-L6-v2-c96f8b89efa4-v1-512") == ENGLISH
    assert languages_of("bge-small-0123456789ab-v1-512") == ENGLISH
    assert languages_of("multilingual-e5-small-0123456789ab-v1-512") == frozenset()
    assert languages_of("text-embedding-3-small") == frozenset()
