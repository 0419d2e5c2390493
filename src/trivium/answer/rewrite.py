"""Makes a follow-up question stand on its own: "and who wore it?" needs the turn before it.

A language model does it in a short call. Where there is none, where it fails or where it invents,
rules do (`followup`). Pure but for the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.answer.followup import stand_alone as by_rules
from trivium.core.answers import Turn, Usage
from trivium.ports import Generator, Message
from trivium.search.writing import write_within
from trivium.text.languages import detect_language
from trivium.text.normalise import words
from trivium.text.stems import content_words, stem

SECONDS = 10.0  # a person is waiting
MOST_TOKENS = 120
TURNS = 3  # a follow-up refers to something said just now
LONGEST_TURN = 600  # characters of an earlier question or answer
LONGEST = 500  # characters of a rewritten question
# The share of a rewritten question's content words that were said or asked before. One made of new
# words asks something else.
LEAST_KNOWN = 0.6
RULES = (
    "Rewrite the user's last question so that it can be understood without the conversation: put"
    " names in the place of words like it, they, there. Keep its language and its meaning. If it"
    " stands on its own already, repeat it. Write the question and nothing else; do not answer it."
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    text: str
    note: str = ""  # why the model didn't write it
    usage: Usage = Usage()


def stand_alone(
    question: str, history: Sequence[Turn], generator: Generator | None, seconds: float = SECONDS
) -> Rewritten:
    if not history:
        return Rewritten(question)
    ruled = by_rules(question, history)
    if generator is None:
        return Rewritten(ruled)
    messages = [Message("system", RULES)]
    for turn in history[-TURNS:]:
        messages.append(Message("user", _short(turn.question)))
        messages.append(Message("assistant", _short(turn.answer) or "…"))
    messages.append(Message("user", f"Rewrite this question: {question}"))
    written = write_within(generator, messages, MOST_TOKENS, seconds)
    usage = Usage(written.prompt_tokens, written.completion_tokens)
    text = written.text.strip("\"'“”„ ")
    if text and len(text) <= LONGEST and _is_known(text, question, history):
        return Rewritten(text, usage=usage)
    why = f"{generator.name} asked something else." if text else written.why
    note = f"Rewrote the question with rules, because the model failed. {why}"
    return Rewritten(ruled, note, usage)


def _is_known(text: str, question: str, history: Sequence[Turn]) -> bool:
    texts = [question, *(part for turn in history for part in (turn.question, turn.answer))]
    language = detect_language(" ".join(texts)) or "en"
    content = set(stem(content_words(words(text), [language]), language))
    before = {stemmed for part in texts for stemmed in stem(words(part), language)}
    return bool(content) and len(content & before) >= LEAST_KNOWN * len(content)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TURN else text[:LONGEST_TURN].rstrip() + "…"
