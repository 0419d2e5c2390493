"""`trivium serve`: serves the library to browsers, over HTTP, and to AI assistants over MCP."""

from __future__ import annotations

import click

from trivium.cli.output import Shell, with_shell
from trivium.core.plugins import needs


def _workers(typed: str) -> int:
    return 0 if typed == "auto" else int(typed)


@click.command("serve")
@click.option("--host", help="Address to listen on.  [setting serve.host: 127.0.0.1]")
@click.option("--port", type=int, help="Port; 0 picks a free one.  [setting serve.port: 8420]")
@click.option(
    "--workers",
    type=_workers,
    metavar="N|auto",
    help="Number of server processes; auto: by the number of processors.  [setting serve.workers]",
)
@click.option(
    "--insecure-without-tokens",
    "without_tokens",
    is_flag=True,
    help="Let anyone who can reach the address in, as the owner.",
)
@click.option(
    "--allow-write", is_flag=True, help="Let assistants at /mcp write, if their token allows it."
)
@with_shell
def serve_command(
    shell: Shell,
    host: str | None,
    port: int | None,
    workers: int | None,
    without_tokens: bool,
    allow_write: bool,
) -> None:
    """Serve the library: a page for people at /, /v1 for programs, /mcp for AI assistants.

    Creates an empty library if you have none. On this machine nobody needs a token until you create
    one; from anywhere else everyone does. The server also runs queued jobs and follows watched
    folders. /openapi.json describes the API. Ctrl-C stops it after the work in progress.

    \b
    trivium serve
    trivium serve --port 9000 --workers 2
    trivium token create --audience player && trivium serve --host 0.0.0.0
    """
    options = {"serve.host": host, "serve.port": port, "serve.workers": workers}
    shell.given.update({name: str(value) for name, value in options.items() if value is not None})
    with needs("serve"):
        _import_fastapi()
        from trivium.http.logs import log_to_stderr
        from trivium.http.serve import plan, run
        from trivium.web.site import furnish
    effective = shell.settings()
    chosen = plan(
        effective.settings,
        without_tokens=without_tokens,
        allow_write=allow_write,
        origins=effective.origins,
        furnish=furnish,
    )
    log_to_stderr(effective.settings)

    def ready(address: str) -> None:
        if shell.json:
            shell.emit({"address": address, "tokens": not chosen.open_to_all})
        else:
            shell.say(f"Serving at {address}")
            if chosen.made:
                shell.note(f"New library in {chosen.settings.library}. Open the page to add files.")
            shell.note(_who(chosen.open_to_all, chosen.settings.serve_host))

    run(chosen, on_ready=ready)


def _import_fastapi() -> None:
    """Its 40 models of OpenAPI are built when somebody asks for /openapi.json: .1 s of a start."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        import fastapi  # noqa: F401
    finally:
        del BaseModel.model_config["defer_build"]


def _who(open_to_all: bool, host: str) -> str:
    from trivium.http.serve import is_loopback

    if not open_to_all:
        return "Every request needs a token; `trivium token list` shows them."
    if is_loopback(host):
        return (
            "Anyone on this machine can see and change everything."
            " Create a token to restrict access."
        )
    return "ANYONE who can reach this address can see and change everything."
