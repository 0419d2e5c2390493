"""JSON becomes rows where records are alike, readable lines everywhere else."""

import json

from tests.unit.extract.making import check_offsets, pieces

from trivium.core.types import Extraction, Kind
from trivium.extract.notebook import read_notebook
from trivium.extract.structured import read_json
from trivium.ports import Blob


def extract(value: object) -> Extraction:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    blob = Blob("data.json", data)
    assert read_json.accepts(blob)
    result = read_json.extract(blob)
    check_offsets(result)
    return result


def test_an_object_becomes_lines_and_sections() -> None:
    result = extract(
        {
            "title": "Boats",
            "count": 2,
            "tags": ["a", "b"],
            "none": None,
            "by": {"x": {"y": True}, "z": 1},
        }
    )
    assert pieces(result) == [
        ("paragraph", "title: Boats\ncount: 2\ntags: a, b"),
        ("heading", "by"),
        ("paragraph", "x.y: true\nz: 1"),
    ]
    assert result.title == "Boats"


def test_records_alike_become_rows() -> None:
    result = extract([{"name": "Ann", "age": 7}, {"name": "Bo", "age": 8}])
    assert result.kind == Kind.TABLE
    assert pieces(result) == [("row", "name | age"), ("row", "Ann | 7"), ("row", "Bo | 8")]
    assert [e.place.rows for e in result.elements][1:] == [(1, 1), (2, 2)]
    assert result.elements[2].header == "name | age"


def test_long_or_nested_records_become_paragraphs() -> None:
    result = extract([{"text": "x" * 300, "by": {"name": "Ann"}}, {"text": "short"}])
    assert [kind for kind, _ in pieces(result)] == ["paragraph", "paragraph"]
    assert result.text.split("\n")[1] == "by.name: Ann"


def test_json_lines() -> None:
    result = extract(b'{"a": 1, "b": [1, {"c": 2}]}\n\n{"a": 2}\n')
    assert result.media_type == "application/x-ndjson"
    assert result.text == "a: 1\nb.1: 1\nb.2.c: 2\n\na: 2"


def test_what_is_not_json_goes_to_others() -> None:
    accepts = read_json.accepts
    assert not accepts(Blob("x.json", b"{broken"))
    assert not accepts(Blob("x.txt", b'{"a": 1}'))
    assert not accepts(Blob("x.json", b"[" * 100_000 + b"]" * 100_000))
    assert accepts(Blob("x.json", b'{"a":' * 900 + b"1" + b"}" * 900))


def test_deep_values_are_cut_to_json() -> None:
    result = extract(b'{"a":' * 500 + b"1" + b"}" * 500)
    assert len(result.text) < 10_000


def test_a_notebook_is_prose_code_and_output() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Boats\n", "\n", "Some *text*.\n"]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "xxxx"}},
                {"output_type": "error", "ename": "E", "evalue": "bad", "traceback": ["t"]},
            ],
        },
        {"cell_type": "markdown", "source": "## Oars"},
        {"cell_type": "code", "source": "x" * 3, "outputs": [{"text": "y" * 5000}]},
    ]
    notebook = {"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": cells}
    blob = Blob("n.ipynb", json.dumps(notebook).encode())
    assert read_notebook.accepts(blob)
    result = read_notebook.extract(blob)
    check_offsets(result)
    assert pieces(result)[:6] == [
        ("heading", "Boats"),
        ("paragraph", "Some text."),
        ("code", "print(1)"),
        ("code", "1"),
        ("code", "E: bad"),
        ("heading", "Oars"),
    ]
    assert result.text.endswith("[3,000 more characters]")
    assert result.elements[-1].headings == ("Boats", "Oars")
    assert (result.title, result.metadata["code_language"]) == ("Boats", "python")
