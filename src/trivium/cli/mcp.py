"""`trivium mcp`: serves the library to an AI assistant that starts this program."""

from __future__ import annotations

import click

from trivium.cli.output import Shell, with_shell
from trivium.core.plugins import needs


@click.command("mcp")
@click.option(
    "--audience",
    "audiences",
    multiple=True,
    help="Answer as someone with this access label, not as the owner. Repeatable.",
)
@click.option(
    "--collection", "collections", multiple=True, help="Only this collection. Repeatable."
)
@click.option("--allow-write", is_flag=True, help="Let the assistant add and remove documents.")
@with_shell
def mcp_command(
    shell: Shell, audiences: tuple[str, ...], collections: tuple[str, ...], allow_write: bool
) -> None:
    """Serve an AI assistant over standard input and output (MCP).

    The assistant starts this: in its settings, enter `trivium` as the command and `mcp` as the
    argument. It can only search and read, unless you allow more. `trivium serve` offers the same
    at /mcp, with tokens.

    \b
    trivium mcp
    trivium mcp --audience player --collection rules
    """
    with needs("mcp"):
        import anyio

        from trivium.mcp.server import serve_stdio
    from dataclasses import replace

    from trivium.core.access import LOCAL_OWNER

    caller = replace(
        LOCAL_OWNER,
        audiences=frozenset(audiences) if audiences else None,
        collections=frozenset(collections) if collections else None,
    )
    with shell.library() as library:

        async def serve() -> None:
            await serve_stdio(library, caller, allow_write=allow_write)

        anyio.run(serve)
