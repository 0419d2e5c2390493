"""Azure Document Intelligence, as its public documents describe it, on a server of our own."""

import base64
from collections.abc import Callable, Sequence

import pytest
from tests.endpoint import Reply, ScriptedEndpoint, Seen
from tests.unit.extract.making import check_offsets, pieces, printed

from trivium.core.errors import FileDamaged, ModelFailing, ModelNonsense, ModelRefused, ReadError
from trivium.core.types import Box, Extraction
from trivium.extract.analysed import extraction_of
from trivium.extract.detect import read
from trivium.ingest.extractors import built_in
from trivium.ingest.remote_reading import RemoteReading
from trivium.models.document_intelligence import DocumentIntelligence
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.retrying import Clock
from trivium.ports import Blob

PDF = Blob("ferry.pdf", printed(["Local words on a page."]))
OURS = built_in({"ocr": "off"})


def region(top: float, page: int = 1) -> list[dict[str, object]]:
    return [{"pageNumber": page, "polygon": [1.0, top, 3.0, top, 3.0, top + 0.5, 1.0, top + 0.5]}]


def part(offset: int, content: str, top: float = 1.0, **more: object) -> dict[str, object]:
    spans = [{"offset": offset, "length": len(content)}]
    return {"spans": spans, "boundingRegions": region(top), "content": content, **more}


def cell(row: int, column: int, offset: int, content: str, **more: object) -> dict[str, object]:
    return part(offset, content, rowIndex=row, columnIndex=column, **more)


RESULT = {
    "apiVersion": "2024-11-30",
    "modelId": "prebuilt-layout",
    "content": "…",
    "pages": [{"pageNumber": 1, "width": 8.5, "height": 11, "unit": "inch", "words": []}],
    "tables": [
        {
            "rowCount": 2,
            "columnCount": 2,
            "spans": [{"offset": 60, "length": 30}],
            "boundingRegions": region(5.0),
            "cells": [
                cell(0, 1, 64, "Price", kind="columnHeader"),
                cell(1, 0, 70, "Ferry"),
                cell(1, 1, 76, "12\n€"),
            ],
        }
    ],
    "paragraphs": [
        part(70, "Ferry"),
        part(0, "Page 1", role="pageHeader"),
        part(10, "The Ferry", role="title"),
        part(20, "Times", role="sectionHeading"),
        part(26, ":selected: It leaves\nat nine.", top=2.0),
        part(100, "A note.", role="footnote"),
        part(120, "7", role="pageNumber"),
        {"spans": None, "content": 5},
    ],
}


def service(url: str) -> DocumentIntelligence:
    there = Endpoint(
        "read", url, "prebuilt-layout", "secret", "Ocp-Apim-Subscription-Key", 5.0, 9.0
    )
    waits: list[float] = []
    made = DocumentIntelligence(Client(there, clock=Clock(waits.append)))
    made.waits = waits  # type: ignore[attr-defined]
    return made


def azure(*states: object, first: Sequence[Reply] = ()) -> Callable[[Seen], Reply]:
    """Takes a file after the first replies, then tells these states one by one."""

    def answer(seen: Seen) -> Reply:
        host = f"http://{seen.headers['Host']}"
        if seen.number <= len(first):
            return first[seen.number - 1]
        if seen.path.endswith(":analyze?api-version=2024-11-30"):
            place = f"{host}/documentintelligence/documentModels/prebuilt-layout/analyzeResults/1"
            return Reply(
                b"",
                202,
                {"Operation-Location": f"{place}?api-version=2024-11-30", "Retry-After": "2"},
            )
        state = states[min(seen.number - len(first) - 2, len(states) - 1)]
        return state if isinstance(state, Reply) else Reply(state)

    return answer


DONE = {"status": "succeeded", "analyzeResult": RESULT}


def test_what_it_found_becomes_text_with_structure_and_places() -> None:
    found = extraction_of(RESULT, PDF)
    check_offsets(found)
    parts = pieces(found)
    assert parts.pop(3)[1].endswith("| Price\nFerry | 12 €")
    assert parts == [
        ("heading", "The Ferry"),
        ("heading", "Times"),
        ("paragraph", "It leaves at nine."),
        ("paragraph", "A note."),
    ]
    assert found.title == "The Ferry"
    assert found.elements[2].headings == ("The Ferry", "Times")
    assert found.elements[2].place.boxes == (Box(1, 72.0, 144.0, 216.0, 180.0),)


def test_it_is_sent_and_asked_until_it_is_done() -> None:
    running = {"status": "running"}
    with ScriptedEndpoint(azure({"status": "notStarted"}, running, DONE)) as endpoint:
        asked = service(endpoint.url.removesuffix("/v1"))
        assert asked.analyse(PDF.data) == RESULT
        sent = endpoint.requests[0]
        assert sent.path.startswith("/documentintelligence/documentModels/prebuilt-layout:analyze?")
        assert base64.b64decode(sent.body["base64Source"]) == PDF.data
        keys = [one.headers.get("Ocp-Apim-Subscription-Key") for one in endpoint.requests]
        assert keys == ["secret"] * 4
        assert asked.waits[0] == 2.0  # type: ignore[attr-defined]


def test_a_rate_limit_is_waited_for() -> None:
    busy = Reply({"error": {"code": "429", "message": "Slow down."}}, 429, {"Retry-After": "1"})
    with ScriptedEndpoint(azure(DONE, first=[busy])) as endpoint:
        asked = service(endpoint.url.removesuffix("/v1"))
        assert asked.analyse(PDF.data) == RESULT
        assert asked.waits[0] == 1.0  # type: ignore[attr-defined]


def test_what_may_go_wrong_has_a_type() -> None:
    denied = Reply({"error": {"code": "401", "message": "Wrong key."}}, 401)
    broken = {
        "status": "failed",
        "error": {
            "code": "InvalidRequest",
            "message": "Invalid request.",
            "innererror": {"code": "InvalidContent", "message": "The file is corrupted."},
        },
    }
    elsewhere = Reply(b"", 202, {"Operation-Location": "http://elsewhere.example/1"})
    for answer, kind, said in (
        (azure(first=[denied]), ModelRefused, "Wrong key"),
        (azure(broken), ModelFailing, "The file is corrupted"),
        (azure(first=[elsewhere]), ModelNonsense, "another server"),
    ):
        with ScriptedEndpoint(answer) as endpoint, pytest.raises(kind, match=said):
            service(endpoint.url.removesuffix("/v1")).analyse(PDF.data)


def local(blobs: Sequence[Blob]) -> list[Extraction | ReadError]:
    return [read(blob, extractors=OURS) for blob in blobs]


def test_pdf_goes_to_the_service_and_the_rest_is_read_here() -> None:
    with ScriptedEndpoint(azure(DONE)) as endpoint:
        reading = RemoteReading(local, service(endpoint.url.removesuffix("/v1")))
        note, ferry = reading([Blob("a.txt", b"A note."), PDF])
        assert isinstance(ferry, Extraction)
        assert isinstance(note, Extraction)
        assert (ferry.title, ferry.metadata["read_by"]) == ("The Ferry", "prebuilt-layout")
        assert ferry.reader == "RemotelyRead-remote/1:prebuilt-layout"
        assert ferry.reader in {
            f"{type(one).__name__}-{one.version}"
            for one in built_in({"ocr": "off", "remote": "prebuilt-layout"})
        }
        assert note.text == "A note."


def test_a_service_that_fails_leaves_the_file_to_us_with_a_remark() -> None:
    with ScriptedEndpoint(azure(first=[Reply(b"", 404)])) as endpoint:
        reading = RemoteReading(local, service(endpoint.url.removesuffix("/v1")))
        (found,) = reading([PDF])
        assert isinstance(found, Extraction)
        assert found.text == "Local words on a page."
        assert "was not found (404)" in str(found.metadata["not_read_by"])
        assert found.reader.endswith("+fallback")  # so that it is read again


def test_a_file_that_neither_reads_fails_for_the_local_reason() -> None:
    def refuse(blobs: Sequence[Blob]) -> list[Extraction | ReadError]:
        return [FileDamaged(f"{blob.name} is damaged.") for blob in blobs]

    with ScriptedEndpoint(azure({"status": "failed"})) as endpoint:
        reading = RemoteReading(refuse, service(endpoint.url.removesuffix("/v1")))
        (found,) = reading([PDF])
        assert isinstance(found, FileDamaged)
        assert "couldn't analyse" in found.__notes__[0]
