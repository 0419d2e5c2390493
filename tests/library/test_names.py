"""The same bytes in several places, and files that move."""

import shutil
import zipfile
from pathlib import Path

from trivium.config import Settings
from trivium.core.types import OWNER
from trivium.ingest.outcomes import Fate
from trivium.library import Library, where
from trivium.operations.searching import Filters
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import ToyEmbedder

TEXT = "A lantern burns over the harbour. " * 9  # its first line is too long to be a title


class Counting(ToyEmbedder):
    texts = 0

    def embed_documents(self, texts):
        self.texts += len(texts)
        return super().embed_documents(texts)


def fates(library: Library, *paths: Path, **labels: str) -> list[Fate]:
    """By name of the file."""
    return [o.fate for o in sorted(library.add(paths, **labels).outcomes, key=lambda o: o.uri)]


def called(library: Library) -> list[list[str]]:
    return [[Path(uri).name for uri in (d.uri, *d.names)] for d in library.documents.all()]


def test_copies_are_one_document(library: Library, files: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (files / name).write_text(TEXT)
    assert fates(library, files) == [Fate.ADDED, Fate.DUPLICATE]
    (files / "c.txt").write_text(TEXT)
    assert fates(library, files) == [Fate.UNCHANGED, Fate.UNCHANGED, Fate.DUPLICATE]
    assert called(library) == [["a.txt", "b.txt", "c.txt"]]
    assert len(library.search("lantern", filters=Filters(source="c.txt"))) == 1
    assert library.show("b.txt").document.id == 1
    assert fates(library, files) == [Fate.UNCHANGED] * 3


def test_a_copy_that_is_read_in_another_way_is_another(library: Library, files: Path) -> None:
    for name in ("a.md", "b.txt"):
        (files / name).write_text("# A heading\n\n" + TEXT)
    fates(library, files)
    (files / "c.py").write_text("# A heading\n\n" + TEXT)
    fates(library, files)
    assert called(library) == [["a.md"], ["b.txt"], ["c.py"]]


def test_a_changed_copy_parts(library: Library, files: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (files / name).write_text(TEXT)
    fates(library, files)
    (files / "a.txt").write_text("A candle.")
    assert fates(library, files) == [Fate.UPDATED, Fate.UNCHANGED]
    assert called(library) == [["b.txt"], ["a.txt"]]
    assert library.show("a.txt").text == "A candle."
    assert library.show("b.txt").text == TEXT.strip()


def test_a_moved_file_is_the_same_document(tmp_path: Path, files: Path) -> None:
    embedder = Counting()
    with Library(open_embedded(tmp_path / "l"), embedder, Settings()) as library:
        (files / "a.txt").write_text(TEXT)
        library.add(files, audience="dm-only", metadata={"year": 2001})
        before = library.show("a.txt")
        count = embedder.texts
        (files / "deep").mkdir()
        (files / "a.txt").rename(files / "deep" / "b.txt")
        assert fates(library, files) == [Fate.MOVED]
        after = library.show("b.txt")
        assert embedder.texts == count, "nothing is embedded"
        assert after.document.id == before.document.id
        assert after.passages[0].id == before.passages[0].id
        assert [one.number for one in library.history.of("b.txt")] == [1]
        assert (before.document.title, after.document.title) == ("a", "b")
        assert after.document.audience == "dm-only", "who may see it moves along"
        assert after.document.metadata["year"] == 2001
        assert fates(library, files) == [Fate.UNCHANGED]


def test_a_moved_file_with_a_new_label(library: Library, files: Path) -> None:
    (files / "a.txt").write_text(TEXT)
    library.add(files)
    (files / "a.txt").rename(files / "b.txt")
    assert fates(library, files, audience="dm-only") == [Fate.MOVED]
    assert library.documents.all(where(Filters(audiences=["player"]))) == []
    assert called(library) == [["b.txt"]]


def test_two_copies_of_a_moved_file(library: Library, files: Path) -> None:
    (files / "a.txt").write_text(TEXT)
    library.add(files)
    for name in ("b.txt", "c.txt"):
        shutil.copy(files / "a.txt", files / name)
    (files / "a.txt").unlink()
    assert sorted(fates(library, files)) == [Fate.DUPLICATE, Fate.MOVED]
    assert [sorted(names) for names in called(library)] == [["b.txt", "c.txt"]]


def test_a_copy_of_a_private_file_stays_private(library: Library, files: Path) -> None:
    (files / "a.txt").write_text(TEXT)
    library.add(files, audience="dm-only")
    (files / "b.txt").write_text(TEXT)
    assert fates(library, files / "b.txt") == [Fate.DUPLICATE]
    assert library.documents.all(where(Filters(audiences=["player"]))) == []
    assert fates(library, files / "b.txt", audience="all") == [Fate.UPDATED]
    assert [d.names for d in library.documents.all()] == [(), ()]
    assert [
        Path(d.uri).name for d in library.documents.all(where(Filters(audiences=["player"])))
    ] == ["b.txt"]


def test_a_moved_archive_takes_its_members_along(library: Library, files: Path) -> None:
    with zipfile.ZipFile(files / "a.zip", "w") as archive:
        archive.writestr("n.md", TEXT)
    library.add(files)
    shutil.copy(files / "a.zip", files / "b.zip")
    library.add(files)
    assert called(library) == [["n.md", "n.md"], ["a.zip"], ["b.zip"]]
    (files / "b.zip").rename(files / "c.zip")
    assert fates(library, files) == [Fate.UNCHANGED, Fate.MOVED]
    member = library.documents.all()[0]
    assert member.names == (f"{files}/c.zip!/n.md",)
    store = library.backend
    with store.writer.writing():
        assert [Path(d.uri).name for d in store.writer.forget(f"{files}/a.zip", "default")] == [
            "a.zip"
        ]
    assert [d.uri for d in store.documents.all(OWNER)] == [
        f"{files}/c.zip!/n.md",
        f"{files}/c.zip",
    ]
