"""The settings of known systems, by name. Data only; `config` says what a setting means."""

from __future__ import annotations

from collections.abc import Mapping

# The five systems that Trivium must at least equal, by their own numbers. What a preset does not
# name is as the settings say. Reciprocal ranks with fixed weights, as all of them have.
_PLAIN = {
    "fusion.method": "rrf",
    "fusion.adaptive": "off",
    "analysis.strength": "0",
    "search.correct": "off",
}
PRESETS: Mapping[str, Mapping[str, str]] = {
    "rulebook": {
        **_PLAIN,
        **{f"fusion.{signal}": "1" for signal in ("vector", "keyword", "trigram")},
        "fusion.k": "10",
        "search.candidates": "20",
        "search.strict": "on",
    },
    "codex": {
        **_PLAIN,
        "fusion.vector": "1",
        "fusion.keyword": "1",
        "fusion.trigram": "0",
        "fusion.k": "60",
        "search.limit": "5",
        "search.by": "document",
        "fusion.documents": "on",
        "search.candidates": "20",
        "search.rerank": "on",
        "rerank.candidates": "20",
        "rerank.share": "1",
        "rerank.hybrid": "0",
        "rerank.position": "0",
        "ask.limit": "5",
        "ask.by": "document",
        "ask.expand": "off",
        "ask.hyde": "off",
    },
    "papers": {
        **_PLAIN,
        "fusion.vector": "0.5",
        "fusion.keyword": "0.5",
        "fusion.trigram": "0",
        "fusion.k": "60",
        "analysis.strength": "1",
        "search.by": "document",
        "fusion.documents": "on",
        "search.match": "rule",
        "search.floor": "0",
        "chunk.strategy": "sections",
        "chunk.ceiling": "2000",
        "chunk.most": "100",
    },
    "team": {
        **_PLAIN,
        "fusion.vector": "0.5",
        "fusion.keyword": "0.3",
        "fusion.trigram": "0.2",
        "fusion.k": "60",
        "search.strict": "on",
        "search.per_result": "2",
        "rerank.share": "0.5",
        "rerank.hybrid": "0.3",
        "rerank.position": "0.2",
        "rerank.seconds": "2",
        "chunk.strategy": "grouped",
        "chunk.size": "400",
        "chunk.overlap": "80",
        "chunk.minimum": "40",
    },
    "palace": {
        **_PLAIN,
        "fusion.vector": "1",
        "fusion.keyword": "1",
        "fusion.trigram": "0",
        "fusion.k": "60",
        "search.limit": "8",
        "search.threshold": "0.3",
        "ask.rerank": "off",
        "ask.expand": "off",
        "ask.hyde": "off",
    },
}
