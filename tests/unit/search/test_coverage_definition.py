"""The fast way to the share of a query's words against its plain definition."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium import Library
from trivium.core.types import Chunk, Document, Phrase, Query, StoredChunk
from trivium.search.coverage import coverage
from trivium.text.dictionary import in_dictionary
from trivium.text.known import known_text
from trivium.text.normalise import words
from trivium.text.query import parse
from trivium.text.stems import DEFAULT_LANGUAGE, beginning, content_words, stem
from trivium.text.trigrams import trigrams


def rarities(asked: Sequence[str]) -> list[float]:
    return [1.0 + len(word) % 5 for word in asked]


def defined(query: Query, found: StoredChunk, missing: Collection[str]) -> float:
    document, language = found.document, found.document.language
    passage = words(
        "\n".join((known_text(document, labels=False), *found.chunk.headings, found.chunk.text))
    )
    about = words(known_text(document))
    content = set(content_words(query.words, {language, DEFAULT_LANGUAGE}))
    rarity = dict(zip(query.words, rarities(query.words), strict=True))

    def is_in(word: str, read: Sequence[str]) -> bool:
        (stemmed,) = stem([word], language)
        pairs = [a + b for a, b in pairwise(read)]
        one = {word for pair in pairwise(query.words) if "".join(pair) in read for word in pair}
        return not {stemmed, word}.isdisjoint({*stem(read, language), *pairs}) or word in one

    label = 1.0 if all(is_in(word, about) for word in content) else 0.5

    def share(word: str) -> float:
        if is_in(word, passage):
            return 1.0
        if is_in(word, about):
            return label
        real = any(in_dictionary(word, each) for each in {language, DEFAULT_LANGUAGE})
        return (0.5 if real else 1.0) * likeness(word, passage, about) if word in missing else 0.0

    whole = covered = 0.0
    for clause in query.clauses:
        parts = [part.words if isinstance(part, Phrase) else (part.text,) for part in clause]
        parts = [kept for part in parts if (kept := tuple(w for w in part if w in content))]
        weights = [sum(rarity[w] for w in part) for part in parts]
        if parts:
            whole += max(weights)
            covered += max(weights) * max(
                sum(rarity[w] * share(w) for w in part) / weight
                for part, weight in zip(parts, weights, strict=True)
            )
    return covered / whole if whole else 1.0


def likeness(word: str, *texts: Sequence[str]) -> float:
    wanted = set(trigrams(word))
    among = [w for read in texts for w in (*read, *(a + b for a, b in pairwise(read)))]
    alike = [len(wanted & (g := set(trigrams(w)))) / len(wanted | g) for w in among]
    best = max(alike, default=0.0)
    return best**0.5 if best >= 0.4 else 0.0


def passage(text: str, title: str, language: str) -> StoredChunk:
    document = Document(
        1, "u", title, "c", "", "all", "text/plain", language, "h", 1, 1, "f", 1, "", ""
    )
    return StoredChunk(1, document, Chunk(0, 0, len(text), text, ("A heading",)))


_ENDINGS = ("", "s", "ed", "ing", "ies", "y", "ation", "ational", "en", "er", "ung", "ungen", "'s")
_BEGINNINGS = (
    "short", "sword", "shortsword", "crown", "relat", "hop", "hopp", "sk", "dy", "di", "maenn",
    "mann", "haus", "haeus", "Büro", "buero", "straße", "été", "日本語", "a", "x" * 63, "Ж",
)  # fmt: skip
_WORDS = st.builds(str.__add__, st.sampled_from(_BEGINNINGS), st.sampled_from(_ENDINGS))
_ANY = st.text(st.sampled_from("abcdeinorstuy’'-ä ß"), min_size=1, max_size=9)
_TEXTS = st.lists(st.one_of(_WORDS, _WORDS, _ANY), min_size=1, max_size=12)
_BETWEEN = st.sampled_from([" ", " ", ", ", "-", "\n", " – "])


@settings(max_examples=400)
@given(asked=_TEXTS, read=_TEXTS, title=_WORDS, between=_BETWEEN, data=st.data())
def test_values_are_those_of_the_definition(
    asked: list[str], read: list[str], title: str, between: str, data: st.DataObject
) -> None:
    language = data.draw(st.sampled_from(["en", "de", "fr", "ja", ""]))
    query = parse(between.join(asked))
    missing = data.draw(st.lists(st.sampled_from(query.words), max_size=3)) if query.words else []
    chunk = passage(between.join(read), title, language)
    (found,) = coverage(query, [chunk], rarities, missing)
    assert found == pytest.approx(defined(query, chunk, missing), abs=1e-12)


def test_on_the_sample_library(sample_library: Path) -> None:
    queries = ["battleaxe", "Shortsord", "the drowned crown", "crown OR sceptre", "food road"]
    with Library.open(sample_library) as library:
        chunks = [item.found for text in queries for item in library.search(text)]
    for query in map(parse, queries):
        found = coverage(query, chunks, rarities, query.words[:1])
        plain = [defined(query, chunk, query.words[:1]) for chunk in chunks]
        assert found == pytest.approx(plain, abs=1e-12)


@given(_WORDS, st.sampled_from(["en", "de"]))
def test_every_word_begins_like_its_stem(word: str, language: str) -> None:
    for folded in words(word):
        (stemmed,) = stem([folded], language)
        assert folded.startswith(beginning(stemmed, language))
