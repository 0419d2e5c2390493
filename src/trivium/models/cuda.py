"""Embeds many texts on an NVIDIA GPU: sentence-transformers runs the model on torch, in half
precision, with the tokens that the processor's way reads too. So both give the same vectors.

torch takes seconds to import, so nothing is imported before there are texts for it. Queries stay on
the processor, where one takes 4 ms.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import BadSetting, ExtraMissing, ModelUnavailable, install
from trivium.models.late import EVERY, FORMAT
from trivium.models.layout import Layout
from trivium.models.token_processes import PIECE, TokenProcesses
from trivium.models.tokenising import Tokeniser, batches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trivium.core.types import TokenVectors, Vectors

DEVICES = ("auto", "cpu", "cuda")
PACKAGES = ("torch", "sentence_transformers")
TOKENS = 1 << 16  # of one run, padding included: 256 texts of 256 tokens
BLOCK = 2048  # texts that are tokenised while the GPU works on those before
AHEAD = 2  # blocks that wait for the GPU before its answers are fetched
# Texts of a process after which `auto` goes over to the GPU: before, torch takes longer to load
# than the processor needs for them.
FEW = 256


def check(device: str) -> None:
    """Whether a setting makes sense on this machine, without importing anything."""
    if device not in DEVICES:
        raise BadSetting(f"`embed.device` can't be {device!r}.", fix="Give auto, cpu or cuda.")
    if device != "cuda":
        return
    if not _gpu():
        raise BadSetting(
            "`embed.device` is cuda, but this machine has no NVIDIA GPU.",
            fix="Set `embed.device` to auto, which uses a GPU only if you have one.",
        )
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise ExtraMissing(
            f"`embed.device` is cuda, which needs the package {missing[0]}.",
            fix=install("cuda"),
            on_page="Ask the person who runs this server to install it.",
        )


def is_for_documents(device: str) -> bool:
    """Whether many documents would be embedded on a GPU, as far as a quick look shows."""
    return device == "cuda" or (device == "auto" and likely())


def likely() -> bool:
    """Whether there is a GPU and everything it needs, as far as a quick look shows."""
    return _gpu() and all(find_spec(name) for name in PACKAGES)


def _gpu() -> bool:
    return os.path.exists("/dev/nvidiactl") or shutil.which("nvidia-smi") is not None


@dataclass(frozen=True, slots=True)
class _Batch:
    """What the GPU was told to do, and where it will leave the answer."""

    at: list[int]  # positions of the texts
    rows: list[NDArray[np.int32]]
    vectors: Any
    signs: Any  # of tokens, if asked for


class TorchEngine:
    """One model on one device. Not for several threads at once."""

    def __init__(
        self,
        folder: Path,
        layout: Layout,
        tokeniser: Tokeniser,
        device: str = "cuda",
        processes: TokenProcesses | None = None,
    ) -> None:
        """`processes`: tokenise many texts."""
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except (ImportError, OSError) as reason:  # OSError: a library of the driver is missing
            raise ModelUnavailable(
                f"torch couldn't be imported ({reason}).",
                fix="Install a torch that fits your driver, or set `embed.device` to cpu.",
            ) from reason

        if device == "cuda" and not torch.cuda.is_available():
            raise ModelUnavailable(
                "torch found no GPU it can use.",
                fix="Install a torch that fits your driver, or set `embed.device` to cpu.",
            )
        # cuDNN plans its attention again for every shape, and no two batches of documents have
        # the same: 869 µs a text instead of 190.
        torch.backends.cuda.enable_cudnn_sdp(False)
        self._torch = torch
        self._device = device
        self._layout = layout
        self._tokeniser = tokeniser
        self._processes = processes
        half = torch.float16 if device == "cuda" else torch.float32
        # Loaded so, and not turned afterwards: that would round rotary positions too.
        whole = SentenceTransformer(
            str(folder), device=device, local_files_only=True, model_kwargs={"dtype": half}
        )
        self._encoder, *self._modules = list(whole.eval())
        for module in self._modules:
            module.float()
        # Here, since sending it would wait for all that the GPU has to do.
        self._places = torch.tensor([128, 64, 32, 16, 8, 4, 2, 1], dtype=torch.uint8, device=device)

    def vectors(self, texts: Sequence[str], prompt: str) -> Vectors:
        return self._embedded(texts, prompt, with_tokens=False)[0]

    def with_tokens(
        self, texts: Sequence[str], prompt: str
    ) -> tuple[Vectors, Sequence[TokenVectors]]:
        """And the tokens' signs, packed as `late.pack` does."""
        return self._embedded(texts, prompt, with_tokens=True)

    def _embedded(
        self, texts: Sequence[str], prompt: str, *, with_tokens: bool
    ) -> tuple[Vectors, list[TokenVectors]]:
        import numpy as np

        vectors = np.empty((len(texts), self._layout.dimensions), np.float32)
        packed = [b""] * len(texts)
        # Running a model only tells the GPU what to do; it is waited for where answers are fetched.
        running: deque[list[_Batch]] = deque()
        rows = self._rows([prompt + text for text in texts], prompt)
        opening = self._tokeniser.prompt_length(prompt)
        with self._torch.inference_mode():
            for start in range(0, len(texts), BLOCK):
                block = list(islice(rows, BLOCK))
                running.append(list(self._runs(block, start, opening, with_tokens)))
                if len(running) > AHEAD:
                    self._fetch(running.popleft(), vectors, packed)
            for runs in running:
                self._fetch(runs, vectors, packed)
        return vectors, packed

    def _rows(self, texts: Sequence[str], prompt: str) -> Iterator[NDArray[np.int32]]:
        if self._processes is not None and len(texts) > PIECE:
            return self._processes.encode_all(texts, prompt)
        blocks = (texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK))
        return chain.from_iterable(self._tokeniser.encode_all(block, prompt) for block in blocks)

    def _runs(
        self, rows: Sequence[NDArray[np.int32]], start: int, opening: int, with_tokens: bool
    ) -> Iterator[_Batch]:
        for batch in batches([len(row) for row in rows], TOKENS):
            read = [rows[i] for i in batch]
            yield _Batch([start + i for i in batch], read, *self._run(read, opening, with_tokens))

    def _fetch(self, runs: list[_Batch], vectors: Vectors, packed: list[TokenVectors]) -> None:
        for run in runs:
            vectors[run.at] = run.vectors.cpu().numpy()
            if run.signs is None:
                continue
            for i, row, signs in zip(run.at, run.rows, run.signs.cpu().numpy(), strict=True):
                worthy = signs[: len(row)][self._tokeniser.kept(row)]
                packed[i] = bytes([FORMAT]) + worthy.tobytes()

    def _run(
        self, rows: Sequence[NDArray[np.int32]], opening: int, with_tokens: bool
    ) -> tuple[Any, Any]:
        import numpy as np

        longest = max(map(len, rows))
        ids = np.full((len(rows), longest), self._layout.shape.padding, np.int64)
        mask = np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        features = {
            "input_ids": self._there(ids),
            "attention_mask": self._there(mask),
            "prompt_length": opening,
        }
        features = self._encoder(features)
        tokens = features["token_embeddings"].float()
        features["token_embeddings"] = tokens
        for module in self._modules:
            features = module(features)
        pooled = features["sentence_embedding"][:, : self._layout.dimensions]
        unit = self._torch.nn.functional.normalize(pooled, dim=1)
        return unit, self._signs(tokens) if with_tokens else None

    def _there(self, values: Any) -> Any:
        tensor = self._torch.from_numpy(values)
        if self._device == "cuda":
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True)

    def _signs(self, tokens: Any) -> Any:
        """Eight to a byte, packed there: a 64th of the bytes come back."""
        torch = self._torch
        signs = (tokens[:, :, ::EVERY] > 0).to(torch.uint8)
        signs = torch.nn.functional.pad(signs, (0, -signs.shape[2] % 8))
        eights = signs.view(*signs.shape[:2], -1, 8) * self._places
        return eights.sum(dim=3, dtype=torch.uint8)
