"""A library whose embedding model is behind an address: a real one, and ones that misbehave."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.program import call
from tests.endpoint import (
    HANG,
    Reply,
    ScriptedEndpoint,
    Seen,
    closed_port,
    every_third_fails,
)
from tests.language_model import DIMENSIONS, KEY, NAME

from trivium.config import Settings, secrets
from trivium.core.errors import BadSetting, ModelChanged, ModelUnavailable
from trivium.core.types import Labels, Signal
from trivium.library import Library, embedder_for, generator_for, remote_reranker_for
from trivium.library.jobs import Report
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteEmbedder
from trivium.models.retrying import Clock
from trivium.operations.searching import SearchOptions
from trivium.ports import SourceItem
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample

LANTERN, BREAD = "A lantern burns at the harbour.", "Bread needs flour and time."


class Texts:
    """A source of texts that need no reading, so that no reader has to be started."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def items(self) -> Iterator[SourceItem]:
        for text in self._texts:
            yield SourceItem(f"text:{text}", text, sample("", text).extraction)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "lantern.md").write_text(LANTERN)
    (folder / "bread.md").write_text(BREAD)
    return folder


def add(library: Library, *texts: str) -> Report:
    return library.add_from(Texts(*texts), Labels())


def toy(seen: Seen) -> Reply:
    rows = [TOY.embed_query(text).tolist() for text in seen.body["input"]]
    return Reply({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]})


def remote(url: str, seconds: float = 240.0, batch: int = 100) -> RemoteEmbedder:
    endpoint = Endpoint("embed", url, "toy", KEY, seconds=seconds, patience=seconds)
    client = Client(endpoint, clock=Clock(lambda pause: None))
    return RemoteEmbedder(client, query_seconds=seconds, batch=batch)


def opened(folder: Path, embedder: RemoteEmbedder) -> Library:
    return Library(open_embedded(folder), embedder, Settings())


def test_from_settings_to_results_with_a_real_model(
    language_model: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_EMBED_KEY", KEY)
    patient = Settings(embed_query_seconds=240.0)  # this machine may be busy with other things
    settings = replace(patient, embed_url=language_model, embed_model=NAME)
    with Library.open(tmp_path / "l", settings=settings) as library:
        report = library.add(files)
        assert (report.chunks, report.notes) == (2, ())
        assert library.models.manifest().model == NAME
        assert library.models.manifest().dimensions == DIMENSIONS
        results = library.search(LANTERN)
        assert results[0].found.chunk.text == LANTERN
        assert results[0].signals[Signal.VECTOR].score > 0.9
        assert results.notes == ()
        assert (
            library.search(LANTERN, options=SearchOptions(mode="semantic"))[0].found.chunk.text
            == LANTERN
        )
    # The same model under another address is the same model.
    moved = language_model.replace("127.0.0.1", "localhost")
    with Library.open(tmp_path / "l", settings=replace(settings, embed_url=moved)) as again:
        assert again.add(files).embedding_seconds == 0
        assert again.search("harbour").notes == ()
    with pytest.raises(ModelChanged, match="your settings name other"):
        Library.open(tmp_path / "l", settings=Settings(embed_url=moved, embed_model="other"))
    with Library.open(tmp_path / "l", settings=patient) as plain:  # as the manifest says
        assert plain.search("harbour").notes == ()


def test_an_endpoint_that_is_down_and_comes_back(tmp_path: Path) -> None:
    down = remote(f"http://127.0.0.1:{closed_port()}")
    with opened(tmp_path / "l", down) as library:
        [note] = add(library, LANTERN, BREAD).notes
        assert note.startswith(
            "Added without vectors: you can search by words and spelling only. Couldn't conn"
        )
        assert "embed.url" in note
        results = library.search("lantern")
        assert [r.found.chunk.text for r in results] == [LANTERN]
        assert results.notes[0].startswith("Searched by words and spelling only. Couldn't conn")
        with pytest.raises(ModelUnavailable, match="Couldn't connect"):
            library.search("lantern", options=SearchOptions(mode="semantic"))
    with ScriptedEndpoint(toy) as server, opened(tmp_path / "l", remote(server.url)) as library:
        assert add(library, LANTERN).notes == ("Added 2 missing vectors.",)
        assert library.upkeep.health()["vectors"] == 2
        assert (
            library.search("lantern", options=SearchOptions(mode="semantic"))[0].found.chunk.text
            == LANTERN
        )


def test_an_endpoint_that_fails_every_third_call(tmp_path: Path) -> None:
    texts = [f"Lantern number {number}." for number in range(20)]
    with (
        ScriptedEndpoint(every_third_fails(toy)) as server,
        opened(tmp_path / "l", remote(server.url, batch=3)) as library,
    ):
        assert add(library, *texts).notes == ()
        assert library.upkeep.health()["vectors"] == 20
        for text in texts[:6]:
            found = library.search(text)
            assert found.notes == ()
            assert Signal.VECTOR in found[0].signals


BAD = {
    "didn't answer within": HANG,
    "TRIVIUM_EMBED_KEY": Reply({}, 401),
    "is busy": Reply({}, 503),
    "returned 2 dimensions, not 64": Reply({"data": [{"embedding": [1.0, 2.0]}]}),
    "3 embeddings for 1": Reply({"data": [{"embedding": [1.0] * 64}] * 3}),
    "n't lists of numbers": Reply({"data": [{"embedding": [float("nan")] * 64}]}),
    "something other than JSON": Reply(b"<html>"),
}


def give(embedder: RemoteEmbedder, seconds: float) -> None:
    """Little time for an answer that never comes, much for all others."""
    client = embedder._client
    client.endpoint = replace(client.endpoint, seconds=seconds, patience=seconds)
    embedder._query_seconds = seconds


def test_an_endpoint_that_turns_bad(tmp_path: Path) -> None:
    """An add ends with a readable reason, search goes on, and the next add completes it."""
    bad: Reply | None = None
    with (
        ScriptedEndpoint(lambda seen: bad or toy(seen)) as server,
        opened(tmp_path / "l", model := remote(server.url)) as library,
    ):
        assert add(library, BREAD).notes == ()
        for number, (why, bad) in enumerate(BAD.items()):
            give(model, 0.5 if bad == HANG else 20.0)
            [note] = add(library, f"Rope number {number}.").notes
            toy_failed = "by words and spelling only. toy (`embed.url`) "
            assert note.startswith(f"Added without vectors: you can search {toy_failed}")
            assert server.url not in note
            assert why in note
            results = library.search(f"rope number {number}")
            assert results[0].found.chunk.text == f"Rope number {number}."
            assert results.notes[0].startswith(f"Searched {toy_failed}")
            assert server.url not in results.notes[0]
            assert library.upkeep.health()["vectors"] == 1
        bad = None
        give(model, 20.0)
        [note] = add(library, LANTERN).notes
        assert note == f"Added {len(BAD)} missing vectors."
        assert (
            library.upkeep.health()["vectors"] == library.upkeep.health()["chunks"] == 2 + len(BAD)
        )


def test_the_manifest_tells_the_dimensions_of_an_earlier_day(tmp_path: Path) -> None:
    wide = Reply({"data": [{"index": 0, "embedding": [1.0] * 65}]})
    with ScriptedEndpoint(lambda seen: toy(seen) if seen.number == 1 else wide) as server:
        settings = Settings(embed_url=server.url, embed_model="toy")
        with Library.open(tmp_path / "l", settings=settings) as library:
            add(library, LANTERN)
        with Library.open(tmp_path / "l", settings=settings) as library:
            [note] = library.search("lantern").notes
    assert "returned 65 dimensions, not 64" in note


def test_what_the_settings_name() -> None:
    assert generator_for(Settings()) is None
    assert remote_reranker_for(Settings()) is None
    url = "http://127.0.0.1:1/v1"
    writing = generator_for(Settings(generate_url=url, generate_model="w", generate_window=99))
    assert writing is not None
    assert (writing.name, writing.window) == ("w", 99)
    judging = remote_reranker_for(Settings(rerank_url=url, rerank_model="r"))
    assert judging is not None
    assert judging.fingerprint == "r"
    embedder = embedder_for(Settings(embed_url=url, embed_model="e", embed_dimensions=64))
    assert (embedder.fingerprint, embedder.dimensions) == ("e-64", 64)
    with pytest.raises(BadSetting, match=r"`embed.model` is not"):
        embedder_for(Settings(embed_url=url))


def test_the_key_comes_from_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    file.write_text("sk-from-file\n")
    assert secrets.key("embed", None) == ""
    assert secrets.key("embed", file) == "sk-from-file"
    monkeypatch.setenv("TRIVIUM_EMBED_KEY", " sk-from-environment ")
    assert secrets.key("embed", file) == "sk-from-environment"
    assert secrets.key("rerank", file) == "sk-from-file"
    with pytest.raises(BadSetting, match=r"`rerank.key_file`.*No such file"):
        secrets.key("rerank", tmp_path / "none")
    file.write_bytes(b"\xff")
    with pytest.raises(BadSetting, match="it isn't text"):
        secrets.key("rerank", file)


@pytest.mark.parametrize("role", ["embed", "rerank", "generate"])
def test_no_command_shows_a_key(
    role: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-shown-nowhere"
    (tmp_path / "key").write_text(secret)
    refusing = Reply({"error": {"message": f"Incorrect API key: {secret}"}}, 401)
    with ScriptedEndpoint(lambda seen: refusing) as server:
        monkeypatch.setenv(f"TRIVIUM_{role.upper()}_URL", server.url)
        monkeypatch.setenv(f"TRIVIUM_{role.upper()}_MODEL", "m")
        for given in ("key", "file"):
            if given == "key":
                monkeypatch.setenv(f"TRIVIUM_{role.upper()}_KEY", secret)
            else:
                monkeypatch.delenv(f"TRIVIUM_{role.upper()}_KEY")
                monkeypatch.setenv(f"TRIVIUM_{role.upper()}_KEY_FILE", str(tmp_path / "key"))
            place = ("--library", tmp_path / role)
            answers = [call("config"), call("config", "--json")]
            if role == "embed":  # no command uses the others yet
                answers += [
                    call("add", files, *place),
                    call("search", "lantern", *place, "--json"),
                    call("search", "lantern", "--mode", "semantic", *place, "--debug"),
                    call("doctor", *place),
                ]
                assert any("Incorrect API key: …" in a.out + a.err for a in answers)
            shown = "".join(answer.out + answer.err for answer in answers)
            assert secret not in shown
            assert f"{role}.key_file" in shown
        if role == "embed":
            assert server.requests[-1].headers["Authorization"] == f"Bearer {secret}"


@pytest.mark.parametrize("role", ["embed", "rerank", "generate"])
def test_a_password_in_an_address_is_refused_and_not_repeated(role: str) -> None:
    answer = call("config", "--json", "--set", f"{role}.url=http://me:sk-password@host/v1")
    assert answer.code == 2
    assert answer.error["code"] == "setting.bad"
    assert f"TRIVIUM_{role.upper()}_KEY" in answer.error["fix"]
    assert "sk-password" not in answer.out + answer.err


def test_the_doctor_asks_a_remote_model(language_model: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(KEY)
    settings = {"embed.url": language_model, "embed.model": NAME, "embed.key_file": key}
    given = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    found = call("doctor", "--json", "--library", tmp_path / "l", *given).json
    assert found["model"] == {"fingerprint": NAME, "dimensions": DIMENSIONS, "ready": True}
