"""Interpretations: listed, shown, compared, restored, pruned."""

from datetime import timedelta
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.errors import BadSetting, DocumentNotFound, ModelUnavailable
from trivium.ingest.outcomes import Fate
from trivium.library import Library, where
from trivium.operations.searching import Filters, SearchOptions
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import ToyEmbedder


@pytest.fixture
def note(library: Library, files: Path) -> Path:
    """Two interpretations of one file."""
    path = files / "note.md"
    for year, light in ((2001, "lantern"), (2002, "candle")):
        text = f"---\ntitle: {light}\nyear: {year}\n---\n\n# Light\n\nA {light} burns.\n\nFog."
        path.write_text(text)
        library.add(path)
    return path


def test_history_tells_what_each_was_made_of(library: Library, note: Path) -> None:
    old, new = library.history.of("note.md")
    assert [(one.number, one.active, one.title) for one in (old, new)] == [
        (1, False, "lantern"),
        (2, True, "candle"),
    ]
    assert (old.metadata["year"], new.metadata["year"]) == (2001, 2002)
    assert old.elements == 3
    assert old.chunks == 1
    assert old.tokens > 5
    assert old.size > new.size > 0
    assert {"extract", "chunk", "register", "interpret", "embed"} <= set(old.timings)
    assert all(seconds >= 0 for seconds in old.timings.values())
    shown = library.show("note.md", interpretation=1)
    assert "lantern" in shown.text
    assert "lantern" in shown.passages[0].chunk.text
    assert shown.interpretation == old
    with pytest.raises(DocumentNotFound, match="interpretation 3"):
        library.show("note.md", interpretation=3)


def test_diff(library: Library, note: Path) -> None:
    found = library.history.diff("note.md")
    assert (found.old.number, found.new.number) == (1, 2)
    assert "-A lantern burns." in found.lines
    assert "+A candle burns." in found.lines
    assert (found.added, found.removed) == (1, 1)
    assert found.facts["title"] == ("lantern", "candle")
    assert found.facts["metadata.year"] == (2001, 2002)
    assert "fingerprint" not in found.facts
    back = library.history.diff("note.md", 2, 1)
    assert "+A lantern burns." in back.lines
    with pytest.raises(DocumentNotFound, match="interpretation 7"):
        library.history.diff("note.md", 7, 1)
    with pytest.raises(DocumentNotFound, match="before 1"):
        library.history.diff("note.md", None, 1)


def test_the_past_obeys_the_audience(library: Library, note: Path) -> None:
    library.add(note, audience="dm-only")
    player = where(Filters(audiences=["player"]))
    for look in (library.history.of, library.show, library.history.diff):
        with pytest.raises(DocumentNotFound):
            look("note.md", within=player)
    assert len(library.history.of("note.md", where(Filters(audiences=["dm-only"])))) == 2


def test_adding_the_unchanged_file_leaves_what_was_restored(library: Library, note: Path) -> None:
    restored = library.restore("note.md", 1)
    assert restored.interpretation == 3
    assert library.search("lantern")[0].found.chunk.text.endswith("A lantern burns.\n\nFog.")
    (outcome,) = library.add(note).outcomes
    assert outcome.fate is Fate.UNCHANGED
    assert "lantern" in library.show("note.md").text
    note.write_text("# Light\n\nA torch burns.")
    (outcome,) = library.add(note).outcomes
    assert outcome.fate is Fate.UPDATED
    assert [one.restored_from for one in library.history.of("note.md")] == [None, None, 1, None]
    assert "torch" in library.show("note.md").text


def test_a_moved_file_keeps_what_was_restored(library: Library, note: Path) -> None:
    library.restore("note.md", 1)
    note.rename(note.with_name("other.md"))
    (outcome,) = library.add(note.parent).outcomes
    assert outcome.fate is Fate.MOVED
    assert "lantern" in library.show("other.md").text


def test_a_copy_of_what_is_no_longer_shown_is_a_document(library: Library, note: Path) -> None:
    library.restore("note.md", 1)
    note.with_name("copy.md").write_bytes(note.read_bytes())
    library.add(note.parent)
    assert "candle" in library.show("copy.md").text
    assert "lantern" in library.show("note.md").text


def test_restoring_embeds_what_has_no_vector(tmp_path: Path, files: Path) -> None:
    class Away(ToyEmbedder):
        def embed_documents(self, texts):
            raise ModelUnavailable("It is away.")

    (files / "a.md").write_text("A lantern burns.")
    with Library(open_embedded(tmp_path / "l"), Away(), Settings()) as library:
        library.add(files)
        (files / "a.md").write_text("A candle burns.")
        library.add(files)
        assert library.restore("a.md", 1).interpretation == 3
    with Library(open_embedded(tmp_path / "l"), ToyEmbedder(), Settings()) as library:
        library.restore("a.md", 2)
        health = library.upkeep.health()
        assert health["vectors"] == health["chunks"] == 1
        assert library.search("candle", options=SearchOptions(mode="semantic"))


def test_prune(library: Library, note: Path) -> None:
    with pytest.raises(BadSetting):
        library.history.prune()
    with pytest.raises(BadSetting):
        library.history.prune(keep=0)
    assert library.history.prune(older_than=timedelta(days=1)) == 0
    assert library.history.prune("note.md", keep=2) == 0
    assert library.history.prune("note.md", keep=1) == 1
    assert [one.number for one in library.history.of("note.md")] == [2]
    with pytest.raises(DocumentNotFound):
        library.restore("note.md", 1)


def test_indexes_hold_the_active_text_only(library: Library, note: Path) -> None:
    library.restore("note.md", 1)
    library.restore("note.md", 2)
    health = library.upkeep.health()
    assert health["chunks"] == health["words"] == health["vectors"] == 1
    assert not library.search("lantern", options=SearchOptions(mode="keyword"))
