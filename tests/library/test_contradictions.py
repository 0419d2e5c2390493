"""Contradictions with a language model: what it rejects is left out, what fails stays a hint."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.endpoint import Reply
from tests.library.chat import Chat, asked

from trivium.core.types import Where
from trivium.extract.bibliography import CSL
from trivium.library import Library
from trivium.testing.samples import sample

AXE = sample("axe.md", "The battle axe of the guard deals 8 points of damage.", title="Axe")
MORE = sample("more.md", "The battle axe of the guard deals 10 points of damage.", title="Axes")
SECRET = sample(
    "secret.md",
    "The battle axe of the guard deals 12 points of damage.",
    title="Secret",
    audience="dm-only",
)


def said(text: str) -> Reply:
    return Reply({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})


@pytest.mark.parametrize(
    ("reply", "expected"),
    [(said("Yes."), [True]), (said("No, they agree."), []), (Reply({}, 400), [False])],
)
def test_a_language_model_judges(tmp_path: Path, reply: Reply, expected: list[bool]) -> None:
    chat = Chat()
    chat.answer = reply
    with asked(tmp_path, chat, [AXE, MORE]) as library:
        assert [one.judged for one in library.contradictions.find()] == expected


def test_nobody_learns_of_what_they_may_not_see(tmp_path: Path) -> None:
    chat = Chat()
    chat.answer = said("Yes.")
    with asked(tmp_path, chat, [AXE, SECRET]) as library:
        assert library.contradictions.find(Where(frozenset())) == []
        assert len(library.contradictions.find()) == 1


def test_entries_of_a_bibliography_are_not_compared(tmp_path: Path) -> None:
    entries = [
        replace(one, extraction=replace(one.extraction, media_type=CSL)) for one in (AXE, MORE)
    ]
    with asked(tmp_path, Chat(), entries) as library:
        assert library.contradictions.find() == []


NOTES = [
    ("ada.md", "Ada Quill", "She was a weaver's child. Ada Quill was born in 1815 in Hest."),
    ("people.md", "People of the valley", "Tom Brandt mends nets. Ada Quill, born in 1817, sings."),
    ("hest.md", "Hest", "The mayor of Hest is Ines Vale. The town smells of herring."),
    ("news.md", "News", "A storm broke the mast. Pell Marrow is the mayor of Hest."),
    ("falcon.md", "Falcon", "We build a gate. Project Falcon has a budget of 40,000 euros."),
    ("money.md", "Money", "The budget of project Falcon is 55,000 euros. Heron has none."),
]


def test_two_notes_give_one_person_two_birth_years(library: Library, files: Path) -> None:
    """And one town two mayors, one project two budgets; a name is enough to compare two notes."""
    for name, title, text in NOTES:
        (files / name).write_text(f"# {title}\n\n{text}")
    # What no name is: a sign of a formula, a page in capitals.
    (files / "paper.md").write_text("# Decoding\n\nIt runs in O(n × |C|), less than O(n 2 ).")
    capitals = "HARBOUR WALL " * 1000
    (files / "loud.md").write_text(f"# Loud\n\nIn 1815 the {capitals} of 1817 fell.")
    library.add([files])
    assert {one.why for one in library.contradictions.find()} == {
        "dates differ: 1815 and 1817",
        "names differ: Ines Vale and Pell Marrow",
        "numbers differ: 40,000 euros and 55,000 euros",
    }


def test_the_same_in_other_words_and_numbers_of_a_series(tmp_path: Path, files: Path) -> None:
    """The model sees that two sentences say one thing of another day; minutes of two months are
    of their own time. An answer says that its sources differ, or don't, as the list does."""
    for name, text in (
        ("plan.md", "# Plan\n\nThe ferry terminal of Ness is opened on 9 November."),
        ("mail.md", "# Delay\n\nThey want to open the ferry terminal of Ness on 23 November."),
        ("jan.md", "# Meeting of 14 January 2026\n\nThe purse of Ness holds 2,310 pounds."),
        ("feb.md", "# Meeting of 11 February 2026\n\nThe purse of Ness holds 2,185 pounds."),
    ):
        (files / name).write_text(text)
    with Library.open(tmp_path / "library") as library:
        library.add([files])
        (pair,) = library.contradictions.find()
        assert {*pair.why.split(": ")[1].split(" and ")} == {"9 November", "23 November"}
        answer = library.ask("When is the ferry terminal of Ness opened?").text
    assert answer.startswith("Sources differ")
    assert "9 November" in answer
    assert "23 November" in answer


def test_fields_of_a_form_are_about_their_own_document(library: Library, files: Path) -> None:
    """Every monster has skills of its own, but nobody is born twice."""
    for number, name in enumerate(["Ettin", "Gnoll", "Harpy", "Kraken", "Lamia"]):
        sheet = f"Skills Perception +{number + 2}, Stealth +4"
        (files / f"{name}.md").write_text(f"# {name}\n\n{sheet}")
    for name, title, text in NOTES[:2]:
        (files / name).write_text(f"# {title}\n\n{text}")
    library.add([files])
    assert [one.why for one in library.contradictions.find()] == ["dates differ: 1815 and 1817"]


def test_lines_of_a_chat_are_no_fields(library: Library, files: Path) -> None:
    for number in range(4):
        note = f"the budget of project Falcon is {number + 4}0,000 euros"
        (files / f"note {number}.md").write_text(f"# {'abcd'[number] * 5}\n\n{note}")
    library.add([files])
    assert len(library.contradictions.find()) == 6


FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour news</title>
<item><title>Fish</title><description>Cod at Ness costs 8 pounds a kilo.</description></item>
<item><title>Fish</title><description>Cod at Ness costs 11 pounds a kilo.</description></item>
</channel></rss>"""


def test_entries_of_one_feed_are_stories_of_their_own(library: Library, files: Path) -> None:
    """But a note that says otherwise counts."""
    (files / "news.xml").write_text(FEED)
    library.add([files])
    assert library.contradictions.find() == []
    (files / "mayor.md").write_text("# Ness\n\nThe mayor of Ness is Ines Vale.")
    told = "<item><description>The mayor of Ness, Pell Marrow, sings.</description></item>"
    (files / "news.xml").write_text(FEED.replace("</channel>", f"{told}</channel>"))
    library.add([files])
    assert [one.why for one in library.contradictions.find()] == [
        "names differ: Pell Marrow and Ines Vale"
    ]


def test_the_language_model_looks_for_pairs_too(tmp_path: Path) -> None:
    """It sees what no rule sees; a sentence that isn't there doesn't count."""
    salt = sample("salt.md", "The sea around the island is sweet water.", title="Salt")
    fish = sample("fish.md", "Only salt-water fish live around the island.", title="Fish")
    first, second = salt.extraction.text, fish.extraction.text
    for said_first, expected in ((first, [True]), ("The sea is red.", [])):
        chat = Chat()
        chat.answer = said(f"FIRST: {said_first}\nSECOND: {second}")
        with asked(tmp_path / said_first[:12], chat, [salt, fish]) as library:
            assert [one.judged for one in library.contradictions.find()] == expected
