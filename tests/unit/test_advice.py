"""What pages advise: nothing that only a terminal or a program can do."""

import ast
import re
from pathlib import Path

import pytest

from trivium.core import errors
from trivium.core.advice import ON_PAGE, advice, over_http, retold

SOURCE = Path(errors.__file__).parents[1]
# Shells of their own, what only they reach, and what a server says before it serves.
ELSEWHERE = ("cli/", "mcp/", "evaluate/tune.py", "config/", "http/serve.py", "library/model.py")
TERMINAL = re.compile(
    r"`trivium |(?:^|[\s`(])--\w|(?:GET|POST) /|openapi|pip install|Authorization|your shell|docs/"
)
COMMAND = re.compile(r"`trivium |--\w|your shell|pip install")


def kinds(of: type[errors.TriviumError]) -> list[type[errors.TriviumError]]:
    return [of, *(kind for one in of.__subclasses__() for kind in kinds(one))]


def given(call: ast.Call, name: str, module: ast.Module) -> str | None:
    """What a call says by this keyword, as far as the source has it."""
    value = next((one.value for one in call.keywords if one.arg == name), None)
    if value is None:
        return None
    if isinstance(value, ast.Name):  # a constant of the module
        assigned = (one for one in module.body if isinstance(one, ast.Assign))
        value = next(
            (one.value for one in assigned if ast.unparse(one.targets[0]) == value.id), value
        )
    parts = (one.value for one in ast.walk(value) if isinstance(one, ast.Constant))
    return "".join(str(part) for part in parts)


@pytest.mark.parametrize("kind", kinds(errors.TriviumError), ids=lambda kind: kind.__name__)
def test_every_kind_of_error_has_advice_for_a_page(kind: type[errors.TriviumError]) -> None:
    served_before = (errors.TargetExists, errors.LibraryReadOnly)  # of commands alone
    if kind not in served_before:
        assert not TERMINAL.search(advice(kind("It failed.")))
        assert not COMMAND.search(over_http(kind("It failed.")))


def test_what_is_said_where_an_error_is_raised_holds_on_a_page_too() -> None:
    wrong = []
    for path in SOURCE.rglob("*.py"):
        name = str(path.relative_to(SOURCE))
        if name.startswith(ELSEWHERE):
            continue
        module = ast.parse(path.read_text())
        for call in ast.walk(module):
            if isinstance(call, ast.Call) and (fix := given(call, "fix", module)):
                told = given(call, "on_page", module) or fix
                if TERMINAL.search(told):
                    wrong.append(f"{name}:{call.lineno}: {told}")
    assert wrong == []


def test_what_is_raised_with_its_own_advice_keeps_it() -> None:
    plain = errors.DocumentNotFound("Gone.")
    assert advice(plain) == ON_PAGE[errors.DocumentNotFound] != plain.fix
    assert advice(errors.DocumentNotFound("Gone.", fix="Look again.")) == "Look again."
    both = errors.DocumentNotFound("Gone.", fix="`trivium list`", on_page="Look again.")
    assert (both.fix, advice(both), over_http(both)) == ("`trivium list`", *["Look again."] * 2)


def test_an_error_kept_as_text_is_told_anew() -> None:
    kept = str(errors.FolderEmpty("/notes is empty."))
    assert "--force" in kept
    assert retold(kept) == f"/notes is empty. {ON_PAGE[errors.FolderEmpty]}"
    assert retold("It is damaged.") == "It is damaged."
