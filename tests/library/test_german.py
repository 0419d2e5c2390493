"""German questions over a German letter, with the real model and no other document."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium import Library

LEASE = """Mietvertrag

§ 2 Miete
Die Kaltmiete beträgt monatlich 780 Euro. Die Vorauszahlung auf die Nebenkosten beträgt 165 Euro.

§ 3 Kaution
Der Mieter leistet eine Kaution von 2.340 Euro in drei gleichen Raten.

§ 4 Kündigung
Die Kündigungsfrist für den Mieter beträgt drei Monate.
"""


@pytest.fixture(scope="module")
def lease(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    place: Path = tmp_path_factory.mktemp("lease")
    (place / "Mietvertrag.txt").write_text(LEASE)
    with Library.open(place / "library") as library:
        library.add([place / "Mietvertrag.txt"])
        yield library


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Wie hoch ist die Kaution?", "2.340 Euro"),
        ("Wie hoch ist die Kaltmiete?", "780 Euro"),
        ("Wie lange beträgt die Kündigungsfrist?", "drei Monate"),
    ],
)
def test_how_much_is_no_word_that_a_german_text_must_have(
    lease: Library, question: str, said: str
) -> None:
    assert said in lease.ask(question).text
    assert lease.ask("Wie hoch ist die Grundsteuer?").kind == "refused"
