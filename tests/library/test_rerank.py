"""Reranking through a library: the built-in reranker, and endpoints that fail or send nonsense."""

from pathlib import Path

import pytest
from tests.endpoint import HANG, Reply, ScriptedEndpoint, Seen, closed_port

from trivium.config import load
from trivium.core.errors import BadSetting
from trivium.core.results import Results
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

PATIENCE = "120"  # seconds: for a machine that is busy with other things
TEXTS = [
    "The harbour master keeps a log of every ship.",
    "A lantern burns on the pier all night.",
    "Ships wait outside the harbour when the fog is thick.",
    "Bread needs flour, water, salt and time.",
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number, text in enumerate(TEXTS):
        (folder / f"{number}.md").write_text(text)
    return folder


def searched(folder: Path, files: Path, **settings: str) -> Results:
    given = {name.replace("_", ".", 1): value for name, value in settings.items()}
    with Library(open_embedded(folder / "library"), TOY, load(given).settings) as library:
        library.add(files)
        plain = library.search("ships in fog", 2)
        found = library.search("ships in fog", 2, options=SearchOptions(rerank=True))
        if found.notes:
            assert [r.found.id for r in found] == [r.found.id for r in plain]
        return found


def test_the_model_itself_reranks_and_every_part_is_told(tmp_path: Path, files: Path) -> None:
    settings = load({"rerank.seconds": PATIENCE}).settings
    with Library.open(tmp_path / "library", settings=settings) as library:
        library.add(files)
        found = library.search("ships in fog", options=SearchOptions(rerank=True))
        assert found.notes == ()
        assert found[0].found.chunk.text == TEXTS[2]
        assert "rerank" in found.timings_ms
        for result in found:
            part = result.rerank
            assert part is not None
            assert result.score == pytest.approx(part.rerank + part.hybrid + part.position)
            assert 0 <= part.judged <= 1
        assert [r.score for r in found] == sorted((r.score for r in found), reverse=True)
        assert library.search("ships in fog")[0].rerank is None


def test_without_kept_token_vectors_they_are_computed(tmp_path: Path, files: Path) -> None:
    settings = load({"rerank.store": "off", "rerank.seconds": PATIENCE}).settings
    with Library.open(tmp_path / "library", settings=settings) as library:
        library.add(files)
        assert (
            library.search("ships in fog", options=SearchOptions(rerank=True))[0].rerank is not None
        )


def test_an_endpoint_decides(tmp_path: Path, files: Path) -> None:
    def judge(seen: Seen) -> Reply:
        texts = seen.body["documents"]
        best = next(i for i, text in enumerate(texts) if "Bread" in text)
        scores = [{"index": i, "relevance_score": float(i == best)} for i in range(len(texts))]
        return Reply({"results": scores})

    with ScriptedEndpoint(judge) as server:
        found = searched(
            tmp_path, files, rerank_url=server.url, rerank_model="judge", rerank_share="1",
            rerank_hybrid="0", rerank_position="0", rerank_seconds=PATIENCE,
        )  # fmt: skip
    assert found[0].found.chunk.text == TEXTS[3]
    assert len(server.requests[0].body["documents"]) == 4  # of at most 2 × 3


@pytest.mark.parametrize(
    "reply",
    [
        Reply({}, 500),
        Reply({"results": []}),
        Reply({"results": [{"index": 0, "relevance_score": "high"}]}),
        Reply(b"no json"),
        HANG,
    ],
    ids=["fails", "too few", "no number", "no json", "hangs"],
)
def test_a_bad_reranker_never_breaks_a_search(tmp_path: Path, files: Path, reply: Reply) -> None:
    with ScriptedEndpoint(lambda seen: reply) as server:
        found = searched(
            tmp_path, files, rerank_url=server.url, rerank_model="bad", rerank_seconds="0.3"
        )
    assert len(found) == 2
    assert any(note.startswith("Not reranked") for note in found.notes)


def test_one_that_is_not_there(tmp_path: Path, files: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    found = searched(tmp_path, files, rerank_url=url, rerank_model="none", rerank_seconds="0.3")
    assert found.notes


def test_an_embedder_without_tokens_says_so(tmp_path: Path, files: Path) -> None:
    assert any("rerank.url" in note for note in searched(tmp_path, files).notes)


def test_shares_that_are_none(tmp_path: Path, files: Path) -> None:
    with pytest.raises(BadSetting, match=r"rerank\.share"):
        searched(tmp_path, files, rerank_share="0.9")
