"""The documents say what is true: every setting, error code and command is described."""

import inspect
import re
from pathlib import Path

import pytest
from tests.architecture import tables
from tests.bench.commands import QUICK

from trivium import config
from trivium.core import errors

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def error_types() -> list[type[errors.TriviumError]]:
    found = [
        c
        for _, c in inspect.getmembers(errors, inspect.isclass)
        if c.__module__ == "trivium.core.errors"
    ]
    return [c for c in found if "." in c.code]


def test_every_error_is_documented() -> None:
    page, tree = (ROOT / "docs" / "errors.md").read_text(), errors.__doc__ or ""
    for kind in error_types():
        assert f"| `{kind.code}` | {kind.__name__} |" in page
        assert re.search(rf"─ {kind.__name__} +{re.escape(kind.code)}\n", tree), kind.__name__


def test_error_codes_are_unique() -> None:
    codes = [kind.code for kind in error_types()]
    assert len(codes) == len(set(codes))


def test_every_setting_is_documented() -> None:
    rows = (ROOT / "docs" / "settings.md").read_text().splitlines()
    for name, _, variable, help_ in config.described():
        (described,) = [row for row in rows if row.startswith(f"| `{name}` | `{variable}` |")]
        assert help_, name
        assert help_ in described


@pytest.mark.parametrize("page", sorted({page for page, _ in tables.TABLES.values()}))
def test_tables_of_options_are_as_declared(page: str) -> None:
    assert tables.written(page) == (ROOT / "docs" / page).read_text(), (
        "run `python -m tests.architecture.tables`"
    )


def test_every_folder_has_its_heading() -> None:
    headings = re.findall(r"^## (.+?):", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    named = {name.strip() for heading in headings for name in heading.split(",")}
    package = ROOT / "src" / "trivium"
    parts = {f"{p.name}/" if p.is_dir() else p.name for p in package.iterdir()}
    assert parts - {"__init__.py", "__pycache__/", "py.typed"} <= named


def test_files_say_what_they_are_for() -> None:
    assert [path for path in SOURCES if not path.read_text().startswith('"""')] == []


def test_nobody_is_told_to_install_trivium_from_an_index_that_lacks_it() -> None:
    pages = [*SOURCES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    wrong = re.compile(r"pip install (?:-U |--upgrade )?['\"]?trivium\b")
    assert [
        page for page in pages if page.name != "log.md" and wrong.search(page.read_text())
    ] == []


def test_nobody_makes_up_what_a_caller_may_see() -> None:
    """`Where` is made in three places: of a caller, of a filter, and of another `Where`."""
    makers = {"core/access.py", "core/conditions.py", "library/asking.py"}
    package = ROOT / "src" / "trivium"
    for path in SOURCES:
        name = str(path.relative_to(package))
        if name not in makers and not name.startswith("testing/"):
            assert not re.search(r"\bWhere\(", path.read_text()), name


def test_links_between_documents_resolve() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_address_of_a_package_host_and_no_path_of_a_machine() -> None:
    hosts = "|".join(["files.pythonhosted", "pypi" + r"\.org", "registry.npmjs", "deb.debian"])
    for path in [*SOURCES, *ROOT.glob("*.md"), *ROOT.glob("*.toml"), *ROOT.glob("*.txt")]:
        assert not re.search(rf"{hosts}|/root/|/work/", path.read_text()), path


# A module of bench/, the words after it that are no options, and the options, on one line.
_BENCH = re.compile(r"\bbench\.[a-z]+\b(?! *=|\.)(?: (?:unchanged|edited|many|stages)\b)?[^`|#\n]*")
_ASIDE = {"--help", "--store"}  # measure nothing; the second would change the stored figures


def measuring_commands() -> list[str]:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile"]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    return sorted({found for page in pages for found in _BENCH.findall(page.read_text())})


def test_every_command_for_a_figure_has_a_quick_form() -> None:
    """`tests/bench/test_commands.py` runs those; so no command of a document rots."""
    for command in measuring_commands():
        _check_quick_form(command)


def _check_quick_form(command: str) -> None:
    module, *rest = command.split()
    module = module.rstrip(".,;:)")
    assert (ROOT / "bench" / f"{module.removeprefix('bench.')}.py").exists()
    part = f"{module} {rest[0]}" if rest and f"{module} {rest[0]}" in QUICK else module
    forms = [options for name, options in QUICK.items() if name == part or name.split()[0] == part]
    assert forms, f"add a quick form of {command} to tests/bench/commands.py"
    named = {word for word in rest if word.startswith("--")} - _ASIDE
    assert any(named <= set(options) for options in forms), f"no quick form: {command}"


def test_every_make_target_of_a_document_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        named = re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(), re.MULTILINE)
        assert set(named) <= targets, page.name
