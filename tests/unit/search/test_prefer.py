from datetime import date

import pytest

from trivium.core.errors import BadFilter, BadSetting
from trivium.core.types import Chunk, Document, MetaValue, Place, StoredChunk
from trivium.search.match import Candidate
from trivium.search.prefer import Preference, boosts_of, boosts_written, day_of, plain

TODAY = date(2026, 11, 16)


def chunk(
    id_: int,
    collection: str = "default",
    section: str = "",
    headings: tuple[str, ...] = (),
    time: str = "",
    **metadata: MetaValue,
) -> StoredChunk:
    document = Document(
        id_, f"{id_}.md", "", collection, "", "all", "text/markdown", "en", "", 0, 1, "", 1,
        "2026-11-16T08:00:00Z", "2026-11-16T08:00:00Z", metadata,
    )  # fmt: skip
    place = Place(time=time)
    return StoredChunk(
        id_, document, Chunk(0, 0, 4, "text", headings=headings, section=section, place=place)
    )


def scores(preference: Preference, *candidates: Candidate) -> list[tuple[int, float]]:
    return [(c.found.id, c.score) for c in preference.ordered(candidates)]


def test_being_recent_halves_with_every_half_life() -> None:
    preference = Preference(half_life=10, today=TODAY)
    new = Candidate(chunk(1, date="2026-11-16"), 1.0, {})
    older = Candidate(chunk(2, date="2026-11-06"), 1.0, {})
    oldest = Candidate(chunk(3, date="2026-10-27T10:00:00Z"), 1.0, {})
    assert scores(preference, oldest, older, new) == [
        (1, pytest.approx(2.0)),  # 1 + 1
        (2, pytest.approx(1.5)),  # 1 + 1/2
        (3, pytest.approx(1.25)),  # 1 + 1/4
    ]


def test_parts_add_up_whatever_is_preferred() -> None:
    boosts = boosts_of({"collection:rules": 2, "section:methods": 1.5, "year<2000": 0.5})
    preference = Preference(10, boosts, TODAY)
    found = chunk(1, "rules", "methods", year=1999, date="2026-11-06")
    (one,) = preference.ordered([Candidate(found, 0.4, {})])
    assert [(p.name, p.factor, round(p.contribution, 6)) for p in one.preferences] == [
        ("recent (10 days)", 1.5, 0.2),
        ("collection:rules", 2.0, 0.6),
        ("section:methods", 1.5, 0.6),
        ("year<2000", 0.5, -0.9),
    ]
    assert one.score == pytest.approx(0.4 * 1.5 * 2 * 1.5 * 0.5)
    assert 0.4 + sum(p.contribution for p in one.preferences) == pytest.approx(one.score)
    assert plain(one).score == pytest.approx(0.4)


def test_a_section_is_a_kind_or_a_heading() -> None:
    boosts = boosts_of({'section:"Old Harbour"': 3})
    assert boosts[0].holds(chunk(1, headings=("Places", "old harbour")))
    assert not boosts[0].holds(chunk(1, headings=("Places",)))
    assert boosts_of({"section:Methods": 3})[0].holds(chunk(1, section="methods"))


def test_when_a_passage_was_written() -> None:
    assert day_of(chunk(1, time="2024-02-03T10:00", date="2020-01-01")) == date(2024, 2, 3)
    assert day_of(chunk(1, date="2020-05")) == date(2020, 5, 1)
    assert day_of(chunk(1, year=2019)) == date(2019, 7, 1)
    assert day_of(chunk(1, date="yesterday", modified="2021-04-05")) == date(2021, 4, 5)
    assert day_of(chunk(1, date="2020-99-99")) == TODAY  # the day it was added


def test_boosts_as_people_type_them() -> None:
    assert boosts_written(["collection:rules*2", "year>=2020 * 1.5"]) == {
        "collection:rules": 2.0,
        "year>=2020": 1.5,
    }
    for text in ("collection:rules", "collection:rules*much", "*2"):
        with pytest.raises(BadSetting):
            boosts_written([text])


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf"), 1000, True, "2"])
def test_a_weight_is_a_number_above_nothing(weight: float) -> None:
    with pytest.raises(BadSetting):
        boosts_of({"type:pdf": weight})


def test_a_boost_that_is_no_filter() -> None:
    with pytest.raises(BadFilter):
        boosts_of({"pdf": 2})
    with pytest.raises(BadSetting):
        boosts_of({f"year:{year}": 2 for year in range(30)})
