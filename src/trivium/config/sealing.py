"""Encrypts the secrets of sources that a library stores, with a key of this machine's own.

The key is TRIVIUM_SECRET_KEY, or in a file beside the settings that only its owner may read; it is
created when it is first needed. So neither a copy of a library, nor a backup, nor a reader of
its database gives a secret away. Knows nothing of sources.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from trivium.core.errors import BadSetting

VARIABLE = "TRIVIUM_SECRET_KEY"


def seal(text: str, file: Path) -> str:
    """`file`: where the key lies. Raises BadSetting."""
    from cryptography.fernet import Fernet

    return Fernet(_key(file, make=True)).encrypt(text.encode()).decode()


def unseal(sealed: str, name: str, file: Path) -> str:
    """`name`: of the secret, for people. Raises BadSetting."""
    from cryptography.fernet import Fernet, InvalidToken

    try:
        return Fernet(_key(file)).decrypt(sealed.encode()).decode()
    except (InvalidToken, FileNotFoundError) as reason:
        raise BadSetting(
            f"The {name} was encrypted with another key than this machine's.",
            fix=f"Set {VARIABLE} to the key of the machine where you added the source, or remove"
            " the source (you can keep its documents) and add it again.",
        ) from reason


def _key(file: Path, *, make: bool = False) -> bytes:
    from cryptography.fernet import Fernet

    try:
        value = os.environ.get(VARIABLE, "").strip().encode()
        if not value and make:
            _make(file)
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


def _make(file: Path) -> None:
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
