"""Passes the requests of our own client to the official one, and its answers back.

So our requests must fit the official client's typed methods, and answers pass through its types: a
library that uses this talks to a real model through the official client.
"""

from collections.abc import Callable
from typing import Any

import cohere
import openai
from tests.endpoint import Reply, Seen, events
from tests.language_model import KEY

# Of an answer, whatever is asked for: nobody judges what the model writes, and beside other work
# (load 18 on 2 cores) it writes 8 tokens a second, of which a guess and an answer want 160 each.
MOST_TOKENS = 24


def official(url: str) -> openai.OpenAI:
    """Patient, and without a second try: a test machine may be busy with other things."""
    return openai.OpenAI(base_url=url, api_key=KEY, timeout=240.0, max_retries=0)


def official_judge(url: str) -> cohere.Client:
    """Version 1 of its API, which llama.cpp serves too. It adds the version to the path itself."""
    return cohere.Client(KEY, base_url=url.removesuffix("/v1"), timeout=240.0)


def through(client: openai.OpenAI) -> Callable[[Seen], Reply]:
    def answer(seen: Seen) -> Reply:
        body: dict[str, Any] = seen.body
        if seen.path == "/v1/embeddings":
            return Reply(_plain(client.embeddings.create(**body)))
        assert seen.path == "/v1/chat/completions"
        body = {**body, "max_tokens": min(body["max_tokens"], MOST_TOKENS)}
        if not body.get("stream"):
            return Reply(_plain(client.chat.completions.create(**body)))
        with client.chat.completions.create(**body) as pieces:
            return Reply(events(*map(_plain, pieces)), then="close")

    return answer


def through_judge(client: cohere.Client) -> Callable[[Seen], Reply]:
    def answer(seen: Seen) -> Reply:
        assert seen.path == "/v1/rerank"
        return Reply(_plain(client.rerank(**seen.body)))

    return answer


def _plain(answered: Any) -> Any:
    return answered.model_dump(mode="json")
