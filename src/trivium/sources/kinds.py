"""Which kinds of sources a library can sync: ours, and those that other packages registered.

A kind is registered under the entry point group `trivium.sources` as a `SourceKind`. Ours are
registered in the same way. Loaded on call: naming one source imports no other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.metadata import EntryPoint

from trivium.core.errors import BadSetting, SourceNotFound, TriviumError
from trivium.core.plugins import loading, registered
from trivium.ports import SourceAsked, SourceKind, SyncSource

GROUP = "trivium.sources"
# As in pyproject.toml, so that they work without an installation too.
_OURS = {
    "feed": "trivium.sources.feed:FEED",
    "github": "trivium.sources.github:KIND",
    "imap": "trivium.sources.imap:KIND",
    "linear": "trivium.sources.linear:KIND",
    "mbox": "trivium.sources.mbox:KIND",
    "notes": "trivium.sources.notes:KIND",
    "notion": "trivium.sources.notion:KIND",
    "sitemap": "trivium.sources.feed:SITEMAP",
    "slack": "trivium.sources.slack:KIND",
    "slack-export": "trivium.sources.slack_export:KIND",
    "trilium": "trivium.sources.trilium:KIND",
    "zotero": "trivium.sources.zotero:KIND",
}


def entries() -> dict[str, EntryPoint]:
    """By name; nobody can replace ours by accident."""
    ours = {name: EntryPoint(name, value, GROUP) for name, value in _OURS.items()}
    return dict(sorted((registered(GROUP) | ours).items()))


def kind_of(name: str) -> SourceKind:
    """Raises SourceNotFound, BadSetting."""
    kinds = entries()
    if name not in kinds:
        near = get_close_matches(name, kinds, n=1)
        hint = f"Did you mean `{near[0]}`? " if near else ""
        fix = f"{hint}Known: {', '.join(kinds)}."
        raise SourceNotFound(f"Unknown kind of source {name!r}.", fix=fix)
    entry = kinds[name]
    with loading(f"the source {name}", entry):
        kind = entry.load()
        if not isinstance(kind, SourceKind):
            raise TypeError("it isn't a SourceKind")
    return kind


def absolute(kind: str, options: Mapping[str, str]) -> dict[str, str]:
    """With whole paths: a source runs wherever a server is started."""
    named = kind_of(kind).files if kind in entries() else ()
    paths = {name: os.path.expanduser(options[name]) for name in named if options.get(name)}
    return {**options, **{option: os.path.abspath(path) for option, path in paths.items()}}


def place_of(kind: str, options: Mapping[str, str]) -> str:
    """The file or folder that a source reads; empty: none, or its package is gone."""
    try:
        named = kind_of(kind).files[:1]
    except TriviumError:
        return ""
    return "".join(absolute(kind, options).get(name, "") for name in named)


def usual_variable(kind: str, secret: str) -> str:
    """The environment variable to look in for a secret if you don't say where it is."""
    return f"TRIVIUM_{kind}_{secret}".replace("-", "_").upper()


def needed_secret(source: SourceAsked, kind: str, name: str) -> str:
    """A secret that a kind needs. Raises BadSetting."""
    if secret := source.secrets.get(name):
        return secret
    raise BadSetting(
        f"{kind} needs the secret `{name}`.",
        fix=f"Set {usual_variable(kind, name)}, or say where it is: {name}=env:NAME or"
        f" {name}=file:PATH.",
    )


def check_sent(kind: SourceKind, options: Mapping[str, str], allowed: str) -> None:
    """Check the options of a source that someone sent over HTTP. `allowed`: `sync.addresses`.
    Raises BadSetting."""
    allowed_addresses = {_plain(address) for address in (*kind.own, *allowed.split(","))}
    for option, address in kind.guarded.items():
        sent = options.get(address, "")
        if option in kind.options and options.get(option) and _plain(sent) not in allowed_addresses:
            raise BadSetting(
                f"This server may not connect to {sent[:200]!r} for a source that was sent to it"
                f" (`{option}`).",
                fix="Leave the option out, or ask the operator to add the address to"
                " `sync.addresses`. On the server's machine you can run `trivium sync add`.",
                on_page="Leave the option out, or ask the person who runs this server to add the"
                " address to `sync.addresses`.",
            )


def _plain(address: str) -> str:
    return address.strip().rstrip("/").lower()


def make(kind: SourceKind, source: SourceAsked) -> SyncSource:
    """Raises BadSetting if an option is unknown or missing."""
    for name in source.options:
        if name not in kind.options:
            options = ", ".join(kind.options) or "none"
            raise BadSetting(f"{kind.name} has no option `{name}`.", fix=f"Choose from {options}.")
    for name in kind.required:
        if not source.options.get(name):
            raise BadSetting(
                f"{kind.name} needs the option `{name}`: {kind.options[name]}.", fix="Give it."
            )
    return kind.make(source)
