"""What a caller gets is what a library without the hidden documents would give, to the last digit:
every mode and setting, on the reference, on the embedded store and on PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import postgres

from trivium.core.results import Results
from trivium.core.types import (
    Combine,
    Compare,
    Granularity,
    Mode,
    Processed,
    Signal,
    TokenVectors,
    Where,
)
from trivium.models.late import LateReranker, pack
from trivium.ports import Backend
from trivium.search.fuse import Fusion
from trivium.search.request import Rerank, SearchRequest
from trivium.search.run import Searcher
from trivium.search.suggest import suggest
from trivium.search.weigh import MINILM
from trivium.store.embedded.backend import open_embedded
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.testing.samples import ToyEmbedder, sample
from trivium.text.nearness import near
from trivium.text.normalise import words

if TYPE_CHECKING:
    from trivium.core.types import Vectors

# Relatives, so that words stand for each other, push each other out and are halves of others.
ENDS = ("", "s", "ed", "er", "ing", "less", "front", "light", "keeper")
WORDS = [f"{word}{end}" for word in ("harbour", "lantern", "take", "over", "crown") for end in ENDS]
WORDS += ["takeover", "der", "die", "the", "of", "und"]


class TokenToy(ToyEmbedder):
    """A vector for each word of a text."""

    fingerprint = "tokens-64"

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenVectors]]:
        return self.embed_documents(texts), [pack(self._each(text)) for text in texts]

    def embed_query_tokens(self, text: str) -> tuple[Vectors, Sequence[str]]:
        return self._each(text), words(text)

    def knows(self, word: str) -> bool:
        return word in ("harbour", "crown")

    def _each(self, text: str) -> Vectors:
        return np.stack([self.embed_query(word) for word in words(text)])


TOKENS = TokenToy()


@dataclass(frozen=True)
class Step:
    """Something that happens to a library."""

    name: str  # of a document
    paragraphs: tuple[str, ...] = ()  # none: it is removed
    audience: str = "all"
    collection: str = "rules"
    language: str = "en"

    def is_seen(self, where: Where) -> bool:
        held = where.audiences is None or self.audience in where.audiences | {"all"}
        return held and (where.collections is None or self.collection in where.collections)

    def document(self) -> Processed:
        return sample(
            self.name,
            *self.paragraphs,
            audience=self.audience,
            collection=self.collection,
            language=self.language,
            embedder=TOKENS,
        )


_PARAGRAPHS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), min_size=1, max_size=3
).map(tuple)
_LABELS = st.sampled_from(
    [
        ("all", "rules"),
        ("all", "rules"),
        ("dm-only", "rules"),
        ("player", "rules"),
        ("all", "vault"),
    ]
)
_PLACES = st.tuples(_PARAGRAPHS, _LABELS, st.sampled_from(["en", "en", "de"]), st.booleans())
_CALLERS = st.sampled_from(
    [
        Where(frozenset()),
        Where(frozenset({"player"})),
        Where(None, collections=frozenset({"rules"})),
        Where(frozenset({"player"}), collections=frozenset({"rules"})),
    ]
)
_QUERIES = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.sampled_from(WORDS).map(lambda word: f"harbour {word[:-1]}x"),
    st.sampled_from(
        ["harbur lantrn", '"harbour lantern"', "harbour -crown", "takeover", "over take",
         "harbour OR crownless", "lanternkeper"]
    ),
)  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Documents of every label; some are removed again."""
    steps = []
    for n, (paragraphs, (audience, collection), language, goes) in enumerate(
        draw(st.lists(_PLACES, min_size=2, max_size=12))
    ):
        steps.append(Step(f"{n}.md", paragraphs, audience, collection, language))
        if goes and n % 3 == 2:
            steps.append(replace(steps[-1], paragraphs=()))
    return steps


@contextmanager
def library(kind: str, steps: Sequence[Step]) -> Iterator[Backend]:
    with ExitStack() as places:
        if kind == "embedded":
            store = open_embedded(Path(places.enter_context(tempfile.TemporaryDirectory())))
        else:
            store = open_postgres(parse(places.enter_context(postgres.library())))
        with store.writer.writing():
            for goes, some in groupby(steps, lambda step: not step.paragraphs):
                if goes:
                    found = [store.documents.find(step.name, step.collection) for step in some]
                    store.writer.remove([document.id for document in found if document])
                else:
                    store.writer.put([step.document() for step in some], TOKENS.fingerprint)
        yield store
        store.close()


def searcher(store: Backend) -> Searcher:
    return Searcher(
        store, TOKENS, reranker=LateReranker(TOKENS, lambda ids: {}, store.signals.rarities)
    )


def told(found: Results) -> dict[str, Any]:
    """Everything that a caller gets, except ids and times."""
    plain = asdict(replace(found, items=(), timings_ms={}, took_ms=0.0))
    plain["items"] = [
        asdict(result) | {"found": (result.found.document.uri, asdict(result.found.chunk))}
        for result in found
    ]
    return plain


REQUESTS = st.builds(
    SearchRequest,
    queries=st.one_of(
        st.tuples(_QUERIES), st.lists(_QUERIES, min_size=2, max_size=3).map(tuple)
    ),
    where=_CALLERS,
    limit=st.sampled_from([1, 3, 10]),
    mode=st.sampled_from(list(Mode)),
    by=st.sampled_from(list(Granularity)),
    combine=st.sampled_from(list(Combine)),
    fusion=st.sampled_from(list(Fusion)),
    analysis=st.sampled_from([0.0, 1.0]),
    correct=st.booleans(),
    evidence=st.sampled_from([None, MINILM]),
    candidates=st.sampled_from([None, 2, 20]),
    rerank=st.sampled_from([None, Rerank(seconds=60)]),
    expand=st.booleans(),
)  # fmt: skip
# Those of the presets: plain ranks, all signals or two of them.
EVEN = dict.fromkeys(Signal, 1.0)
TWO = {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.5}
WEIGHTS = st.sampled_from([None, EVEN, TWO])


Asked: TypeAlias = list[tuple[SearchRequest, dict[Signal, float] | None, bool]]
GIVEN: dict[str, Any] = {
    "steps": histories(),
    "asked": st.lists(st.tuples(REQUESTS, WEIGHTS, st.booleans()), min_size=4, max_size=6),
    "start": st.sampled_from(["ha", "harb", "ta", "cr", "lanternx"]),
}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(**GIVEN)
def test_hidden_documents_change_nothing(steps: list[Step], asked: Asked, start: str) -> None:
    compare("embedded", steps, asked, start)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(**GIVEN)
def test_hidden_documents_change_nothing_in_postgresql(
    steps: list[Step], asked: Asked, start: str
) -> None:
    """Fewer examples: to fill and empty two schemas takes most of the time."""
    compare("postgres", steps, asked, start)


def compare(kind: str, steps: list[Step], asked: Asked, start: str) -> None:
    caller = asked[0][0].where
    visible = [step for step in steps if step.is_seen(caller)]
    with library(kind, steps) as whole, library(kind, visible) as without:
        for request, weights, filtered in asked:
            where = caller.narrowed(Compare("language", "eq", "en")) if filtered else caller
            made = replace(request, where=where, weights=weights or request.weights)
            with_hidden, alone = (searcher(store).search(made) for store in (whole, without))
            assert told(with_hidden) == told(alone)
        assert beside_search(whole, caller, start) == beside_search(without, caller, start)


def beside_search(store: Backend, where: Where, start: str) -> list[Any]:
    """What else a caller gets: words, labels, similar documents."""
    documents = store.documents.all(where)
    names = {document.id: document.uri for document in documents}
    first = documents[0] if documents else None
    like = searcher(store).similar(first, where, 5, Granularity.PASSAGE) if first else None
    alike = store.documents.sketches(where, list(names))
    return [
        [document.uri for document in documents],
        store.documents.counts("language", where),
        store.documents.collections(where),
        sorted(store.documents.field_names(where)),
        store.signals.spellings(["harbur", "takeovr", start, *WORDS[:4]], where),
        store.signals.completions(start, where, 3),
        suggest(store, f"the {start}", 3, where),
        list(store.signals.rarities([start, *WORDS], where)),
        told(like) if like else None,
        {names[one]: names[other] for one, other in near(list(names), alike, 0.5).items()},
    ]


# --- the cases that it was found by ---------------------------------------------------------------

PLAIN = [
    Step(f"{n}.md", (f"the harbour of night {n}", f"take it over the {n} bay")) for n in range(49)
]
SECRET = [
    Step("plan.md", ("takeover of quartzite", "takeover bid"), audience="dm-only"),
    Step("list.md", (" ".join(f"harbour{letter}" for letter in ascii_lowercase),), "dm-only"),
]


@pytest.mark.parametrize("kind", ["embedded", "postgres"])
def test_hidden_words_cannot_be_probed(kind: str) -> None:
    """The score of `harbour X` said whether a hidden document holds a word like X, and a search
    for `takeover` found nothing where a hidden document holds that very word."""
    ask = partial(SearchRequest, where=Where(frozenset()), mode=Mode.FUZZY, limit=50)
    with library(kind, [*SECRET, *PLAIN]) as whole, library(kind, PLAIN) as without:
        for guess in ("quartzite", "quartz", "quar", "takeover", "bid", "harboura", "harbourz"):
            for query in (guess, f"harbour {guess}"):
                with_hidden = searcher(whole).search(ask((query,)))
                assert told(with_hidden) == told(searcher(without).search(ask((query,))))
        assert len(searcher(whole).search(ask(("takeover",)))) == 49


def test_as_many_hidden_copies_as_you_like_take_no_place_of_a_visible_one() -> None:
    text = "a letter of nine words that says the same to all"
    copies = [Step(f"copy{n}.md", (text,), audience="dm-only") for n in range(40)]
    mine = [Step("one.md", (text,)), Step("two.md", (text,))]
    where = Where(frozenset())
    with library("embedded", [*copies, *mine]) as store:
        ids = [document.id for document in store.documents.all(where)]
        assert near(ids, store.documents.sketches(where, ids), 0.8) == {
            ids[0]: ids[1],
            ids[1]: ids[0],
        }
