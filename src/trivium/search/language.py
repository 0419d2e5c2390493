"""Says when the embedding model knows little of the language it searched in. Knows no models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from trivium.core.types import Signal, StoredChunk

LOOKED_AT = 10  # results
NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "es": "Spanish", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "id": "Indonesian",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def weak_language(
    results: Sequence[StoredChunk],
    known_languages: Collection[str],
    weights: Mapping[Signal, float],
) -> str:
    """A sentence, if most of the best results are in one language that isn't one of
    `known_languages`; else empty. So it is without the vector signal, and where nobody could tell
    the language."""
    share = weights.get(Signal.VECTOR, 0.0) / (sum(weights.values()) or 1.0)
    languages = Counter(result.document.language for result in results[:LOOKED_AT])
    if not known_languages or not share or not languages:
        return ""
    language, count = languages.most_common(1)[0]
    if not language or language in known_languages or 2 * count <= languages.total():
        return ""
    name = NAMES.get(language, f"of this language ({language})")
    if share <= 0.5:
        return f"The model knows little {name}: ranked mostly by words and spelling."
    return f"The model knows little {name}: results by meaning may be wrong."
