"""Source code stays as it is, parted at the top level."""

from tests.unit.extract.making import check_offsets, pieces

from trivium.extract.code import read_code
from trivium.ports import Blob

SOURCE = """\
import os


def one():
    a = 1

    return a


class Two:
    x = {
        "a": 1,

    }
"""


def test_parts_at_top_level_definitions() -> None:
    result = read_code.extract(Blob("lib/one.py", SOURCE.encode()))
    check_offsets(result)
    assert [text.split("\n")[0] for _, text in pieces(result)] == [
        "import os",
        "def one():",
        "class Two:",
    ]
    assert result.text == SOURCE.rstrip()
    assert (result.title, result.metadata["code_language"]) == ("one.py", "python")


def test_language_by_name_or_first_line() -> None:
    accepts = read_code.accepts
    assert accepts(Blob("Makefile", b"all:\n\techo"))
    assert accepts(Blob("run", b"#!/usr/bin/env python3\nprint()"))
    assert not accepts(Blob("x.txt", b"text"))
    assert not accepts(Blob("x.py", b"\x7fELF\x00"))
    shell = read_code.extract(Blob("run", b"#!/bin/bash\necho"))
    assert shell.metadata["code_language"] == "shell"
