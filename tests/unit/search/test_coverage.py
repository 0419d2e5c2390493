"""How much of a query a passage says in the query's own words, computed by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from trivium.core.types import Chunk, Document, Metadata, StoredChunk
from trivium.search.coverage import coverage, of_others
from trivium.text.query import parse

RARE = {"harbour": 3.0, "crown": 1.0, "drowned": 2.0, "shortsord": 4.0}


def rarities(words: Sequence[str]) -> list[float]:
    return [RARE.get(word, 1.0) for word in words]


def passage(text: str, title: str = "Lore", language: str = "en") -> StoredChunk:
    document = Document(
        1, "u", title, "c", "", "all", "text/plain", language, "h", 1, 1, "f", 1, "", ""
    )
    return StoredChunk(1, document, Chunk(0, 0, len(text), text))


@pytest.mark.parametrize(
    ("query", "text", "title", "share"),
    [
        ("drowned crown", "a crown of reeds", "Lore", 1 / 3),
        ("drowned crown", "a crown of reeds", "What drowned", 1.0),
        ("the crown of the harbour", "crowns", "Lore", 1 / 4),  # function words don't count
        ("harbours", "the harbour", "Lore", 1.0),
        ("crown OR harbour", "a crown", "Lore", 1.0),  # one alternative is enough
        ('"drowned crown" harbour', "the crown drowned", "Lore", 3 / 6),
        ("crown -harbour", "a crown", "Lore", 1.0),
        ("battle axe", "a battleaxe", "Lore", 1.0),
        ("battleaxe", "a battle axe", "Lore", 1.0),
        ("zymurgy", "a crown", "Lore", 0.0),
    ],
)
def test_by_rarity(query: str, text: str, title: str, share: float) -> None:
    (found,) = coverage(parse(query), [passage(text, title)], rarities)
    assert found == pytest.approx(share)


@pytest.mark.parametrize(
    ("metadata", "share"),
    [
        ({"authors": ("Jo Smith", "Ann Lee"), "year": 2023}, 1.0),
        ({"authors": "Smith, Jo"}, 2 / 3),
        ({"year": 2023}, 2 / 3),
        ({"pages": 9}, 1 / 3),
    ],
)
def test_authors_and_year_count_as_words(metadata: Metadata, share: float) -> None:
    found = passage("a crown of reeds")
    written = replace(found, document=replace(found.document, metadata=metadata))
    assert coverage(parse("Smith 2023 crown"), [written], rarities) == [pytest.approx(share)]


def test_a_word_that_no_document_holds_counts_by_its_spelling() -> None:
    query, chunk = parse("Shortsord"), passage("a short sword of bronze")
    assert coverage(query, [chunk], rarities) == [0.0]
    # 8 of the 13 trigrams of shortsord and shortsword are the same.
    (found,) = coverage(query, [chunk], rarities, ["shortsord"])
    assert found == pytest.approx((8 / 13) ** 0.5)
    assert coverage(query, [passage("a frame")], rarities, ["shortsord"]) == [0.0]


@pytest.mark.parametrize(
    ("query", "text", "title", "is_of_others"),
    [
        ("tax return 2022", "Handed in on 28 May 2024.", "Tax return 2023", True),
        ("tax return 2023", "Handed in on 28 May 2024.", "Tax return 2023", False),
        ("tax return 2022", "Handed in late.", "Tax return", False),  # it may be the one
        ("tax return 2022", "Refund of 2023.50 euros.", "Tax return", False),
        ("summer tyres", "Winter tyres are stored in rack 88.", "Car", True),
        ("summer tyres", "Winter and summer tyres are in rack 88.", "Car", False),
        ("bus on Sundays", "The bus leaves at 8 on weekdays.", "Bus", True),
        ("bus on Mondays", "The bus leaves at 8 on weekdays.", "Bus", False),
        ("tyres", "Winter tyres are stored in rack 88.", "Car", False),
    ],
)
def test_another_year_or_season(query: str, text: str, title: str, is_of_others: bool) -> None:
    found = passage(text, title)
    assert (found.id in of_others(parse(query), [found])) is is_of_others
