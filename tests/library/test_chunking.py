"""How documents are cut and what is embedded with their chunks, through the whole library."""

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.errors import BadSetting, ModelUnavailable
from trivium.core.types import Chunk, Collection
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import ToyEmbedder

LEAD = "Port Amble is a harbour that silts up year after year."
NOTE = f"# Amble\n\n{LEAD}\n\n# Tides\n\nThe tide turns at noon.\n\n# Ships\n\nOnly skiffs pass."


class Recording(ToyEmbedder):
    """Remembers the texts it embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts):
        self.texts += texts
        return super().embed_documents(texts)


class Missing(ToyEmbedder):
    def embed_documents(self, texts):
        raise ModelUnavailable("There is no model.", fix="Get one.")


def add(
    folder: Path, files: Iterable[Path] | Path, embedder: ToyEmbedder, **given: object
) -> dict[str, Fate]:
    settings = Settings(**given)  # type: ignore[arg-type]
    with Library(open_embedded(folder), embedder, settings) as library:
        report = library.add(files if isinstance(files, Path) else list(files))
        return {Path(o.uri).name: o.fate for o in report.outcomes}


def test_a_summary_is_embedded_but_neither_kept_in_the_chunk_nor_shown(
    tmp_path: Path, files: Path
) -> None:
    (files / "a.md").write_text(NOTE)
    (files / "one.md").write_text(f"# One\n\n{LEAD}")
    embedder = Recording()
    add(tmp_path / "l", files, embedder, chunk_summary="extractive")
    with_title = [f"{LEAD}\nAmble\n", f"{LEAD}\nAmble\nTides\n", f"{LEAD}\nAmble\nShips\n"]
    long, short = embedder.texts[:3], embedder.texts[3:]
    assert all(t.startswith(lead) for t, lead in zip(long, with_title, strict=True))
    assert short == [f"One\nOne\n\n{LEAD}"], "a summary of one chunk would repeat it"
    with Library(open_embedded(tmp_path / "l"), embedder, Settings()) as library:
        shown = [p.chunk.text for p in library.show("a.md").passages]
        assert shown[1:] == ["Tides\n\nThe tide turns at noon.", "Ships\n\nOnly skiffs pass."]
        assert [
            r.found.chunk.index
            for r in library.search("silts", options=SearchOptions(mode="keyword"))
        ] == [0, 0]


def test_the_store_embeds_later_what_the_pipeline_would_have(tmp_path: Path, files: Path) -> None:
    (files / "a.md").write_text(NOTE)
    at_once, later = Recording(), Recording()
    add(tmp_path / "at once", files, at_once, chunk_summary="extractive")
    add(tmp_path / "later", files, Missing(), chunk_summary="extractive")
    fates = add(tmp_path / "later", files, later, chunk_summary="extractive")
    assert fates == {"a.md": Fate.UNCHANGED}
    assert later.texts == at_once.texts
    before = len(later.texts)
    (files / "a.md").write_text(NOTE + " And rafts.")
    add(tmp_path / "later", files, later, chunk_summary="extractive")
    assert len(later.texts) == before + 1, "the others are known by the same hash"


def test_conversations_have_no_summary(tmp_path: Path, files: Path) -> None:
    letter = "From ann Mon Jan  1 10:00:00 2024\nFrom: ann@example.org\nSubject: Tides\n\n{}\n\n"
    letters = (letter.format(f"{LEAD} Letter {n} of many about it.") for n in range(12))
    (files / "talk.mbox").write_text("".join(letters))
    plain, summed = Recording(), Recording()
    add(tmp_path / "plain", files, plain, chunk_size=64)
    add(tmp_path / "summed", files, summed, chunk_size=64, chunk_summary="extractive")
    assert len(plain.texts) > 1
    assert plain.texts == summed.texts


def test_switching_summaries_on_is_noticed(tmp_path: Path, files: Path) -> None:
    (files / "a.md").write_text(NOTE)
    embedder = Recording()
    assert add(tmp_path / "l", files, embedder, chunk_summary="off") == {"a.md": Fate.ADDED}
    assert add(tmp_path / "l", files, embedder, chunk_summary="off") == {"a.md": Fate.UNCHANGED}
    assert add(tmp_path / "l", files, embedder, chunk_summary="extractive") == {
        "a.md": Fate.UPDATED
    }
    with pytest.raises(BadSetting, match="off, extractive or model"):
        add(tmp_path / "l", files, embedder, chunk_summary="long")


def test_a_library_of_the_first_format_is_brought_up_to_date(tmp_path: Path, files: Path) -> None:
    (files / "a.md").write_text(NOTE)
    add(tmp_path / "l", files, Missing(), chunk_summary="off")
    with sqlite3.connect(tmp_path / "l" / "library.db") as database:
        database.execute("ALTER TABLE interpretations DROP COLUMN summary")
        database.execute("DROP TABLE collections")
        database.execute("UPDATE settings SET value = '1' WHERE name = 'schema'")
    database.close()
    embedder = Recording()
    assert add(tmp_path / "l", files, embedder, chunk_summary="off") == {"a.md": Fate.UNCHANGED}
    assert len(embedder.texts) == 3


# --- chunkers by collection


def test_a_collection_keeps_its_chunker(library: Library, files: Path) -> None:
    (files / "a.md").write_text(NOTE)
    library.documents.set_chunker("papers", "abstract")
    library.add(files, collection="papers")
    library.add(files, collection="notes")
    assert library.documents.collections() == [
        Collection("notes", 1, 3, ""),
        Collection("papers", 1, 1, "abstract"),
    ]
    assert [o.fate for o in library.add(files, collection="papers").outcomes] == [Fate.UNCHANGED]


def test_another_chunker_cuts_a_document_anew_as_a_whole(library: Library, files: Path) -> None:
    (files / "a.md").write_text(NOTE)
    library.add(files)
    library.documents.set_chunker("default", "abstract")
    assert [d.chunks for d in library.documents.all()] == [3], "until it is added again"
    report = library.add(files)
    assert [(o.fate, o.document.chunks) for o in report.outcomes if o.document] == [
        (Fate.UPDATED, 1)
    ]
    assert library.upkeep.health()["chunks"] == 1


def test_an_unknown_chunker_changes_nothing(library: Library) -> None:
    with pytest.raises(BadSetting, match="semantic"):
        library.documents.set_chunker("default", "semantic")
    assert library.documents.collections() == []


def test_what_the_ceiling_left_out_is_said_until_it_is_not_true(
    tmp_path: Path, files: Path
) -> None:
    (files / "a.md").write_text(NOTE)
    for most, told in ((2, True), (100, False)):
        settings = Settings(chunk_strategy="sections", chunk_most=most)
        with Library(open_embedded(tmp_path / "l"), ToyEmbedder(), settings) as library:
            notes = library.add(files).notes
            (document,) = library.documents.all()
        said = "You can search only the first 2 of 3 passages."
        assert notes == ((f"Amble: {said}",) if told else ())
        assert document.metadata.get("chunking") == (said if told else None)


def test_a_hit_carries_the_heading_that_it_stands_under(library: Library, files: Path) -> None:
    """Small sections share a passage; each hit is shown under its own heading."""
    parts = [
        "# Port Amble",
        "Skiffs land here.",
        "### Tides",
        "High water is at noon.",
        "### Taxes",
        "Every barrel of herring costs two crowns.",
    ]
    (files / "amble.md").write_text("\n\n".join(parts))
    library.add([files / "amble.md"])
    for query, headings in (
        ("skiffs", ("Port Amble",)),
        ("high water", ("Port Amble", "Tides")),
        ("herring barrel", ("Port Amble", "Taxes")),
    ):
        (result,) = library.search(query)
        assert result.found.chunk.headings == headings


def test_the_kind_of_a_section_isnt_said_twice() -> None:
    chunk = Chunk(0, 0, 1, "x", ("A paper", "1. Abstract"), section="summary")
    assert chunk.path_under("A paper") == ["1. Abstract"]
    named = replace(chunk, headings=("A paper", "In short"))
    assert named.path_under("A paper") == ["Abstract", "In short"]
