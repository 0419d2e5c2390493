"""Makes the small models of this folder with sentence-transformers, and saves that library's
answers: the tests compare Trivium with them, without torch.

Run it by `make model-fixtures`, which gives it an environment of its own. The weights are random
and seeded. They are kept in half precision and computed in single, as Trivium does.
"""

from __future__ import annotations

import io
import json
import lzma
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.sentence_transformer.modules import (
    Dense,
    LayerNorm,
    Normalize,
    Pooling,
    Transformer,
)
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

HERE = Path(__file__).parent
TEXTS = [
    "The crown lies in the lake.",
    "crown",
    "Who rules the elven forest?",
    "THE KING'S Sword: three feet of steel, two of light.",
    "Der König wohnt im Wald — naïve, but true.",
    "The ferryman crosses the lake at night and counts the stars until the morning comes back",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z",
    "!?",
]
PAIRS = [("Who rules the forest?", text) for text in TEXTS]
WORDS = [*TEXTS, "search result document query passage lantern tower river stone fire"] * 3
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 66,
}


def main() -> None:
    torch.manual_seed(15)
    names = sys.argv[1:] or list(MODELS)
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / name
            expected = MODELS[name](folder)
            (folder / "expected.json").write_text(json.dumps(expected))
            _pack(folder, HERE / f"{name}.tar.xz")


# --- the models ----------------------------------------------------------------------------------


def bert_dense(folder: Path) -> dict[str, Any]:
    encoder = _bert()
    modules = [Pooling(32, "mean"), Dense(32, 24), Normalize()]
    return _saved(folder, encoder, modules, {"query": "query: ", "document": "passage: "}, 48)


def bert_first(folder: Path) -> dict[str, Any]:
    modules = [Pooling(32, "cls"), Normalize()]
    return _saved(folder, _bert(cased=True), modules, {"query": "find "}, 40, lower=True)


def bert_cut(folder: Path) -> dict[str, Any]:
    """Matryoshka: the first 12 numbers, at the wish of whoever uses it."""
    return _saved(folder, _bert(), [Pooling(32, "mean")], {}, 60, cut=12)


def roberta_joined(folder: Path) -> dict[str, Any]:
    """Several poolings beside each other, and a Dense with a way around it."""
    modules = [
        Pooling(32, ("max", "mean")),
        Dense(64, 20, activation_function=torch.nn.GELU(), use_residual=True),
    ]
    config = transformers.RobertaConfig(**SIZES, vocab_size=0, type_vocab_size=1, pad_token_id=1)
    return _saved(folder, _model(transformers.RobertaModel, config, _bytes()), modules, {}, None)


def xlmr_last(folder: Path) -> dict[str, Any]:
    config = transformers.XLMRobertaConfig(**SIZES, vocab_size=0, type_vocab_size=1, pad_token_id=1)
    encoder = _model(transformers.XLMRobertaModel, config, _unigram())
    modules = [Pooling(32, "lasttoken"), Dense(32, 32, bias=False, activation_function=None)]
    return _saved(folder, encoder, [*modules, Normalize()], {"query": "query: "}, 64)


def mpnet_weighted(folder: Path) -> dict[str, Any]:
    """The prompt is read, but not pooled."""
    config = transformers.MPNetConfig(**SIZES, vocab_size=0, pad_token_id=1)
    encoder = _model(transformers.MPNetModel, config, _pieces(first="<pad>", cls="<s>", sep="</s>"))
    modules = [Pooling(32, "weightedmean", include_prompt=False), Normalize()]
    prompts = {"query": "search the forest: ", "document": "a passage: "}
    return _saved(folder, encoder, modules, prompts, 60)


def modernbert_norm(folder: Path) -> dict[str, Any]:
    modules = [Pooling(32, "mean_sqrt_len_tokens"), LayerNorm(32)]
    return _saved(folder, _modernbert(), modules, {"query": "search_query: "}, 60)


def modernbert_first(folder: Path) -> dict[str, Any]:
    """The first token behind the prompt."""
    modules = [Pooling(32, "cls", include_prompt=False), Normalize()]
    prompts = {"query": "search_query: ", "document": "search_document: "}
    return _saved(folder, _modernbert(), modules, prompts, None)


def bert_judge(folder: Path) -> dict[str, Any]:
    config = transformers.BertConfig(**SIZES, vocab_size=0, num_labels=1)
    tokenizer = _pieces()
    return _judge(folder, transformers.BertForSequenceClassification, config, tokenizer)


def modernbert_judge(folder: Path) -> dict[str, Any]:
    config = transformers.ModernBertConfig(
        **_modern_sizes(), num_labels=1, classifier_pooling="mean"
    )
    tokenizer = _bytes("[CLS]", "[SEP]", "[PAD]")
    return _judge(folder, transformers.ModernBertForSequenceClassification, config, tokenizer)


def ettin_judge(folder: Path) -> dict[str, Any]:
    """A reranker made of modules, as the Ettin family is."""
    scores = {"activation_function": None, "module_output_name": "scores"}
    modules = [
        Pooling(32, "cls"),
        Dense(32, 32, bias=False, activation_function=torch.nn.GELU()),
        LayerNorm(32),
        Dense(32, 1, **scores),
    ]
    with tempfile.TemporaryDirectory() as plain:
        for part in _modernbert():
            part.save_pretrained(plain)
        parts = [Transformer(plain, max_seq_length=64), *(_random(module) for module in modules)]
        CrossEncoder(modules=parts, device="cpu").half().save_pretrained(
            str(folder), create_model_card=False
        )
    return _judged(folder)


def pylate_late(folder: Path) -> dict[str, Any]:
    """As PyLate saves a ColBERT: token vectors by a Dense of its own kind."""
    model, tokenizer = _modernbert(late=True)
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    told = {"activation_function": None, "module_input_name": "token_embeddings"}
    dense = _random(Dense(32, 16, bias=False, **told)).half()
    (folder / "1_Dense").mkdir()
    dense.save(str(folder / "1_Dense"))
    (folder / "modules.json").write_text(
        json.dumps(
            [
                {"idx": 0, "name": "0", "path": "", "type": _TRANSFORMER},
                {"idx": 1, "name": "1", "path": "1_Dense", "type": "pylate.models.Dense.Dense"},
            ]
        )
    )
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 31}')
    told = {
        "model_type": "ColBERT",
        "query_prefix": "[Q] ",
        "document_prefix": "[D] ",
        "query_length": 24,
        "document_length": 30,
        "attend_to_expansion_tokens": False,
        "skiplist_words": ["!", ".", ","],
    }
    (folder / "config_sentence_transformers.json").write_text(json.dumps(told))
    return _late(folder)


def stanford_late(folder: Path) -> dict[str, Any]:
    """As Stanford's ColBERT saves one: the projection is among the weights."""
    from safetensors.torch import save_file

    model, tokenizer = _bert(late=True)
    folder.mkdir()
    model.config.architectures = ["HF_ColBERT"]
    model.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    weights = {f"bert.{name}": values.half() for name, values in model.state_dict().items()}
    weights["linear.weight"] = torch.randn(16, 32).half()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    told = {"query_maxlen": 20, "doc_maxlen": 40, "attend_to_mask_tokens": True}
    (folder / "artifact.metadata").write_text(json.dumps(told))
    return _late(folder)


_TRANSFORMER = "sentence_transformers.models.Transformer"


def _late(folder: Path) -> dict[str, Any]:
    from sentence_transformers import MultiVectorEncoder

    again = MultiVectorEncoder(str(folder), device="cpu").float().eval()
    queries = [query for query, _ in PAIRS[:1]]
    scores = again.similarity(again.encode_query(queries), again.encode_document(TEXTS))[0]
    count = len(again.encode_query(queries)[0])
    return {
        "pairs": PAIRS,
        "scores": [round(float(score) / count, 6) for score in scores],
        "library": f"sentence-transformers {_version()}",
    }


MODELS = {
    "bert-dense": bert_dense,
    "bert-first": bert_first,
    "bert-cut": bert_cut,
    "roberta-joined": roberta_joined,
    "xlm-roberta-last": xlmr_last,
    "mpnet-weighted": mpnet_weighted,
    "modernbert-norm": modernbert_norm,
    "modernbert-first": modernbert_first,
    "bert-judge": bert_judge,
    "modernbert-judge": modernbert_judge,
    "ettin-judge": ettin_judge,
    "pylate-late": pylate_late,
    "stanford-late": stanford_late,
}


def _bert(*, cased: bool = False, late: bool = False) -> tuple[Any, Any]:
    config = transformers.BertConfig(**SIZES, vocab_size=0)
    return _model(transformers.BertModel, config, _pieces(cased=cased, late=late))


def _modernbert(*, late: bool = False) -> tuple[Any, Any]:
    config = transformers.ModernBertConfig(**_modern_sizes())
    tokenizer = _bytes("[CLS]", "[SEP]", "[PAD]")
    if late:  # a query's last tokens see its first, as in real models: 64 to either side
        config.local_attention = 64
        tokenizer.add_tokens(["[Q] ", "[D] "])
        tokenizer.add_special_tokens({"mask_token": "[MASK]"})
    return _model(transformers.ModernBertModel, config, tokenizer)


def _modern_sizes() -> dict[str, Any]:
    """Most layers see 4 tokens to either side, so that the texts are longer than that."""
    layers = {**SIZES, "num_hidden_layers": 4, "max_position_embeddings": 128}
    ids = {"pad_token_id": 1, "cls_token_id": 0, "sep_token_id": 2, "bos_token_id": 0}
    return {**layers, **ids, "eos_token_id": 2, "vocab_size": 0, "local_attention": 8}


# --- tokenisers ----------------------------------------------------------------------------------


def _pieces(
    first: str = "[PAD]",
    cls: str = "[CLS]",
    sep: str = "[SEP]",
    *,
    cased: bool = False,
    late: bool = False,
) -> Any:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    if not cased:
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = [first, "[UNK]", cls, sep, "[MASK]"]
    if first == "<pad>":
        special = [cls, first, sep, "[UNK]", "<mask>"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=200, special_tokens=[*special, *(["[unused0]", "[unused1]"] if late else [])]
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    made = _marked(tokenizer, cls, sep, first, pairs=True)
    if late:
        made.add_special_tokens({"mask_token": "[MASK]"})
    return made


def _bytes(cls: str = "<s>", sep: str = "</s>", pad: str = "<pad>") -> Any:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=[cls, pad, sep, "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    return _marked(tokenizer, cls, sep, pad)


def _unigram() -> Any:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=150, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], unk_token="<unk>"
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    return _marked(tokenizer, "<s>", "</s>", "<pad>")


def _marked(tokenizer: Tokenizer, cls: str, sep: str, pad: str, pairs: bool = False) -> Any:
    kind = "1" if pairs else "0"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} $B:{kind} {sep}:{kind}",
        special_tokens=[(mark, tokenizer.token_to_id(mark)) for mark in (cls, sep)],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token=cls,
        sep_token=sep,
        pad_token=pad,
        unk_token="[UNK]" if tokenizer.token_to_id("[UNK]") is not None else "<unk>",
        model_input_names=["input_ids", *(["token_type_ids"] if pairs else []), "attention_mask"],
    )


# --- saving --------------------------------------------------------------------------------------


def _model(kind: Any, config: Any, tokenizer: Any) -> tuple[Any, Any]:
    config.vocab_size = len(tokenizer)
    return _random(kind(config)), tokenizer


def _random(model: Any) -> Any:
    """Larger than training starts with: else every text has nearly the same vector."""
    with torch.no_grad():
        for name, values in model.named_parameters():
            spread = 0.3 if values.dim() > 1 else 0.1
            spread = 1.0 if "embeddings" in name and values.dim() > 1 else spread
            values.normal_(1.0 if "norm" in name.lower() and "weight" in name else 0.0, spread)
            values.copy_(values.half().float())
    return model


def _saved(
    folder: Path,
    encoder: tuple[Any, Any],
    modules: Sequence[Any],
    prompts: dict[str, str],
    most: int | None,
    *,
    lower: bool = False,
    cut: int | None = None,
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as plain:
        for part in encoder:
            part.save_pretrained(plain)
        first = Transformer(plain, max_seq_length=most, do_lower_case=lower)
        whole = SentenceTransformer(
            modules=[first, *(_random(module) for module in modules)],
            prompts=prompts,
            device="cpu",
        )
        whole.half().save(str(folder), create_model_card=False)
    if lower:  # the release of today keeps it in the tokeniser, older ones beside it
        encoder[1].save_pretrained(folder)
        path = folder / "sentence_bert_config.json"
        told = json.loads(path.read_text())
        path.write_text(json.dumps({**told, "do_lower_case": True, "max_seq_length": most}))
    again = SentenceTransformer(str(folder), device="cpu", truncate_dim=cut).float().eval()
    return {
        "texts": TEXTS,
        "max_tokens": again.max_seq_length,
        "cut": cut or 0,
        "queries": _rounded(again.encode_query(TEXTS)),
        "documents": _rounded(again.encode_document(TEXTS)),
        "library": f"sentence-transformers {_version()}",
    }


def _judge(folder: Path, kind: Any, config: Any, tokenizer: Any) -> dict[str, Any]:
    model, _ = _model(kind, config, tokenizer)
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return _judged(folder)


def _judged(folder: Path) -> dict[str, Any]:
    again = CrossEncoder(str(folder), device="cpu", max_length=64)
    again.float().eval()
    scores = again.predict(PAIRS, activation_fn=torch.nn.Sigmoid())
    return {
        "pairs": PAIRS,
        "scores": [round(float(score), 6) for score in scores],
        "library": f"sentence-transformers {_version()}",
    }


def _version() -> str:
    from importlib.metadata import version

    return version("sentence-transformers")


def _rounded(vectors: Any) -> list[list[float]]:
    return [[round(float(number), 6) for number in row] for row in vectors]


def _pack(folder: Path, target: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            info = tarfile.TarInfo(str(path.relative_to(folder)))
            info.size = path.stat().st_size
            archive.addfile(info, io.BytesIO(path.read_bytes()))
    target.write_bytes(lzma.compress(data.getvalue(), preset=9))


if __name__ == "__main__":
    main()
