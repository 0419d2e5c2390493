"""`trivium config`: every setting, its value, and where that value comes from."""

from __future__ import annotations

import click

from trivium.cli.output import Shell, with_shell


@click.command("config")
@with_shell
def config_command(shell: Shell) -> None:
    """Show every setting: value, origin, meaning.

    \b
    trivium config
    trivium config --set chunk.size=300        try a value
    TRIVIUM_SEARCH_LIMIT=20 trivium config     by an environment variable
    """

    from trivium.config import config_file, listed, names
    from trivium.core.shapes import as_json

    effective = shell.settings()
    settings = listed(effective)
    if shell.json:
        values = [getattr(effective.settings, names()[setting.name]) for setting in settings]
        typed = [value if isinstance(value, int | float | None) else str(value) for value in values]
        rows = [as_json(s) | {"value": value} for s, value in zip(settings, typed, strict=True)]
        shell.emit({"file": str(config_file()), "settings": rows})
        return
    if shell.out.is_terminal:  # a table of four columns breaks the names at 80
        for setting in settings:
            origin = f"  ({setting.origin})" if setting.changed else ""
            shell.say(f"{setting.name} = {setting.value}{origin}")
            shell.say(setting.help, indent=4, style="dim")
    else:
        columns = ("name", "value", "origin", "meaning")
        shell.table(columns, [(s.name, s.value, s.origin, s.help) for s in settings])
    variable = settings[-1].variable
    shell.note(f"Change them in {config_file()} or with environment variables such as {variable}.")
