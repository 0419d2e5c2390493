"""Asking: questions that are answered from the documents, and the settings behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from trivium.core.answers import Depth, Turn
from trivium.operations.declaring import Carried, NotBlank, option, requests, usual
from trivium.operations.searching import LONGEST_QUERY, Filters, SearchSettings

MOST_TURNS = 20  # of a history: a model's window holds fewer
MOST_PASSAGES = 20
LONGEST_SAID = 20_000  # characters of an answer in a history
LONGEST_NAME = 150  # of a conversation; the library puts the token's id before it

ConversationName = Annotated[str, Carried(str, min_length=1, max_length=LONGEST_NAME), NotBlank()]


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """How to answer. Options that are None come from the settings."""

    limit: int | None = option(
        "Number of passages to answer from.",
        setting="ask.limit",
        flags=("-n", "--limit"),
        assistants=False,
        ge=1,
        le=MOST_PASSAGES,
    )
    depth: Annotated[Depth | str | None, Carried(Depth | None)] = option(
        "`once`: search once; `auto`: search again if nothing relevant is found; `deep`: search"
        " several times, within limits.",
        setting="ask.depth",
    )
    conversation: ConversationName | None = option(
        "Continue the saved conversation of this name, or start it.",
        metavar="NAME",
        assistants=False,
    )


@dataclass(frozen=True)
class EarlierTurn(Turn):
    """An earlier question and its answer, as a request carries them."""

    __pydantic_config__ = requests({"question": "who raised the crown?", "answer": "Divers did."})

    question: Annotated[str, Carried(str, max_length=LONGEST_QUERY)]
    answer: Annotated[str, Carried(str, max_length=LONGEST_SAID)]


@dataclass(frozen=True, kw_only=True)
class Ask(AskOptions, Filters):
    """One question. The search uses reranking, the text around each passage and, if a language
    model is set up, a generated answer (HyDE)."""

    __pydantic_config__ = requests(
        {"question": "who raised the drowned crown?"},
        {
            "question": "and where?",
            "history": [{"question": "who raised the drowned crown?", "answer": "Divers did."}],
            "where": "type:markdown",
            "stream": False,
        },
    )

    question: str = option(
        "The question, in your own words.", required=True, min_length=1, max_length=LONGEST_QUERY
    )
    history: Annotated[Sequence[Turn], Carried(list[EarlierTurn], max_length=MOST_TURNS)] = option(
        "Earlier turns, oldest first.", (), assistants=False
    )
    stream: bool = option(
        "Stream server-sent events; false: return the whole answer at once.",
        True,
        assistants=False,
        strict=True,
    )


@dataclass(frozen=True, slots=True)
class AskSettings(SearchSettings):
    """What an answer is like if its caller doesn't say."""

    ask_depth: str = usual(AskOptions, "depth", "auto")
    ask_limit: int = usual(AskOptions, "limit", 8)
