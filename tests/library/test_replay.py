"""What is replayed from kept answers is what a search shows, whatever the settings."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from trivium import Library
from trivium.config import Settings, load
from trivium.evaluate.dataset import Dataset
from trivium.evaluate.replay import PAGE, Replay
from trivium.evaluate.subject import Subject
from trivium.operations.searching import SearchOptions

QUERIES = (
    "how does a crossbow work",
    "drowend crwon",
    "Shortsord",
    "who poisoned the ferryman",
    '"short sword" OR dagger -cursed',
    "rulers of the elven forest 2019",
)
PATIENT = load({"rerank.seconds": "240"}).settings  # a busy machine must not leave reranking out


def tried(chance: random.Random) -> Settings:
    shares = chance.choice([(0.5, 0.3, 0.2), (1.0, 0.0, 0.0), (0.2, 0.2, 0.6)])
    return replace(
        PATIENT,
        fusion_method=chance.choice(["scores", "rrf"]),
        fusion_adaptive=chance.random() < 0.5,
        fusion_k=chance.choice([2.0, 60.0]),
        fusion_vector=chance.choice([0.0, 0.3, 0.9]),
        fusion_keyword=chance.choice([0.1, 0.5]),
        fusion_trigram=chance.choice([0.0, 0.2]),
        search_threshold=chance.choice([-1.0, 0.3]),
        search_candidates=chance.choice([0, 20]),
        analysis_strength=chance.choice([0.0, 1.0, 2.0]),
        rerank_share=shares[0],
        rerank_hybrid=shares[1],
        rerank_position=shares[2],
    )


def test_replayed_pages_are_those_of_a_search(sample_library: Path) -> None:
    asked = {str(at): text for at, text in enumerate(QUERIES)}
    judged = {query: {"anything": 1} for query in asked}
    with Library.open(sample_library, settings=PATIENT) as library:
        subject = Subject(library, Dataset("sample", asked, judged), 0)
        replay = Replay.listen(subject, lambda stage, done, total: None)
        chance = random.Random(4)
        for settings in (PATIENT, *(tried(chance) for _ in range(8))):
            for rerank in (False, True):
                pages = replay.pages(settings, rerank=rerank)
                with Library.open(sample_library, settings=settings) as other:
                    for text, page in zip(QUERIES, pages, strict=True):
                        found = other.search(
                            text, PAGE, options=SearchOptions(by="document", rerank=rerank)
                        )
                        assert page == [r.found.document.uri for r in found], (text, settings)
