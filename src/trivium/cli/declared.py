"""Makes the terminal's options from the declarations in `operations`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field
from enum import EnumType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import click

from trivium.cli.output import pair, pairs
from trivium.core.conditions import MetaScalar
from trivium.core.modes import Signal
from trivium.operations.declaring import DEFAULTS, Option, kinds_of, option_of, options_of, shown

F = TypeVar("F", bound=Callable[..., Any])


def declared(
    kind: type, *, only: Collection[str] = (), without: Collection[str] = ()
) -> Callable[[F], F]:
    """Adds the options of a dataclass to a command. Each arrives under its field's name, ready
    for the dataclass."""
    kinds = kinds_of(kind)
    chosen = [f for f in options_of(kind) if f.name not in without and (f.name in only or not only)]

    def add(command: F) -> F:
        for field in reversed(chosen):
            command = _click_option(field, kinds[field.name])(command)
        return command

    return add


def _click_option(field: Field[Any], kind: Any) -> Callable[[F], F]:
    option = option_of(field)
    flags = option.flags or (f"--{field.name.replace('_', '-')}",)
    default = None if field.default is MISSING else field.default
    settings: dict[str, Any] = {"default": None}
    if kind is bool and default is False:
        settings = {"is_flag": True}
    elif kind is bool and not option.flags:
        flags = (f"{flags[0]}/--no-{flags[0][2:]}",)
    elif kind in (int, float):
        settings["type"] = kind
    elif choices := _choices(get_args(kind)[0] if get_origin(kind) is list else kind):
        settings["type"] = click.Choice(choices)
    read = _all_of if option.repeated else _reader(kind)
    repeatable = read not in (None, _weights)
    if isinstance(default, tuple):  # as click gives several values
        settings |= {"default": [str(part) for part in default]}
    elif read:
        settings["callback"] = read
    elif default:
        settings["default"] = str(default)
    says = f"{option.says}{_repeated(option) if repeatable else ''}{_usual(option)}"
    return click.option(
        *flags,
        field.name,
        metavar=option.metavar or None,
        multiple=repeatable,
        show_default=bool(settings.get("default")),
        help=says,
        **settings,
    )


def _choices(kind: Any) -> list[str]:
    if isinstance(kind, EnumType):
        return [str(getattr(kind, name)) for name in kind.__members__]
    return [choice for choice in get_args(kind) if choice] if get_origin(kind) is Literal else []


def _reader(kind: Any) -> Callable[..., Any] | None:
    """Reads lists and mappings, as the terminal writes them."""
    if get_origin(kind) is list:
        return _several
    if get_origin(kind) not in (dict, Mapping):
        return None
    key, value = get_args(kind)
    if get_origin(value) is Annotated and get_args(value)[0] is str:
        return texts
    if key is Signal:
        return _weights
    if any(get_origin(part) is list for part in get_args(value)):
        return pairs
    return _single if value == MetaScalar else _boosts


def _repeated(option: Option) -> str:
    return f" Repeatable: {option.repeated}." if option.repeated else " Repeatable."


def _usual(option: Option) -> str:
    """The setting behind an option, and its default, for the help."""
    if not option.setting:
        return ""
    value = shown(DEFAULTS[option.setting])
    return f"  [setting {option.setting}{': ' + value if value else ''}]"


def texts(_ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    return dict(pair(value, param) for value in values)


def _several(
    _ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...] | None:
    return values or None


def _all_of(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> str:
    """Filters that must all match, as one."""
    return " ".join(f"({value})" for value in values if value.strip())


def _weights(
    _ctx: click.Context, _param: click.Parameter, value: str | None
) -> dict[Signal, float] | None:
    if value is None:
        return None
    try:
        numbers = [float(part) for part in value.split(",")]
        return dict(zip(Signal, numbers, strict=True))
    except ValueError as reason:
        raise click.BadParameter(
            "give three numbers, for meaning, words and spelling: 0.5,0.3,0.2"
        ) from reason


def _boosts(
    _ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]
) -> dict[str, float] | None:
    if not values:
        return None
    from trivium.search.prefer import boosts_written

    return boosts_written(values)


def _single(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, MetaScalar] | None:
    fields = pairs(ctx, param, values)
    for key, several in fields.items():
        if len(several) > 1:
            raise click.BadParameter(f"You gave `{key}` twice; a filter takes one value.")
    return {key: several[0] for key, several in fields.items()} or None
