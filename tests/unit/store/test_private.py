"""A new library is for its owner alone."""

from contextlib import closing
from pathlib import Path

from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_other_users_of_the_machine_cannot_look_into_a_new_library(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o755)
    for folder in (tmp_path / "made" / "library", tmp_path / "there"):
        with closing(open_embedded(folder)) as store:
            store.writer.put([sample("a.md", "Ours.")], TOY.fingerprint)
        assert (mode(folder), mode(folder / "library.db")) == (0o700, 0o600)
    folder.chmod(0o750)  # someone shares it
    open_embedded(folder).close()
    assert mode(folder) == 0o750
