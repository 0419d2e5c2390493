"""Settings: one table of names, defaults and help; the only place that reads the environment.

A value comes from, in rising order: the default, the user's config.toml, the environment
(`TRIVIUM_CHUNK_SIZE` for `chunk.size`), and what the caller passes. Its origin is kept, so that
`trivium config` can show it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

import platformdirs

from trivium.errors import BadSetting

APP = "trivium"
_PREFIX = "TRIVIUM_"


def _setting(name: str, default: Any, help_: str) -> Any:
    return field(default=default, metadata={"name": name, "help": help_})


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of Trivium. Add one here and it exists in file, environment and docs."""

    library: Path = _setting(
        "library", Path(platformdirs.user_data_dir(APP)) / "library", "folder of the library"
    )
    cache: Path = _setting(
        "cache", Path(platformdirs.user_cache_dir(APP)), "folder for model files and judged sets"
    )
    embed_folder: Path | None = _setting(
        "embed.folder", None, "folder of a sentence-transformers model; empty: all-MiniLM-L6-v2"
    )
    embed_threads: int = _setting("embed.threads", 0, "processor threads for embedding; 0: all")
    embed_max_tokens: int = _setting(
        "embed.max_tokens", 512, "tokens of a text that the embedding model reads"
    )
    embed_query_prefix: str = _setting(
        "embed.query_prefix", "", "put in front of a query, for models that were trained so"
    )
    embed_document_prefix: str = _setting(
        "embed.document_prefix", "", "put in front of a chunk, for models that were trained so"
    )
    chunk_size: int = _setting("chunk.size", 400, "greatest size of a chunk in tokens")
    chunk_overlap: int = _setting("chunk.overlap", 80, "tokens that neighbouring chunks share")
    chunk_minimum: int = _setting("chunk.minimum", 40, "smaller pieces are merged, in tokens")
    chunk_strategy: str = _setting(
        "chunk.strategy",
        "auto",
        "auto: by kind of document; or recursive, sections, abstract, messages, rows",
    )
    chunk_ceiling: int = _setting(
        "chunk.ceiling", 2000, "greatest size of a paper's chunk; what the model reads, if less"
    )
    chunk_most: int = _setting("chunk.most", 100, "chunks of a paper; what is beyond is said")
    chunk_summary: str = _setting(
        "chunk.summary",
        "extractive",
        "`extractive`: a summary of its document is embedded with every chunk; `off`: none is",
    )
    read_ocr: str = _setting(
        "read.ocr", "auto", "off, auto: pages without usable text are recognised, force: all are"
    )
    read_languages: str = _setting(
        "read.languages", "eng+deu", "languages of scans, by tesseract's names joined by +"
    )
    read_seconds: float = _setting("read.seconds", 60.0, "time for reading a file, or a step of it")
    read_memory: int = _setting("read.memory", 2 << 30, "bytes of memory for reading a file")
    read_max_bytes: int = _setting("read.max_bytes", 100 * 1024 * 1024, "greatest size of a file")
    search_limit: int = _setting("search.limit", 10, "results of a search")
    search_threshold: float = _setting(
        "search.threshold", -1.0, "least similarity of a vector hit, -1 to 1"
    )
    fusion_method: str = _setting(
        "fusion.method", "scores", "`scores` adds scaled scores, `rrf` reciprocal ranks"
    )
    fusion_adaptive: str = _setting(
        "fusion.adaptive", "on", "`on`: weights move with how sure the signals are; `off`: fixed"
    )
    fusion_k: float = _setting("fusion.k", 10.0, "rank constant of `rrf`; smaller is sharper")
    fusion_vector: float = _setting("fusion.vector", 0.5, "weight of the vector signal")
    fusion_keyword: float = _setting("fusion.keyword", 0.3, "weight of the keyword signal")
    fusion_trigram: float = _setting("fusion.trigram", 0.2, "weight of the trigram signal")


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings in force and, for each name, where its value comes from."""

    settings: Settings
    origins: Mapping[str, str]


def load(given: Mapping[str, str] | None = None) -> Effective:
    """`given`: values by name, as text, from a command line or a caller."""
    file = config_file()
    layers = (
        (str(file), _from_file(file)),
        ("environment", _from_environment()),
        ("command line", dict(given or {})),
    )
    values: dict[str, Any] = {}
    origins = dict.fromkeys(names(), "default")
    for origin, layer in layers:
        for name, text in layer.items():
            attribute, type_ = _known(name, origin)
            values[attribute] = _convert(name, text, type_, origin)
            origins[name] = origin
    return Effective(Settings(**values), origins)


def names() -> dict[str, str]:
    """Every setting's name and its attribute on Settings."""
    return {f.metadata["name"]: f.name for f in fields(Settings)}


def described() -> list[tuple[str, str, str, str]]:
    """Name, default, environment variable and help of every setting, for people."""
    return [
        (f.metadata["name"], _shown(f.default), variable(f.metadata["name"]), f.metadata["help"])
        for f in fields(Settings)
        if f.default is not MISSING
    ]


def variable(name: str) -> str:
    return _PREFIX + name.replace(".", "_").upper()


def config_file() -> Path:
    chosen = os.environ.get(f"{_PREFIX}CONFIG")
    return Path(chosen) if chosen else Path(platformdirs.user_config_dir(APP)) / "config.toml"


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def _from_file(path: Path) -> dict[str, str]:
    try:
        loaded = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as reason:
        raise BadSetting(f"{path} cannot be read: {reason}.", fix="Mend or remove it.") from reason
    return dict(_flat(loaded, ""))


def _flat(table: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        pairs += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, str(value))]
    return pairs


def _from_environment() -> dict[str, str]:
    return {name: os.environ[variable(name)] for name in names() if variable(name) in os.environ}


def _known(name: str, origin: str) -> tuple[str, Any]:
    attribute = names().get(name)
    if attribute is None:
        raise BadSetting(
            f"There is no setting `{name}` ({origin}).", fix="`trivium config` lists them all."
        )
    return attribute, get_type_hints(Settings)[attribute]


def _convert(name: str, text: str, type_: Any, origin: str) -> Any:
    if isinstance(type_, UnionType):
        if text == "":
            return None
        type_ = next(t for t in get_args(type_) if t is not type(None))
    if type_ is Path:
        return Path(text).expanduser()
    try:
        return type_(text)
    except ValueError as reason:
        wanted = {int: "a whole number", float: "a number"}.get(type_, "another value")
        raise BadSetting(f"`{name}` is {text!r} ({origin}).", fix=f"It takes {wanted}.") from reason
