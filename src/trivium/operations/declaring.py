"""How an option is declared: a field of a dataclass, with what every way in needs to know of it.

Bounds have pydantic's names (`ge`, `max_length`, …), because pydantic reads them from the field's
metadata; this module doesn't import it. They limit what a request over a network may carry. Python
and the terminal get the library's own checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")
_OPTION = "option"
# What a field tells FastAPI of a parameter.
BOUNDS = ("description", "ge", "gt", "le", "lt", "min_length", "max_length")
DEFAULTS: dict[str, Any] = {}  # of the settings declared so far, by their names


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A checkbox on the page."""

    name: str  # in the page's address
    label: str
    hint: str
    checked: Any = True  # the option's value
    unchecked: Any = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What people read about an option, and how each way in spells it."""

    says: str  # one sentence
    setting: str = ""  # gives the value if the caller doesn't
    flags: tuple[str, ...] = ()  # in the terminal; empty: `--name`, or `--name/--no-name`
    metavar: str = ""  # in the terminal
    repeated: str = ""  # the terminal takes it several times, which means this
    box: Box | None = None  # on the page
    labels: Mapping[str, str] = field(default_factory=dict)  # of its values, on the page
    assistants: bool = True  # whether assistants get it, whose schemas stay short


def option(says: str, default: Any = None, *, required: bool = False, **more: Any) -> Any:
    """A field of a dataclass of options. `more`: fields of `Option`, and bounds, see above."""
    own = {f.name: more.pop(f.name) for f in fields(Option) if f.name in more}
    declared, bounds = Option(says=says, **own), more
    metadata = {"description": says, **bounds, _OPTION: declared}
    if required:
        return field(metadata=metadata)
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def like(kind: type, name: str, default: Any = MISSING, **bounds: Any) -> Any:
    """The option that another dataclass declares, with another default or other bounds."""
    metadata = {**_field(kind, name).metadata, **bounds}
    return (
        field(metadata=metadata)
        if default is MISSING
        else field(default=default, metadata=metadata)
    )


def usual(kind: type, name: str, default: Any) -> Any:
    """The setting that an option overrides, with the same sentence."""
    declared = option_of(_field(kind, name))
    first, _, rest = declared.says.removesuffix(".").partition(" ")
    first = first.lower() if first.istitle() else first  # not HyDE
    return setting(declared.setting, default, f"{first} {rest}")


def setting(name: str, default: Any, help_: str) -> Any:
    """A field of a dataclass of settings."""
    DEFAULTS[name] = default
    return field(default=default, metadata={"help": help_})


def setting_name(attribute: str) -> str:
    """The name of a setting, by its attribute: `embed_threads` is `embed.threads`."""
    return attribute.replace("_", ".", 1)


def shown(value: Any) -> str:
    """A value of a setting as you would type it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value)


def requests(*examples: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `__pydantic_config__` of a dataclass that reads requests: unknown fields are errors."""
    described = {"json_schema_extra": {"examples": [*examples]}} if examples else {}
    return {"extra": "forbid", **described}


def _field(kind: type, name: str) -> Field[Any]:
    return next(f for f in fields(cast(Any, kind)) if f.name == name)


def option_of(declared: Field[Any]) -> Option:
    return cast(Option, declared.metadata[_OPTION])


def options_of(kind: type) -> list[Field[Any]]:
    """The declared options of a dataclass."""
    return [f for f in fields(cast(Any, kind)) if _OPTION in f.metadata]


def boxes_of(kind: type) -> dict[str, Box]:
    """The checkboxes of options that have one, by the option's name."""
    boxes = {f.name: option_of(f).box for f in options_of(kind)}
    return {name: box for name, box in boxes.items() if box is not None}


def labels_of(kind: type) -> dict[str, Mapping[str, str]]:
    """What the page calls the values of options, by the option's name."""
    return {f.name: option_of(f).labels for f in options_of(kind)}


def part(kind: type[T], whole: object, **changed: Any) -> T:
    """The options of one dataclass, out of a larger one."""
    values = {f.name: getattr(whole, f.name) for f in fields(cast(Any, kind))}
    return kind(**values | changed)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option, like))
def for_assistants(kind: type[T]) -> type[T]:
    """A dataclass of options without those that assistants don't get, which keep their defaults. It
    reads requests."""
    from typing import ClassVar

    setattr(kind, "__pydantic_config__", requests())  # noqa: B010
    for base in kind.__mro__[1:]:
        for inherited in getattr(base, "__dataclass_fields__", {}).values():
            if _OPTION in inherited.metadata and not option_of(inherited).assistants:
                default = None if inherited.default is MISSING else inherited.default
                setattr(kind, inherited.name, default)
                kind.__annotations__[inherited.name] = ClassVar[Any]
    return dataclass(frozen=True, kw_only=True)(kind)


# --- types


class Carried:
    """In `Annotated[...]`: the type that a request carries, where Python accepts more."""

    def __init__(self, kind: Any, *, or_none: bool = False, **bounds: Any) -> None:
        self.kind, self._or_none, self._bounds = kind, or_none, bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        schema = {**handler.generate_schema(self.kind), **self._bounds}
        return {"type": "nullable", "schema": schema} if self._or_none else schema


class OneIsAList:
    """In `Annotated[...]`: a single text stands for a list of one."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _through("function-before", _listed, handler(source))


class NotBlank:
    """In `Annotated[...]`: a text that isn't all blanks."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _through("function-after", _said, handler(source))


def _through(kind: str, function: Callable[[Any], Any], schema: Any) -> Any:
    called = {"type": "no-info", "function": function}
    return {"type": kind, "function": called, "schema": schema}


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _said(value: str) -> str:
    if not value.strip():
        raise ValueError("it is empty")
    return value


def kinds_of(kind: type) -> dict[str, Any]:
    """For each option, the type that a request carries, without None."""
    hints = get_type_hints(kind, include_extras=True)
    return {f.name: _plain(hints[f.name]) for f in options_of(kind)}


def _plain(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        carried = [mark.kind for mark in get_args(hint)[1:] if isinstance(mark, Carried)]
        return _plain(carried[0] if carried else get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        kinds = [_plain(other) for other in get_args(hint) if other is not NoneType]
        if bool in kinds:  # a switch, with more to say over a network
            return bool
        return kinds[0] if len(kinds) == 1 else str
    return hint


def faults(errors: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What pydantic found wrong with a request: where, and what."""
    plainer = {
        "unexpected_keyword_argument": "this field is unknown",
        "extra_forbidden": "this field is unknown",
        "dataclass_type": "Input should be a JSON object",
        "model_attributes_type": "Input should be a JSON object",
    }
    return [
        (".".join(map(str, error["loc"])), plainer.get(error["type"], str(error["msg"])))
        for error in errors
    ]
