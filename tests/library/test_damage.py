"""Damaged files of derived indexes are noticed and rebuilt, and nothing is lost."""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.errors import DocumentNotFound, IndexDamaged
from trivium.core.types import OWNER, Hit, Probe, Signal
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.embedded import indexes
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.indexes import Indexes
from trivium.testing.samples import TOY, sample
from trivium.text.query import parse

QUERIES = ("lantern", "harbour 7", "lanterm", "paragraph -harbour")
Answers = list[list[tuple[int, float]]]


def opened(place: Path) -> Library:
    return Library(open_embedded(place), TOY, Settings())


def answers(library: Library) -> Answers:
    return [
        [
            (result.found.id, round(result.score, 6))
            for result in library.search(query, options=SearchOptions(mode=mode))
        ]
        for query in QUERIES
        for mode in ("keyword", "fuzzy", "semantic")
    ]


def fill(place: Path) -> Answers:
    store = open_embedded(place)
    for batch in range(3):
        documents = (
            sample(f"{batch}-{n}", f"lantern {n} of harbour {batch * n}", f"paragraph word{n}")
            for n in range(20)
        )
        store.writer.put(list(documents), TOY.fingerprint)
    store.writer.remove([2, 3])
    store.close()
    with opened(place) as library:
        return answers(library)


def flip(path: Path, at: float) -> None:
    data = bytearray(path.read_bytes())
    data[int(at * (len(data) - 1))] ^= 0x24
    path.write_bytes(data)


def derived(place: Path) -> Iterator[Path]:
    """Every file that can be made again, locks and empty files apart."""
    for part in ("words", "vectors"):
        for path in [place / part, *sorted((place / part).rglob("*"))]:
            if path.is_file() and path.stat().st_size and not path.name.startswith("."):
                yield path


@pytest.mark.parametrize("at", [0.3, 1.0])
def test_one_byte_of_any_index_file_changes_nothing(tmp_path: Path, at: float) -> None:
    place = tmp_path / "library"
    expected = fill(place)
    for number in range(len(list(derived(place)))):
        path = list(derived(place))[min(number, len(list(derived(place))) - 1)]
        flip(path, at)
        with opened(place) as library:
            assert answers(library) == expected, path
            library.upkeep.rebuild()
            assert answers(library) == expected, path
            health = library.upkeep.health()
            assert health["chunks"] == health["words"] == health["vectors"]
        assert not list(place.glob("*.damaged"))


def test_every_command_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = tmp_path / "library"
    fill(place)
    for act in _commands(tmp_path):
        for path in (place / "words").glob("*.words"):
            flip(path, 0.5)
        caplog.clear()
        with opened(place) as library:
            act(library)
        assert "Rebuilt the index of words. No document was lost." in caplog.messages


def _commands(folder: Path) -> list[Callable[[Library], object]]:
    file = folder / "new.md"
    file.write_text("A lantern that is new.")
    return [
        lambda library: library.search("lantern"),
        lambda library: library.add(file),
        lambda library: library.upkeep.examine(),
        lambda library: library.upkeep.repair(),
        lambda library: library.upkeep.rebuild(),
        lambda library: library.upkeep.compact(),
        lambda library: library.remove(["0-7"]),
    ]


def test_damage_met_by_a_search_is_mended_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What is larger than the sample that is checked at the door."""
    monkeypatch.setattr(indexes, "_SAMPLE", 0)
    place = tmp_path / "library"
    expected = fill(place)
    for path in (place / "words").glob("*.words"):
        path.write_bytes(path.read_bytes()[:-200] + b"\xff" * 200)
    with opened(place) as library:
        assert answers(library) == expected
    assert "Rebuilt the index of words. No document was lost." in caplog.messages


def test_a_reader_beside_a_writer_serves_the_other_signals(tmp_path: Path) -> None:
    place = tmp_path / "library"
    expected = fill(place)
    with opened(place) as writer:
        with writer.backend.writer.writing():
            for path in (place / "words").glob("*.words"):
                flip(path, 0.5)
            with opened(place) as reader:
                found = reader.search("lantern")
                assert set(found[0].signals) == {Signal.VECTOR}
                (note,) = found.notes
                assert note.startswith("Searched without the signals keyword and trigram.")
                assert "doctor --repair" in note
                with pytest.raises(IndexDamaged):
                    reader.search("lantern", options=SearchOptions(mode="keyword"))
            assert (place / "words.damaged").exists()
        with writer.backend.writer.writing():
            pass  # the next writer rebuilds what a reader marked
        assert not (place / "words.damaged").exists()
        assert answers(writer) == expected


@pytest.fixture
def set_back(library: Library, files: Path, tmp_path: Path) -> Library:
    """From a copy that SQLite itself made, as `sqlite3 library.db '.restore'` does."""
    (files / "a.md").write_text("# A\n\nA lantern.")
    library.add(files)
    with (
        closing(sqlite3.connect(tmp_path / "library" / "library.db")) as now,
        closing(sqlite3.connect(":memory:")) as copy,
    ):
        now.backup(copy)
        (files / "b.md").write_text("# B\n\nAnother lantern.")
        library.add(files)
        assert len(library.search("lantern")) == 2
        copy.backup(now)
    return library


def test_a_database_that_is_set_back_beside_a_reader(
    set_back: Library, files: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert [result.found.document.id for result in set_back.search("lantern")] == [1]
    assert "the database was set back to an earlier state" in caplog.text
    set_back.add(files)
    assert len(set_back.search("lantern")) == 2


def test_signals_that_meet_the_same_damage_rebuild_once(
    set_back: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Those of one search are asked at the same time. One that comes while another rebuilds waits
    for it, and keeps what it rebuilt."""
    others: list[Future[list[Hit]]] = []
    rebuild = Indexes._renew_words

    def search() -> list[Hit]:
        probe = Probe(parse("lantern"))
        return set_back.backend.signals.search(Signal.KEYWORD, probe, OWNER, 50)

    with ThreadPoolExecutor() as pool:

        def renew(index: Indexes) -> None:
            others.append(pool.submit(search))
            wait(others, timeout=0.3)  # one that doesn't wait fails within this time
            rebuild(index)

        monkeypatch.setattr(Indexes, "_renew_words", renew)
        set_back.backend.signals.refresh()  # as every search does first
        assert len(search()) == 1
        (other,) = others
        assert len(other.result()) == 1
    assert caplog.messages.count("Rebuilt the index of words. No document was lost.") == 1


def test_a_reader_notices_that_another_has_rebuilt(tmp_path: Path) -> None:
    place = tmp_path / "library"
    expected = fill(place)
    with opened(place) as writer, writer.backend.writer.writing():
        for path in (place / "words").glob("*.words"):
            flip(path, 0.5)
        reader = opened(place)
        assert reader.search("lantern").notes
    with opened(place):
        pass
    with reader:
        assert answers(reader) == expected
        assert not reader.search("lantern").notes


def rot(place: Path, statement: str) -> None:
    connection = sqlite3.connect(place / "library.db")
    assert connection.execute(statement).rowcount == 1
    connection.commit()
    connection.close()


def wrong(library: Library) -> dict[str, str]:
    return {one.name: one.message for one in library.upkeep.examine(deep=True) if not one.ok}


def test_rot_in_passages_is_named_and_mended(library: Library, files: Path, tmp_path: Path) -> None:
    text = "A lantern burns in the harbour. " * 200
    for name in ("a.md", "b.md", "c.md"):
        (files / name).write_text(f"# {name}\n\n{text}")
    library.add(files)
    assert wrong(library) == {}
    place = tmp_path / "library"
    rot(place, "UPDATE chunks SET text = replace(text, 'harbour', 'harvour') WHERE id = 2")
    text_of = "UPDATE interpretations SET text = replace(text, 'b.md', 'd.md') WHERE document = 2"
    rot(place, text_of)
    rot(place, "UPDATE chunks SET headings = '[\"other\"]' WHERE id = (SELECT max(id) FROM chunks)")
    told = wrong(library)["passages"]
    assert told.startswith("Changed on disk: 3 passages, in #1, #2, #3.")
    assert "The text in #3 is lost" in told
    assert "Restored the text of 2 passages." in library.upkeep.repair()
    (told,) = wrong(library).values()
    assert told.startswith("Changed on disk: 1 passage, in #3.")
    assert "harvour" not in library.documents.text(1)
    assert library.documents.text(2).startswith("b.md")


def test_a_search_shows_no_text_that_changed_on_disk(
    library: Library, files: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (files / f"{name}.md").write_text(f"# {name}\n\nA lantern burns in harbour {name}.")
    library.add(files)
    changed = "UPDATE chunks SET text = replace(text, 'burns', 'turns') WHERE id = 1"
    rot(tmp_path / "library", changed)
    found = library.search("lantern")
    assert [result.found.document.id for result in found] == [2]
    assert found.notes == (
        "Passages left out because the stored text has changed on disk: 1, of #1."
        " Repair the library to restore them.",
    )
    library.upkeep.repair()
    found = library.search("lantern")
    assert (len(found), found.notes) == (2, ())


def test_a_byte_that_is_no_utf_8_costs_no_other_passage(
    library: Library, files: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (files / f"{name}.md").write_text(f"# {name}\n\nA lantern burns in harbour {name}.")
    library.add(files)
    rot(tmp_path / "library", "UPDATE chunks SET text = CAST(x'41ff42' AS TEXT) WHERE id = 1")
    found = library.search("lantern")
    assert [result.found.document.id for result in found] == [2]
    assert "changed on disk: 1, of #1" in found.notes[0]


def test_a_search_says_that_a_vector_changed_on_disk(
    library: Library, files: Path, tmp_path: Path
) -> None:
    for n in range(3):
        (files / f"{n}.md").write_text(f"# Note {n}\n\nA lantern burns {n} times in the harbour.")
    library.add(files)
    rot_vector(tmp_path / "library", "embeddings", "vector", FIRST)
    library.upkeep.rebuild()
    (note,) = library.search("lantern").notes
    assert note.startswith("Results whose vector has changed on disk")
    library.upkeep.repair()
    assert library.search("lantern").notes == ()


def test_a_passage_that_cannot_be_read_is_named(
    library: Library, files: Path, tmp_path: Path
) -> None:
    for name in ("a.md", "b.md"):
        (files / name).write_text(f"# {name}\n\nA lantern burns.")
    library.add(files)
    place = tmp_path / "library"
    rot(place, "UPDATE chunks SET text = CAST(x'41ff42' AS TEXT) WHERE document = 2")
    assert "in #2." in wrong(library)["passages"]


def test_every_row_that_is_written_has_its_checksum(library: Library, files: Path) -> None:
    for name in ("a.md", "b.md"):
        (files / name).write_text(f"---\nauthor: Ann\n---\n# {name}\n\nA lantern burns.")
    library.add(files)
    (files / "a.md").write_text("# Other\n\nA lantern went out.")
    library.add(files)
    library.backend.writer.relabel(2, category="notes", audience="all", metadata={"author": "Bea"})
    library.restore(1, 1)
    (files / "c.md").write_bytes((files / "b.md").read_bytes())
    library.add(files)  # a second name
    (files / "b.md").rename(files / "d.md")
    library.add(files)
    found = {one.name: one for one in library.upkeep.examine(deep=True)}
    assert found["rows"].message == "Every row matches its checksum."


def rot_vector(place: Path, table: str, column: str, which: str) -> None:
    connection = sqlite3.connect(place / "library.db")
    ((hash_, held),) = connection.execute(
        f"SELECT hash, {column} FROM {table} WHERE hash = {which}"
    )
    changed = bytes([held[0] ^ 4, *held[1:]])
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE hash = ?", (changed, hash_))
    connection.commit()
    connection.close()


FIRST = "(SELECT embedding FROM chunks WHERE id = 1)"


@pytest.mark.parametrize("index", ["there", "rebuilt from it"])
def test_a_rotten_vector_is_named_and_made_again(
    library: Library, files: Path, tmp_path: Path, index: str
) -> None:
    for n in range(3):
        (files / f"{n}.md").write_text(f"# Note {n}\n\nA lantern burns {n} times in the harbour.")
    library.add(files)
    expected = answers(library)
    place = tmp_path / "library"
    rot_vector(place, "embeddings", "vector", FIRST)
    if index != "there":
        library.upkeep.rebuild()
    with opened(place) as again:  # the index is not blamed, nor rebuilt from what is wrong
        assert list(wrong(again)) == ["rows"]
        assert "1 row of embeddings" in wrong(again)["rows"]
        assert "in #1." in wrong(again)["rows"]
        assert "Repaired 1 row that had changed on disk." in again.upkeep.repair()
        assert wrong(again) == {}
        assert answers(again) == expected


ROT = {
    "title": "UPDATE documents SET title = 'Mote' WHERE id = 2",
    "metadata": 'UPDATE documents SET metadata = \'{"author": "Amn"}\' WHERE id = 2',
    "no JSON": 'UPDATE documents SET metadata = \'{"author": "Ann\' WHERE id = 2',
    "no UTF-8": "UPDATE interpretations SET title = CAST(x'41ff' AS TEXT) WHERE document = 2",
    "passage": "UPDATE chunks SET text = CAST(x'41ff' AS TEXT) WHERE document = 2",
}


@pytest.mark.parametrize("statement", ROT.values(), ids=[*ROT])
def test_what_is_told_twice_is_mended(
    library: Library, files: Path, tmp_path: Path, statement: str
) -> None:
    for n in range(3):
        (files / f"{n}.md").write_text(f"---\nauthor: Ann\n---\n# Note {n}\n\nA lantern {n}.")
    library.add(files)
    before = library.documents.get(2), library.documents.text(2)
    rot(tmp_path / "library", statement)
    assert ", in #2." in "".join(wrong(library).values())
    assert library.upkeep.repair()
    assert wrong(library) == {}
    assert (library.documents.get(2), library.documents.text(2)) == before


def test_rot_that_nothing_tells_is_named(library: Library, files: Path, tmp_path: Path) -> None:
    (files / "a.md").write_text("# Note\n\nA lantern.")
    library.add(files)
    rot(tmp_path / "library", "UPDATE documents SET category = 'mote' WHERE id = 1")
    # A change doesn't vouch for the rest of the row.
    library.backend.writer.add_name(1, "elsewhere.md")
    library.upkeep.repair()
    assert "Changed on disk: 1 row of documents, in #1." in wrong(library)["rows"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET category = 'mote' WHERE id = 1",
        "UPDATE chunks SET headings = '[\"other\"]' WHERE id = 1",
        "UPDATE interpretations SET tokens = 7 WHERE document = 1",
    ],
)
def test_what_cannot_be_mended_is_read_again_from_its_original(
    library: Library, files: Path, tmp_path: Path, statement: str
) -> None:
    (files / "a.md").write_text("# Note\n\nA lantern.")
    library.add(files)
    (files / "b.md").write_bytes((files / "a.md").read_bytes())
    library.add(files)  # a second name stays
    rot(tmp_path / "library", statement)
    library.upkeep.repair()
    (told,) = wrong(library).values()
    assert "`trivium restore '#1' --original` reads a document again" in told
    with pytest.raises(DocumentNotFound):
        library.upkeep.restore_original(0)  # not the next one
    restored = library.upkeep.restore_original(1)
    assert wrong(library) == {}
    assert (restored.id, len(restored.names)) == (1, 1)
    assert [r.found.chunk.text for r in library.search("lantern")] == ["Note\n\nA lantern."]


def test_rows_of_older_libraries_get_their_checksums(
    library: Library, files: Path, tmp_path: Path
) -> None:
    (files / "a.md").write_text("# Note\n\nA lantern.")
    library.add(files)
    rot(tmp_path / "library", "UPDATE documents SET checksum = NULL")
    told = {one.name: one for one in library.upkeep.examine(deep=True)}["rows"]
    assert told.ok
    assert "Rows without a checksum: 1;" in told.message
    assert "Added checksums to 1 row." in library.upkeep.repair()
    assert library.upkeep.repair() == []
