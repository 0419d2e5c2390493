"""A library whose files a service reads: by its settings, with our own reading when it fails."""

from pathlib import Path

from tests.endpoint import Reply, ScriptedEndpoint, Seen
from tests.unit.extract.making import printed

from trivium.config import Settings
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

RESULT = {
    "pages": [{"pageNumber": 1, "unit": "inch"}],
    "paragraphs": [
        {"content": "Tide Tables", "role": "title", "spans": [{"offset": 0, "length": 11}]},
        {"content": "The tide is high at nine.", "spans": [{"offset": 12, "length": 25}]},
    ],
}


def test_a_file_is_read_by_the_service_once_it_is_there(tmp_path: Path, files: Path) -> None:
    is_there = False

    def answer(seen: Seen) -> Reply:
        if not is_there:
            return Reply({"error": {"code": "404", "message": "Resource not found"}}, 404)
        if "analyzeResults" in seen.path:
            return Reply({"status": "succeeded", "analyzeResult": RESULT})
        place = f"http://{seen.headers['Host']}/analyzeResults/1"
        return Reply(b"", 202, {"Operation-Location": place, "Retry-After": "0.01"})

    (files / "tides.pdf").write_bytes(printed(["Printed words of our own reading."]))
    with ScriptedEndpoint(answer) as endpoint:
        settings = Settings(read_url=endpoint.url.removesuffix("/v1"), read_ocr="off")
        with Library(open_embedded(tmp_path / "library"), TOY, settings) as library:
            assert not library.add(files).failed
            (document,) = library.documents.all()
            assert "Resource not found" in str(document.metadata["not_read_by"])
            assert len(library.search("printed words"))
            is_there = True
            report = library.add(files)
            assert report.count(Fate.UPDATED) == 1
            (document,) = library.documents.all()
            assert document.title == "Tide Tables"
            assert document.metadata["read_by"] == "prebuilt-layout"
            assert "not_read_by" not in document.metadata
            asked = len(endpoint.requests)
            assert library.add(files).count(Fate.UNCHANGED) == 1
            assert len(endpoint.requests) == asked
