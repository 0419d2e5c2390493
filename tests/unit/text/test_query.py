import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.types import Phrase, Term
from trivium.text.query import MOST_WORDS, parse


@pytest.mark.parametrize(
    ("text", "clauses", "excluded"),
    [
        ("drowned crown", ((Term("drowned"),), (Term("crown"),)), ()),
        ('"drowned crown" fog', ((Phrase(("drowned", "crown")),), (Term("fog"),)), ()),
        ("a OR b c", ((Term("a"), Term("b")), (Term("c"),)), ()),
        ('a OR "b c" OR d', ((Term("a"), Phrase(("b", "c")), Term("d")),), ()),
        ("a or b", ((Term("a"),), (Term("or"),), (Term("b"),)), ()),
        ("crown -fog", ((Term("crown"),),), (Term("fog"),)),
        ('crown -"old fog"', ((Term("crown"),),), (Phrase(("old", "fog")),)),
        ("state-of-the-art", ((Term("state"),), (Term("of"),), (Term("the"),), (Term("art"),)), ()),
        ('"crown', ((Term("crown"),),), ()),
        ('one "', ((Term("one"),),), ()),
        ("“drowned crown”", ((Phrase(("drowned", "crown")),),), ()),
        ('"crown"', ((Term("crown"),),), ()),
        ("OR crown OR", ((Term("crown"),),), ()),
        ("- -- crown", ((Term("crown"),),), ()),
        ("-crown", (), (Term("crown"),)),
        ("", (), ()),
        ('"" ? !', (), ()),
        ("below -20 degrees", ((Term("below"),), (Term("20"),), (Term("degrees"),)), ()),
        ("crown -2020", ((Term("crown"),),), (Term("2020"),)),
        ("crown -3d", ((Term("crown"),),), (Term("3d"),)),
    ],
)
def test_parse(text: str, clauses: tuple[object, ...], excluded: tuple[object, ...]) -> None:
    query = parse(text)
    assert (query.clauses, query.excluded) == (clauses, excluded)


@given(st.text(alphabet=st.sampled_from('ab "-OR\t“”\x00é')) | st.text())
def test_any_text_can_be_parsed(text: str) -> None:
    query = parse(text)
    assert len(query.words) <= 2 * MOST_WORDS
    assert all(clause for clause in query.clauses)


def test_a_sign_before_a_number_is_no_syntax_unless_it_may_be_a_year() -> None:
    asked = parse("Swords +1 and nucleosomes +1.5")
    assert (asked.required, asked.excluded, asked.meaning) == ((), (), asked.text)
    assert parse("smith +2023").required == ((Term("2023"),),)


def test_long_queries_are_cut() -> None:
    assert len(parse(" ".join(f"w{n}" for n in range(1000))).words) == MOST_WORDS


def test_what_is_embedded_leaves_out_what_is_excluded() -> None:
    assert parse("Where is the crown?").meaning == "Where is the crown?"
    assert parse("crown -fog").meaning == "crown"
