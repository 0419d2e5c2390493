"""A docling-serve server, as its public documents describe it, on a server of our own."""

import base64
from collections.abc import Callable

import pytest
from tests.endpoint import Reply, ScriptedEndpoint, Seen
from tests.unit.extract.making import check_offsets, pieces, printed

from trivium.config import Settings
from trivium.core.errors import FileEmpty, ModelFailing, ModelNonsense
from trivium.core.types import Box
from trivium.extract.analysed import extraction_of
from trivium.library.assembly import remote_reader_for
from trivium.models.docling import Docling
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.retrying import Clock
from trivium.ports import Blob

PDF = Blob("ferry.pdf", printed(["Local words on a page."]))


def prov(top: float) -> list[dict[str, object]]:
    box = {"l": 72.0, "t": 792 - top, "r": 216.0, "b": 792 - top - 36, "coord_origin": "BOTTOMLEFT"}
    return [{"page_no": 1, "bbox": box, "charspan": [0, 1]}]


def text(label: str, content: str, top: float = 100.0, **more: object) -> dict[str, object]:
    return {"label": label, "text": content, "prov": prov(top), "content_layer": "body", **more}


def refs(*names: str) -> list[dict[str, str]]:
    return [{"$ref": f"#/{name}"} for name in names]


def cell(row: int, column: int, content: str, *, header: bool = False) -> dict[str, object]:
    return {
        "start_row_offset_idx": row,
        "start_col_offset_idx": column,
        "text": content,
        "column_header": header,
    }


DOCUMENT = {
    "schema_name": "DoclingDocument",
    "version": "1.7.0",
    "name": "file",
    "body": {
        "self_ref": "#/body",
        "children": refs("texts/0", "texts/1", "texts/3", "groups/0", "tables/0", "texts/2"),
    },
    "groups": [{"label": "list", "children": refs("texts/4", "groups/0"), "content_layer": "body"}],
    "texts": [
        text("page_header", "Page 1", content_layer="furniture"),
        text("title", "The Ferry"),
        text("text", "It leaves at nine.", top=144.0),
        text("section_header", "Times", level=2),
        text("list_item", "Bring a ticket."),
        text("caption", "Table 1: Fares"),
    ],
    "tables": [
        {
            "label": "table",
            "prov": prov(300.0),
            "captions": refs("texts/5"),
            "children": refs("texts/5", "texts/99", "texts/x"),
            "data": {
                "num_rows": 2,
                "num_cols": 2,
                "table_cells": [
                    cell(0, 0, "", header=True),
                    cell(0, 1, "Price", header=True),
                    cell(1, 0, "Ferry"),
                    cell(1, 1, "12 €"),
                ],
            },
        }
    ],
    "pages": {"1": {"page_no": 1, "size": {"width": 612.0, "height": 792.0}}},
}


def server(*states: object, result: object = None) -> Callable[[Seen], Reply]:
    told = {"document": {"json_content": DOCUMENT}, "status": "success", "errors": []}

    def answer(seen: Seen) -> Reply:
        if seen.path.endswith("/v1/convert/source/async"):
            return Reply({"task_id": "a/1", "task_status": states[0]})
        if seen.path.endswith("/v1/status/poll/a%2F1"):
            return Reply(
                {"task_id": "a/1", "task_status": states[min(seen.number, len(states)) - 1]}
            )
        assert seen.path.endswith("/v1/result/a%2F1")
        return Reply(told if result is None else result)

    return answer


def service(url: str) -> Docling:
    there = Endpoint("read", url, "docling", "secret", "X-Api-Key", 5.0, 9.0)
    return Docling(Client(there, clock=Clock(lambda _: None)))


def test_a_docling_document_becomes_text_with_structure_and_places() -> None:
    found = extraction_of(DOCUMENT, PDF)
    check_offsets(found)
    parts = pieces(found)
    assert parts[0] == ("heading", "The Ferry")
    assert parts[1] == ("heading", "Times")
    assert parts[2] == ("list_item", "Bring a ticket.")
    assert parts[3][1].endswith("| Price\nFerry | 12 €")
    assert parts[4:] == [("paragraph", "Table 1: Fares"), ("paragraph", "It leaves at nine.")]
    assert found.title == "The Ferry"
    assert found.elements[-1].headings == ("The Ferry", "Times")
    assert found.elements[-1].place.boxes == (Box(1, 72.0, 144.0, 216.0, 180.0),)


def test_it_is_sent_and_asked_until_it_is_done() -> None:
    with ScriptedEndpoint(server("pending", "started", "success")) as endpoint:
        assert service(endpoint.url.removesuffix("/v1")).analyse(PDF.data) == DOCUMENT
        sent = endpoint.requests[0].body
        assert sent["options"]["to_formats"] == ["json"]
        (file,) = sent["sources"]
        assert (file["kind"], file["filename"]) == ("file", "file.pdf")
        assert base64.b64decode(file["base64_string"]) == PDF.data
        assert {one.headers.get("X-Api-Key") for one in endpoint.requests} == {"secret"}


def test_what_may_go_wrong_has_a_type() -> None:
    broken = {"document": {}, "errors": [{"error_message": "Not a PDF."}]}
    for answer, kind, said in (
        (server("failure"), ModelFailing, "failure"),
        (server("success", result=broken), ModelFailing, "Not a PDF"),
        (lambda seen: Reply({}), ModelNonsense, "no task"),
    ):
        with ScriptedEndpoint(answer) as endpoint, pytest.raises(kind, match=said):
            service(endpoint.url.removesuffix("/v1")).analyse(PDF.data)


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"body": 5, "texts": 7, "pages": []},
        {"body": {"children": [{"$ref": "#/body"}, {"$ref": 7}, 8]}},
        {
            "body": {"children": refs("texts/0")},
            "texts": [{"text": "", "label": [], "prov": [5, {"bbox": 1}], "level": "deep"}],
            "pages": {"1": {"size": {"height": float("nan")}}, "2": 5},
        },
    ],
)
def test_an_odd_document_without_text_is_refused(odd: dict[str, object]) -> None:
    with pytest.raises(FileEmpty):
        extraction_of({"schema_name": "DoclingDocument", **odd}, PDF)


def test_the_setting_chooses_the_service() -> None:
    settings = Settings(read_url="http://127.0.0.1:5001", read_model="docling")
    assert isinstance(remote_reader_for(settings), Docling)
