import os
from io import BytesIO
from pathlib import Path

import pytest
from tests.unit.extract.test_pdf_maker import paper

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.core.errors import FileLocked, PathNotFound
from trivium.extract.markdown import read_markdown
from trivium.extract.sandbox import Sandbox
from trivium.ingest.extractors import extractors
from trivium.ingest.outcomes import Fate
from trivium.library import Library, worker
from trivium.library.assembly import sandbox_for
from trivium.library.uploads import Wanted
from trivium.operations.searching import SearchOptions
from trivium.ports import Blob
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import ToyEmbedder


def fates(library: Library, *paths: Path | str, **labels: str) -> dict[str, Fate]:
    report = library.add(paths, **labels)
    return {Path(o.uri).name: o.fate for o in report.outcomes}


def test_folders_files_and_patterns(library: Library, files: Path) -> None:
    (files / "deep" / "er").mkdir(parents=True)
    (files / ".hidden").mkdir()
    for name in ("a.md", "b.txt", "deep/c.md", "deep/er/d.md", ".hidden/e.md", ".f.md"):
        (files / name).write_text(f"Words of {name}.")
    assert fates(library, files / "a.md") == {"a.md": Fate.ADDED}
    assert fates(library, f"{files}/deep/**/*.md") == {"c.md": Fate.ADDED, "d.md": Fate.ADDED}
    assert fates(library, files) == {
        "a.md": Fate.UNCHANGED,
        "b.txt": Fate.ADDED,
        "c.md": Fate.UNCHANGED,
        "d.md": Fate.UNCHANGED,
    }


def test_an_unchanged_file_is_neither_read_again_nor_embedded(tmp_path: Path, files: Path) -> None:
    class Counting(ToyEmbedder):
        texts = 0

        def embed_documents(self, texts):
            Counting.texts += len(texts)
            return super().embed_documents(texts)

    (files / "a.md").write_text("# One\n\nfirst\n\n# Two\n\nsecond")
    with Library(open_embedded(tmp_path / "l"), Counting(), Settings()) as library:
        library.add(files)
        assert Counting.texts == 2
        library.add(files)
        assert Counting.texts == 2
        (files / "a.md").write_text("# One\n\nfirst\n\n# Two\n\nchanged")
        assert fates(library, files) == {"a.md": Fate.UPDATED}
        assert Counting.texts == 3, "only the changed chunk"


def test_a_file_is_looked_at_in_the_sandbox_only(
    library: Library, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object, blob: Blob) -> bool:
        raise AssertionError("a hostile file could do harm here")

    for extractor in extractors({}):
        monkeypatch.setattr(type(extractor), "accepts", refuse)
    (files / "a.md").write_text("# One\n\nfirst")
    (files / "b.json").write_text('{"a": "second"}')
    assert set(fates(library, files).values()) == {Fate.ADDED}
    assert set(fates(library, files).values()) == {Fate.UNCHANGED}


def test_the_processes_that_read_end_with_the_adding(
    library: Library, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Sandbox] = []

    def make(
        settings: Settings, workers: int = 0
    ) -> Sandbox:  # not those that tests keep (tests/kept.py)
        made.append(sandbox_for(settings, workers))
        return made[-1]

    monkeypatch.setattr(worker, "sandbox_for", make)
    (files / "a.md").write_text("# One\n\nfirst")
    assert fates(library, files) == {"a.md": Fate.ADDED}
    (sandbox,) = made
    with pytest.raises(RuntimeError, match="closed"):
        sandbox.read(Blob("a.md", b"# One"))


def test_a_new_version_of_its_reader_reads_a_file_again(
    library: Library, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "a.md").write_text("# One\n\nfirst")
    (files / "b.txt").write_text("second")
    fates(library, files)
    monkeypatch.setattr(type(read_markdown), "version", "markdown/next")
    assert fates(library, files) == {"a.md": Fate.UPDATED, "b.txt": Fate.UNCHANGED}


def test_one_bad_file_does_not_stop_the_others(library: Library, files: Path) -> None:
    (files / "empty.md").write_text(" \n ")
    (files / "binary.bin").write_bytes(b"\x7fELF\x02\x01\x00\x00")
    (files / "good.md").write_text("All is well.")
    (files / "zz.md").write_text("So here.")
    os.symlink(files / "nowhere.md", files / "link.md")
    report = library.add(files)
    failed = {Path(o.uri).name: o.error.code for o in report.failed if o.error}
    assert failed == {
        "empty.md": "file.empty",
        "binary.bin": "file.format_unknown",
        "link.md": "file.unreadable",
    }
    assert report.count(Fate.ADDED) == 2
    assert {d.title for d in library.documents.all()} == {"good", "zz"}


def test_a_file_that_cannot_be_read(library: Library, files: Path) -> None:
    path = files / "a.md"
    path.write_text("x")
    path.chmod(0)
    if os.geteuid() == 0:  # root may read everything but what the system itself refuses
        path.unlink()
        path.symlink_to("/proc/self/mem")
    assert [o.error.code for o in library.add(files).failed if o.error] == ["file.unreadable"]


def test_too_large_files_are_not_even_read(tmp_path: Path, files: Path) -> None:
    with (files / "huge.txt").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    with Library(open_embedded(tmp_path / "l"), ToyEmbedder(), Settings()) as library:
        assert [o.error.code for o in library.add(files).failed if o.error] == ["file.too_large"]


def test_a_missing_folder_adds_nothing(library: Library, files: Path) -> None:
    (files / "a.md").write_text("x")
    with pytest.raises(PathNotFound, match=r"nowhere"):
        library.add([files, files / "nowhere"])
    assert library.documents.all() == []


def test_names_that_are_not_text(library: Library, files: Path) -> None:
    path = os.fsencode(files) + b"/caf\xe9 \n.md"
    with open(path, "w") as file:
        file.write("A strange name.")
    report = library.add(files)
    assert report.count(Fate.ADDED) == 1
    (document,) = library.documents.all()
    assert document.uri.endswith("caf\\xe9 \n.md")


def test_labels_by_caller_then_file_then_before(library: Library, files: Path) -> None:
    path = files / "a.md"
    path.write_text("---\naudience: dm-only\ncategory: lore\nyear: 2021\n---\n\nThe vault.")
    library.add(path)
    (document,) = library.documents.all()
    assert (document.audience, document.category) == ("dm-only", "lore")
    assert document.metadata["year"] == 2021
    assert fates(library, path, category="rules") == {"a.md": Fate.RELABELLED}
    path.write_text("The vault, without a word about who may see it.")
    library.add(path)
    (document,) = library.documents.all()
    assert (document.audience, document.category) == ("dm-only", "rules"), "never widened"
    library.add(path, audience="all", metadata={"shelf": 3})
    (document,) = library.documents.all()
    assert (document.audience, document.metadata["shelf"]) == ("all", 3)
    assert document.interpretation == 2


def test_null_bytes_and_emoji_and_surrogates_in_texts(library: Library, files: Path) -> None:
    (files / "a.md").write_text("Dragons 🐉 breathe fire 🔥.")
    (files / "b.txt").write_bytes(b"Broken \xff\xfe bytes in the middle of caf\xe9 prose.")
    library.add(files)
    assert [
        r.found.document.title
        for r in library.search("dragons", options=SearchOptions(mode="keyword"))
    ]
    assert library.search("🐉 dragons")[0].found.chunk.text.startswith("Dragons")


def test_what_was_added_without_a_model_is_embedded_later(tmp_path: Path, files: Path) -> None:
    from trivium.core.errors import ModelUnavailable

    class Missing(ToyEmbedder):
        def embed_documents(self, texts):
            raise ModelUnavailable("There is no model.", fix="Get one.")

        embed_query = embed_documents

    (files / "a.md").write_text("A lantern burns.")
    with Library(open_embedded(tmp_path / "l"), Missing(), Settings()) as library:
        report = library.add(files)
        assert "There is no model. Get one." in report.notes[0]
        results = library.search("lantern")
        assert [r.found.chunk.text for r in results] == ["A lantern burns."]
        assert "Get one." in results.notes[0]
        assert library.upkeep.health()["vectors"] == 0
    with Library(open_embedded(tmp_path / "l"), ToyEmbedder(), Settings()) as library:
        library.add(files)
        assert library.upkeep.health()["vectors"] == 1
        assert library.search("lantern", options=SearchOptions(mode="semantic"))[0].rank == 1


def test_an_edit_of_the_first_paragraph_embeds_only_what_changed(
    library: Library, files: Path
) -> None:
    opening = "The old watchman tells us of the town. "
    paragraphs = [opening + f"lantern{n} and harbour{n} " * 60 for n in range(20)]
    book = files / "book.txt"
    book.write_text("\n\n".join(paragraphs))
    library.add(files)
    before = library.backend.documents.summarised(1)
    assert before is not None
    paragraphs[0] = paragraphs[0].replace("tells", "speaks")
    book.write_text("\n\n".join(paragraphs))
    assert library.add(files).count(Fate.UPDATED) == 1
    after = library.backend.documents.summarised(1)
    assert after is not None
    assert after.summary == before.summary != ""
    assert len(after.hashes - before.hashes) == 1
    assert len(after.hashes) > 10


def test_a_locked_file_is_added_with_its_password_which_is_kept_nowhere(
    library: Library, files: Path
) -> None:
    (files / "open.md").write_text("Plain words.")
    (files / "locked.pdf").write_bytes(paper().build(password="heron-7"))
    without = library.add(files)
    assert [type(one.error) for one in without.failed] == [FileLocked]
    wrong = library.add(files, password="crane")
    assert "isn't the password of locked.pdf" in str(wrong.failed[0].error)
    report = library.add(files, password="heron-7")
    assert not report.failed
    assert report.count(Fate.ADDED) == 1
    (hit, *_) = library.search("making indexes")
    assert hit.found.document.uri.endswith("locked.pdf")
    folder = library.backend.folder
    assert folder is not None
    stored = (path for path in folder.rglob("*") if path.is_file())
    assert not any(b"heron-7" in path.read_bytes() for path in stored)
    sent = BytesIO((files / "locked.pdf").read_bytes())
    later = library.uploads.receive(LOCAL_OWNER, "mine.pdf", sent, Wanted(password="heron-7"))
    assert not later.failed
