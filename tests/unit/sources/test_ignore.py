"""What an ignore file leaves out, as git does."""

from pathlib import Path

import pytest

from trivium.core.errors import BadSetting
from trivium.sources.ignore import IGNORE_FILE, IgnoreRules

FILES = [
    "a.md",
    "b.tmp",
    "keep.tmp",
    "build/x.md",
    "sub/build/y.md",
    "sub/a.md",
    "sub/top.md",
    "sub/deep/only.md",
    "top.md",
    ".hidden.md",
    ".git/config.md",
    "library/library.md",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def walked(folder: Path, *patterns: str, without: tuple[Path, ...] = ()) -> set[str]:
    """By walking, once asking file by file has given the same."""
    rules = IgnoreRules(folder, patterns, without)
    found = {str(path.relative_to(folder)) for path in rules.walk()}
    assert found == {name for name in FILES if rules.allow(folder / name)}
    return found


VISIBLE = {name for name in FILES if not name.startswith(".")}


def test_hidden_files_are_left_out(folder: Path) -> None:
    assert walked(folder) == VISIBLE


@pytest.mark.parametrize(
    ("rules", "gone"),
    [
        (["*.tmp"], {"b.tmp", "keep.tmp"}),
        (["*.tmp", "!keep.tmp"], {"b.tmp"}),
        (["build/"], {"build/x.md", "sub/build/y.md"}),
        (["/build/"], {"build/x.md"}),
        (["/top.md"], {"top.md"}),
        (["sub/**/*.md"], {"sub/a.md", "sub/top.md", "sub/build/y.md", "sub/deep/only.md"}),
        (["sub/deep/", "!only.md"], {"sub/deep/only.md"}),  # git does not call it back either
        (["# a.md", ""], set()),
    ],
)
def test_rules_of_a_file_and_of_a_command(folder: Path, rules: list[str], gone: set[str]) -> None:
    assert walked(folder, *rules) == VISIBLE - gone
    (folder / IGNORE_FILE).write_text("\n".join(rules))
    assert walked(folder) == VISIBLE - gone


def test_the_deepest_file_has_the_last_word(folder: Path) -> None:
    (folder / IGNORE_FILE).write_text("a.md")
    (folder / "sub" / IGNORE_FILE).write_text("!a.md\n/deep/")
    assert walked(folder) == VISIBLE - {"a.md", "sub/deep/only.md"}


def test_a_command_comes_after_the_file(folder: Path) -> None:
    (folder / IGNORE_FILE).write_text("*.tmp")
    assert walked(folder, "!b.tmp") == VISIBLE - {"keep.tmp"}


def test_folders_that_are_no_part_of_it(folder: Path) -> None:
    assert walked(folder, without=(folder / "library",)) == VISIBLE - {"library/library.md"}
    assert not IgnoreRules(folder / "sub").allow(folder / "a.md")


def test_a_rule_that_makes_no_sense_is_refused(folder: Path) -> None:
    with pytest.raises(BadSetting, match="ignore rule"):
        walked(folder, "!")
