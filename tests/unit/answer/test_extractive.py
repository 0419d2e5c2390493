from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.answer.making import passage

from trivium.answer.candidates import Picked
from trivium.answer.extractive import Extractor
from trivium.answer.likeness import WordVectors
from trivium.answer.passages import Passage
from trivium.answer.statements import Before
from trivium.answer.structure import sentences
from trivium.answer.support import Words
from trivium.core.errors import ModelUnavailable
from trivium.models.missing import MissingEmbedder
from trivium.ports import Embedder
from trivium.testing.samples import TOY

EVEN = Words(lambda words: [1.0] * len(words))
FOUND = [
    passage(1, "Clouds\n\nClouds form high up. Fog is a cloud that touches the ground.",
            headings=("Clouds",)),
    passage(2, "Ships wait. Fog is a cloud that touches the ground. Fog lifts by noon."),
    passage(3, "Prices rise every spring, and nobody knows the reason."),
]  # fmt: skip
WEAPONS = passage(
    1,
    "Table of weapons\n\n"
    "Name | Cost | Damage | Weight\n"
    "Simple weapons\n"
    "Club | 1 sp | 1d4 | 2 lb.\n"
    "Crossbow, light | 25 gp | 1d8 | 5 lb.\n"
    "Martial weapons\n"
    "Crossbow, heavy | 50 gp | 1d10 | 18 lb.\n"
    "Longsword | 15 gp | 1d8 | 3 lb.",
    title="Weapons",
)
REVENUE = passage(
    2,
    "Revenue by region\n\nAll figures are in million euros.\n\n"
    "Region | 2021 | 2022 | 2023\n"
    "North | 41.2 | 44.8 | 47.5\n"
    "South | 30.6 | 29.9 | 33.1\n"
    "Total | 71.8 | 74.7 | 80.6",
    title="Report 2023",
    headings=("Report 2023", "Revenue by region"),
)
# As in an annual report: parts, their shares, the total; another table with plainer years.
ADOBE = passage(
    5,
    "Revenue by segment (dollars in millions)\n\n"
    "– | Fiscal 2022 | Fiscal 2021 | Fiscal 2020\n"
    "Digital Media | $12,842 | $11,520 | $9,233\n"
    "Percentage of total revenue | 73% | 73% | 72%\n"
    "Digital Experience | 4,422 | 3,867 | 3,125\n"
    "Percentage of total revenue | 25% | 24% | 24%\n"
    "Total revenue | $17,606 | $15,785 | $12,868\n\n"
    "Digital Media revenue grew because of Creative Cloud.\n\n"
    "Cost of revenue\n\n"
    "(in millions) | 2022 | 2021 | 2020\n"
    "Subscription | $1,646 | $1,374 | $1,108\n"
    "Total cost of revenue | $2,165 | $1,865 | $1,722\n"
    "Net income per share | $10.13 | $10.02 | $10.94",
    title="Adobe Inc., annual report for fiscal 2022",
    headings=("Adobe Inc., annual report for fiscal 2022", "Results of operations"),
)
INN = passage(
    3,
    "Item | Cost\nAle\n~ Gallon | 2 sp\n~ Mug | 4 cp\nInn stay\n~ Poor | 1 sp\n~ Wealthy | 2 gp\n"
    "Meat, chunk | 3 sp",
    title="Lodging",
)
SHOES = passage(
    4,
    "What to bring on your first day\n\nyour identity card\nthe signed contract\nsafety shoes",
    headings=("Handbook", "What to bring on your first day"),
    title="Handbook",
)


def pick(
    question: str,
    passages: Sequence[Passage],
    embedder: Embedder = TOY,
    said: Sequence[str] = (),
) -> list[Picked]:
    return Extractor(embedder, EVEN, WordVectors()).pick(question, passages, Before(said))


def texts(question: str, *passages: Passage) -> list[str]:
    return [one.text for one in pick(question, passages)]


def test_the_sentence_that_fits_the_question_once() -> None:
    picked = pick("What is fog: a cloud on the ground?", FOUND)
    assert [(one.text, one.number) for one in picked] == [
        ("Fog is a cloud that touches the ground.", 1)
    ]


def test_without_an_embedding_model_words_decide() -> None:
    missing = MissingEmbedder(ModelUnavailable("none"))
    (one,) = pick("Do prices rise every spring?", FOUND, missing)
    assert one.number == 3


def test_nothing_to_pick_from() -> None:
    assert pick("fog", []) == []
    assert pick("fog", [passage(1, "…")]) == []
    assert pick("how many?", FOUND) == []


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How much does a longsword cost?", "Martial weapons, Longsword, Cost: 15 gp"),
        ("What does a heavy crossbow weigh?", "Martial weapons, Crossbow, heavy, Weight: 18 lb."),
        ("What is the damage of a club?", "Simple weapons, Club, Damage: 1d4"),
        (
            "What was the revenue in the South in 2023?",
            "South, 2023: 33.1 million euros",
        ),
        ("How much is a mug of ale?", "Ale, Mug, Cost: 4 cp"),
        ("What is the cost of a chunk of meat?", "Meat, chunk, Cost: 3 sp"),
    ],
)
def test_a_number_comes_from_the_row_and_the_column_that_the_question_names(
    question: str, told: str
) -> None:
    assert texts(question, WEAPONS, REVENUE, INN) == [told]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "What was Adobe's total revenue in fiscal 2022?",
            "Total revenue, Fiscal 2022: $17,606 million",
        ),
        ("What was Adobe's revenue in 2022?", "Total revenue, Fiscal 2022: $17,606 million"),
        (
            "What was Adobe's total revenue in fiscal 2020?",
            "Total revenue, Fiscal 2020: $12,868 million",
        ),
        (
            "What was Adobe's total cost of revenue in 2021?",
            "Total cost of revenue, 2021: $1,865 million",
        ),
        ("What was Adobe's net income per share in 2020?", "Net income per share, 2020: $10.94"),
        (
            "What was Digital Media's revenue in fiscal 2022?",
            "Digital Media, Fiscal 2022: $12,842 million",
        ),
    ],
)
def test_a_total_is_the_row_that_says_so_and_not_one_of_its_parts(question: str, told: str) -> None:
    (one,) = texts(question, ADOBE, REVENUE)
    assert one.endswith(told)


def test_a_row_or_a_column_that_is_not_there_is_no_answer() -> None:
    for question in (
        "How much does a trebuchet cost?",
        "What was the revenue in the South in 2031?",
        "What was the revenue in Asia in 2023?",
        "What is the colour of a longsword?",
    ):
        assert texts(question, WEAPONS, REVENUE) == [], question


def test_a_table_that_began_in_the_passage_before_has_its_names() -> None:
    later = passage(5, "Torch | 1 cp | 1 lb.\nTent | 2 gp | 20 lb.", title="Gear")
    named = Passage(later.citation, later.text, "en", header="Item | Cost | Weight")
    assert texts("What does a tent weigh?", named) == ["Tent, Weight: 20 lb."]


BOWS = "Bow | Reach | Load | Price\nHunting bow | 30 | 1 | 15\nLongbow | 60 | 2 | 40"
READING = "Load counts twice. Reach is given in paces. Prices are in tallies, of notched bone."


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the price of a longbow?", "Longbow, Price: 40 tallies"),
        ("What is the reach of a longbow?", "Longbow, Reach: 60 paces"),
        ("What is the load of a longbow?", "Longbow, Load: 2"),
    ],
)
def test_a_unit_belongs_to_its_column_also_where_the_table_goes_on(
    question: str, told: str
) -> None:
    whole = passage(1, f"{READING}\n\n{BOWS}", title="Bows")
    assert texts(question, whole) == [told]
    begun = passage(1, f"{READING}\n\n{BOWS.rpartition(chr(10))[0]}", title="Bows")
    rest = passage(2, BOWS.splitlines()[-1], title="Bows")
    later = Passage(replace(rest.citation, document=1), rest.text, "en", BOWS.splitlines()[0])
    assert texts(question, begun, later) == [told]
    assert texts(question, later) == [told.removesuffix(" tallies").removesuffix(" paces")]


def test_the_page_stands_with_a_number_from_a_table() -> None:
    paged = passage(1, "Model | Perplexity\nRNN | 124.7\nLSTM | 126", pages=(6,))
    assert texts("What is the perplexity of the RNN model?", paged) == [
        "RNN, Perplexity: 124.7 (p. 6)"
    ]
    paged = passage(1, paged.text, pages=(6, 7))
    assert texts("What is the perplexity of the RNN model?", paged) == [
        "RNN, Perplexity: 124.7 (pp. 6–7)"
    ]


def test_the_most_and_the_least_leave_sums_out() -> None:
    most = texts("Which region had the highest revenue in 2023?", REVENUE)
    assert most == ["North, 2023: 47.5 million euros, the highest of 2"]
    (least,) = texts("Which region had the lowest revenue in 2021?", REVENUE)
    assert least.startswith("South, 2021: 30.6")


def test_a_list_is_joined_from_its_items() -> None:
    (told,) = texts("What should I bring on my first day?", SHOES)
    assert told == (
        "What to bring on your first day: your identity card; the signed contract; safety shoes"
    )


def test_a_column_is_a_list_too() -> None:
    (told,) = texts("Which regions have revenue?", REVENUE)
    assert told == "Region: North; South"


def test_what_has_none_of_something_is_the_row_without_it() -> None:
    sites = passage(
        1,
        "Site | Town | Lamps\nWorks A | Merrin | 52,000\nWorks B | Amble | 38,900\n"
        "Foundry | Brack | -",
    )
    assert texts("Which site makes no lamps?", sites) == ["Site: Foundry"]
    assert texts("Which sites make no bells?", sites) == []


def test_how_many_and_when_need_a_figure() -> None:
    harbour = passage(1, "The harbour has cranes. The harbour opened in 1948 with twelve cranes.")
    (told,) = texts("How many cranes has the harbour?", harbour)
    assert "twelve" in told
    (told,) = texts("When did the harbour open?", harbour)
    assert "1948" in told
    plain = passage(1, "The harbour has cranes.")
    assert texts("How many cranes has the harbour?", plain) == []
    assert texts("When did the harbour open?", plain) == []


def test_yes_or_no_where_the_sentence_says_it_all() -> None:
    rules = passage(1, "Smoking is not allowed on site. Dogs are allowed in offices.")
    assert texts("Is smoking allowed?", rules) == ["No: Smoking is not allowed on site."]
    assert texts("Are dogs allowed?", rules) == ["Yes: Dogs are allowed in offices."]


def test_two_sources_that_differ_are_both_quoted() -> None:
    other = passage(
        6, "Region | 2022\nNorth | 45.3", title="Report 2022", headings=("Revenue by region",)
    )
    picked = pick("What was the revenue in the North in 2022?", [REVENUE, other])
    assert [(one.number, one.differs) for one in picked] == [(2, False), (6, True)]
    assert "44.8" in picked[0].text
    assert "45.3" in picked[1].text
    same = passage(6, "Region | 2022\nNorth | 44.8", title="B", headings=("Revenue by region",))
    assert len(pick("What was the revenue in the North in 2022?", [REVENUE, same])) == 1


def test_what_was_said_before_is_not_said_again() -> None:
    told = "Beacon was approved in May, with a budget of 2.4 million euros."
    beacon = passage(1, told)
    (one,) = pick("What was Beacon's budget?", [beacon], said=[told])
    assert one.text == "with a budget of 2.4 million euros"
    beds = "Nils goes to bed at 8.15 pm, Ada may read until 9."
    (one,) = pick("When does Ada go to bed?", [passage(1, beds)], said=[beds])
    assert one.text == "Ada may read until 9"
    assert pick("What is fog?", [passage(1, "Fog is low.")], said=["Fog is low."]) == []
    enemy = "Her enemy is the Magpie, patron of thieves, and the Magpie steals."
    new = "In old tales the Magpie steals the sun."
    picked = pick("What does the Magpie steal?", [passage(1, f"{enemy} {new}")], said=[enemy])
    assert [one.text for one in picked] == [new], "no part of what was said beside what is new"


def test_headings_captions_and_broken_sentences_are_no_answers() -> None:
    text = (
        "ends of a market sentence.\n\nMARKET INFORMATION\n\nThe Market of Old\n\n"
        "2.1 Market Stops\n\n"
        "Figure 3: Market stops of the year.\n\nTOTAL OF THE MARKET $821.14\n\n"
        "The market stops at noon.[12][13]: 20 It opens at dawn."
    )
    (one,) = [passage(2, text)]
    later = replace(one, citation=replace(one.citation, index=3))
    assert [each.text for each in sentences(later)] == [
        "TOTAL OF THE MARKET $821.14", "The market stops at noon.", "It opens at dawn.",
    ]  # fmt: skip
    assert sentences(one)[0].text == "ends of a market sentence.", "a document may begin so"


def test_what_a_name_is_called_may_stand_in_the_heading() -> None:
    text = "Beacon is the new lamp. It was approved on 12 May 2022."
    found = pick("When was project Beacon approved?", [passage(1, text, title="Project Beacon")])
    assert [one.text for one in found] == ["It was approved on 12 May 2022."]


def test_yes_and_no_are_in_the_language_of_the_question() -> None:
    rules = passage(
        1, "Rauchen ist auf dem Gelände verboten. Hunde sind im Büro erlaubt.", language="de"
    )
    (told,) = texts("Sind Hunde im Büro erlaubt?", rules)
    assert told == "Ja: Hunde sind im Büro erlaubt."


def test_a_year_is_no_amount_and_a_change_is_no_level() -> None:
    report = passage(
        1,
        "Sales of lamps in 2015 decreased $97 million compared to 2014. The lamps date from 1970.",
    )
    assert texts("What were the sales of lamps in 2015?", report) == []
    assert texts("How many lamps are there?", report) == []


def test_a_sentence_about_another_name_is_no_answer() -> None:
    """The paragraph says Talbot, but the sentence with the figure speaks of the whole museum."""
    text = (
        "The costume department is the largest in the country and has 14,000 costumes and hats. "
        "It grew over a century, mostly by gifts of visitors, shops and other museums nearby, and"
        " was shown in several halls of the old building before the war. "
        * 4
        + "The Talbot collection came as a gift from a store."
    )
    assert texts("How many costumes has the Talbot collection?", passage(1, text)) == []


def test_how_old_needs_years() -> None:
    text = "Kawann Short led the team with 11 sacks."
    assert texts("How old is Kawann Short?", passage(1, text)) == []


def test_a_strong_verb_in_another_form() -> None:
    text = "Vor Manning wurde der Rekord von John Elway gehalten."
    (told,) = texts("Wer hielt den Rekord vor Manning?", passage(1, text, language="de"))
    assert "Elway" in told


def test_a_word_such_as_the_is_no_unit() -> None:
    hedges = passage(
        1,
        "The table shows fair values and the amounts that were recognised in the statements.\n\n"
        "Hedge | 2013 | 2014\nSwaps | 118 | 123\nForwards | 40 | 52",
        title="Hedges",
    )
    (told,) = pick("What was the amount of swaps in 2014?", [hedges])
    assert told.text == "Swaps, 2014: 123"
