"""A summary is short, one paragraph, from the document itself, and the same every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.types import Element, Extraction, Kind
from trivium.extract.code import read_code
from trivium.extract.markdown import read_markdown
from trivium.ports import Blob
from trivium.text.summary import LONGEST, ExtractiveSummariser

RUST = """// Copyright 2021 The Authors. Licensed under the Apache License.

//! Executor for differential fuzzing.
//! It wraps two executors.
use core::fmt::Debug;

#[derive(Debug)]
pub struct DiffExecutor<A> {
    primary: A,
}

impl<A> DiffExecutor<A> {
    pub fn run_target(&mut self) -> DiffExecutor<A> { self.run_target() }
}
"""


def summary(source: str, name: str = "note.md") -> str:
    extractor = read_code if name.endswith(".rs") else read_markdown
    return ExtractiveSummariser().summarise(extractor.extract(Blob(name, source.encode())))


def test_whole_sentences_of_the_first_passage() -> None:
    text = "The harbour of Port Amble silts up. Ships wait for the tide. " + "And so on. " * 40
    found = summary(f"# Harbours\n\n## Port\n\n{text}\n\nLater things are another matter.")
    assert found.startswith("The harbour of Port Amble silts up. Ships wait for the tide. And")
    assert found.endswith("on.")
    assert len(found) <= LONGEST


def test_what_says_nothing_is_passed_over() -> None:
    legal = "Copyright 2021 by the authors, all rights reserved to them."
    assert summary(
        f"# A\n\n***\n\n12. 3. 2021\n\n{legal}\n\nFoxes live here.\n\nIn the old woods."
    ) == ("In the old woods.")


def test_an_abstract_comes_first() -> None:
    source = "# T\n\nWritten by several people we know.\n\n## Abstract\n\nWe study how foxes sleep."
    assert summary(source) == "We study how foxes sleep."


def test_code_by_its_comment_and_its_names() -> None:
    assert summary(RUST, "a.rs") == (
        "Executor for differential fuzzing. It wraps two executors. DiffExecutor run_target"
    )


@pytest.mark.parametrize("kind", [Kind.TABLE, Kind.MESSAGES])
def test_tables_and_conversations_have_none(kind: Kind) -> None:
    text = "A row of words that would be a sentence elsewhere."
    extraction = Extraction(text, (Element("row", 0, len(text)),), "T", "text/csv", kind=kind)
    assert ExtractiveSummariser().summarise(extraction) == ""


@given(st.text(max_size=400), st.sampled_from(["paragraph", "code", "heading"]))
def test_any_text(text: str, kind: str) -> None:
    elements = (Element(kind, 0, len(text)),) if text else ()  # type: ignore[arg-type]
    extraction = Extraction(text, elements, "T", "text/plain")
    found = ExtractiveSummariser().summarise(extraction)
    assert found == ExtractiveSummariser().summarise(extraction) == " ".join(found.split())
    assert len(found) <= LONGEST + len(text)


def test_a_long_word_is_cut() -> None:
    found = summary("One two three four " + "x" * 5000)
    assert found == "One two three four"
    assert len(summary("日本語の文章を検索する。" * 200)) <= LONGEST


@pytest.mark.parametrize("piece", ["a", "a1b2c3", "_", "// x\n\n", "# ", "aB"])
def test_data_in_place_of_code_says_nothing_and_takes_no_time(piece: str) -> None:
    text = piece * 50_000  # with a pattern that backtracks this would not end
    extraction = Extraction(text, (Element("code", 0, len(text)),), "", "text/x-source")
    assert ExtractiveSummariser().summarise(extraction) == ""
