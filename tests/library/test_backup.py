"""A backup of a library in use, in one file, and its recovery."""

import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.errors import BackupDamaged, PathNotFound, TargetExists
from trivium.core.types import OWNER
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.database import open_database
from trivium.store.embedded.recovery import recover
from trivium.store.sql.staging import Staging
from trivium.testing.samples import TOY, sample

ADDER = """
import sys
from pathlib import Path
from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY
from tests.kept import kept
place, files = map(Path, sys.argv[1:])
with kept(), Library(open_embedded(place), TOY, Settings()) as library:
    for n in range(10_000):
        path = files / f"{n % 30}.md"
        path.write_text(f"# Lantern {n}\\n\\nlantern number{n}\\n\\n# End\\n\\nnumber{n} ends")
        library.add(path)
        if n % 7 == 3:
            library.remove([str(files / f"{(n - 2) % 30}.md")])
            library.history.prune(keep=1)
        print(n, flush=True)
"""


def opened(folder: Path) -> Library:
    return Library(open_embedded(folder, create=False), TOY, Settings())


def test_everything_comes_back(library: Library, tmp_path: Path, files: Path) -> None:
    (files / "a.md").write_text("A lantern burns.")
    (files / "b.md").write_text("Fog.")
    library.add(files, audience="dm-only", metadata={"year": 2001})
    (files / "a.md").write_text("A candle burns.")
    library.add(files)
    library.documents.set_chunker("papers", "sections")
    said: list[str] = []
    held = library.upkeep.backup(tmp_path / "saved", on_progress=lambda what, *_: said.append(what))
    assert (held.documents, held.interpretations, held.originals) == (2, 3, 3)
    assert held.bytes == (tmp_path / "saved").stat().st_size
    assert list(dict.fromkeys(said)) == ["database", "originals"]
    place = tmp_path / "new"
    assert recover(tmp_path / "saved", place, None).documents == 2
    with opened(place) as again:
        assert again.documents.all() == library.documents.all()
        assert again.documents.collections() == library.documents.collections()
        assert again.history.of("a.md") == library.history.of("a.md")
        assert again.history.original("a.md", interpretation=1) == b"A lantern burns."
        assert [r.found.id for r in again.search("candle")] == [
            r.found.id for r in library.search("candle")
        ]
        assert all(finding.ok for finding in again.upkeep.examine())
        indexed = ("documents", "chunks", "words", "vectors")
        assert [again.upkeep.health()[n] for n in indexed] == [
            library.upkeep.health()[n] for n in indexed
        ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["files", "library", "new", "saved"]


def test_judgments_come_back_too(library: Library, tmp_path: Path) -> None:
    judged = tmp_path / "library" / "evaluation" / "mine"
    (judged / "qrels").mkdir(parents=True)
    (judged / "judgments.jsonl").write_text("{}\n")
    (judged / "qrels" / "test.tsv").write_text("q1\td1\t1\n")
    library.upkeep.backup(tmp_path / "saved")
    recover(tmp_path / "saved", tmp_path / "new", None)
    again = tmp_path / "new" / "evaluation" / "mine"
    assert (again / "judgments.jsonl").read_text() == "{}\n"
    assert (again / "qrels" / "test.tsv").read_text() == "q1\td1\t1\n"


def test_nothing_is_overwritten_unasked(library: Library, tmp_path: Path, files: Path) -> None:
    (files / "a.md").write_text("A lantern burns.")
    library.add(files)
    target = tmp_path / "saved"
    target.write_text("dear to someone")
    with pytest.raises(TargetExists):
        library.upkeep.backup(target)
    assert target.read_text() == "dear to someone"
    library.upkeep.backup(target, force=True)
    library.remove(["a.md"])
    settings = Settings(library=tmp_path / "library")
    with pytest.raises(TargetExists):
        recover(target, settings.library, None)
    recover(target, settings.library, None, force=True)
    with opened(tmp_path / "library") as again:
        assert again.search("lantern")
    with pytest.raises(PathNotFound):
        recover(tmp_path / "none", settings.library, None)
    with pytest.raises(TargetExists):
        library.upkeep.backup(tmp_path)


@pytest.mark.parametrize("harm", ["flip", "cut", "text", "member"])
def test_a_damaged_backup_leaves_nothing(
    library: Library, tmp_path: Path, files: Path, harm: str
) -> None:
    (files / "a.md").write_text("A lantern burns." * 500)
    library.add(files)
    target = tmp_path / "saved"
    library.upkeep.backup(target)
    data = bytearray(target.read_bytes())
    if harm == "flip":
        data[data.index(b"lantern")] ^= 1
    elif harm == "cut":
        del data[len(data) // 2 :]
    elif harm == "text":
        data = bytearray(b"no tar at all " * 100)
    target.write_bytes(data)
    if harm == "member":
        with tarfile.open(target, "a") as tar:
            tar.add(files / "a.md", "../escaped")
    with pytest.raises(BackupDamaged):
        recover(target, tmp_path / "new", None)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["files", "library", "saved"]


def test_what_a_writer_had_not_finished_is_left_out(tmp_path: Path) -> None:
    store = open_embedded(tmp_path / "l")
    store.writer.put([sample("a.md", "Amber.")], TOY.fingerprint)
    Staging(open_database(tmp_path / "l" / "library.db")).stage(
        [sample("b.md", "Fog."), sample("a.md", "Silver.")], TOY.fingerprint
    )
    held = store.upkeep.backup(tmp_path / "saved")
    store.close()
    assert (held.documents, held.interpretations) == (1, 1)
    recover(tmp_path / "saved", tmp_path / "new", None)
    again = open_embedded(tmp_path / "new")
    assert [d.uri for d in again.documents.all(OWNER)] == ["a.md"]
    assert all(finding.ok for finding in again.upkeep.examine())
    again.close()


def test_while_another_process_adds_and_removes(tmp_path: Path, files: Path) -> None:
    place = tmp_path / "library"
    open_embedded(place).close()
    command = [sys.executable, "-c", ADDER, str(place), str(files)]
    own = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own) as adder:
        assert adder.stdout is not None
        for round_ in range(3):
            for _ in range(7):  # with one that is removed and pruned
                assert adder.stdout.readline().strip().isdecimal()
            with opened(place) as library:
                library.upkeep.backup(tmp_path / "saved", force=True)
            adder.send_signal(signal.SIGSTOP)  # it need not work while we look
            made = tmp_path / f"new{round_}"
            recover(tmp_path / "saved", made, None)
            with opened(made) as again:
                assert again.documents.all()
                findings = again.upkeep.examine()
                assert all(finding.ok for finding in findings), findings
                for document in again.documents.all():
                    assert (
                        f"number{document.title.split()[-1]} ends" in again.show(document.id).text
                    )
            adder.send_signal(signal.SIGCONT)
        adder.kill()
