"""Where a quotation stands in a text, and what was changed in it."""

import pytest

from trivium.answer.quotation import align, quoted_words

TEXT = (
    "Clouds form high up. The efficient fishermen of Port Amble, who had waited since dawn, raised"
    " the crown from the harbour. Nobody thanked them."
)


def found(quote: str, text: str = TEXT) -> tuple[str, float, list[tuple[str, str]]]:
    near = align(*quoted_words(quote), text)
    assert near is not None
    return text[near.start : near.end], near.kept, [(c.quoted, c.source) for c in near.changes]


@pytest.mark.parametrize(
    "quote",
    [
        "the efficient fishermen of Port Amble, who had waited",
        "THE EFFICIENT FISHERMEN — of port amble; who had waited",
        "„the eﬃcient ﬁshermen“ of Port Amble who had waited",
        "the effi-\ncient fisher-\nmen of Port Amble who had waited",
        "the effi\u00adcient fishermen of Port Amble who had waited",
    ],
)
def test_case_punctuation_hyphens_and_ligatures_make_no_difference(quote: str) -> None:
    text, kept, changes = found(quote)
    assert text == "The efficient fishermen of Port Amble, who had waited"
    assert (kept, changes) == (1.0, [])


def test_changed_words_are_named() -> None:
    text, kept, changes = found(
        "The lazy fishermen of Port Amble, who waited since dawn, raised the golden crown from the"
        " harbour"
    )
    assert text.startswith("The efficient")
    assert text.endswith("harbour")
    assert changes == [("lazy", "efficient"), ("", "had"), ("golden", "")]
    assert 0.75 < kept < 0.9


def test_a_figure_is_one_word() -> None:
    _, _, changes = found("rose 8,1 % to 53.44", "Sales rose 1.9 % to 53.44.")
    assert changes == [("8,1", "1.9")]


def test_a_word_that_a_line_break_cut_in_the_source() -> None:
    text, kept, _ = found("raised the golden crown", "They raised the gol-\nden crown at noon.")
    assert (text, kept) == ("raised the gol-\nden crown", 1.0)


def test_scripts_without_spaces() -> None:
    text, kept, changes = found("東京は日本の首都である", "昔々。東京は日本の都である。おわり。")
    assert text.startswith("東京は日本の")
    assert kept > 0.9
    assert changes == [("首", "")]


def test_nothing_in_common() -> None:
    assert align(*quoted_words("entirely different matters here"), "Wolken ziehen.") is None
    assert align([], "", TEXT) is None
