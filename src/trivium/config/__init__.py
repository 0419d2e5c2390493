"""Settings: one table of names, defaults and help; the only place that reads the environment.

A value comes from the default, the user's config.toml, the environment (`TRIVIUM_CHUNK_SIZE` for
`chunk.size`) or the caller; later ones win. `trivium config` shows where each value comes from.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

import platformdirs

from trivium.config import sealing
from trivium.config.presets import PRESETS
from trivium.core.errors import BadSetting
from trivium.core.places import LibraryPlace, place_of
from trivium.models.endpoint import check_address, key_variable
from trivium.operations.asking import AskSettings
from trivium.operations.declaring import setting_name
from trivium.operations.declaring import shown as shown

APP = "trivium"
_PREFIX = "TRIVIUM_"


def _setting(default: Any, help_: str) -> Any:
    """A setting; `embed_threads` is `embed.threads`."""
    return field(default=default, metadata={"help": help_})


def _own_folder(find: Callable[[str], str]) -> Path:
    """Of this user's data, cache or settings."""
    try:
        return Path(find(APP))
    except RuntimeError:  # a user without a home, as some services and containers have
        return Path("/nonexistent", APP)


@dataclass(frozen=True, slots=True)
class Settings(AskSettings):
    """Every setting of Trivium. Add one here and it exists in file, environment and docs. Settings
    that an option of a call overrides are declared beside that option, in `operations`."""

    preset: str = _setting(
        "", "use the parameters of a known system: rulebook, codex, papers, team or palace"
    )
    library: LibraryPlace = _setting(
        _own_folder(platformdirs.user_data_dir) / "library",
        "folder of the library, or postgresql://user@host/database",
    )
    cache: Path = _setting(
        _own_folder(platformdirs.user_cache_dir), "folder for model files and judged sets"
    )
    models_hub: str = _setting("https://huggingface.co", "address to download models from")
    embed_folder: Path | None = _setting(
        None, "folder of a sentence-transformers model; empty: all-MiniLM-L6-v2"
    )
    embed_threads: int = _setting(
        0, "threads for embedding documents; 0: all cores. Queries always use two"
    )
    embed_device: str = _setting(
        "auto",
        "device for embedding documents: `cpu`, `cuda` (an NVIDIA GPU) or `auto` (a GPU"
        " if you have one)",
    )
    embed_max_tokens: int = _setting(
        0, "tokens of each text the embedding model reads; 0: the model's own limit, 512 at most"
    )
    embed_query_prefix: str = _setting(
        "", "text to put before queries; empty: the model's own prompt"
    )
    embed_document_prefix: str = _setting(
        "", "text to put before chunks; empty: the model's own prompt"
    )
    embed_url: str = _setting(
        "", "address of an OpenAI-compatible API for embedding, or bedrock:; empty: a local model"
    )
    embed_model: str = _setting(
        "",
        "name of the embedding model: one that `trivium models` lists, or with embed.url one there",
    )
    embed_dimensions: int = _setting(
        0,
        "length of vectors, for models whose vectors can be shortened (Matryoshka); 0:"
        " the model's own",
    )
    embed_batch: int = _setting(100, "texts per call to embed.url, 100 at most")
    embed_parallel: int = _setting(2, "simultaneous calls to embed.url")
    embed_seconds: float = _setting(60.0, "time limit for a call to embed.url, in seconds")
    embed_query_seconds: float = _setting(
        5.0, "time limit for embedding a query at embed.url, in seconds, retries included"
    )
    embed_key_file: Path | None = _setting(None, "file that holds the key for embed.url")
    embed_key_header: str = _setting(
        "Authorization", "header that carries the key for embed.url; for Azure: api-key"
    )
    rerank_url: str = _setting("", "address of a Cohere-style API for reranking, or bedrock:")
    rerank_model: str = _setting(
        "", "name of the reranker: one that `trivium models` lists, or with rerank.url one there"
    )
    rerank_seconds: float = _setting(
        2.0, "time limit for reranking, in seconds; after that you get the fused order"
    )
    rerank_key_file: Path | None = _setting(None, "file that holds the key for rerank.url")
    rerank_key_header: str = _setting("Authorization", "header that carries the key for rerank.url")
    generate_url: str = _setting(
        "",
        "address of an OpenAI-compatible API for writing answers, or bedrock:; empty: no"
        " language model",
    )
    generate_model: str = _setting("", "name of the model at generate.url")
    generate_window: int = _setting(
        8192, "size of the language model's context window, in tokens: prompt and answer together"
    )
    generate_temperature: float | None = _setting(
        None, "temperature of the language model; default: the model's own"
    )
    generate_seconds: float = _setting(
        60.0, "longest wait for the language model to write something, in seconds"
    )
    generate_vision: bool = _setting(
        False, "the language model can see images: let it describe the pictures you add"
    )
    generate_key_file: Path | None = _setting(None, "file that holds the key for generate.url")
    generate_key_header: str = _setting(
        "Authorization", "header that carries the key for generate.url; for Azure: api-key"
    )
    chunk_size: int = _setting(400, "maximum size of a chunk (passage), in tokens")
    chunk_overlap: int = _setting(80, "tokens that neighbouring chunks share")
    chunk_minimum: int = _setting(40, "merge chunks smaller than this with a neighbour, in tokens")
    chunk_strategy: str = _setting(
        "auto",
        "how to split documents: `auto` (by kind of document), grouped, recursive,"
        " sections, abstract, messages or rows",
    )
    chunk_ceiling: int = _setting(
        2000, "maximum size of a paper's chunk, in tokens, or the model's limit if that is lower"
    )
    chunk_most: int = _setting(
        100, "maximum number of chunks per paper; the rest is left out and reported"
    )
    chunk_limit: int = _setting(
        50_000, "maximum number of chunks per document; larger documents aren't added"
    )
    chunk_summary: str = _setting(
        "extractive",
        "summary of the document to embed with each chunk: `extractive`, `model` or `off`",
    )
    index_fields: str = _setting(
        "",
        "metadata fields to search by words and spelling beside title, authors, year, tags,"
        " journal, file, sender, recipients, date and channel, comma-separated; `none` to stop",
    )
    read_ocr: str = _setting(
        "auto", "OCR: `off`, `auto` (pages without usable text) or `force` (all pages)"
    )
    read_languages: str = _setting(
        "",
        "languages of scans, as tesseract names them, joined with +; empty: eng and deu"
        " if installed",
    )
    read_workers: int = _setting(
        0,
        "number of processes that read files; 0: one for every four processors, 4 at most,"
        " or one for every two, 2 to 8, if a GPU or a service embeds",
    )
    read_seconds: float = _setting(
        60.0, "time limit for reading a file, or one step of it, in seconds"
    )
    read_memory: int = _setting(2 << 30, "memory limit for reading a file, in bytes")
    read_max_bytes: int = _setting(100 * 1024 * 1024, "maximum size of a file, in bytes")
    read_url: str = _setting(
        "", "address of a Document Intelligence or docling server that reads PDFs and images"
    )
    read_model: str = _setting(
        "prebuilt-layout", "model at read.url; `docling` for a docling-serve server"
    )
    read_key_file: Path | None = _setting(None, "file that holds the key for read.url")
    read_key_header: str = _setting(
        "Ocp-Apim-Subscription-Key", "header that carries the key for read.url"
    )
    read_isolate: bool = _setting(
        True,
        "on Linux, give the processes that read files no network and no files but programs, fonts"
        " and what they read",
    )
    audio_model: str = _setting(
        "tiny.en",
        "speech model that transcribes recordings: one that `trivium models` lists, a folder, or"
        " with audio.url one there",
    )
    audio_language: str = _setting(
        "", "language spoken in recordings, such as `de`; empty: find out"
    )
    audio_device: str = _setting(
        "auto",
        "device for transcribing: `cpu`, `cuda` (an NVIDIA GPU) or `auto` (a GPU if you have one)",
    )
    audio_url: str = _setting(
        "",
        "address of an OpenAI-compatible API for transcribing (/audio/transcriptions); empty: a"
        " local model",
    )
    audio_seconds: float = _setting(600.0, "time limit for a call to audio.url, in seconds")
    audio_key_file: Path | None = _setting(None, "file that holds the key for audio.url")
    audio_key_header: str = _setting("Authorization", "header that carries the key for audio.url")
    archive_keep: bool = _setting(True, "keep a copy of every file you add")
    archive_folder: Path | str | None = _setting(
        None,
        "folder for copies of the files you add, or s3://, az:// or gs://; empty: inside"
        " the library",
    )
    archive_link_seconds: int = _setting(
        0, "how long download links to the object store work, in seconds; 0: the server sends files"
    )
    search_candidates: int = _setting(0, "chunks to get from each signal; 0: chosen automatically")
    search_per_result: int = _setting(
        0, "chunks to get from each signal per result (three with rerank); 0: use search.candidates"
    )
    search_match: str = _setting(
        "probability",
        "how the match is computed: `probability` that a result is relevant, or the"
        " `rule` of the preset papers",
    )
    search_floor: float = _setting(
        0.11, "show results with a lower match than this as weak, 0 to 1"
    )
    search_boosts: str = _setting(
        "",
        "filters that raise or lower scores, separated by `;`: `collection:rules*2;"
        " section:methods*1.5`",
    )
    fusion_method: str = _setting(
        "scores",
        "how to combine the signals: `scores` adds scaled scores, `rrf` adds reciprocal ranks",
    )
    fusion_adaptive: bool = _setting(
        True, "adapt the weights to how certain each signal is, and to the library"
    )
    fusion_k: float = _setting(10.0, "rank constant for `rrf`; a smaller one favours the top ranks")
    fusion_vector: float = _setting(0.5, "weight of the vector signal")
    fusion_keyword: float = _setting(0.3, "weight of the keyword signal")
    fusion_trigram: float = _setting(0.2, "weight of the trigram signal")
    fusion_documents: bool = _setting(
        False,
        "by document: each signal ranks documents by their best passage, then these"
        " ranks are fused",
    )
    ask_steps: int = _setting(8, "maximum number of turns the model takes for a deep answer")
    ask_seconds: float = _setting(90.0, "time limit for the searches of a deep answer, in seconds")
    ask_tokens: int = _setting(
        60_000, "maximum number of tokens read and written for the searches of a deep answer"
    )
    ask_by: str = _setting(
        "passage",
        "answer from the best passages (`passage`), or from the best passage of each `document`",
    )
    ask_rerank: bool = _setting(True, "rerank passages before answering")
    ask_expand: bool = _setting(True, "also answer from the text around the passages")
    ask_hyde: bool = _setting(
        True, "HyDE: search with a generated answer before answering (needs generate.url)"
    )
    rerank_store: bool = _setting(True, "store token vectors of documents for reranking")
    rerank_candidates: int = _setting(
        0, "number of results to rerank; 0: three times the number you ask for"
    )
    rerank_folder: Path | None = _setting(
        None,
        "folder or name of a reranker (`trivium models` lists them); empty: use the"
        " embedding model",
    )
    rerank_share: float = _setting(0.5, "weight of the reranker's score")
    rerank_hybrid: float = _setting(0.3, "weight of the fused score when reranking")
    rerank_position: float = _setting(0.2, "weight of the fused rank when reranking")
    log_queries: str = _setting(
        "",
        "log of queries: `off`, `counts` or `full`; empty: `counts` in `trivium serve`,"
        " otherwise `off`",
    )
    log_format: str = _setting(
        "text", "log lines of servers and workers: text, or json for programs"
    )
    log_rows: int = _setting(
        100_000, "maximum number of entries in the log of queries; 0: no limit"
    )
    log_days: int = _setting(
        365, "days after which entries of the log of queries are deleted; 0: never"
    )
    sync_secrets: str = _setting(
        "",
        "secrets that sources added in the browser or over HTTP may use as `name:NAME`:"
        " NAME=env:VARIABLE or NAME=file:PATH, comma-separated",
    )
    sync_addresses: str = _setting(
        "",
        "addresses and hosts, besides the services' own, that sources added in the browser or over"
        " HTTP may connect to, comma-separated",
    )
    serve_host: str = _setting(
        "127.0.0.1", "address to listen on; any address but this machine's own needs tokens"
    )
    serve_port: int = _setting(8420, "port to listen on")
    serve_workers: int = _setting(
        0, "number of server processes; 0: one for every two processors beyond two, 8 at most"
    )
    serve_hosts: str = _setting("", "other host names of the server, comma-separated")
    serve_origins: str = _setting(
        "", "other origins whose web pages may send requests, comma-separated; empty: none"
    )
    serve_rate: float = _setting(50.0, "requests per second per token; 0: no limit")
    serve_parallel: int = _setting(0, "requests a process handles at once; 0: four per processor")
    serve_waiting: int = _setting(
        256, "maximum number of requests in the queue; the server refuses more"
    )
    serve_connections: int = _setting(
        1000, "maximum number of open connections per process; a new one closes the oldest idle one"
    )
    serve_seconds: float = _setting(10.0, "time limit for a request, in seconds")
    signin_issuer: str = _setting(
        "",
        "address of your OpenID Connect provider, for signing in to the page; empty: tokens only",
    )
    signin_client: str = _setting("", "client id that the provider gave you")
    signin_key_file: Path | None = _setting(
        None, "file that holds the client secret, unless TRIVIUM_SIGNIN_KEY does"
    )
    signin_address: str = _setting(
        "",
        "this server's address as people see it; the provider sends them to /login/done below it",
    )
    signin_groups: str = _setting(
        "",
        "who may do and see what, a line for each group: `GROUP = rights : labels`; `*` as group is"
        " everyone, as label all labels",
    )
    signin_claim: str = _setting(
        "groups", "claim that lists a person's groups, with dots between parts"
    )
    signin_scope: str = _setting("openid email profile", "scopes to ask the provider for")
    signin_name: str = _setting("", "name of the provider on the sign-in page; empty: its host")
    signin_expires: str = _setting("8h", "how long a person stays signed in: 30m, 8h, 7d")
    quota_documents: int = _setting(
        0, "documents that a token without a limit of its own may add; 0: any"
    )
    quota_bytes: int = _setting(0, "bytes that a token without a limit of its own may add; 0: any")
    quota_searches: int = _setting(
        0, "searches a minute of a token without a limit of its own; 0: any"
    )
    quota_collections: str = _setting(
        "",
        "how much tokens may add to collections, a line for each:"
        " `NAME = 1000 documents, 5000000000 bytes`",
    )
    serve_incoming_folder: str = _setting(
        "", "where uploads wait: s3://, az:// or gs://; empty: inside the library"
    )
    serve_incoming_bytes: int = _setting(
        10 << 30, "maximum total size of uploads that wait or failed, in bytes"
    )

    @property
    def known_fields(self) -> tuple[str, ...]:
        """The metadata fields to search beside the usual ones."""
        named = [name.strip() for name in self.index_fields.split(",")]
        return tuple(name for name in named if name and name != "none")


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


def converted(given: Mapping[str, str], origin: str) -> dict[str, Any]:
    """Values by attribute of Settings, from texts by name."""
    known = {name: _known(name, origin) for name in given}
    return {known[n][0]: _convert(n, text, known[n][1], origin) for n, text in given.items()}


def _preset(layer: Mapping[str, str], origin: str) -> Mapping[str, str]:
    """A preset's values. Settings of the same layer override them; they override lower layers."""
    chosen = layer.get("preset", "")
    if chosen and chosen not in PRESETS:
        raise BadSetting(
            f"Unknown preset `{chosen}` ({origin}).", fix=f"Choose one of {', '.join(PRESETS)}."
        )
    return PRESETS.get(chosen, {})


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


def key(role: str, file: Path | None) -> str:
    """The key for a remote model, from TRIVIUM_EMBED_KEY and the like, or from the file. A key is
    not a setting, so nothing that shows settings can show it."""
    value = os.environ.get(key_variable(role), "")
    if value or file is None:
        return value.strip()
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as reason:
        why = reason.strerror if isinstance(reason, OSError) else "it isn't text"
        raise BadSetting(
            f"Couldn't read {file}, the `{role}.key_file`: {why}.",
            fix="Check its path and permissions.",
        ) from None


_COMMAND_SECONDS = 60  # for a program that prints a secret


def secret(name: str, place: str, listed: str = "") -> str:
    """A secret of a source: `env:NAME` names a variable, `file:PATH` a file that holds it,
    `command:COMMAND` a program that prints it, such as one that renews a token of OAuth 2,
    `name:NAME` one of those `listed` by `sync.secrets`; `value:TEXT` is the secret itself, and
    `sealed:TEXT` the same as `sealed` stores it."""
    kind, _, where = place.partition(":")
    if kind == "sealed" and where:
        return sealing.unseal(where, name, _key_file())
    if kind == "value" and where:
        return where
    if kind == "name" and where:
        known = listed_secrets(listed)
        if where not in known:
            raise BadSetting(
                f"The operator of this server listed no secret named {where[:80]!r}.",
                fix="Choose one that `sync.secrets` lists, or send the secret itself.",
            )
        return secret(name, known[where])
    if kind == "env" and where:
        if text := os.environ.get(where, "").strip():
            return text
        raise BadSetting(
            f"The environment variable {where}, which should hold the {name}, isn't set.",
            fix="Set it, or name a file that holds it.",
        )
    if kind == "file" and where:
        try:
            return Path(where).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as reason:
            why = reason.strerror if isinstance(reason, OSError) else "it isn't text"
            raise BadSetting(
                f"Couldn't read {where}, the file with the {name}: {why}.",
                fix="Check its path and permissions.",
            ) from None
    if kind == "command" and where:
        return _printed(name, where)
    raise BadSetting(
        f"Give the {name} as env:NAME, file:PATH or command:COMMAND.",
        fix="Trivium never stores a secret: name the variable or the file that holds it.",
    )


def sealed(place: str) -> str:
    """Where a secret is, as a library stores it: the secret itself is encrypted."""
    kind, _, text = place.partition(":")
    return f"sealed:{sealing.seal(text, _key_file())}" if kind == "value" and text else place


def _key_file() -> Path:
    return config_file().with_name("secret.key")


def _printed(name: str, command: str) -> str:
    """By a program, without a shell. What it prints is in no error."""
    import shlex
    import subprocess

    try:
        done = subprocess.run(
            shlex.split(command), capture_output=True, timeout=_COMMAND_SECONDS, check=True
        )
        if printed := done.stdout.decode("utf-8").strip():
            return printed
        why = "it printed nothing"
    except subprocess.CalledProcessError as reason:
        why = f"it ended with {reason.returncode}"
    except subprocess.TimeoutExpired:
        why = f"it took more than {_COMMAND_SECONDS} seconds"
    except (OSError, ValueError) as reason:
        why = (
            (reason.strerror or "not found") if isinstance(reason, OSError) else "it can't be read"
        )
    raise BadSetting(
        f"The command that should print the {name} failed: {why}.",
        fix=f"Run it in a terminal: {command}",
    )


def listed_secrets(text: str) -> dict[str, str]:
    """Places of secrets by name, from `sync.secrets`. Raises BadSetting."""
    places = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, place = (side.strip() for side in part.partition("="))
        if not name or not place.startswith(("env:", "file:", "command:")):
            raise BadSetting(
                f"`sync.secrets` can't be read at {name[:80]!r}.",
                fix="Write NAME=env:VARIABLE or NAME=file:PATH, comma-separated.",
            )
        places[name] = place
    return places


def usual_secret(variable: str) -> str:
    """What a variable holds that nobody named; empty: it isn't set."""
    return os.environ.get(variable, "").strip()


def variable(name: str) -> str:
    return _PREFIX + name.replace(".", "_").upper()


def config_file() -> Path:
    chosen = os.environ.get(f"{_PREFIX}CONFIG")
    return Path(chosen) if chosen else _own_folder(platformdirs.user_config_dir) / "config.toml"


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


def _known(name: str, origin: str) -> tuple[str, Any]:
    attribute = names().get(name)
    if attribute is None:
        from difflib import get_close_matches

        near = get_close_matches(name, names(), n=1)
        hint = f"Did you mean `{near[0]}`? " if near else ""
        fix = f"{hint}`trivium config` lists them all."
        raise BadSetting(f"Unknown setting `{name}` ({origin}).", fix=fix)
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
        raise BadSetting(
            f"`{name}` can't be {text!r} ({origin}).", fix=f"Give {wanted}."
        ) from reason


def _switch(name: str, text: str, origin: str) -> bool:
    known = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
    if text.lower() not in known:
        raise BadSetting(f"`{name}` can't be {text!r} ({origin}).", fix="Give on or off.")
    return known[text.lower()]
