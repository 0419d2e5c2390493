"""Lets a language model write something short within a time limit, while a person waits. Knows
generators only through their port; a failure becomes a reason, not an error."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from trivium.ports import Generated, Generator, Message


@dataclass(frozen=True, slots=True)
class WrittenInTime:
    """What the model wrote in time, on one line, and why it may be incomplete."""

    text: str
    why: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


def write_within(
    generator: Generator, messages: Sequence[Message], most_tokens: int, seconds: float
) -> WrittenInTime:
    """Returns within `seconds`, with what the model has written by then."""
    writing = _Writing(generator, messages, most_tokens)
    writing.start()
    on_time = writing.ended.wait(seconds)
    writing.stopped.set()
    if writing.failure is not None:
        why = str(writing.failure)
    elif on_time:
        why = f"{generator.name} wrote too little."
    else:
        why = f"{generator.name} wrote too little within {seconds:g} seconds."
    text = " ".join("".join(writing.pieces).split())
    took = writing.generated
    if took is None:
        return WrittenInTime(text, why)
    return WrittenInTime(text, why, took.prompt_tokens, took.completion_tokens)


class _Writing(threading.Thread):
    """Collects what a generator writes. A daemon, so that a generator that hangs can't keep the
    program from ending."""

    def __init__(self, generator: Generator, messages: Sequence[Message], most_tokens: int) -> None:
        super().__init__(name="trivium-writing", daemon=True)
        self._stream = generator.stream(messages, most_tokens)
        self.pieces: list[str] = []
        self.generated: Generated | None = None
        self.failure: Exception | None = None
        self.ended = threading.Event()
        self.stopped = threading.Event()

    def run(self) -> None:
        try:
            with closing(self._stream):
                while not self.stopped.is_set():
                    self.pieces.append(next(self._stream))
        except StopIteration as end:
            self.generated = end.value if isinstance(end.value, Generated) else None
        except Exception as reason:  # a third party's generator may fail in any way
            self.failure = reason
        finally:
            self.ended.set()
