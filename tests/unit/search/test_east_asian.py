"""Chinese, Japanese and Korean are found by words and by spelling, without a model that knows them.

The passages are articles 1, 3 and 26 of the Universal Declaration of Human Rights in the United
Nations' own translations (articles 1 and 3 of the Korean one as widely printed).
"""

from __future__ import annotations

import pytest
from tests.reference import open_memory

from trivium.core.types import OWNER, Mode
from trivium.search.request import SearchRequest
from trivium.search.run import Searcher
from trivium.testing.samples import TOY, sample

CHINESE = (
    "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "人人有权享有生命、自由和人身安全。",
    "人人都有受教育的权利,教育应当免费,至少在初级和基本阶段应如此。",
)
JAPANESE = (
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "すべて人は、生命、自由及び身体の安全に対する権利を有する。",
    "すべて人は、教育を受ける権利を有する。教育は、少なくとも初等の段階においては、無償でなければならない。",
)
KOREAN = (
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "모든 사람은 생명과 신체의 자유와 안전에 대한 권리를 가진다.",
    "모든 사람은 교육을 받을 권리를 가진다. 교육은 최소한 초등 단계에서는 무상이어야 한다.",
)


def first(mode: Mode, query: str, texts: tuple[str, ...]) -> int | None:
    store = open_memory()
    store.writer.put([sample("a.md", *texts)], TOY.fingerprint)
    found = Searcher(store, TOY).search(SearchRequest((query,), OWNER, mode=mode))
    return texts.index(found[0].found.chunk.text) if found else None


@pytest.mark.parametrize("mode", [Mode.KEYWORD, Mode.FUZZY])
@pytest.mark.parametrize(
    ("query", "texts", "article"),
    [
        ("教育的权利", CHINESE, 2),
        ("人身安全", CHINESE, 1),
        ("理性和良心", CHINESE, 0),
        ("教育を受ける権利", JAPANESE, 2),
        ("身体の安全", JAPANESE, 1),
        ("尊厳と平等", JAPANESE, 0),
        ("교육을 받을 권리", KOREAN, 2),
        ("생명과 안전", KOREAN, 1),
    ],
)
def test_found_by_words_and_by_spelling(
    mode: Mode, query: str, texts: tuple[str, ...], article: int
) -> None:
    assert first(mode, query, texts) == article


@pytest.mark.parametrize(("query", "article"), [("교육", 2), ("생명", 1), ("존엄", 0), ("초등", 2)])
def test_korean_without_its_particles_is_found_by_spelling(query: str, article: int) -> None:
    """생명 is a part of 생명과, which words alone don't find."""
    assert first(Mode.FUZZY, query, KOREAN) == article
