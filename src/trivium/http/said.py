"""What the routes about questions are asked, as types."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from trivium.http.requests import Filtered, NotBlank
from trivium.search.run import LONGEST_QUERY

MOST_TURNS = 20  # of a history: a model's window holds fewer
MOST_PASSAGES = 20
LONGEST_SAID = 20_000  # characters of an answer in a history
LONGEST_NAME = 150  # of a conversation; the library puts the token's id before it
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
ConversationName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), NotBlank]


class _Typed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TurnSaid(_Typed):
    """A question that was asked before, and what was answered."""

    question: str = Field(max_length=LONGEST_QUERY)
    answer: str = Field(max_length=LONGEST_SAID)


class QueryBody(Filtered):
    """One question. It is searched for with reranking, the text around each passage and, where a
    language model is set up, a guessed answer."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"question": "who raised the drowned crown?"},
                {
                    "question": "and where?",
                    "history": [
                        {"question": "who raised the drowned crown?", "answer": "Divers did."}
                    ],
                    "where": "type:markdown",
                    "stream": False,
                },
            ]
        },
    )

    question: str = Field(min_length=1, max_length=LONGEST_QUERY)
    stream: StrictBool = Field(
        True, description="As server-sent events; false: the whole answer in one piece."
    )
    history: list[TurnSaid] = Field(
        [], max_length=MOST_TURNS, description="What was said before, the oldest first."
    )
    conversation: ConversationName | None = Field(
        None,
        description="Go on with one that the library keeps, or begin it.",
    )
    limit: int | None = Field(None, ge=1, le=MOST_PASSAGES, description="Passages to read.")
