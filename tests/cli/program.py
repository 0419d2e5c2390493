"""Runs the real program in this process; has the texts of the tests' library."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from trivium.cli.main import run

WEAPONS = """# Weapons

## Axes

A battle axe needs two hands and a strong back. It splits shields.

## Blades

The short sword is the weapon of stairwells, cabins and crowded market halls.
"""
CROWN = """---
title: The Drowned Crown
year: 2021
category: lore
---

Divers raised the crown from the harbour of Port Amble. Nobody knows who wore it.
"""
SECRETS = """---
audience: dm-only
---

# Secrets

The crown is cursed: who wears it hears the sea, and follows.
"""


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        found: dict[str, str] = self.json["error"]
        return found


Program = Callable[..., Answer]


def call(*arguments: object) -> Answer:
    """The program in this process, its two streams caught as a pipe would catch them."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        code = run([str(argument) for argument in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return Answer(code, out, err)
