"""Summaries and descriptions by a language model, through a library and by themselves."""

import io
from pathlib import Path

import pytest
from PIL import Image
from tests.endpoint import Reply, ScriptedEndpoint, Seen

from trivium.config import load
from trivium.core.errors import BadSetting, ModelRefused
from trivium.core.types import Extraction, Kind
from trivium.ingest.outcomes import Fate
from trivium.ingest.summarising import PATIENCE, ModelSummariser
from trivium.library import Library
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteGenerator
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY
from trivium.text.summary import LONGEST

LONG = "\n\n".join(f"# Part {n}\n\n" + f"The harbour has crane {n}. " * 60 for n in range(3))
SAYS = "A gazetteer of the cranes of Port Amble."


def says(text: str) -> Reply:
    return Reply({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})


def opened(folder: Path, url: str, **more: str) -> Library:
    given = {"generate.url": url, "generate.model": "writer"}
    given |= {name.replace("_", ".", 1): value for name, value in more.items()}
    return Library(open_embedded(folder / "library"), TOY, load(given).settings)


def test_a_summary_is_written_once_for_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "port.md").write_text(LONG)
    with ScriptedEndpoint(lambda seen: says(SAYS)) as server:
        with opened(tmp_path, server.url, chunk_summary="model") as library:
            library.add(tmp_path / "port.md")
            library.add(tmp_path / "port.md", collection="other")
        with opened(tmp_path, server.url, chunk_summary="model", chunk_size="200") as library:
            report = library.add(tmp_path / "port.md")  # cut anew, from the same bytes
            document = library.documents.all()[0]
        assert report.count(Fate.UPDATED) == 1
        assert document.fingerprint.endswith("model/1:writer")
    (asked,) = server.requests
    assert "crane 0" in asked.body["messages"][1]["content"]
    assert "data" in asked.body["messages"][0]["content"]


def test_without_the_model_the_documents_own_words(tmp_path: Path) -> None:
    for name in "abcde":
        (tmp_path / f"{name}.md").write_text(f"{LONG}\n\n{name}")
    with (
        ScriptedEndpoint(lambda seen: Reply({}, 401)) as server,
        opened(tmp_path, server.url, chunk_summary="model") as library,
    ):
        report = library.add([tmp_path / f"{name}.md" for name in "abcde"])
    assert report.count(Fate.ADDED) == 5


def test_a_model_that_keeps_failing_is_not_asked_again() -> None:
    """One document after another: of several at once, each may have been begun already."""
    with ScriptedEndpoint(lambda seen: Reply({}, 401)) as server:
        endpoint = Endpoint("generate", server.url, "writer")
        summariser = ModelSummariser(RemoteGenerator(Client(endpoint), 4096))
        for _ in range(PATIENCE + 2):
            with pytest.raises(ModelRefused):
                summariser.summarise(Extraction("Cranes.", (), "Port", "text/plain"))
    assert len(server.requests) == PATIENCE


def test_a_summary_is_one_short_line_and_tables_have_none() -> None:
    with ScriptedEndpoint(lambda seen: says("Cranes\nof the harbour. " + "More. " * 99)) as server:
        endpoint = Endpoint("generate", server.url, "writer")
        summariser = ModelSummariser(RemoteGenerator(Client(endpoint), 4096))
        text = summariser.summarise(Extraction("Cranes.", (), "Port", "text/plain"))
        assert text.startswith("Cranes of the harbour. More.")
        assert len(text) <= LONGEST
        table = Extraction("1,2", (), "Port", "text/csv", kind=Kind.TABLE)
        assert summariser.summarise(table) == ""
    assert len(server.requests) == 1


def test_a_model_that_refuses_is_an_error_of_its_own() -> None:
    with ScriptedEndpoint(lambda seen: Reply({}, 400)) as server:
        endpoint = Endpoint("generate", server.url, "writer")
        summariser = ModelSummariser(RemoteGenerator(Client(endpoint), 4096))
        with pytest.raises(ModelRefused):
            summariser.summarise(Extraction("Cranes.", (), "Port", "text/plain"))


@pytest.mark.parametrize("setting", ["chunk.summary=model", "generate.vision=on"])
def test_what_needs_a_model_says_so(tmp_path: Path, setting: str) -> None:
    (tmp_path / "a.md").write_text("Amber.")
    name, _, value = setting.partition("=")
    settings = load({name: value}).settings
    with (
        Library(open_embedded(tmp_path / "library"), TOY, settings) as library,
        pytest.raises(BadSetting, match=r"generate\.url"),
    ):
        library.add(tmp_path / "a.md")


def picture(folder: Path) -> Path:
    data = io.BytesIO()
    Image.new("RGB", (64, 64), "navy").save(data, "PNG")
    (folder / "harbour.png").write_bytes(data.getvalue())
    return folder / "harbour.png"


def test_a_picture_is_found_by_what_a_model_sees_in_it(tmp_path: Path) -> None:
    path = picture(tmp_path)

    def sees(seen: Seen) -> Reply:
        text, image = seen.body["messages"][1]["content"]
        assert text["type"] == "text"
        assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
        return says("Three yellow cranes stand at a quay.")

    with (
        ScriptedEndpoint(sees) as server,
        opened(tmp_path, server.url, generate_vision="on") as library,
    ):
        report = library.add(path)
        assert report.count(Fate.ADDED) == 1, report.failed
        (found,) = library.search("yellow cranes")
        assert found.found.chunk.text == "Three yellow cranes stand at a quay."
        assert found.found.document.title == "harbour"
        assert found.found.document.metadata["described_by"] == "writer"
        assert library.add(path).count(Fate.UNCHANGED) == 1
    assert len(server.requests) == 1


def test_a_picture_without_text_and_without_a_description_is_still_a_failure(
    tmp_path: Path,
) -> None:
    with (
        ScriptedEndpoint(lambda seen: Reply({}, 400)) as server,
        opened(tmp_path, server.url, generate_vision="on") as library,
    ):
        report = library.add(picture(tmp_path))
    (failed,) = report.failed
    assert failed.error is not None
    assert failed.error.code == "file.empty"
