import pytest

from trivium.answer.decompose import Join, decompose, joined, measure


@pytest.mark.parametrize(
    ("question", "parts", "join"),
    [
        ("Which weighs more, a pike or a glaive?",
         ("How much does a pike weigh?", "How much does a glaive weigh?"), Join.MORE),
        ("Which is cheaper, a cart or a sled?",
         ("How expensive is a cart?", "How expensive is a sled?"), Join.LESS),
        ("Which has more hit points, a basilisk or a troll?",
         ("How many hit points does a basilisk have?", "How many hit points does a troll have?"),
         Join.MORE),
        ("What is the difference in price between a pony and a warhorse?",
         ("What is the price of a pony?", "What is the price of a warhorse?"), Join.DIFFERENCE),
        ("By how much is Beacon 2 dearer than Beacon 1?",
         ("How expensive is Beacon 2?", "How expensive is Beacon 1?"), Join.DIFFERENCE),
        ("How much more did wages cost in 2023 than in 2022?",
         ("How much did wages cost in 2023?", "How much did wages cost in 2022?"),
         Join.DIFFERENCE),
        ("How much do a longsword and a shield cost together?",
         ("How much does a longsword cost?", "How much does a shield cost?"), Join.SUM),
        ("Who founded Lantern Works and when was it founded?",
         ("Who founded Lantern Works?", "When was Lantern Works founded?"), Join.EACH),
        ("In which town is the site that makes no lamps?",
         ("Which site makes no lamps?", "In which town is {}?"), Join.THEN),
    ],
)  # fmt: skip
def test_a_question_is_taken_apart(question: str, parts: tuple[str, ...], join: Join) -> None:
    plan = decompose(question)
    assert plan is not None
    assert (plan.parts, plan.join) == (parts, join)


def test_one_question_stays_one() -> None:
    for question in ("How much does a longsword cost?", "Who raised the crown?", ""):
        assert decompose(question) is None


def test_what_the_parts_mean_together() -> None:
    more = decompose("Which weighs more, a pike or a glaive?")
    assert more is not None
    assert joined(more, ["18 lb.", "6 lb."]) == "So the answer is a pike: 18 lb. against 6 lb."
    apart = decompose("By how much is Beacon 2 dearer than Beacon 1?")
    assert apart is not None
    assert joined(apart, ["1,140 €", "890 €"]) == "The difference is 250 €."
    together = decompose("How much do a longsword and a shield cost together?")
    assert together is not None
    assert joined(together, ["15 gp", "10 gp"]) == "Together 25 gp."
    assert joined(together, ["15 gp", "10 sp"]) == ""  # units that don't go together
    assert joined(together, ["15 gp", "none"]) == ""


def test_a_figure_with_its_unit() -> None:
    assert str(measure("about 1,320 lb.")) == "1,320 lb."
    assert str(measure("$26.2 billion")) == "26.2 billion"
    assert measure("unlimited") is None


@pytest.mark.parametrize(
    ("question", "values", "conclusion"),
    [
        ("By what percentage did card fees grow from 2006 to 2007?", ("50 million", "60 million"),
         "That is 20.0 % = 60 / 50 - 1."),
        ("By how much did total debt fall between 2015 and 2016?", ("$80", "$65"),
         "The difference is 15 $."),
        ("What was goodwill as a percentage of total assets in 2020?", ("34", "200"),
         "That is 17.0 % = 34 / 200."),
        ("What was the ratio of debt to equity in 2020?", ("30", "20"), "That is 1.50 = 30 / 20."),
    ],
)  # fmt: skip
def test_two_figures_are_computed_and_shown(
    question: str, values: tuple[str, str], conclusion: str
) -> None:
    plan = decompose(question)
    assert plan is not None
    assert joined(plan, values) == conclusion


def test_nothing_is_divided_by_nothing() -> None:
    plan = decompose("What was the ratio of debt to equity in 2020?")
    assert plan is not None
    assert joined(plan, ("30", "0")) == ""
