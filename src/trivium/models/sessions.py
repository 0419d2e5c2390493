"""Opens and runs the graphs that onnxruntime computes, whichever model they are of.

onnxruntime is imported with the first one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import ModelDamaged, ModelUnavailable
from trivium.models.layout import TOKENIZER

if TYPE_CHECKING:
    from tokenizers import Encoding

GRAPH = "model.onnx"
GRAPH_VERSION = 4  # of what graph.py builds: bump it when its output changes
# The inputs of a graph, by what tokenizers calls them.
INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


def check_folder(folder: Path) -> None:
    """Raises ModelUnavailable."""
    if not folder.is_dir():
        raise ModelUnavailable(
            f"There is no model folder {folder.name}.",
            fix="`trivium models` lists models; `trivium models NAME --get` downloads one.",
            on_page="Ask the person who runs this server to install the model.",
        )


def graph_place(cache: Path, kind: str, parts: str) -> Path:
    """Where the graph that is made of these parts is kept."""
    digest = hashlib.sha256(parts.encode()).hexdigest()[:12]
    return cache / "graphs" / f"{kind}-{digest}-v{GRAPH_VERSION}" / GRAPH


def fed(pairs: Sequence[Encoding], inputs: Iterable[str] = INPUTS) -> dict[str, Any]:
    """What a graph computes these pairs from, padded: the mask hides the padding."""
    import numpy as np

    feed = {}
    for name in inputs:
        rows = np.zeros((len(pairs), max(len(pair.ids) for pair in pairs)), np.int64)
        for row, pair in zip(rows, pairs, strict=True):
            row[: len(pair.ids)] = getattr(pair, INPUTS[name])
        feed[name] = rows
    return feed


def open_session(graph: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Waiting threads sleep. Measured on 2 cores beside other work (load 6): spinning ones made the
    # median query 13 ms instead of 4 and took a tenth off the documents.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors: its warnings are about hardware we do not ask for
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as reason:  # onnxruntime has a dozen kinds, without a common root
        raise ModelDamaged(
            f"Couldn't load the model {graph}: {str(reason).rstrip('.')}.",
            fix="Copy the model there again. If Trivium downloaded it, delete the folder, and"
            " Trivium downloads it again.",
        ) from reason


def run_session(session: Any, outputs: list[str] | None, feed: Any, graph: Path) -> Any:
    """What a session returns. Raises ModelDamaged if it can't read these tokens."""
    try:
        return session.run(outputs, feed)
    except Exception as reason:  # onnxruntime has a dozen kinds, without a common root
        raise ModelDamaged(
            f"The model {graph} can't read the tokens that {TOKENIZER} beside it makes: {reason}.",
            fix=f"Put the model's own {TOKENIZER} into its folder.",
            on_page="Ask the person who runs this server to install the model again.",
        ) from reason
