"""HyDE: a language model writes the passage that would answer a query, for the vector signal.

A question and its answer use different words; two answers use the same ones (Gao and others, 2022).
Whether the passage is true does not matter: it is compared, never shown. Knows generators only
through their port; any failure is a sentence, not an error.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from trivium.ports import Generator, Message

SECONDS = 5.0  # a person waits
MOST_TOKENS = 160  # of about 100 words in English; other languages get fewer words
FEWEST_WORDS = 5  # less is a refusal or a beginning, and would only blur the query
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
    """Returns within `seconds`, with what was written until then."""
    messages = (Message("system", PROMPT), Message("user", query))
    writing = _Writing(generator, messages)
    writing.start()
    on_time = writing.ended.wait(seconds)
    writing.stopped.set()
    text = " ".join("".join(writing.pieces).split())
    if len(text.split()) >= FEWEST_WORDS:
        return Hypothesis(text)
    if writing.failure is not None:
        why = str(writing.failure)
    elif on_time:
        why = f"{generator.name} wrote too little."
    else:
        why = f"{generator.name} wrote too little within {seconds:g} seconds."
    return Hypothesis("", f"Searched without a hypothetical answer. {why}")


class _Writing(threading.Thread):
    """Collects what a generator writes. A daemon: one that hangs must not keep the program."""

    def __init__(self, generator: Generator, messages: tuple[Message, ...]) -> None:
        super().__init__(name="trivium-hyde", daemon=True)
        self._generator, self._messages = generator, messages
        self.pieces: list[str] = []
        self.failure: Exception | None = None
        self.ended = threading.Event()
        self.stopped = threading.Event()

    def run(self) -> None:
        try:
            for piece in self._generator.stream(self._messages, MOST_TOKENS):
                self.pieces.append(piece)
                if self.stopped.is_set():
                    break
        except Exception as reason:  # a stranger's generator may fail in any way
            self.failure = reason
        finally:
            self.ended.set()
