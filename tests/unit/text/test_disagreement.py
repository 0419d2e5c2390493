"""Sentences that may disagree, and those that do not."""

from __future__ import annotations

import pytest
from bench.contradictions import measure

from trivium.text.disagreement.claims import claims
from trivium.text.disagreement.compare import are_of_a_series, disagreement, says


def why(one: str, other: str) -> str:
    (first,), (second,) = claims(one, "en"), claims(other, "en")
    return disagreement(first, second)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (
            "The battle axe deals 8 points of damage.",
            "A battle axe deals 10 points of damage.",
            "numbers differ: 8 and 10",
        ),
        (
            "The poison takes six hours to kill a man.",
            "The poison takes 12 hours to kill a man.",
            "numbers differ: six hours and 12 hours",
        ),
        (
            "The council met in the harbour hall in March.",
            "The council met in the harbour hall in June.",
            "dates differ: march and june",
        ),
        (
            "The crown was raised from the harbour by Pell Marrow.",
            "The crown was raised from the harbour by Ines Vale.",
            "names differ: pell marrow and ines vale",
        ),
        (
            "The lighthouse keeper sleeps during the winter storms.",
            "The lighthouse keeper never sleeps during the winter storms.",
            "one says the opposite of the other",
        ),
    ],
)
def test_they_may_disagree(one: str, other: str, told: str) -> None:
    assert why(one, other) == told
    assert why(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The battle axe deals 8 points of damage.", "A battle axe deals eight points of damage."),
        ("The battle axe deals 8 points of damage.", "A ferry ride costs 10 silver coins a head."),
        ("The toll is 1,000 silver coins a year.", "The toll is 1000.0 silver coins a year."),
        (
            "The harbour festival drew crowds like never before this summer.",
            "The harbour festival drew crowds this summer.",
        ),
    ],
)
def test_they_agree_or_speak_of_other_things(one: str, other: str) -> None:
    assert why(one, other) == ""


GROWN = "The dragon breathes fire in a cone of 90 feet."
YOUNG = "The dragon breathes fire in a cone of 30 feet."


@pytest.mark.parametrize(
    ("title", "other", "is_hint"),
    [
        ("Red Dragon", "Red Dragon", True),
        ("Old Red Dragon", "Young Red Dragon", False),  # both titles say dragon
        ("Dragon", "Chronicle of the North", True),  # the sentences name the dragon themselves
        ("Elk (Beast)", "Rhinoceros (Beast)", False),
    ],
)
def test_they_must_speak_of_the_same_thing(title: str, other: str, is_hint: bool) -> None:
    (one,), (two,) = claims(GROWN, "en", title), claims(YOUNG, "en", other)
    assert bool(disagreement(one, two)) is is_hint


def test_a_section_may_be_about_what_a_document_is_about() -> None:
    (one,) = claims(GROWN, "en", "Red Wyrm")
    (two,) = claims(YOUNG, "en", "Handbook of Monsters", "Red Wyrm")
    assert disagreement(one, two)


def test_an_apostrophe_of_another_kind_denies_too() -> None:
    plain = "The lighthouse keeper can't sleep during winter storms."
    assert why(plain, plain.replace("'", "’")) == ""


def test_a_passage_that_says_both_means_two_things() -> None:
    listed = claims("The spell raises 4 ghouls at dusk. The spell raises 5 ghouls at dusk.", "en")
    (one,) = claims("The spell raises 4 ghouls at dusk.", "en")
    assert disagreement(one, listed[1])
    assert says(listed, one)
    assert not says(listed[1:], one)


@pytest.mark.parametrize(
    "line",
    [
        'File "/home/lamp/bell/tower.py", line 78, in ring_the_bell of the harbour',
        "Merge of the harbour branch: https://example.org/bell/commit/2a78 by Pell Marrow",
        "New commits 230894e1920c of the harbour branch by Pell Marrow",
    ],
)
def test_lines_of_programs_state_nothing(line: str) -> None:
    assert claims(line, "en") == []


def test_questions_and_fragments_state_nothing() -> None:
    assert claims("Who raised the drowned crown in the harbour? Yes.", "en") == []


def test_on_200_made_pairs_half_of_them_harmless() -> None:
    precision, recall, wrong = measure()
    assert precision >= 0.98, wrong
    assert recall >= 0.85, wrong


def titled(one: tuple[str, str], other: tuple[str, str], language: str = "en") -> str:
    """Why two notes, each with its title, may disagree."""
    some, others = (claims(text, language, title, title) for title, text in (one, other))
    return next((told for a in some for b in others if (told := disagreement(a, b))), "")


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (
            ("Ostrava Bay", "The mayor is Benedek Szalai, who took office after the flood."),
            ("", "The mayor of Ostrava Bay, Rhona Kjeldsen, opened the session."),
            "names differ: Benedek Szalai and Rhona Kjeldsen",
        ),
        (
            ("", "The Blue Anchor belongs to Mirela Stanescu."),
            ("Pubs", "The Blue Anchor is owned by Patrick Voll."),
            "names differ: Mirela Stanescu and Patrick Voll",
        ),
        (
            ("", "The Roswell tannery was founded in 1887."),
            ("", "The Roswell tannery, established 1894, closed after the war."),
            "dates differ: 1887 and 1894",
        ),
        (
            ("Project Juniper", "The budget is 75,000 dollars."),
            ("", "Juniper's budget was set at 90,000 dollars."),
            "numbers differ: 75,000 dollars and 90,000 dollars",
        ),
        (
            ("Wilma Strand", "Wilma Strand was born on 3 April 1907 in Bergen."),
            ("", "Aunt Wilma Strand, born 1909, never married."),
            "dates differ: 1907 and 1909",
        ),
        (
            ("Grant", "The deadline for the Lindqvist grant is 14 March 2026."),
            ("", "Remember that the Lindqvist grant is due on 21 March 2026."),
            "dates differ: 14 March 2026 and 21 March 2026",
        ),
    ],
)
def test_a_role_of_one_value_needs_no_other_shared_words(
    one: tuple[str, str], other: tuple[str, str], told: str
) -> None:
    assert titled(one, other) == told


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In 2024 the budget of Plover was 30,000 euros.", "In 2025 Plover has 35,000 euros."),
        ("In 1857 the mayor of Hest was Mira Vale.", "In 1884 the mayor of Hest was Tom Brandt."),
        ("Nadia Frost met the mayor of Tull on Monday.", "Sven Arden met the mayor on Friday."),
        ("The Marsh bridge is 120 metres long.", "The Marsh bridge is 9 metres wide."),
        ("Board meeting of Harrow Trust on 4 May 2026.", "Board meeting of Harrow on 1 June 2026."),
        ("On 3 June 12 mm of rain fell in Carrow.", "On 4 June 3 mm of rain fell in Carrow."),
        ("Invoice 811", "Invoice 812"),
        ("Total: 240.00 EUR", "Total: 310.00 EUR"),
        (
            "Tickets to Fort Bray: 12 euros for adults",
            "Tickets to Fort Bray: 6 euros for a child",
        ),
        ("The king of Aldermark is Penda.", "The queen of Aldermark is Hild."),
    ],
)
def test_other_times_people_and_measures_agree(one: str, other: str) -> None:
    assert titled(("", one), ("", other)) == ""


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Ada Quill (1815-1852) wrote programs.", "Ada Quill was born in 1817.", "en"),
        ("Greta Holm 1911-1986", "Greta Holm died in 1983 in Hest.", "en"),
        ("King Penda died in 612 at the ford.", "- 618: death of King Penda", "en"),
        ("Project Falcon needs PostgreSQL 14.", "Project Falcon needs PostgreSQL 16.", "en"),
        ("The rent for flat 3 is 900 euros.", "The rent for flat 3 is 950 euros.", "en"),
        ("The fee of Hest Club is 40 pounds.", "The fee of Hest Club is £45.", "en"),
        ("Tom Brandt, phone 0551 730 2214, is in.", "Tom Brandt: phone 0551 730 2241", "en"),
        ("Hest stores salt.", "Hest never stores salt in the old barn of the fishermen.", "en"),
        ("The Rook club is open on Mondays only.", "The Rook club is open on Tuesdays only.", "en"),
        ("The roof of Hest Mill is swept every year.",
         "The roof of Hest Mill is swept every two years.", "en"),
        ("The Rook club meets weekly.", "The Rook club meets twice a month.", "en"),
        ("Dogs are welcome at the Lido in May.", "Dogs are not allowed at the Lido.", "en"),
        ("The parser Quill needs Python 2.", "The parser Quill needs Python 3.", "en"),
        ("The gate of Varn was burned by Duke Osric.", "Ymma burned the gate of Varn.", "en"),
        ("Grandfather Aloys died in the winter of 1961.", "Aloys Perrin, 1884–1958.", "en"),
        ("The Tarnsee is 9 m deep.", "Depth of the Tarnsee: 14 m", "en"),
        ("Rex weighs 11 kg.", "Name: Rex. Weight: 14 kg.", "en"),
        ("Projekt Leuchtturm wird von Frau Ebert geleitet.",
         "Leitung Projekt Leuchtturm: Herr Krüger", "de"),
        ("Verein Tannbach singt um 19 Uhr.", "Verein Tannbach singt um 20 Uhr.", "de"),
        ("Die Frist für Projekt Sable ist zwei Monate.",
         "Projekt Sable hat eine Frist von drei Monaten.", "de"),
        ("Leiterin des Chors Rosenau ist Hanne Lorenz.",
         "Die Leiterin des Chors Rosenau ist Ilse Brandt.", "de"),
    ],
)  # fmt: skip
def test_values_as_people_write_them_may_differ(one: str, other: str, language: str) -> None:
    assert titled(("", one), ("", other), language)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The review of Falcon is on 2026-03-28.", "The review of Falcon is on March 28."),
        ("The fee of Hest Club is 40 pounds.", "The fee of Hest Club is £40."),
        ("The teacher of Hest is Mr Brandt.", "The teacher of Hest is Tom Brandt."),
        ("The editor of The Bell is T. Brandt.", "The editor of The Bell is Tom Brandt."),
        ("Tom Brandt: phone 0551 730 2214", "Tom Brandt, phone +49 551 7302214, is in."),
        ("Tom Brandt was born in 1948, Ada Brandt in 1952.", "Ada Brandt was born in 1952."),
        ("Present: Tom Brandt, Ada Quill, Ines Vale", "Present: Tom Brandt, Ada Quill, Lena Fisk"),
        ("The rent for flat 3 in Hest is 900 euros.", "The rent for flat 4 in Hest is 700 euros."),
        ("The bus to Hest leaves at 8:15 on weekdays.", "The bus to Hest leaves at 9 on Sundays."),
        ("Dogs may enter the Lido in winter.", "Dogs must not enter the Lido in summer."),
        ("The Lark hall has 80 chairs.", "The Lark hall has 12 tables."),
        ("The Bell cave is 300 m long.", "The Bell cave lies 900 m above the sea."),
        ("Ivo Brandt works 20 hours a week.", "Ivo Brandt worked 25 hours last week."),
        ("The pump of Hest is oiled every month.", "The filter of Hest is changed every year."),
        ("The roof of Hest is swept once a year.", "The roof of Hest is swept annually."),
        ("Sprint 14: Hest closed 31 tickets.", "Sprint 15: Hest closed 19 tickets."),
        (
            "In the year 402 the mayor of Hest was Odo.",
            "In the year 431 the mayor of Hest was Ida.",
        ),
    ],
)
def test_what_is_written_in_two_ways_or_of_two_things_agrees(one: str, other: str) -> None:
    assert titled(("", one), ("", other)) == ""


def test_a_year_in_the_title_is_the_year_of_its_sentences() -> None:
    of = ("The insurance of Hest Club was 361 pounds.", "The insurance of Hest Club is 388 pounds.")
    assert titled(("Budget 2025", of[0]), ("Budget 2026", of[1])) == ""
    assert titled(("Budget", of[0]), ("Costs", of[1]))


def test_a_sentence_is_about_what_the_one_before_names() -> None:
    told = titled(
        ("", "We sailed to Hest. The mayor is Ines Vale."), ("", "Pell Marrow is mayor of Hest.")
    )
    assert told == "names differ: Ines Vale and Pell Marrow"


def test_sentences_that_mean_the_same_but_for_a_value_may_disagree() -> None:
    """The model is asked about the sentences without their values, and only then."""
    (one,) = claims("Applications to the Hollis Trust must be in by 30 April.", "en")
    (two,) = claims("To apply to the Hollis Trust we have time until 15 May.", "en")
    asked: list[tuple[str, str]] = []

    def alike(first: str, second: str, least: float) -> bool:
        asked.append((first, second))
        return least < 0.8

    assert disagreement(one, two, alike) == "dates differ: 30 April and 15 May"
    assert disagreement(one, two) == ""
    assert asked == [
        (
            "Applications to the Hollis Trust must be in by ___.",
            "To apply to the Hollis Trust we have time until ___.",
        )
    ]


TABLE = "house | rent per month\nMill Lane 4 | £840\nMill Lane 6 | £690"


@pytest.mark.parametrize(
    ("table", "sentence", "told"),
    [
        (TABLE, "The rent for Mill Lane 4 is 780 pounds.", "numbers differ: £840 and 780 pounds"),
        (TABLE, "The rent for Mill Lane 4 is 840 pounds.", ""),
        (TABLE, "The rent for Mill Lane 5 is 780 pounds.", ""),
        ("lake | depth in m\nTarnsee | 14", "The Tarnsee is 9 m deep.",
         "numbers differ: 14 m and 9 m"),
        (TABLE, TABLE.replace("840", "780"), ""),  # two price lists
    ],
)  # fmt: skip
def test_a_cell_and_a_sentence_may_differ(table: str, sentence: str, told: str) -> None:
    assert titled(("Rents", table), ("Letter", sentence)) == told


def test_a_table_that_goes_on_has_the_names_of_its_columns() -> None:
    names, _, rows = TABLE.partition("\n")
    assert [one.text for one in claims(rows, "en", header=names)] == [
        "Mill Lane 4, rent per month: £840",
        "Mill Lane 6, rent per month: £690",
    ]


def test_sentences_without_names_may_differ_if_they_say_the_same_but_for_a_value() -> None:
    (one,), (two,) = (
        claims(f"The boiler must be serviced every {n}year.", "en", "Boiler")
        for n in ("", "third ")
    )
    assert disagreement(one, two) == "times differ: every year and every third year"
    (three,) = claims("The stove must be serviced every third year.", "en", "Stove")
    assert disagreement(one, three) == ""


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        (("Minutes of 4 May", ""), ("Minutes of 1 June", ""), True),
        (("Invoice", "Invoice 31 to Gull"), ("Invoice", "Invoice no. 32 to Gull"), True),
        (("Rechnung", "Rechnung Nr. 2024-7"), ("Rechnung", "Rechnung Nr. 2024-8"), True),
        (("Invoice", "Invoice 31"), ("Invoice", "A copy of invoice 31"), False),
        (("Falcon", "Falcon has 3 boats"), ("Falcon", "Falcon has 4 boats"), False),
    ],
)
def test_documents_of_a_series(one: tuple[str, str], other: tuple[str, str], is_one: bool) -> None:
    assert are_of_a_series(one, other) is is_one


def test_in_a_series_only_what_never_changes_may_differ() -> None:
    (one,), (two,) = (claims(f"Tom Brandt has {n} boats.", "en") for n in (3, 4))
    assert disagreement(one, two)
    assert disagreement(one, two, certain=True) == ""
    (one,), (two,) = (claims(f"Tom Brandt was born in 19{n}.", "en") for n in (48, 52))
    assert disagreement(one, two, certain=True)


def test_lines_of_two_forms_are_about_their_titles() -> None:
    one, other = (f"Melee Weapon Attack: +{n} to hit, reach 5 ft., one target." for n in (10, 6))
    assert titled(("Griffon", one), ("Panther", other)) == ""
    assert titled(("Griffon", one), ("Griffon", other))
