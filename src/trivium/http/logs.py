"""Logs of servers and workers, on standard error: lines for people, or JSON for programs. Never
what people search for, nor text of documents: `log.queries` keeps queries, if you ask for it."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from trivium.config import Settings
from trivium.core.errors import BadSetting

REQUEST = ("request", "caller", "method", "path", "route", "status", "ms", "code")


class JsonLines(logging.Formatter):
    """One JSON object a line. What a record of a request carries is under its own name."""

    def __init__(self, library: str) -> None:
        super().__init__()
        self._library = library

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            "library": self._library,
        }
        fields |= {name: getattr(record, name) for name in REQUEST if hasattr(record, name)}
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False, default=str)


def log_to_stderr(settings: Settings) -> None:
    """Unless the caller has set up logging. Raises BadSetting."""
    if settings.log_format not in ("text", "json"):
        raise BadSetting(
            f"`log.format` can't be {settings.log_format!r}.", fix="Choose text or json."
        )
    root = logging.getLogger("trivium")
    if logging.getLogger().handlers or root.handlers:
        return
    handler = logging.StreamHandler()
    if settings.log_format == "json":
        handler.setFormatter(JsonLines(str(settings.library)))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO)
