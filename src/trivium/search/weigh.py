"""Decides how much meaning and words count for one query, from the hits of the signals.

The vector signal gets more weight if its best hit is similar and well ahead of the rest; the
keyword signal gets more if its best hit is well ahead. Fitted to the built-in model's cosines on
six judged sets. nDCG@10 on each set when fitted on the other five (in brackets: fixed weights):

    scifact .736 (.727)   nfcorpus .359 (.354)     cranfield .556 (.563)
    xquad_en .982 (.983)  xquad_de .967 (.948)     mlquestions .573 (.547)

The share and its bounds also depend on how well the model tells the library's passages apart
(`separation`). Fitted on eleven sets; nDCG@10 on each when fitted on the others (without both xquad
sets for xquad). In brackets: without separation, and the best signal alone:

    cosqa .608 (.572, .603)         dbpedia_5k .521 (.476, .521)   legalquad_de .921 (.892, .923)
    anthropic_codebase .747 (.748, .714)   cranfield .561 (.561, .533)   locomo10 .535 (.564, .511)
    mlquestions .833 (.855, .827)   nfcorpus .446 (.446, .400)     scifact .915 (.912, .889)
    xquad_de .937 (.937, .941)      xquad_en .975 (.971, .973)     mean .727 (.721)

Doesn't look at the words of queries: `analyse` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trivium.core.types import Hit, Signal
from trivium.search.scale import Scale


@dataclass(frozen=True, slots=True)
class SignalEvidence:
    """How far the hits of the signals move the share of the vector signal."""

    offset: float
    similarity: float  # for each unit that the best hit is more similar than usual
    lead: float  # for each unit that it is further ahead of the tenth than usual
    word_lead: float  # the same for the best keyword hit, as a share of its score
    usual_similarity: float
    usual_lead: float
    usual_word_lead: float
    separation: float = 0.0  # for each unit that the model tells passages apart better than usual
    usual_separation: float = 0.0
    library: float = 0.0  # the shift in this library

    def in_library(self, separation: float | None) -> SignalEvidence:
        """The same for a library with this separation; None: unknown."""
        if separation is None:
            return self
        return replace(self, library=self.separation * (separation - self.usual_separation))

    def on(self, scale: Scale) -> SignalEvidence:
        """The same for a model with other cosines."""
        return replace(
            self,
            similarity=self.similarity * scale.slope,
            lead=self.lead * scale.slope,
            usual_similarity=(self.usual_similarity - scale.offset) / scale.slope,
            usual_lead=self.usual_lead / scale.slope,
            separation=self.separation * scale.slope,
            usual_separation=self.usual_separation / scale.slope,
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the share. They are wider if the model's separation is low or high. But every
        signal keeps a trace of weight, so a passage that only one signal finds is still a
        result."""
        least, most = LEAST + min(0.0, self.library), MOST + max(0.0, self.library)
        return max(TRACE, least), min(1 - TRACE, most)

    def by_meaning(self, similarity: float, lead: float) -> float:
        similar = self.similarity * (similarity - self.usual_similarity)
        return self.offset + similar + self.lead * (lead - self.usual_lead)

    def by_words(self, word_lead: float) -> float:
        return self.word_lead * (word_lead - self.usual_word_lead)


MINILM = SignalEvidence(
    # -.037 as fitted on six sets; .03 less gains .0013 on whole sets, ten of eleven (docs/log.md).
    offset=-0.067,
    similarity=0.884,
    lead=1.041,
    word_lead=-0.545,
    usual_similarity=0.607,
    usual_lead=0.197,
    usual_word_lead=0.495,
    separation=2.25,
    usual_separation=0.02,
)


def evidence_for(scale: Scale | None) -> SignalEvidence | None:
    """By a model's scale; None: its cosines are unknown, so weights stay."""
    return None if scale is None else MINILM.on(scale)


LEAST, MOST = 0.25, 0.75  # of all weight, for the vector signal
TRACE = 0.01
_TENTH = 9
_WORDED = (Signal.KEYWORD, Signal.TRIGRAM)


def weigh(
    weights: Mapping[Signal, float], lists: Mapping[Signal, Sequence[Hit]], evidence: SignalEvidence
) -> tuple[dict[Signal, float], str, str]:
    """New weights with the same sum, a sentence with the figures, and what moved them most. If the
    vector signal has fewer than ten hits, or no other signal found anything, the weights stay and
    there is no sentence."""
    vector, keyword = lists.get(Signal.VECTOR, ()), lists.get(Signal.KEYWORD, ())
    total = sum(weights.values())
    before = weights.get(Signal.VECTOR, 0.0) / total
    if len(vector) <= _TENTH or not 0 < before < 1 or not any(lists.get(s) for s in _WORDED):
        return dict(weights), "", ""
    similarity, lead = vector[0].score, _lead(vector)
    word_lead = _lead(keyword) / keyword[0].score if keyword else 0.0
    least, most = evidence.bounds
    meaning, worded = evidence.by_meaning(similarity, lead), evidence.by_words(word_lead)
    share = min(most, max(least, before + meaning + worded + evidence.library))
    others = (1 - share) / (1 - before)
    moved = {s: w * (share / before if s is Signal.VECTOR else others) for s, w in weights.items()}
    reason = f"words: lead {word_lead:.0%}" if keyword else "words: none found"
    return (
        moved,
        f"Meaning: top hit {similarity:.2f}, lead {lead:.2f} · {reason}.{_shift(evidence.library)}",
        _cause(share > before, meaning, worded, evidence.library),
    )


def _cause(raised: bool, meaning: float, words: float, library: float) -> str:
    """What contributed most to a shift towards meaning (`raised`), or away from it."""
    sign = 1 if raised else -1
    stand, fail = ("stand out", "don't stand out") if raised else ("don't stand out", "stand out")
    causes = {
        f"the top results by meaning {stand}": meaning * sign,
        f"the top results by words {fail}": words * sign,
        f"meaning works {'well' if raised else 'poorly'} in this library": library * sign,
    }
    return max(causes, key=lambda cause: causes[cause])


def _shift(library: float) -> str:
    if round(library, 2) == 0:
        return ""
    return f" This library: {library:+.0%} for meaning."


def _lead(hits: Sequence[Hit]) -> float:
    """How far the best hit is ahead of the tenth, or of the last."""
    return hits[0].score - hits[min(_TENTH, len(hits) - 1)].score
