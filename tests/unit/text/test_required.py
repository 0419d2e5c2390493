"""`+word` in the query syntax, and what the keyword plan makes of it."""

from dataclasses import replace

import pytest

from trivium.core.types import Phrase, Term
from trivium.search.analyse import analyse
from trivium.text.keywords import plan_keywords
from trivium.text.query import parse


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ("+crown +harbour", ((Term("crown"),), (Term("harbour"),))),
        ("crown +harbour", ((Term("harbour"),),)),
        ('+"old harbour" crown', ((Phrase(("old", "harbour")),),)),
        ("+crown OR sceptre fog", ((Term("crown"), Term("sceptre")),)),
        ("crown OR +sceptre fog", ((Term("crown"), Term("sceptre")),)),
        ("+state-of -art", ((Term("state"),), (Term("of"),))),
        ("C++ and 1+1", ()),
        ("+ crown ++", ()),
        ("crown -fog", ()),
    ],
)
def test_what_a_query_requires(text: str, required: tuple[object, ...]) -> None:
    query = parse(text)
    assert query.required == required
    assert all(clause in query.clauses for clause in query.required)


def test_the_sign_is_neither_embedded_nor_read_as_a_special_character() -> None:
    query = parse("+crown of +harbour")
    assert query.meaning == "crown of harbour"
    assert analyse(query).boosts == ()


def test_a_required_word_counts_even_if_it_is_a_function_word() -> None:
    plan = plan_keywords(parse("+the crown of thorns"), ["en"])
    assert [(clause.runs, clause.required) for clause in plan.clauses] == [
        ((("the",),), True),
        ((("crown",),), False),
        ((("thorn",),), False),
    ]
    assert plan.required == ((("the",),),)


def test_every_word_requires_all_but_function_words() -> None:
    query = replace(parse("the crown of a OR thorns"), every_word=True)
    plan = plan_keywords(query, ["en"])
    assert [(clause.runs, clause.required) for clause in plan.clauses] == [
        ((("crown",),), True),
        ((("thorn",),), True),
    ]
    assert plan.required == ()  # of the other signals
