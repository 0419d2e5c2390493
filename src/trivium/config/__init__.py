"""Reads settings: `settings` is the table, `presets` sets of values, `secrets` what is no setting.
The only package that reads the environment.

A value comes from the default, the user's config.toml, the environment (`TRIVIUM_CHUNK_SIZE` for
`chunk.size`) or the caller; later ones win. `trivium config` shows where each value comes from.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

from trivium.config.presets import PRESETS
from trivium.config.settings import PREFIX
from trivium.config.settings import Settings as Settings
from trivium.config.settings import config_file as config_file
from trivium.core.errors import BadSetting
from trivium.core.places import LibraryPlace, place_of
from trivium.core.types import Told, says
from trivium.models.endpoint import check_address
from trivium.operations.declaring import setting_name
from trivium.operations.declaring import shown as shown


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings in force and, for each name, where its value comes from."""

    settings: Settings
    origins: Mapping[str, str]


def load(given: Mapping[str, str] | None = None) -> Effective:
    """Read every setting; `given` holds values by name, as text, from a command line or caller."""
    file = config_file()
    layers = (
        (str(file), _from_file(file)),
        ("environment", _from_environment()),
        ("command line", dict(given or {})),
    )
    values: dict[str, Any] = {}
    origins = dict.fromkeys(names(), "default")
    for origin, layer in layers:
        if "preset" in layer:  # another system, not a mixture of two
            for name in [name for name, text in origins.items() if text.startswith("preset, ")]:
                values.pop(names()[name])
                origins[name] = "default"
        for text, named in ((f"preset, {origin}", _preset(layer, origin)), (origin, layer)):
            values |= converted(named, origin)
            origins |= dict.fromkeys(named, text)
    return Effective(Settings(**values), origins)


def converted(texts: Mapping[str, str], origin: str) -> dict[str, Any]:
    """Values by attribute of Settings, from texts by name."""
    attributes = {name: _attribute(name, origin) for name in texts}
    return {
        attributes[n][0]: _convert(n, text, attributes[n][1], origin) for n, text in texts.items()
    }


def _preset(layer: Mapping[str, str], origin: str) -> Mapping[str, str]:
    """A preset's values. Settings of the same layer override them; they override lower layers."""
    chosen = layer.get("preset", "")
    if chosen and chosen not in PRESETS:
        raise BadSetting(
            f"Unknown preset `{chosen}` ({origin}).", fix=f"Choose one of {', '.join(PRESETS)}."
        )
    return PRESETS.get(chosen, {})


@dataclass(frozen=True, slots=True)
class SettingAnswer(Told):
    """A setting as people and programs see it."""

    name: str
    value: str
    default: str
    origin: str = field(
        metadata=says("default, the file's path, environment, command line, preset.")
    )
    variable: str = field(metadata=says("The environment variable for this setting."))
    help: str

    @property
    def changed(self) -> bool:
        return self.origin != "default"


def listed(effective: Effective) -> list[SettingAnswer]:
    """Every setting with its value."""
    return [
        SettingAnswer(
            name,
            shown(getattr(effective.settings, names()[name])),
            default,
            effective.origins.get(name, "default"),
            variable,
            help_,
        )
        for name, default, variable, help_ in described()
    ]


@cache
def names() -> dict[str, str]:
    """Every setting's name and its attribute on Settings."""
    return {setting_name(f.name): f.name for f in _grouped()}


def described() -> list[tuple[str, str, str, str]]:
    """Name, default, environment variable and help of every setting, for people."""
    return [
        (name, shown(f.default), variable(name), f.metadata["help"])
        for name, f in zip(names(), _grouped(), strict=True)
        if f.default is not MISSING
    ]


@cache
def _grouped() -> list[Field[Any]]:
    """Settings group by group (`search.…`), as the class above begins them."""
    named = [*Settings.__annotations__, *(f.name for f in fields(Settings))]
    groups = dict.fromkeys(name.partition("_")[0] for name in named)
    order = {group: place for place, group in enumerate(groups)}
    return sorted(fields(Settings), key=lambda f: order[f.name.partition("_")[0]])


def variable(name: str) -> str:
    return PREFIX + name.replace(".", "_").upper()


def _from_file(path: Path) -> dict[str, str]:
    try:
        loaded = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as reason:
        raise BadSetting(f"Couldn't read {path}: {reason}.", fix="Fix or remove it.") from reason
    return dict(_flat(loaded, ""))


def _flat(table: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        pairs += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, str(value))]
    return pairs


def _from_environment() -> dict[str, str]:
    return {name: os.environ[variable(name)] for name in names() if variable(name) in os.environ}


def _attribute(name: str, origin: str) -> tuple[str, Any]:
    attribute = names().get(name)
    if attribute is None:
        from difflib import get_close_matches

        near = get_close_matches(name, names(), n=1)
        hint = f"Did you mean `{near[0]}`? " if near else ""
        fix = f"{hint}`trivium config` lists them all."
        raise BadSetting(f"Unknown setting `{name}` ({origin}).", fix=fix)
    return attribute, _types()[attribute]


@cache
def _types() -> dict[str, Any]:
    """Of every attribute, once: 1.7 ms of processor time."""
    return get_type_hints(Settings)


def _convert(name: str, text: str, type_: Any, origin: str) -> Any:
    if type_ == LibraryPlace:
        return place_of(text)
    if name == "archive.folder" and "://" in text:
        return text
    if isinstance(type_, UnionType):
        if text == "":
            return None
        type_ = next(t for t in get_args(type_) if t is not type(None))
    if type_ is Path:
        return Path(text).expanduser()
    if type_ is bool:
        return _switch(name, text, origin)
    if name.endswith(".url") and text:
        check_address(name, text)
    try:
        return type_(text)
    except ValueError as reason:
        wanted = {int: "a whole number", float: "a number"}.get(type_, "another value")
        raise BadSetting(
            f"`{name}` can't be {text!r} ({origin}).", fix=f"Give {wanted}."
        ) from reason


def _switch(name: str, text: str, origin: str) -> bool:
    values = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
    if text.lower() not in values:
        raise BadSetting(f"`{name}` can't be {text!r} ({origin}).", fix="Give on or off.")
    return values[text.lower()]
