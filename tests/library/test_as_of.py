"""Searching the library as it was."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.errors import BadFilter, BadSetting
from trivium.core.results import Results
from trivium.library import Library, asof, where
from trivium.library.asof import instant
from trivium.operations.searching import Filters, SearchOptions
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import OTHER, TOY, embed_beside


@pytest.fixture
def past(library: Library, files: Path) -> Library:
    """a.md in three interpretations, b.md in one."""
    (files / "b.md").write_text("The lamp of fog.")
    for light, year in (("lantern", 2001), ("candle", 2002), ("torch", 2003)):
        (files / "a.md").write_text(f"---\nyear: {year}\n---\n\n# Light\n\nA {light} lamp burns.")
        library.add(files)
    return library


def texts(results: Results) -> list[str]:
    return sorted(result.found.chunk.text.splitlines()[-1] for result in results)


def test_by_number(past: Library) -> None:
    fog = "The lamp of fog."
    for number, light in ((1, "lantern"), (2, "candle"), (3, "torch"), (9, "torch")):
        found = past.search("lamp", options=SearchOptions(as_of=number))
        assert texts(found) == [f"A {light} lamp burns.", fog]
        assert {r.found.document.id for r in found} == {1, 2}
        for mode in ("semantic", "keyword", "fuzzy"):
            found = past.search(f"{light} lamp", options=SearchOptions(mode=mode, as_of=number))
            assert f"A {light} lamp burns." in texts(found)
    assert texts(past.search("lamp")) == ["A torch lamp burns.", fog]
    (one,) = past.search("lamp", options=SearchOptions(as_of=2), filters=Filters(source="a.md"))
    assert one.found.document.interpretation == 2
    assert one.found.document.metadata["year"] == 2002
    (shown,) = past.show("a.md", interpretation=2).passages
    assert (one.found.id, one.found.chunk) == (shown.id, shown.chunk)


def test_by_time(past: Library) -> None:
    first, second, third = past.history.of("a.md")
    for one, light in ((first, "lantern"), (second, "candle"), (third, "torch")):
        assert (
            light
            in texts(
                past.search(
                    "lamp",
                    options=SearchOptions(as_of=one.created_at),
                    filters=Filters(source="a.md"),
                )
            )[0]
        )
    assert "torch" in texts(past.search("lamp", options=SearchOptions(as_of=datetime.now(UTC))))[0]
    assert "torch" in texts(past.search("lamp", options=SearchOptions(as_of=date.today())))[0]
    assert not past.search("lamp", options=SearchOptions(as_of="2001-01-01"))


def test_filters_look_at_what_was_then(past: Library) -> None:
    assert (
        len(past.search("lamp", options=SearchOptions(as_of=1), filters=Filters(where="year:2001")))
        == 1
    )
    assert not past.search(
        "lamp", options=SearchOptions(as_of=2), filters=Filters(where="year:2001")
    )
    with pytest.raises(BadFilter):
        past.search("lamp", options=SearchOptions(as_of=1), filters=Filters(where="yaer:2001"))


def test_audiences_are_todays(past: Library, files: Path) -> None:
    assert (
        len(
            past.search(
                "lamp", options=SearchOptions(as_of=1), filters=Filters(audiences=["player"])
            )
        )
        == 2
    )
    past.add(files / "a.md", audience="dm-only")
    assert texts(
        past.search("lamp", options=SearchOptions(as_of=1), filters=Filters(audiences=["player"]))
    ) == ["The lamp of fog."]
    assert (
        len(
            past.search(
                "lamp", options=SearchOptions(as_of=1), filters=Filters(audiences=["dm-only"])
            )
        )
        == 2
    )


def test_what_a_caller_could_not_see_then_is_not_found(past: Library, files: Path) -> None:
    past.add(files / "a.md", audience="dm-only")  # its third text
    (files / "a.md").write_text("# Light\n\nA match for the lamp.")
    past.add(files / "a.md", audience="all")
    fog = "The lamp of fog."
    third, second = SearchOptions(as_of=3), SearchOptions(as_of=2)
    for held, lit in ((["player"], False), (["dm-only"], True), (None, True)):
        told = Filters(audiences=held)
        found = texts(past.search("lamp", options=third, filters=told))
        assert found == (["A torch lamp burns.", fog] if lit else [fog])
        assert len(past.search("lamp", options=third, within=where(told))) == (2 if lit else 1)
    player = Filters(audiences=["player"])
    assert len(past.search("lamp", options=second, filters=player)) == 2


def test_what_was_removed_is_in_no_past(past: Library, tmp_path: Path) -> None:
    assert len(past.search("lamp", options=SearchOptions(as_of=1))) == 2
    assert list((tmp_path / "library" / "as-of").iterdir())
    past.remove(["a.md"])
    assert not (tmp_path / "library" / "as-of").exists()
    assert texts(past.search("lamp", options=SearchOptions(as_of=1))) == ["The lamp of fog."]


def test_what_was_pruned_is_in_no_past(past: Library) -> None:
    past.history.prune(keep=1)
    assert texts(past.search("lamp", options=SearchOptions(as_of=2))) == ["The lamp of fog."]


def test_views_are_used_again_and_bounded(past: Library, tmp_path: Path) -> None:
    folder = tmp_path / "library" / "as-of"
    past.search("lamp", options=SearchOptions(as_of=1))
    (view,) = folder.iterdir()
    past.search("fog", options=SearchOptions(as_of=1))
    with Library(open_embedded(tmp_path / "library"), TOY, Settings()) as other:
        assert len(other.search("lamp", options=SearchOptions(as_of=1))) == 2
    assert list(folder.iterdir()) == [view]
    for number in (2, 3):
        past.search("lamp", options=SearchOptions(as_of=number))
        past.search("lamp", options=SearchOptions(as_of=number), filters=Filters(source="b.md"))
    assert len(list(folder.iterdir())) == 3


def test_a_moved_or_restored_document_is_found_by_its_name(past: Library, files: Path) -> None:
    past.restore("a.md", 1)
    (files / "a.md").rename(files / "c.md")
    past.add(files)
    (found,) = past.search("lamp", options=SearchOptions(as_of=2), filters=Filters(source="c.md"))
    assert "candle" in found.found.chunk.text
    (found,) = past.search("lamp", options=SearchOptions(as_of=4), filters=Filters(source="c.md"))
    assert "lantern" in found.found.chunk.text


@pytest.mark.parametrize("wrong", [0, "soon", "2026-13-01", 1.5, True, ""])
def test_what_is_no_time(wrong: object) -> None:
    with pytest.raises(BadSetting):
        instant(wrong)  # type: ignore[arg-type]


def test_times_are_the_registrys() -> None:
    assert instant("3") == 3
    assert instant("2026-11-01T12:00:00Z") == "2026-11-01T12:00:00.000Z"
    assert instant("2026-11-01T12:00+01:00") == "2026-11-01T11:00:00.000Z"
    whole = datetime.fromisoformat(str(instant("2026-11-01")))
    assert whole.astimezone().strftime("%F %T") == "2026-11-01 23:59:59"


def other_model(past: Library) -> Library:
    """The same library once it has come to another model."""
    store = past.backend
    store.models.begin(OTHER.fingerprint, {})
    embed_beside(store, OTHER)
    store.models.prepare(OTHER.fingerprint)
    store.models.switch(OTHER.fingerprint)
    store.models.drop_others()
    return Library(store, OTHER, Settings())


def test_the_past_is_found_by_meaning_after_a_change_of_the_model(past: Library) -> None:
    changed = other_model(past)
    then = SearchOptions(mode="semantic", as_of=1)
    found = changed.search("A lantern lamp burns.", 1, options=then)
    assert texts(found) == ["A lantern lamp burns."]
    assert found.notes == ()


def test_what_is_too_much_to_embed_at_once_is_told(
    past: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asof, "_EMBEDDED_AT_ONCE", 0)
    changed = other_model(past)
    for mode, told in (("semantic", 1), ("hybrid", 1), ("keyword", 0)):
        notes = changed.search("lantern", options=SearchOptions(mode=mode, as_of=1)).notes
        assert sum("can't find all passages" in note for note in notes) == told


def test_adding_an_unchanged_file_leaves_what_was_restored(past: Library, files: Path) -> None:
    past.restore("a.md", 1)
    changed = Library(past.backend, TOY, Settings(chunk_size=300))  # as another model may have it
    changed.add(files)
    assert texts(changed.search("lamp", filters=Filters(source="a.md"))) == [
        "A lantern lamp burns."
    ]
    assert texts(changed.search("lamp", filters=Filters(source="b.md"))) == ["The lamp of fog."]
    (files / "a.md").write_text("# Light\n\nA new lamp burns.")
    changed.add(files)
    assert texts(changed.search("lamp", filters=Filters(source="a.md"))) == ["A new lamp burns."]
