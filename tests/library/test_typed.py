"""Days, amounts and numbers of orders are found however people type them, in a folder and in
PostgreSQL alike; another day, amount or order isn't a good match."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import postgres

from trivium.config import Settings
from trivium.library import Library
from trivium.store.opening import BackendOptions, open_backend
from trivium.testing.samples import TOY

MAIL = "From: {sender}\nTo: {to}\nSubject: {subject}\nDate: {date}\n\n{body}\n"
INVOICE = "Invoice {number}\nDate: {date}\n\n{what}\n\nTotal due: {total}\nAccount 4471 2290.\n"
TEXTS = {
    "rims.eml": MAIL.format(
        sender="Tamsin Okafor <tamsin@okafor-bikes.example>",
        to="workshop@lindenrad.example",
        subject="Wheel order",
        date="Tue, 07 Jul 2026 09:12:00 +0200",
        body="The twelve rims arrived. Two are bent.",
    ),
    "van.eml": MAIL.format(
        sender="Lukas Reinholt <lukas@lindenrad.example>",
        to="tamsin@okafor-bikes.example",
        subject="Re: Wheel order",
        date="Sat, 18 Jul 2026 11:00:00 +0200",
        body="Replacements left with the 7 o'clock van. Seven rims, 7 boxes.",
    ),
    "bilbao.eml": MAIL.format(
        sender="Marisol Quintero <marisol@puertoseco.example>",
        to="lukas@lindenrad.example",
        subject="Shipping to Bilbao",
        date="Fri, 11 Sep 2026 17:30:00 +0200",
        body="The container leaves on Monday. Booking reference PS-77120-B.",
    ),
    "gijon.eml": MAIL.format(
        sender="Marisol Quintero <marisol@puertoseco.example>",
        to="lukas@lindenrad.example",
        subject="Shipping to Gijón",
        date="Mon, 14 Sep 2026 10:05:00 +0200",
        body="A smaller container. Booking reference PS-77121-B.",
    ),
    "BL-20417.txt": INVOICE.format(
        number="BL-20417", date="3 July 2026", what="12 rims", total="£3,918.00"
    ),
    "BL-20421.txt": INVOICE.format(
        number="BL-20421", date="17 July 2026", what="7 saddles", total="£742.90"
    ),
    "BL-20425.txt": INVOICE.format(
        number="BL-20425", date="1 August 2026", what="1 tandem", total="£13,918.00"
    ),
    "speichen.md": "# Rechnung\n\nDatum: 7.8.2026\n\n250 Speichen, Betrag 2.475,00 EUR.\n",
    "nabe.md": "# Rechnung\n\nDatum: 8.7.2026\n\nReparatur einer Nabe, Betrag 89,90 EUR.\n",
    "stocktake.csv": "part,count,counted on\nrims,118,2026-07-31\nspokes,12500,2026-07-31\n",
    "insurance.md": "# Insurance\n\nPolicy 88-441-907. Renewal on July 21, 2026. 750 euros.\n",
    "keys.md": "# Keys\n\nFrau Emmerich (phone 0171 5550143). Safe changed on 2026-06-30.\n",
}
FOUND = [
    *((typed, "rims.eml") for typed in ("7 July 2026", "July 7, 2026", "2026-07-07", "7.7.2026")),
    *((typed, "rims.eml") for typed in ("07/07/2026", "7. Juli 2026", "rims 7 July 2026")),
    ("18 July 2026", "van.eml"),
    ("17 July 2026", "BL-20421.txt"),
    ("7 August 2026", "speichen.md"),
    ("8.7.2026", "nabe.md"),
    ("21 July 2026", "insurance.md"),
    ("30.6.2026", "keys.md"),
    ("31 July 2026", "stocktake.csv"),
    *((typed, "BL-20417.txt") for typed in ("3918", "3,918", "3918.00", "£3,918", "3'918")),
    ("13918", "BL-20425.txt"),
    ("742.90", "BL-20421.txt"),
    ("2475 EUR", "speichen.md"),
    ("12,500 spokes", "stocktake.csv"),
    ("BL20421", "BL-20421.txt"),
    ("invoice BL-20417", "BL-20417.txt"),
    ("PS-77121-B", "gijon.eml"),
    ("PS-77120", "bilbao.eml"),
    ("88-441-907", "insurance.md"),
    ("0171 5550143", "keys.md"),
]


@pytest.fixture(scope="module", params=["folder", "postgres"])
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    files = tmp_path_factory.mktemp("files")
    for name, body in TEXTS.items():
        (files / name).write_text(body)
    if request.param == "folder":
        place = tmp_path_factory.mktemp("typed") / "library"
        with Library(open_backend(place, BackendOptions()), TOY, Settings()) as opened:
            opened.add(files)
            yield opened
    else:
        with (
            postgres.library() as address,
            Library(open_backend(address, BackendOptions()), TOY, Settings()) as opened,
        ):
            opened.add(files)
            yield opened


@pytest.mark.parametrize(("query", "file"), FOUND)
def test_the_very_day_amount_or_order_comes_first(library: Library, query: str, file: str) -> None:
    first = library.search(query)[0]
    assert Path(first.found.document.uri).name == file
    assert first.match >= 0.7, first.why


@pytest.mark.parametrize("query", ["invoice BL-20419", "booking PS-77122-B", "policy 88-441-908"])
def test_another_order_is_no_good_match(library: Library, query: str) -> None:
    results = library.search(query)
    assert all(result.match < results.floor for result in results)
    assert results[0].why == f"It doesn't have {query.rsplit(maxsplit=1)[-1]}."
