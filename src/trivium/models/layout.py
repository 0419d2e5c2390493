"""Reads a sentence-transformers folder: encoder, pooling, modules after it, prompts and limits.
Refuses by name whatever Trivium can't compute as that library does. Knows nothing of graphs,
sessions and tokenising, and loads no weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import ModelDamaged, ModelUnsupported

WEIGHTS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
MODULES, PROMPTS = "modules.json", "config_sentence_transformers.json"
RECEIPT = "trivium.json"  # in folders that Trivium downloaded: where they come from
POOLING = "1_Pooling/config.json"  # where a folder without modules.json may have it
TOKENIZER_CONFIG = "tokenizer_config.json"
GRAPHS = ("model.onnx", "onnx/model.onnx")
# By the name that the library writes today, then by the flags that older releases wrote; several
# are joined in this order.
POOLINGS = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}
ACTIVATIONS = ("Identity", "Tanh", "ReLU", "GELU", "Sigmoid", "SiLU")  # of torch.nn, for Dense
# Names of the Transformer's own settings: which file they are in depends on the release.
_TRANSFORMER_SETTINGS = tuple(
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
_SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet")  # positions begin behind the padding id
_IGNORED = ("Dropout",)  # only training uses it
_LARGE = 1 << 20  # tokenisers without a limit say 10^30


@dataclass(frozen=True, slots=True)
class Shape:
    """An encoder's fields from config.json and the pooling module. A library's fingerprint uses
    these fields: don't change them, and put new ones into `Layout`."""

    kind: str  # model_type: bert, roberta, ...
    layers: int
    heads: int
    hidden: int
    positions: int  # as config.json says; `Layout.readable` tokens fit
    epsilon: float
    activation: str
    padding: int  # the token id that fills short rows
    pooling: str  # one of POOLINGS, or several joined by +


@dataclass(frozen=True, slots=True)
class Rotary:
    """ModernBERT's attention: positions turn the vectors, and most layers see only neighbours."""

    full: tuple[bool, ...]  # of each layer, whether it sees the whole text
    window: int  # tokens that the others see to either side
    full_theta: float
    near_theta: float


@dataclass(frozen=True, slots=True)
class Module:
    """What follows the pooling: Dense, LayerNorm or Normalize."""

    kind: str
    path: str = ""  # its folder
    activation: str = ""  # of a Dense
    outputs: int = 0
    residual: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole model."""

    shape: Shape
    encoder: str = ""  # the folder of config, tokeniser and weights, within the model's
    rotary: Rotary | None = None
    modules: tuple[Module, ...] = ()  # in order
    pools_prompt: bool = True  # include_prompt
    lower: bool = False  # do_lower_case beside what the tokeniser does itself
    max_tokens: int = 0  # max_seq_length; 0: unknown
    query_prompt: str = ""
    document_prompt: str = ""
    cut: int = 0  # truncate_dim: the first numbers of a vector; 0: all

    @property
    def readable(self) -> int:
        """The most tokens that the encoder can read."""
        shape = self.shape
        return shape.positions - (shape.padding + 1 if shape.kind in _SHIFTED else 0)

    @property
    def dimensions(self) -> int:
        widths = [module.outputs for module in self.modules if module.kind == "Dense"]
        width = widths[-1] if widths else self.shape.hidden * len(self.shape.pooling.split("+"))
        return min(self.cut, width) if self.cut else width

    def further(self) -> str:
        """Everything besides the shape that affects vectors; empty for a plain encoder, as all were
        when libraries began to store fingerprints. The embedder handles prompts and limits."""
        modules = list(self.modules)
        while modules and modules[-1].kind == "Normalize":  # every vector gets length 1 in the end
            modules.pop()
        parts = [self.rotary, modules, "" if self.pools_prompt else "without prompt", self.lower]
        return repr(parts) if any(parts) else ""


def read(folder: Path) -> Layout:
    """The model in a folder. Raises ModelUnsupported if a part of it can't run here, ModelDamaged
    if its files are invalid."""
    modules = _modules(folder)
    encoder = modules[0]["path"] if modules else ""
    config = _json(folder / encoder / CONFIG)
    pooling, rest = _pooling(folder, modules)
    payload = _json(folder / PROMPTS, absent={})
    own = _transformer_settings(folder / encoder)
    # Some models need prompts that only their description names; Trivium stores those with them.
    prompts = {**_prompts(folder, receipt(folder)), **_prompts(folder, payload)}
    shape = _shape(folder / encoder / CONFIG, config, _poolings(folder, pooling))
    try:
        return Layout(
            shape,
            encoder,
            _rotary(config) if shape.kind == "modernbert" else None,
            tuple(_module(folder, module) for module in rest if module["kind"] not in _IGNORED),
            pooling.get("include_prompt", True) is not False,
            own.get("do_lower_case") is True and not _lowers(folder / encoder / TOKENIZER),
            _limit(folder / encoder, own),
            prompts.get("query", ""),
            next((prompts[n] for n in ("document", "passage", "corpus") if n in prompts), ""),
            int(payload.get("truncate_dim") or 0),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise ModelDamaged(f"{folder.name} doesn't describe an encoder: {reason}.") from reason


def _shape(path: Path, config: Mapping[str, Any], poolings: list[str]) -> Shape:
    try:
        return Shape(
            kind=str(config["model_type"]),
            layers=int(config.get("num_hidden_layers", 0)),
            heads=int(config.get("num_attention_heads", 0)),
            hidden=int(config["hidden_size"] if "hidden_size" in config else config["dim"]),
            positions=int(config.get("max_position_embeddings", 512)),
            epsilon=float(config.get("norm_eps", config.get("layer_norm_eps", 1e-12))),
            activation=str(config.get("hidden_act", config.get("hidden_activation", ""))),
            padding=int(config.get("pad_token_id") or 0),
            pooling="+".join(poolings),
        )
    except (KeyError, TypeError, ValueError) as reason:
        raise ModelDamaged(f"{path} doesn't describe an encoder: {reason}.") from reason


def receipt(folder: Path) -> Mapping[str, Any]:
    """Where a folder's model came from; empty if Trivium didn't download it."""
    try:
        payload = json.loads((folder / RECEIPT).read_bytes())
    except (OSError, ValueError):
        return {}
    return payload if isinstance(payload, dict) else {}


def read_reranker(folder: Path) -> Layout:
    """A cross-encoder: an encoder with a classifier in its own weights, which has no modules here,
    or one made of modules."""
    modules = _modules(folder)
    if len(modules) > 1:
        return read(folder)
    return read_bare(folder, modules[0]["path"] if modules else "")


def read_bare(folder: Path, encoder: str = "") -> Layout:
    """The encoder alone, whatever follows it."""
    config = _json(folder / encoder / CONFIG)
    pooling = str(config.get("classifier_pooling", "cls"))
    shape = _shape(folder / encoder / CONFIG, config, [pooling])
    return Layout(shape, encoder, _rotary(config) if shape.kind == "modernbert" else None)


def given_graph(folder: Path) -> Path | None:
    """The ONNX file that an encoder's folder brings along, if it does."""
    return next((folder / name for name in GRAPHS if (folder / name).is_file()), None)


def encoder_folder(folder: Path) -> Path:
    """Where config, tokeniser and weights are: `0_Transformer` in old models."""
    modules = _modules(folder)
    return folder / modules[0]["path"] if modules else folder


def _modules(folder: Path) -> list[dict[str, str]]:
    """Kind and path of each, in order; empty where the folder is a bare encoder."""
    if not (folder / MODULES).is_file():
        return []
    modules = []
    for module in _list(folder / MODULES):
        try:
            kind, path = str(module["type"]), str(module["path"])
        except (KeyError, TypeError) as reason:
            raise ModelDamaged(f"{folder / MODULES} doesn't list modules: {reason}.") from reason
        package, _, name = kind.rpartition(".")
        if package.partition(".")[0] != "sentence_transformers" or ".." in Path(path).parts:
            raise _refused(folder, f"the module {kind}, which is code of its own")
        modules.append({"kind": name, "path": path})
    if not modules or modules[0]["kind"] != "Transformer":
        first = modules[0]["kind"] if modules else "none"
        raise _refused(folder, f"the module {first} where the Transformer should be")
    return modules


def _pooling(
    folder: Path, modules: list[dict[str, str]]
) -> tuple[Mapping[str, Any], list[dict[str, str]]]:
    """The pooling module's settings, and what follows it."""
    if not modules:
        fields = receipt(folder)
        if fields and not (folder / POOLING).is_file() and not fields.get("pooling"):
            raise _refused(folder, "no file that says how to pool its tokens")  # mean is a guess
        return _json(folder / POOLING, absent={"pooling_mode": fields.get("pooling")}), []
    rest = [module for module in modules[1:] if module["kind"] not in _IGNORED]
    if not rest or rest[0]["kind"] != "Pooling":
        second = rest[0]["kind"] if rest else "none"
        raise _refused(folder, f"the module {second} where the tokens should be pooled")
    return _json(folder / rest[0]["path"] / CONFIG), rest[1:]


def _poolings(folder: Path, config: Mapping[str, Any]) -> list[str]:
    chosen = config.get("pooling_mode")
    if isinstance(chosen, str):
        chosen = [chosen]
    if not chosen:
        flags = [flag for flag, on in config.items() if flag.startswith("pooling_mode_") and on]
        unknown = [flag for flag in flags if flag not in POOLINGS.values()]
        chosen = unknown or [mode for mode, flag in POOLINGS.items() if flag in flags] or ["mean"]
    for mode in chosen:
        if mode not in POOLINGS:
            raise _refused(folder, f"the pooling {mode}")
    return list(chosen)


def _module(folder: Path, module: Mapping[str, str]) -> Module:
    kind, path = module["kind"], module["path"]
    if kind not in ("Dense", "LayerNorm", "Normalize"):
        raise _refused(folder, f"the module {kind}")
    config = _json(folder / path / CONFIG, absent={})
    for name, usual in (("module_input_name", ""), ("module_output_name", "scores")):
        if config.get(name) not in (None, "sentence_embedding", usual):
            raise _refused(folder, f"a {kind} of {config[name]}")
    if kind != "Dense":
        return Module(kind, path if kind == "LayerNorm" else "")
    text = str(config.get("activation_function", "torch.nn.modules.activation.Tanh"))
    package, _, activation = text.rpartition(".")
    if not package.startswith("torch.nn") or activation not in ACTIVATIONS:
        raise _refused(folder, f"a Dense with {text}")
    return Module(
        kind, path, activation, int(config["out_features"]), bool(config.get("use_residual"))
    )


def _transformer_settings(folder: Path) -> Mapping[str, Any]:
    settings = (_json(folder / name) for name in _TRANSFORMER_SETTINGS if (folder / name).is_file())
    own: Mapping[str, Any] = next(settings, {})
    task = own.get("transformer_task", "feature-extraction")
    if task != "feature-extraction":
        raise _refused(folder, f"a Transformer for {task}")
    output = own.get("module_output_name", "token_embeddings")
    if output != "token_embeddings":
        raise _refused(folder, f"a Transformer that gives {output}")
    for name in ("query_length", "document_length", "query_expansion", "processing_kwargs"):
        if own.get(name):
            raise _refused(folder, f"a Transformer with {name}")
    return own


def _limit(encoder: Path, own: Mapping[str, Any]) -> int:
    payload = own.get("max_seq_length")
    if payload is None:
        payload = _json(encoder / TOKENIZER_CONFIG, absent={}).get("model_max_length")
    return int(payload) if payload is not None and payload < _LARGE else 0


def _lowers(tokenizer: Path) -> bool:
    """Whether a tokeniser makes letters small itself."""
    first = _json(tokenizer).get("normalizer") or {}
    parts = [first, *first.get("normalizers", ())]
    return any(part.get("type") == "Lowercase" or part.get("lowercase") for part in parts)


def _prompts(folder: Path, fields: Mapping[str, Any]) -> Mapping[str, str]:
    prompts = fields.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str) for text in prompts.values()):
        raise ModelDamaged(f"{folder / PROMPTS} has prompts that are not texts.")
    return {name: text for name, text in prompts.items() if text}  # empty ones are written unasked


def _rotary(config: Mapping[str, Any]) -> Rotary:
    """In the form of today's transformers, or of those before 5."""
    layers = int(config["num_hidden_layers"])
    every = int(config.get("global_attn_every_n_layers", 3))
    kinds = config.get("layer_types")
    full = [kind == "full_attention" for kind in kinds] if kinds else None
    theta: dict[str, float] = {}
    for kind, old, default in (
        ("full_attention", "global_rope_theta", 160_000.0),
        ("sliding_attention", "local_rope_theta", 10_000.0),
    ):
        rope = (config.get("rope_parameters") or {}).get(kind) or {}
        if rope.get("rope_type", "default") != "default" or config.get("rope_scaling"):
            raise ModelUnsupported("The model scales its rotary position embeddings.", fix=_EXPORT)
        # Where neighbours have none of their own, the one of whole texts counts.
        own = rope.get("rope_theta", config.get(old, default))
        theta[kind] = float(theta["full_attention"] if own is None and theta else own)
    return Rotary(
        tuple(full or (layer % every == 0 for layer in range(layers))),
        int(config.get("local_attention", 128)) // 2,
        theta["full_attention"],
        theta["sliding_attention"],
    )


_EXPORT = "Export it to ONNX and put model.onnx into its folder, or choose another model."


def _refused(folder: Path, problem: str) -> ModelUnsupported:
    return ModelUnsupported(
        f"The model in {folder.name} has {problem}.",
        fix="Choose another model: `trivium models` lists some, and docs/models.md says which"
        " modules Trivium runs.",
        on_page="Ask the person who runs this server to choose another model.",
    )


def _json(path: Path, *, absent: dict[str, Any] | None = None) -> dict[str, Any]:
    if absent is not None and not path.is_file():
        return absent
    value = _parsed(path)
    if not isinstance(value, dict):
        raise ModelDamaged(f"{path} isn't a JSON object.")
    return value


def _list(path: Path) -> list[Any]:
    value = _parsed(path)
    if not isinstance(value, list):
        raise ModelDamaged(f"{path} isn't a JSON list.")
    return value


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError as reason:
        raise ModelDamaged(f"{path} is missing.") from reason
    except ValueError as reason:
        raise ModelDamaged(f"{path} isn't JSON: {reason}.") from reason
