import pytest

from trivium.results import SignalPart
from trivium.search.match import match_score
from trivium.text.query import parse
from trivium.types import Document, Metadata, Signal


def document(title: str, metadata: Metadata) -> Document:
    return Document(
        1, "u", title, "c", "", "all", "text/plain", "en", "h", 1, 1, "f", 1, "", "", metadata
    )


@pytest.mark.parametrize(
    ("query", "title", "metadata", "score"),
    [
        ("anything", "Lore", {}, 0.50),
        ("drowned crown", "The Crown", {}, 0.65),
        ("drowned crown", "The Drowned Crown", {}, 0.95),
        ("smith 2023", "Other", {"year": 2023, "authors": ("Jo Smith",)}, 0.75),
        ("drowned crown 2023 smith", "Drowned crown 2023 smith", {"year": 2023}, 1.0),
    ],
)
def test_words_only(query: str, title: str, metadata: Metadata, score: float) -> None:
    parts = {Signal.KEYWORD: SignalPart(1, 9.0, 0.3, 0.03)}
    assert match_score(parse(query), document(title, metadata), parts) == pytest.approx(score)


def test_similarity_where_there_is_one() -> None:
    parts = {Signal.VECTOR: SignalPart(1, 0.62, 0.5, 0.05)}
    assert match_score(parse("x"), document("x", {}), parts) == 0.62
    parts = {Signal.VECTOR: SignalPart(1, -0.2, 0.5, 0.05)}
    assert match_score(parse("x"), document("x", {}), parts) == 0.0
