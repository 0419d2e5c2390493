"""Secrets: keys of models, and secrets of sources, wherever they are.

A library stores a secret that someone sent encrypted with a key of this machine's own. That key is
TRIVIUM_SECRET_KEY, or in a file beside the settings that only its owner may read; it is created
when it is first needed. So neither a copy of a library, nor a backup, nor a reader of its database
gives a secret away. Knows nothing of sources.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from trivium.config.settings import config_file
from trivium.core.errors import BadSetting
from trivium.models.endpoint import key_variable

VARIABLE = "TRIVIUM_SECRET_KEY"


def key(role: str, file: Path | None) -> str:
    """The key for a remote model, from TRIVIUM_EMBED_KEY and the like, or from the file. A key is
    not a setting, so nothing that shows settings can show it."""
    value = os.environ.get(key_variable(role), "")
    if value or file is None:
        return value.strip()
    return _text_of(file, f"the `{role}.key_file`")


def _text_of(file: Path, purpose: str) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as reason:
        why = reason.strerror if isinstance(reason, OSError) else "it isn't text"
        raise BadSetting(
            f"Couldn't read {file}, {purpose}: {why}.", fix="Check its path and permissions."
        ) from None


_COMMAND_SECONDS = 60  # for a program that prints a secret


def secret(name: str, place: str, listed: str = "") -> str:
    """A secret of a source: `env:NAME` names a variable, `file:PATH` a file that holds it,
    `command:COMMAND` a program that prints it, such as one that renews a token of OAuth 2,
    `name:NAME` one of those `listed` by `sync.secrets`; `value:TEXT` is the secret itself, and
    `sealed:TEXT` the same as `sealed` stores it."""
    kind, _, where = place.partition(":")
    if kind == "sealed" and where:
        return _unsealed(where, name)
    if kind == "value" and where:
        return where
    if kind == "name" and where:
        secrets = listed_secrets(listed)
        if where not in secrets:
            raise BadSetting(
                f"The operator of this server listed no secret named {where[:80]!r}.",
                fix="Choose one that `sync.secrets` lists, or send the secret itself.",
            )
        return secret(name, secrets[where])
    if kind == "env" and where:
        if text := os.environ.get(where, "").strip():
            return text
        raise BadSetting(
            f"The environment variable {where}, which should hold the {name}, isn't set.",
            fix="Set it, or name a file that holds it.",
        )
    if kind == "file" and where:
        return _text_of(Path(where).expanduser(), f"the file with the {name}")
    if kind == "command" and where:
        return _printed(name, where)
    raise BadSetting(
        f"Give the {name} as env:NAME, file:PATH or command:COMMAND.",
        fix="Trivium never stores a secret: name the variable or the file that holds it.",
    )


def sealed(place: str) -> str:
    """Where a secret is, as a library stores it: the secret itself is encrypted."""
    kind, _, text = place.partition(":")
    if kind != "value" or not text:
        return place
    from cryptography.fernet import Fernet

    return f"sealed:{Fernet(_sealing_key(make=True)).encrypt(text.encode()).decode()}"


def _printed(name: str, command: str) -> str:
    """By a program, without a shell. What it prints is in no error."""
    import shlex
    import subprocess

    try:
        done = subprocess.run(
            shlex.split(command), capture_output=True, timeout=_COMMAND_SECONDS, check=True
        )
        if printed := done.stdout.decode("utf-8").strip():
            return printed
        why = "it printed nothing"
    except subprocess.CalledProcessError as reason:
        why = f"it ended with {reason.returncode}"
    except subprocess.TimeoutExpired:
        why = f"it took more than {_COMMAND_SECONDS} seconds"
    except (OSError, ValueError) as reason:
        why = (
            (reason.strerror or "not found") if isinstance(reason, OSError) else "it can't be read"
        )
    raise BadSetting(
        f"The command that should print the {name} failed: {why}.",
        fix=f"Run it in a terminal: {command}",
    )


def listed_secrets(text: str) -> dict[str, str]:
    """Places of secrets by name, from `sync.secrets`. Raises BadSetting."""
    places = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, place = (side.strip() for side in part.partition("="))
        if not name or not place.startswith(("env:", "file:", "command:")):
            raise BadSetting(
                f"`sync.secrets` can't be read at {name[:80]!r}.",
                fix="Write NAME=env:VARIABLE or NAME=file:PATH, comma-separated.",
            )
        places[name] = place
    return places


def usual_secret(variable: str) -> str:
    """What a variable holds that nobody named; empty: it isn't set."""
    return os.environ.get(variable, "").strip()


def _unsealed(text: str, name: str) -> str:
    """`name`: of the secret, for people. Raises BadSetting."""
    from cryptography.fernet import Fernet, InvalidToken

    try:
        return Fernet(_sealing_key()).decrypt(text.encode()).decode()
    except (InvalidToken, FileNotFoundError) as reason:
        raise BadSetting(
            f"The {name} was encrypted with another key than this machine's.",
            fix=f"Set {VARIABLE} to the key of the machine where you added the source, or remove"
            " the source (you can keep its documents) and add it again.",
        ) from reason


def _sealing_key(*, make: bool = False) -> bytes:
    from cryptography.fernet import Fernet

    file = config_file().with_name("secret.key")
    try:
        value = os.environ.get(VARIABLE, "").strip().encode()
        if not value and make:
            _make_key(file)
        key = value or file.read_bytes().strip()
        Fernet(key)
        return key
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as reason:
        why = reason.strerror if isinstance(reason, OSError) else "it isn't a key"
        where = VARIABLE if value else str(file)
        raise BadSetting(
            f"Couldn't use the key for stored secrets ({where}): {why}.",
            fix=f"Set {VARIABLE} to 32 random bytes in URL-safe Base64.",
        ) from reason


def _make_key(file: Path) -> None:
    """Whole or not at all, and only once, whoever else makes it at the same time."""
    import tempfile

    from cryptography.fernet import Fernet

    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, path = tempfile.mkstemp(dir=file.parent)  # for its owner alone
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(Fernet.generate_key())
        with suppress(FileExistsError):
            os.link(path, file)
    finally:
        os.unlink(path)
