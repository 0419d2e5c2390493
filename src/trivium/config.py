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
from trivium.models.endpoint import check_address, key_variable
from trivium.places import LibraryPlace, place_of
from trivium.presets import PRESETS

APP = "trivium"
_PREFIX = "TRIVIUM_"


def _setting(name: str, default: Any, help_: str) -> Any:
    return field(default=default, metadata={"name": name, "help": help_})


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of Trivium. Add one here and it exists in file, environment and docs."""

    preset: str = _setting(
        "preset", "", "a known system's parameters: rulebook, codex, papers, team or palace"
    )
    library: LibraryPlace = _setting(
        "library",
        Path(platformdirs.user_data_dir(APP)) / "library",
        "folder of the library, or postgresql://user@host/database",
    )
    cache: Path = _setting(
        "cache", Path(platformdirs.user_cache_dir(APP)), "folder for model files and judged sets"
    )
    models_hub: str = _setting(
        "models.hub", "https://huggingface.co", "address that models are downloaded from by name"
    )
    embed_folder: Path | None = _setting(
        "embed.folder", None, "folder of a sentence-transformers model; empty: all-MiniLM-L6-v2"
    )
    embed_threads: int = _setting(
        "embed.threads", 0, "processor threads for embedding; 0: all, and two for one query"
    )
    embed_device: str = _setting(
        "embed.device",
        "auto",
        "where documents are embedded: cpu, cuda (an NVIDIA GPU), auto: a GPU if there is one",
    )
    embed_max_tokens: int = _setting(
        "embed.max_tokens",
        0,
        "tokens of a text that the embedding model reads; 0: the model's own limit, 512 at most",
    )
    embed_query_prefix: str = _setting(
        "embed.query_prefix", "", "text put in front of queries; empty: the model's own prompt"
    )
    embed_document_prefix: str = _setting(
        "embed.document_prefix", "", "text put in front of chunks; empty: the model's own prompt"
    )
    embed_url: str = _setting(
        "embed.url",
        "",
        "address of an OpenAI-compatible API for embedding, or bedrock:; empty: a local model",
    )
    embed_model: str = _setting("embed.model", "", "name of the model behind embed.url")
    embed_dimensions: int = _setting(
        "embed.dimensions",
        0,
        "length of a vector, for models that can be cut (Matryoshka); 0: the model's own",
    )
    embed_batch: int = _setting("embed.batch", 100, "texts of one call to embed.url, 100 at most")
    embed_parallel: int = _setting("embed.parallel", 2, "calls to embed.url at the same time")
    embed_seconds: float = _setting("embed.seconds", 60.0, "time for one call to embed.url")
    embed_query_seconds: float = _setting(
        "embed.query_seconds", 5.0, "time for embedding a query at embed.url, retries included"
    )
    embed_key_file: Path | None = _setting("embed.key_file", None, "file with the key of embed.url")
    embed_key_header: str = _setting(
        "embed.key_header", "Authorization", "header for the key of embed.url; Azure: api-key"
    )
    rerank_url: str = _setting(
        "rerank.url", "", "address of a Cohere-style API for reranking, or bedrock:"
    )
    rerank_model: str = _setting("rerank.model", "", "name of the model behind rerank.url")
    rerank_seconds: float = _setting(
        "rerank.seconds", 2.0, "time for reranking, after which the fused order stands"
    )
    rerank_key_file: Path | None = _setting(
        "rerank.key_file", None, "file with the key of rerank.url"
    )
    rerank_key_header: str = _setting(
        "rerank.key_header", "Authorization", "header for the key of rerank.url"
    )
    generate_url: str = _setting(
        "generate.url",
        "",
        "address of an OpenAI-compatible API for writing text, or bedrock:; empty: none",
    )
    generate_model: str = _setting("generate.model", "", "name of the model behind generate.url")
    generate_window: int = _setting(
        "generate.window", 8192, "tokens that prompt and answer of generate.url have together"
    )
    generate_temperature: float | None = _setting(
        "generate.temperature",
        None,
        "temperature of the language model; default: the model's own",
    )
    generate_seconds: float = _setting(
        "generate.seconds", 60.0, "time for an answer of generate.url, or for a silence in it"
    )
    generate_vision: bool = _setting(
        "generate.vision", False, "that model sees: it describes pictures that are added"
    )
    generate_key_file: Path | None = _setting(
        "generate.key_file", None, "file with the key of generate.url"
    )
    generate_key_header: str = _setting(
        "generate.key_header", "Authorization", "header for the key of generate.url; Azure: api-key"
    )
    chunk_size: int = _setting("chunk.size", 400, "greatest size of a chunk in tokens")
    chunk_overlap: int = _setting("chunk.overlap", 80, "tokens that neighbouring chunks share")
    chunk_minimum: int = _setting("chunk.minimum", 40, "smaller pieces are merged, in tokens")
    chunk_strategy: str = _setting(
        "chunk.strategy",
        "auto",
        "auto: by kind of document; or grouped, recursive, sections, abstract, messages, rows",
    )
    chunk_ceiling: int = _setting(
        "chunk.ceiling", 2000, "greatest size of a paper's chunk; what the model reads, if less"
    )
    chunk_most: int = _setting(
        "chunk.most", 100, "most chunks of a paper; anything beyond is reported"
    )
    chunk_limit: int = _setting(
        "chunk.limit", 50_000, "most chunks of one document; a document with more isn't added"
    )
    chunk_summary: str = _setting(
        "chunk.summary",
        "extractive",
        "what is embedded with a chunk of its document: `extractive` or `model` summary, `off`",
    )
    read_ocr: str = _setting(
        "read.ocr", "auto", "off, auto: pages without usable text are recognised, force: all are"
    )
    read_languages: str = _setting(
        "read.languages",
        "",
        "languages of scans, by tesseract's names joined by +; empty: eng and deu where installed",
    )
    read_workers: int = _setting(
        "read.workers", 0, "processes that read files; 0: one for every four processors, 4 at most"
    )
    read_seconds: float = _setting("read.seconds", 60.0, "time for reading a file, or a step of it")
    read_memory: int = _setting("read.memory", 2 << 30, "bytes of memory for reading a file")
    read_max_bytes: int = _setting("read.max_bytes", 100 * 1024 * 1024, "greatest size of a file")
    read_url: str = _setting(
        "read.url",
        "",
        "address of a Document Intelligence or docling server that reads PDF and images",
    )
    read_model: str = _setting(
        "read.model", "prebuilt-layout", "model behind read.url; docling: a docling-serve server"
    )
    read_key_file: Path | None = _setting("read.key_file", None, "file with the key of read.url")
    read_key_header: str = _setting(
        "read.key_header", "Ocp-Apim-Subscription-Key", "header for the key of read.url"
    )
    archive_keep: bool = _setting("archive.keep", True, "keep the bytes of what is added")
    archive_folder: Path | str | None = _setting(
        "archive.folder",
        None,
        "folder for those bytes, or s3://, az:// or gs://; empty: beside the rest of the library",
    )
    search_limit: int = _setting("search.limit", 10, "results of a search")
    search_by: str = _setting(
        "search.by", "passage", "`passage`: every chunk; `document`: each once, with its best"
    )
    search_candidates: int = _setting(
        "search.candidates", 0, "chunks asked of each signal; 0: as many as serve best"
    )
    search_per_result: int = _setting(
        "search.per_result",
        0,
        "chunks asked of each signal for each result, three with rerank; 0: as search.candidates",
    )
    search_rerank: bool = _setting("search.rerank", False, "let a reranker reorder the top results")
    search_expand: bool = _setting(
        "search.expand", False, "show the text before and after each passage"
    )
    search_hyde: bool = _setting(
        "search.hyde", False, "embed a hypothetical answer with the query (needs generate.url)"
    )
    search_threshold: float = _setting(
        "search.threshold", -1.0, "least similarity of a vector hit, -1 to 1"
    )
    search_match: str = _setting(
        "search.match",
        "probability",
        "`probability`: how likely a result is to be relevant; `rule`: the rule of preset papers",
    )
    search_floor: float = _setting(
        "search.floor", 0.11, "results with a lower match are called weak, 0 to 1"
    )
    search_correct: bool = _setting(
        "search.correct", True, "look for what misspelled words were meant to be"
    )
    search_every_word: bool = _setting(
        "search.every_word",
        False,
        "by keyword, find only passages that hold every word; where none does, any of them",
    )
    search_prefer: str = _setting(
        "search.prefer", "", "`recent`: newer documents count more; empty: age doesn't count"
    )
    search_half_life: float = _setting(
        "search.half_life", 365.0, "days after which being recent adds half as much"
    )
    search_boosts: str = _setting(
        "search.boosts",
        "",
        "what counts more or less, with `;` between: `collection:rules*2; section:methods*1.5`",
    )
    analysis_strength: float = _setting(
        "analysis.strength", 1.0, "how far a query's own words move the weights; 0: not at all"
    )
    fusion_method: str = _setting(
        "fusion.method", "scores", "`scores` adds scaled scores, `rrf` reciprocal ranks"
    )
    fusion_adaptive: bool = _setting(
        "fusion.adaptive", True, "weights follow how sure the signals are, and the library"
    )
    fusion_k: float = _setting("fusion.k", 10.0, "rank constant of `rrf`; smaller is sharper")
    fusion_vector: float = _setting("fusion.vector", 0.5, "weight of the vector signal")
    fusion_keyword: float = _setting("fusion.keyword", 0.3, "weight of the keyword signal")
    fusion_trigram: float = _setting("fusion.trigram", 0.2, "weight of the trigram signal")
    fusion_documents: bool = _setting(
        "fusion.documents",
        False,
        "by document: let each signal rank documents by their best passage, then fuse those",
    )
    ask_depth: str = _setting(
        "ask.depth",
        "auto",
        "`once`: one search; `auto`: more where it finds nothing that fits; `deep`: always more",
    )
    ask_steps: int = _setting("ask.steps", 8, "turns of the model in an answer in depth")
    ask_seconds: float = _setting("ask.seconds", 90.0, "time that an answer in depth looks around")
    ask_tokens: int = _setting(
        "ask.tokens",
        60_000,
        "tokens that an answer in depth reads and writes while it looks around",
    )
    ask_limit: int = _setting("ask.limit", 8, "passages that an answer is made from")
    ask_by: str = _setting(
        "ask.by", "passage", "`document`: an answer is made from the best passage of each document"
    )
    ask_rerank: bool = _setting("ask.rerank", True, "rerank what an answer is made from")
    ask_expand: bool = _setting("ask.expand", True, "answer from the text around passages too")
    ask_hyde: bool = _setting(
        "ask.hyde", True, "search with a generated answer before answering (needs generate.url)"
    )
    rerank_store: bool = _setting(
        "rerank.store", True, "keep token vectors of what is added, for reranking"
    )
    rerank_candidates: int = _setting(
        "rerank.candidates", 0, "results that are judged; 0: three for each one asked for"
    )
    rerank_folder: Path | None = _setting(
        "rerank.folder",
        None,
        "folder or name of a reranker (`trivium models`); empty: the embedding model's own tokens",
    )
    rerank_share: float = _setting("rerank.share", 0.5, "what the reranker's judgment counts")
    rerank_hybrid: float = _setting("rerank.hybrid", 0.3, "what the fused score counts beside it")
    rerank_position: float = _setting("rerank.position", 0.2, "what the fused rank counts")
    log_queries: str = _setting(
        "log.queries",
        "",
        "log of queries: off, counts or full; empty: counts in `trivium serve`, else off",
    )
    serve_host: str = _setting(
        "serve.host", "127.0.0.1", "address to serve at; any but this machine's own needs tokens"
    )
    serve_port: int = _setting("serve.port", 8420, "port to serve at")
    serve_workers: int = _setting("serve.workers", 1, "processes that serve")
    serve_hosts: str = _setting(
        "serve.hosts", "", "names the server is called by beside its address, with commas"
    )
    serve_origins: str = _setting(
        "serve.origins", "", "web pages of other origins that may ask, with commas; empty: none"
    )
    serve_rate: float = _setting("serve.rate", 50.0, "requests a second of one token; 0: no limit")
    serve_parallel: int = _setting(
        "serve.parallel", 0, "requests a process works on at once; 0: four for each processor"
    )
    serve_waiting: int = _setting(
        "serve.waiting", 256, "requests that wait for their turn; more are sent away"
    )
    serve_connections: int = _setting(
        "serve.connections",
        1000,
        "open connections of a process; one more closes the oldest idle one",
    )
    serve_seconds: float = _setting("serve.seconds", 10.0, "time for answering a request")
    serve_incoming_bytes: int = _setting(
        "serve.incoming_bytes", 10 << 30, "bytes of files sent in that wait or failed"
    )


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
        if "preset" in layer:  # another system, not a mixture of two
            for name in [name for name, told in origins.items() if told.startswith("preset, ")]:
                values.pop(names()[name])
                origins[name] = "default"
        for told, named in ((f"preset, {origin}", _preset(layer, origin)), (origin, layer)):
            values |= converted(named, origin)
            origins |= dict.fromkeys(named, told)
    return Effective(Settings(**values), origins)


def converted(given: Mapping[str, str], origin: str) -> dict[str, Any]:
    """Values by attribute of Settings, from texts by name."""
    known = {name: _known(name, origin) for name in given}
    return {known[n][0]: _convert(n, text, known[n][1], origin) for n, text in given.items()}


def _preset(layer: Mapping[str, str], origin: str) -> Mapping[str, str]:
    """What a preset sets stands below whatever is set beside it, and above what was before."""
    chosen = layer.get("preset", "")
    if chosen and chosen not in PRESETS:
        raise BadSetting(
            f"There is no preset `{chosen}` ({origin}).", fix=f"It takes {', '.join(PRESETS)}."
        )
    return PRESETS.get(chosen, {})


def names() -> dict[str, str]:
    """Every setting's name and its attribute on Settings."""
    return {f.metadata["name"]: f.name for f in fields(Settings)}


def described() -> list[tuple[str, str, str, str]]:
    """Name, default, environment variable and help of every setting, for people."""
    return [
        (f.metadata["name"], shown(f.default), variable(f.metadata["name"]), f.metadata["help"])
        for f in fields(Settings)
        if f.default is not MISSING
    ]


def key(role: str, file: Path | None) -> str:
    """The key of a remote model: TRIVIUM_EMBED_KEY and its like, else what the file holds, else
    none. It is no setting, so nothing that shows settings can show it."""
    given = os.environ.get(key_variable(role), "")
    if given or file is None:
        return given.strip()
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as reason:
        why = reason.strerror if isinstance(reason, OSError) else "it is no text"
        raise BadSetting(
            f"`{role}.key_file` {file} cannot be read: {why}.",
            fix="Check its path and permissions.",
        ) from None


def secret(name: str, place: str) -> str:
    """A secret of a source: `env:NAME` names a variable, `file:PATH` a file that holds it."""
    kind, _, where = place.partition(":")
    if kind == "env" and where:
        if found := os.environ.get(where, "").strip():
            return found
        raise BadSetting(
            f"The {name} is expected in the environment variable {where}, which isn't set.",
            fix="Set it, or name a file that holds it.",
        )
    if kind == "file" and where:
        try:
            return Path(where).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as reason:
            why = reason.strerror if isinstance(reason, OSError) else "it is no text"
            raise BadSetting(
                f"The file with the {name}, {where}, can't be read: {why}.",
                fix="Check its path and permissions.",
            ) from None
    raise BadSetting(
        f"The {name} must be given as env:NAME or file:PATH.",
        fix="A secret itself is never kept: name the variable or the file that holds it.",
    )


def variable(name: str) -> str:
    return _PREFIX + name.replace(".", "_").upper()


def config_file() -> Path:
    chosen = os.environ.get(f"{_PREFIX}CONFIG")
    return Path(chosen) if chosen else Path(platformdirs.user_config_dir(APP)) / "config.toml"


def shown(value: Any) -> str:
    """A value as it would be typed."""
    if isinstance(value, bool):
        return "on" if value else "off"
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
        raise BadSetting(f"`{name}` is {text!r} ({origin}).", fix=f"It takes {wanted}.") from reason


def _switch(name: str, text: str, origin: str) -> bool:
    known = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
    if text.lower() not in known:
        raise BadSetting(f"`{name}` is {text!r} ({origin}).", fix="It takes on or off.")
    return known[text.lower()]
