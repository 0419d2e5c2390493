"""Faults while adding one document: whether they concern only that document, and how it reports
them. Knows nothing of steps or stores; the program decides where the log goes."""

from __future__ import annotations

import logging
from uuid import uuid4

from trivium.core.errors import DocumentFailed, ReadError, TriviumError
from trivium.text.values import clean_text

log = logging.getLogger("trivium.ingest")

_LONGEST = 300  # characters of a library's error message; the log has all of it


class Dropped(BaseException):
    """Somebody cancelled the job of a document while it was being read."""


def is_of_one_document(error: BaseException) -> bool:
    """Whether the other documents can continue. Not if the store or a model can't be used (every
    error of ours but read errors), and not if someone ends the program. Everything else is a fault,
    including what isn't an `Exception`, such as a panic in a Rust library."""
    if isinstance(error, TriviumError):
        return isinstance(error, ReadError)
    return not isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | Dropped)


def is_refused(error: BaseException | None) -> bool:
    """Whether a file can't be read, and not through a fault of ours."""
    return isinstance(error, ReadError) and not isinstance(error, DocumentFailed)


def failure(name: str, step: str, error: BaseException) -> ReadError:
    """The document's error, with the entry of the log that shows where it happened."""
    if isinstance(error, ReadError) and is_refused(error):
        return error
    entry = uuid4().hex[:8]
    fix = f"Please report it with entry {entry} of the log."
    if isinstance(error, DocumentFailed):  # in a process that reads files: its notes say where
        where = "\n".join(getattr(error, "__notes__", ()))
        log.error("[%s] %s %s", entry, error.message, where)
        return DocumentFailed(error.message, fix=fix)
    log.error("[%s] %s failed at the step %s", entry, name, step or "read", exc_info=error)
    said = " ".join(clean_text(_said(error)).split())
    said = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 3]}..."
    return DocumentFailed(
        f"Couldn't add {name}: something went wrong at the step {step or 'read'} ({said}).",
        fix=fix,
    )


def _said(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        return f"{kind}: {error}" if str(error) else kind
    except Exception:  # an error that cannot even be written
        return kind
