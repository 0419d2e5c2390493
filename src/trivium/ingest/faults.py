"""A fault met while one document was worked on: whose it is, and how it becomes that document's.

Knows nothing of steps or stores; where the log goes is for the program to say.
"""

from __future__ import annotations

import logging
from uuid import uuid4

from trivium.errors import DocumentFailed, ReadError, TriviumError
from trivium.text.values import clean_text

log = logging.getLogger("trivium.ingest")

_LONGEST = 300  # characters of what a library says went wrong; the log has all of it


def is_of_one_document(error: BaseException) -> bool:
    """Whether the others can go on. Not where the store or a model says that it cannot be used
    (every error of ours but those of reading), and not where somebody ends the program. All else is
    a fault: also what is no `Exception`, such as a panic inside a library written in Rust."""
    if isinstance(error, TriviumError):
        return isinstance(error, ReadError)
    return not isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit)


def failure(name: str, step: str, error: BaseException) -> ReadError:
    """What to say of the document, with the entry of the log that shows where it happened."""
    if isinstance(error, ReadError):
        return error
    entry = uuid4().hex[:8]
    log.error("[%s] %s failed at the step %s", entry, name, step or "read", exc_info=error)
    said = " ".join(clean_text(_said(error)).split())
    said = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 3]}..."
    return DocumentFailed(
        f"Couldn't add {name}: something went wrong at the step {step or 'read'} ({said}).",
        fix=f"Please report it with entry {entry} of the log.",
    )


def _said(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        return f"{kind}: {error}" if str(error) else kind
    except Exception:  # an error that cannot even be written
        return kind
