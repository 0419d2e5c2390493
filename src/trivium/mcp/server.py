"""Speaks the Model Context Protocol for the tools, with the official SDK's low-level server.

Not its MCPServer: that one sets up the program's logging. Each request names its caller: over HTTP
by the token, over standard input and output by the command line.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import TypeAdapter, ValidationError

from trivium import __version__
from trivium.core.access import Caller
from trivium.core.errors import TriviumError, as_input_error
from trivium.core.types import Told
from trivium.library import Library
from trivium.mcp.tools import TOOLS, Tool
from trivium.operations.declaring import faults
from trivium.text.values import clean_text

log = logging.getLogger("trivium.mcp")

_INSTRUCTIONS = """A library of the user's own documents, searchable by meaning, words and spelling.
Search first. Read around a passage before you rely on it. Cite title and page. You see only
documents that this user may see."""
_MOST_REASON = 2_000
_INPUTS: dict[str, TypeAdapter[Any]] = {tool.name: TypeAdapter(tool.input) for tool in TOOLS}
_OUTPUTS = {tool.output: TypeAdapter(tool.output) for tool in TOOLS}

WhoCalls = Callable[[Any], Caller]  # of the SDK's request context
Run = Callable[[Callable[[], Told]], Awaitable[Told]]


async def _in_a_thread(call: Callable[[], Told]) -> Told:
    return await to_thread.run_sync(call)


def create_server(
    library: Library, who_calls: WhoCalls, *, allow_write: bool = False, run: Run = _in_a_thread
) -> Server[Any]:
    """`run` makes calls that take time."""
    tools = {tool.name: tool for tool in TOOLS if allow_write or not tool.writes}

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        rights = who_calls(ctx).rights
        return types.ListToolsResult(
            tools=[_described(tool) for tool in tools.values() if tool.right in rights]
        )

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            return _failed("tool.unknown", f"Unknown tool {params.name[:100]!r}.")
        caller = who_calls(ctx)
        try:
            caller.require(tool.right)
            request = _INPUTS[tool.name].validate_python(params.arguments or {})
            answer = await run(partial(tool.do, library, caller, request))
        except ValidationError as error:
            return _failed("request.invalid", _reason(error))
        except TriviumError as error:
            return _failed(error.code, str(error))
        except Exception as error:
            input_error = as_input_error(error)
            if input_error is not None:
                return _failed(input_error.code, str(input_error))
            log.exception("tool %s failed", tool.name)
            return _failed("internal", "Something went wrong inside Trivium.")
        return _answered(answer)

    return Server(
        "trivium",
        version=__version__,
        title="Trivium",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(tool: Tool[Any]) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=_INPUTS[tool.name].json_schema(),
        output_schema=_OUTPUTS[tool.output].json_schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _answered(answer: Told) -> types.CallToolResult:
    """The answer as structured data, and again as text for assistants that only read text."""
    adapter = _OUTPUTS[type(answer)]
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=adapter.dump_json(answer).decode())],
        structured_content=adapter.dump_python(answer, mode="json"),
    )


def _failed(code: str, message: str) -> types.CallToolResult:
    text = f"{clean_text(message)[:_MOST_REASON]} [{code}]"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _reason(error: ValidationError) -> str:
    return "; ".join(
        f"{where or 'arguments'}: {problem}" for where, problem in faults(error.errors())
    )


async def serve_stdio(library: Library, caller: Caller, *, allow_write: bool = False) -> None:
    """Serve until standard input ends."""
    server = create_server(library, lambda _: caller, allow_write=allow_write)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
