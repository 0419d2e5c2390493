"""The command that opens a player at a second of a recording. Prints it; starts nothing."""

from __future__ import annotations

import os
import shlex
import shutil

# By preference; the first is named even where none is installed.
_PLAYERS = (
    ("mpv", "mpv --start={second} {file}"),
    ("vlc", "vlc --start-time={second} {file}"),
    ("ffplay", "ffplay -ss {second} {file}"),
)


def player_command(uri: str, second: float | None) -> str:
    """Empty for what isn't a file on this machine: subtitles alone, uploads, pages of the web."""
    if second is None or uri.endswith((".srt", ".vtt", ".ttml")) or not os.path.isfile(uri):
        return ""
    command = next((text for name, text in _PLAYERS if shutil.which(name)), _PLAYERS[0][1])
    return command.format(second=f"{max(0.0, second):.1f}", file=shlex.quote(uri))
