"""Reads Jupyter notebooks: prose as Markdown, cells as code, each with its printed output below.
Leaves out pictures and interactive output. Knows nothing of kernels."""

from __future__ import annotations

import json
from collections.abc import Mapping

from trivium.core.errors import FileDamaged, FileEmpty
from trivium.core.types import Extraction
from trivium.extract.composer import Composer, describe
from trivium.extract.markdown import read_markdown
from trivium.ports import Blob, reads

MAX_OUTPUT = 2_000  # characters of one cell's output: logs of training runs help nobody


def _is_notebook(blob: Blob) -> bool:
    head = blob.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"{") and b'"nbformat"' in blob.data and b'"cells"' in blob.data


@reads("notebook/1", _is_notebook)
def read_notebook(blob: Blob) -> Extraction:
    """Takes JSON with cells and a notebook format."""
    notebook = _load(blob)
    about = _mapping(notebook.get("metadata"))
    out = Composer(blob.name)
    cells = _cells(notebook)
    for cell in cells:
        source = _joined(cell.get("source", cell.get("input")))
        kind = cell.get("cell_type")
        if kind in ("markdown", "heading"):
            _prose(out, source)
        elif kind == "code":
            out.add("code", source)
            _outputs(out, cell)
        else:
            out.add("paragraph", source)
    names = [_mapping(a).get("name") for a in _list(about.get("authors"))]
    return out.finish(
        blob,
        titles=(str(about.get("title") or ""), out.first_heading),
        media_type="application/x-ipynb+json",
        metadata=describe(
            {
                "code_language": _mapping(about.get("language_info")).get("name")
                or _mapping(about.get("kernelspec")).get("language"),
                "authors": [str(name) for name in names if name],
                "cells": len(cells),
            }
        ),
    )


def _prose(out: Composer, source: str) -> None:
    if not source.strip():
        return
    try:
        part = read_markdown.extract(Blob("cell.md", source.encode("utf-8", "replace")))
    except FileEmpty:
        return
    for element in part.elements:
        text = part.text[element.start : element.end]
        if element.kind == "heading":
            out.heading(element.level, text)
        else:
            out.add(element.kind, text, header=element.header)


def _outputs(out: Composer, cell: Mapping[str, object]) -> None:
    for output in map(_mapping, _list(cell.get("outputs"))):
        data = _mapping(output.get("data"))
        text = _joined(output.get("text")) or _joined(data.get("text/plain"))
        if output.get("output_type") == "error":
            text = f"{output.get('ename')}: {output.get('evalue')}"
        if len(text) > MAX_OUTPUT:
            text = f"{text[:MAX_OUTPUT]}\n[{len(text) - MAX_OUTPUT:,} more characters]"
        out.add("code", text)


def _load(blob: Blob) -> Mapping[str, object]:
    try:
        notebook = json.loads(blob.data)
    except (ValueError, RecursionError) as reason:
        raise FileDamaged(f"{blob.name} is a damaged notebook.") from reason
    return _mapping(notebook)


def _cells(notebook: Mapping[str, object]) -> list[Mapping[str, object]]:
    cells = _list(notebook.get("cells"))
    for sheet in _list(notebook.get("worksheets")):  # the form before version 4
        cells = [*cells, *_list(_mapping(sheet).get("cells"))]
    return [cell for cell in cells if isinstance(cell, dict)]


def _joined(lines: object) -> str:
    if isinstance(lines, list):
        return "".join(line for line in lines if isinstance(line, str))
    return lines if isinstance(lines, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
