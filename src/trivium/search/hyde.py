"""HyDE: a language model writes the passage that would answer a query, for the vector signal.

A question and its answer use different words; two answers use the same ones (Gao and others, 2022).
The passage need not be true: it is only compared, never quoted. Knows generators only through their
port; any failure becomes a note, not an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from trivium.ports import Generator, Message
from trivium.search.writing import write_within

SECONDS = 5.0  # a person is waiting
MOST_TOKENS = 160  # about 100 words in English, fewer in other languages
FEWEST_WORDS = 5  # fewer are a refusal or a fragment, and would only blur the query
PROMPT = (
    "Write one paragraph of about 100 words, as it would stand in a document that answers the"
    " user's question. Write in the language of the question. Give plain facts in the words an"
    " expert would use. No introduction, no list, no remark about yourself. If you do not know,"
    " write what such a document would most likely say."
)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A passage that might answer the query, or the reason why there is none."""

    text: str
    note: str = ""


def hypothesise(generator: Generator, query: str, seconds: float = SECONDS) -> Hypothesis:
    """Returns within `seconds`, with what the model has written by then."""
    messages = (Message("system", PROMPT), Message("user", query))
    written = write_within(generator, messages, MOST_TOKENS, seconds)
    if len(written.text.split()) >= FEWEST_WORDS:
        return Hypothesis(written.text)
    return Hypothesis("", f"Searched without a generated answer (HyDE). {written.why}")
