"""Two toy models behind one real address, so that a library can go from one to the other."""

from tests.endpoint import Reply, Seen

from trivium.config import Settings
from trivium.testing.samples import OTHER, TOY, ToyEmbedder

MODELS: dict[str, ToyEmbedder] = {"toy": TOY, "other": OTHER}


def answer(seen: Seen) -> Reply:
    """What an endpoint with both models says."""
    embedder = MODELS[seen.body["model"]]
    rows = [embedder.embed_query(text).tolist() for text in seen.body["input"]]
    return Reply({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]})


def settings(url: str, model: str) -> Settings:
    # Much time for a query: this machine may be busy with other things.
    return Settings(embed_url=url, embed_model=model, embed_batch=5, embed_query_seconds=240.0)


def embedded(requests: list[Seen], model: str) -> list[str]:
    """Every text that a model was given, in order."""
    return [text for seen in requests if seen.body["model"] == model for text in seen.body["input"]]
