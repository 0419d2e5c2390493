"""Where a remote model is, how to ask it, and what its refusals mean to a person.

Pure: knows the rules of HTTP, but sends nothing and knows no library that does. The key never
appears in what is shown: not in a repr, nor in an error that quotes the server. An error names the
setting and not the address: it ends up in notes for everyone who searches, and where the models of
an organisation are is nobody else's business. The log has the address.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from trivium.core.errors import (
    BadSetting,
    ModelBusy,
    ModelFailing,
    ModelNonsense,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreachable,
)
from trivium.core.plugins import registered

GROUP = "trivium.models"  # entry points of services with models, by the scheme of their address
BEARER = "Authorization"
BUSY = frozenset({408, 425, 429, 503})  # it says: later
FAILING = 409  # and all of 5xx but 501, which no waiting mends
NOT_IMPLEMENTED = 501
QUOTED = 300  # characters of the server's message
# An address in a message of a server or client library, with a scheme or in numbers.
_ADDRESS = re.compile(
    r"(?<!\w)\w+://[^\s'\"<>)]+|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])"
)
BEDROCK = "bedrock:"  # an address too: Amazon's, whose region follows, or is as AWS is configured


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model behind an address. `role` is the first part of its settings' names."""

    role: str  # embed, rerank or generate
    url: str
    model: str
    key: str = field(default="", repr=False)
    key_header: str = BEARER
    seconds: float = 60.0  # for one attempt, or for one silence in a stream
    patience: float = 180.0  # for all attempts together, pauses included

    def __post_init__(self) -> None:
        role = self.role
        check_address(f"{role}.url", self.url)
        if not self.model:
            raise BadSetting(f"`{role}.url` is set, `{role}.model` is not.", fix="Name the model.")
        if not re.fullmatch(r"[A-Za-z0-9-]+", self.key_header):
            raise BadSetting(f"`{role}.key_header` isn't the name of a header.", fix="Correct it.")
        if not self.seconds > 0:
            raise BadSetting(
                f"`{role}.seconds` can't be {self.seconds:g}.", fix="Give more than 0."
            )
        if re.search(r"[^!-~]", self.key):  # a client library would quote it in its own error
            raise BadSetting(
                f"The key for `{role}` has a space or another character that keys don't have.",
                fix="Copy it again.",
            )

    def address(self, path: str) -> str:
        """The path under the URL, unless it ends so already: an address in full, with a query, is
        what Azure asks for."""
        parts = urlsplit(self.url)
        prefix = parts.path.rstrip("/")
        whole = prefix if prefix.endswith(path) else prefix + path
        return urlunsplit((parts.scheme, parts.netloc, whole, parts.query, ""))

    @property
    def is_local(self) -> bool:
        """On this machine: no proxy in between."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    def headers(self) -> dict[str, str]:
        if not self.key:
            return {}
        return {self.key_header: f"Bearer {self.key}" if self.key_header == BEARER else self.key}

    # --- what may go wrong, for people -----------------------------------------------------------

    def __str__(self) -> str:
        return f"{self.model} (`{self.role}.url`)"

    @property
    def place(self) -> str:
        """Its address, for the log."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"

    def unreachable(self, reason: str) -> ModelUnreachable:
        text = f"Couldn't connect to {self} ({self._clean(reason)})."
        return ModelUnreachable(text, fix=self._connection())

    def _connection(self) -> str:
        """What helps if it can't be reached."""
        return f"Check that it is running and that `{self.role}.url` is right."

    def late(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(
            f"{self} didn't answer within {seconds:.3g} seconds.",
            fix=f"Try again, or give it more time with the `{self.role}` settings in seconds.",
        )

    def refusal(self, status: int, body: bytes) -> ModelUnavailable:
        """The error for an answer that is not a success."""
        reason = self._error_text(body)
        if status in BUSY:
            return ModelBusy(f"{self} is busy ({status}). {reason}".rstrip())
        if status == FAILING or (status >= 500 and status != NOT_IMPLEMENTED):
            return ModelFailing(f"{self} fails ({status}). {reason}".rstrip())
        role = self.role
        if 300 <= status < 400:
            message, fix = "redirects to another address", f"Set `{role}.url` to the right address."
        elif status in (401, 403):
            message, fix = self._stranger()
        elif status == 404:
            message, fix = "was not found", f"Check `{role}.url` and `{role}.model`."
        else:
            message, fix = (
                "refuses the request",
                f"Check `{role}.model` and the settings beside it.",
            )
        return ModelRefused(f"{self} {message} ({status}). {reason}".rstrip(), fix=fix)

    def nonsense(self, problem: str) -> ModelNonsense:
        """The answer came, and cannot be used."""
        return ModelNonsense(
            f"{self} {problem}.",
            fix=f"Check that `{self.role}.url` and `{self.role}.model` name a model for this"
            " purpose.",
        )

    def failing(self, problem: str) -> ModelFailing:
        return ModelFailing(f"{self} {self._clean(problem)}.")

    def _stranger(self) -> tuple[str, str]:
        """The message if it refuses the key, and what helps."""
        return (
            "refuses the key" if self.key else "requires a key",
            f"Put a valid key into {key_variable(self.role)} or `{self.role}.key_file`.",
        )

    def _error_text(self, body: bytes) -> str:
        """The server's reason for its refusal, in one line."""
        text = body.decode("utf-8", "replace")
        try:
            payload = json.loads(text)
        except (ValueError, RecursionError):
            payload = text
        for name in ("error", "message", "detail"):
            if isinstance(payload, dict) and payload.get(name):
                payload = payload[name]
        reason = self._clean(payload if isinstance(payload, str) else json.dumps(payload))
        stop = "" if reason.endswith((".", "!", "?", "…")) else "."
        return f"It says: {reason}{stop}" if reason else ""

    def _clean(self, text: str) -> str:
        if self.key:
            text = text.replace(self.key, "…")
        text = _ADDRESS.sub("…", text)
        host = urlsplit(self.url).hostname
        if host:
            text = re.sub(
                rf"(?<!\w){re.escape(host)}(?::\d+)?(?!\w)", "…", text, flags=re.IGNORECASE
            )
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line if len(line) <= QUOTED else line[:QUOTED].rstrip() + "…"


def key_variable(role: str) -> str:
    """The environment variable that holds a role's key."""
    return f"TRIVIUM_{role.upper()}_KEY"


def check_address(name: str, url: str) -> None:
    """Raises BadSetting, which does not repeat the URL: it might hold a password."""
    if url.startswith(BEDROCK):
        if not re.fullmatch(r"[a-z0-9-]*", url.removeprefix(BEDROCK)):
            raise BadSetting(f"`{name}` names no region.", fix="Write bedrock:eu-central-1.")
        return
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("", "http", "https") and parts.scheme in registered(GROUP):
            return  # another package knows what such an address means
        whole = bool(parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
    except ValueError:
        whole = False
    if not whole:
        raise BadSetting(
            f"`{name}` isn't the address of a server.", fix="Write http://, https:// or bedrock:."
        )
    if parts.username is not None:
        role = name.partition(".")[0]
        raise BadSetting(
            f"`{name}` contains a user name or a password.",
            fix=f"Put the key into {key_variable(role)}.",
        )
