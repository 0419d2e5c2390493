"""The document decides how it is split, unless you choose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.chunk.choose import STRATEGIES, AutoChunker
from trivium.chunk.messages import MessagesChunker, RowsChunker
from trivium.chunk.recursive import RecursiveChunker
from trivium.chunk.sections import SectionsChunker
from trivium.core.errors import BadSetting
from trivium.core.types import Element, Extraction, Kind
from trivium.ports import Chunker
from trivium.text.tokens import Cl100kTokens

TOKENS = Cl100kTokens()
CHUNKERS: dict[str, Chunker] = {
    "recursive": RecursiveChunker(TOKENS, 64, 16, 8),
    "sections": SectionsChunker(TOKENS, 100, 3),
    "abstract": SectionsChunker(TOKENS, 100, 3, "abstract"),
    "messages": MessagesChunker(TOKENS, 64, 16, 8),
    "rows": RowsChunker(TOKENS, 64, 16, 8),
}


def auto(strategy: str = "auto") -> AutoChunker:
    return AutoChunker(TOKENS, 64, 16, 8, ceiling=100, most=3, strategy=strategy)


def document(kind: Kind, paragraphs: int = 12) -> Extraction:
    line = "One row | of many words, which is a message and a paragraph as well."
    text = "\n\n".join([line] * paragraphs)
    names = {Kind.TABLE: "row", Kind.MESSAGES: "message"}
    elements = tuple(
        Element(names.get(kind, "paragraph"), start, start + len(line))  # type: ignore[arg-type]
        for start in range(0, len(text), len(line) + 2)
    )
    return Extraction(text, elements, "T", "text/plain", kind=kind)


@pytest.mark.parametrize(
    ("kind", "used"),
    [
        (Kind.TEXT, "recursive"),
        (Kind.PAPER, "sections"),
        (Kind.TABLE, "rows"),
        (Kind.MESSAGES, "messages"),
    ],
)
def test_by_kind(kind: Kind, used: str) -> None:
    extraction = document(kind)
    chunks = auto().chunk(extraction)
    assert chunks == CHUNKERS[used].chunk(extraction)
    assert len(chunks) > 1


def test_every_kind_has_a_way() -> None:
    for kind in Kind:
        assert auto().chunk(document(kind))


@given(st.sampled_from(sorted(CHUNKERS)), st.sampled_from(Kind), st.integers(1, 12))
def test_a_named_strategy_is_used_for_everything(name: str, kind: Kind, paragraphs: int) -> None:
    extraction = document(kind, paragraphs)
    assert auto(name).chunk(extraction) == CHUNKERS[name].chunk(extraction)
    assert auto(name).fingerprint == CHUNKERS[name].fingerprint


def test_the_ceiling_of_chunks_is_said_where_it_applies() -> None:
    paper = document(Kind.PAPER, 40)
    chunks = auto().chunk(paper)
    assert len(chunks) == 3
    assert "only the first 3 of " in auto().note(paper, chunks)
    text = document(Kind.TEXT, 40)
    assert auto().note(text, auto().chunk(text)) == ""


def test_the_fingerprint_of_auto_holds_every_parameter() -> None:
    changed = [
        AutoChunker(TOKENS, 80, 16, 8, ceiling=100, most=3),
        AutoChunker(TOKENS, 64, 8, 8, ceiling=100, most=3),
        AutoChunker(TOKENS, 64, 16, 4, ceiling=100, most=3),
        AutoChunker(TOKENS, 64, 16, 8, ceiling=101, most=3),
        AutoChunker(TOKENS, 64, 16, 8, ceiling=100, most=4),
        *(auto(name) for name in STRATEGIES),
    ]
    assert len({chunker.fingerprint for chunker in changed}) == len(changed)


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(BadSetting, match="auto, grouped, recursive, sections"):
        auto("semantic")
