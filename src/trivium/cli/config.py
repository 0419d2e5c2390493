"""`trivium config`: every setting, its value, and where that value comes from."""

from __future__ import annotations

import click

from trivium.cli.output import Shell, printable, with_shell


@click.command("config")
@with_shell
def config_command(shell: Shell) -> None:
    """Show every setting: value, origin, meaning.

    \b
    trivium config
    trivium config --set chunk.size=300        try a value
    TRIVIUM_SEARCH_LIMIT=20 trivium config     by an environment variable
    """
    from rich.text import Text

    from trivium.config import config_file, described, names, shown

    effective = shell.settings()
    settings = []
    for name, default, variable, help_ in described():
        value = getattr(effective.settings, names()[name])
        settings.append(
            {
                "name": name,
                "value": value if isinstance(value, int | float | None) else str(value),
                "default": default,
                "origin": effective.origins[name],
                "variable": variable,
                "help": help_,
            }
        )
    if shell.json:
        shell.emit({"file": str(config_file()), "settings": settings})
        return
    rows = [
        [name, shown(getattr(effective.settings, attribute)), effective.origins[name], help_]
        for (name, _, _, help_), attribute in zip(described(), names().values(), strict=True)
    ]
    if shell.out.is_terminal:  # a table of four columns breaks the names at 80
        for name, value, origin, help_ in rows:
            text = f"{name} = {value}" + ("" if origin == "default" else f"  ({origin})")
            shell.say(printable(text))
            shell.say(Text(help_, style="dim"), indent=4)
    else:
        shell.table(("name", "value", "origin", "meaning"), rows)
    shell.note(f"Change them in {config_file()} or with environment variables such as {variable}.")
