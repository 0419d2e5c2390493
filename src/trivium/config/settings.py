"""The table of settings: names, defaults and help. Data only; `config` reads their values."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from trivium.core.places import LibraryPlace
from trivium.operations.asking import AskSettings

APP = "trivium"
PREFIX = "TRIVIUM_"  # of environment variables


def _setting(default: Any, help_: str) -> Any:
    """A setting; `embed_threads` is `embed.threads`."""
    return field(default=default, metadata={"help": help_})


def own_folder(find: Callable[[str], str]) -> Path:
    """Of this user's data, cache or settings."""
    try:
        return Path(find(APP))
    except RuntimeError:  # a user without a home, as some services and containers have
        return Path("/nonexistent", APP)


def config_file() -> Path:
    chosen = os.environ.get(f"{PREFIX}CONFIG")
    return Path(chosen) if chosen else own_folder(platformdirs.user_config_dir) / "config.toml"


@dataclass(frozen=True, slots=True)
class Settings(AskSettings):
    """Every setting of Trivium. Add one here and it exists in file, environment and docs. Settings
    that an option of a call overrides are declared beside that option, in `operations`."""

    preset: str = _setting(
        "", "use the parameters of a known system: rulebook, codex, papers, team or palace"
    )
    library: LibraryPlace = _setting(
        own_folder(platformdirs.user_data_dir) / "library",
        "folder of the library, or postgresql://user@host/database",
    )
    cache: Path = _setting(
        own_folder(platformdirs.user_cache_dir), "folder for model files and judged sets"
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
