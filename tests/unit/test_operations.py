"""An option is declared once; the terminal, requests, assistants, the page and settings follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import TypeAdapter, ValidationError

from trivium.cli.declared import declared
from trivium.cli.main import cli
from trivium.core.types import Signal
from trivium.mcp.tools import TOOLS
from trivium.operations.catalogue import OPERATIONS
from trivium.operations.declaring import (
    Box,
    Carried,
    OneIsAList,
    boxes_of,
    faults,
    for_assistants,
    like,
    option,
    part,
    requests,
    usual,
)
from trivium.operations.searching import Search

PACKAGE = Path(__file__).parents[2] / "src" / "trivium"


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Paint:
    """What to paint."""

    __pydantic_config__ = requests({"walls": ["north"]})

    walls: Annotated[str | Sequence[str], Carried(list[str], max_length=2), OneIsAList()] = option(
        "Which walls.", (), flags=("--wall",)
    )
    coats: int | None = option("Number of coats.", setting="search.limit", ge=1, le=3)
    colour: Annotated[Colour | str, Carried(Colour)] = option("Which colour.", Colour.RED)
    finish: Annotated[str | None, Carried(Literal["matt", ""] | None)] = option("Which finish.")
    gloss: bool | None = option(
        "Add gloss.", strict=True, box=Box(name="g", label="Gloss", hint="shiny")
    )
    weights: Mapping[Signal, float] | None = option("Weights.", metavar="M,W,S", assistants=False)
    where: str = option("Where.", "", repeated="all must match")


@for_assistants
class PaintTool(Paint):
    coats: int = like(Paint, "coats", 2, le=2)


READ: TypeAdapter[Paint] = TypeAdapter(Paint)
TOOL: TypeAdapter[PaintTool] = TypeAdapter(PaintTool)


def typed(*arguments: str) -> Any:
    """What the command receives."""
    received: list[Any] = []

    @click.command()
    @declared(Paint)
    def paint(**given: Any) -> None:
        received.append(Paint(**given))

    answer = CliRunner().invoke(paint, arguments)
    return received[0] if received else answer.output


def test_the_terminal_gets_options_with_help() -> None:
    told = " ".join(typed("--help").split())
    assert "--wall TEXT Which walls. Repeatable." in told
    assert "--coats INTEGER Number of coats. [setting search.limit: 10]" in told
    assert "--colour [red|blue] Which colour. [default: red]" in told
    assert "--gloss / --no-gloss Add gloss." in told
    assert "--where TEXT Where. Repeatable: all must match." in told


def test_the_terminal_gives_what_the_dataclass_holds() -> None:
    assert typed() == Paint()
    given = (
        "--wall",
        "north",
        "--wall",
        "south",
        "--coats",
        "2",
        "--colour",
        "blue",
        "--no-gloss",
        "--finish",
        "matt",
    )
    assert typed(*given, "--weights", "1,0,2", "--where", "a:1", "--where", "b:2") == Paint(
        walls=("north", "south"),
        coats=2,
        colour="blue",
        gloss=False,
        finish="matt",
        weights=dict(zip(Signal, (1.0, 0.0, 2.0), strict=True)),
        where="(a:1) (b:2)",
    )
    assert "give three numbers" in typed("--weights", "1,2")


def test_requests_are_checked_and_described() -> None:
    read = READ.validate_python({"walls": "north", "coats": 3, "colour": "blue"})
    assert (read.walls, read.coats, read.colour) == (["north"], 3, Colour.BLUE)
    schema = READ.json_schema()
    assert schema["properties"]["coats"]["description"] == "Number of coats."
    assert schema["properties"]["coats"]["anyOf"][0]["maximum"] == 3
    assert schema["examples"] == [{"walls": ["north"]}]


@pytest.mark.parametrize(
    ("given", "where", "what"),
    [
        ({"coats": 4}, "coats", "less than or equal to 3"),
        ({"gloss": "yes"}, "gloss", "valid boolean"),
        ({"walls": ["a", "b", "c"]}, "walls", "at most 2"),
        ({"brush": 1}, "brush", "this field is unknown"),
        ([], "", "JSON object"),
    ],
)
def test_faults_say_where_and_what(given: Any, where: str, what: str) -> None:
    with pytest.raises(ValidationError) as caught:
        READ.validate_python(given)
    ((place, said),) = faults(caught.value.errors())
    assert place == where
    assert what in said


def test_assistants_get_fewer_options_with_their_own_bounds() -> None:
    properties = TOOL.json_schema()["properties"]
    assert "weights" not in properties
    assert properties["coats"]["default"] == properties["coats"]["maximum"] == 2
    assert properties["coats"]["description"] == "Number of coats."
    tool = TOOL.validate_python({"colour": "blue"})
    assert tool.weights is None
    assert part(Paint, tool, coats=1) == Paint(coats=1, colour=Colour.BLUE)
    with pytest.raises(ValidationError):
        TOOL.validate_python({"weights": {"vector": 1}})


def test_the_page_and_the_settings_follow() -> None:
    assert boxes_of(Paint) == {"gloss": Box(name="g", label="Gloss", hint="shiny")}

    @dataclass(frozen=True)
    class Usual:
        coats: int = usual(Paint, "coats", 1)

    (setting,) = fields(Usual)
    assert setting.metadata == {"help": "number of coats"}


@pytest.mark.parametrize("name", ["half_life", "every_word", "threshold", "analysis"])
def test_no_way_in_names_a_plain_option(name: str) -> None:
    """They come from the declaration. Boxes and mappings may have a place of their own."""
    for shell in ("cli/search.py", "http", "mcp", "web/state.py"):
        place = PACKAGE / shell
        for path in place.rglob("*.py") if place.is_dir() else [place]:
            if name == "analysis" and path.name in ("answers.py", "tools.py"):
                continue  # of a result, not of a request
            assert f"{name}=" not in path.read_text(), path
            assert f"{name}:" not in path.read_text(), path


def test_commands_and_tools_of_the_catalogue_exist() -> None:
    for operation in OPERATIONS.values():
        command: click.Command | None = cli
        for name in operation.command.split():
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), name)
        assert command is not None, operation.command
    tools = {tool.name: tool for tool in TOOLS}
    assert {one.tool for one in OPERATIONS.values() if one.tool} <= set(tools)
    rights = {name: tool.right for name, tool in tools.items() if tool.writes}
    assert rights == {"add_document": "add", "remove_document": "manage"}


@pytest.mark.parametrize("given", [True, False, None, "deep"])
def test_reranking_is_on_off_or_deep(given: object) -> None:
    assert TypeAdapter(Search).validate_python({"query": "x", "rerank": given}).rerank == given


@pytest.mark.parametrize("given", ["yes", 1, "shallow"])
def test_nothing_else_is_taken_for_reranking(given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Search).validate_python({"query": "x", "rerank": given})


def test_query_strings_are_declared_as_bodies_are() -> None:
    routes = (PACKAGE / "http" / "routes").glob("*.py")
    assert not [path.name for path in routes if "Query(" in path.read_text()]
