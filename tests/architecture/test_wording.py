"""Phrases that read like a translation and were rewritten once do not return."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = {".py", ".md", ".html", ".js", ".css", ".toml", ".yaml", ".yml", ".sh", ".sql", ".svg"}

# As they stood in help, settings, errors, the page and the docs before they were rewritten.
REWRITTEN = (
    "There is no file in it: nothing was added",
    "Forget those that have ended",
    "On their way",
    "It is there, and waits to be read",
    "What lies in one is added, and followed as it changes",
    "None is watched.",
    "is no PDF that can be read",
    "Go on:",
    "Other filter",
    "What counts: Decided for each query",
    "As set here",
    "reads the best again, more closely",
    "Guess an answer",
    "A result counts as its weakest query",
    "How the lists met",
    "What its score is the sum of",
    ">Gives<",
    "By its words the query leans",
    "ahead of the tenth; that of words is",
    "Lists joined by scaled scores",
    "nothing speaks for either",
    ">fits<",
    ">does not<",
    "Keep it as: a name, or nothing",
    "add a document that tells",
    "these are sentences of the documents",
    ">Look for it<",
    ">About it<",
    ">Search in it<",
    "Each time a document is read anew",
    "Only those that are not as by default",
    "Without its labels a document does not exist for them",
    "Labels beside all, with commas between",
    "Every label there is or will be",
    "Whoever uses this machine may see and change everything",
    "where the true mean lies by a chance of 95 in 100",
    "cannot be served at",
    "with quotes around a value that holds a blank",
    ">Watch it<",
    ">Add it<",
    ">Make it<",
    "what was begun is gone on with after a crash",
    "Who goes first. Else 100 documents",
    "it works on this too, or this one goes on when it ends",
    "empty: as it is made",
    "what is beyond is said",
    "Meaning leans little",
    "give an answer without sense",
    "sends it packed, which was not asked for",
    "A deadline is told on a page as on one",
)


def test_rewritten_sentences_do_not_return() -> None:
    parts = [ROOT / name for name in ("src", "docs", "tests", "bench", "deploy", "examples")]
    own = [*ROOT.glob("*.md"), *ROOT.glob("*.toml")]
    paths = [*own, *(path for part in parts for path in part.rglob("*"))]
    back = [
        f"{path.relative_to(ROOT)}: {phrase}"
        for path in paths
        if path.suffix in TEXT and path.is_file() and path != Path(__file__)
        for text in [_joined(path.read_text(encoding="utf-8", errors="replace"))]
        for phrase in REWRITTEN
        if phrase in text
    ]
    assert not back


def _joined(text: str) -> str:
    """Lines, adjacent literals and lines of a comment as one: a line break hides nothing."""
    return re.sub(r"\s+", " ", re.sub(r'"\s*\n\s*f?"|(?<=\n)\s*(?:#|//) ', "", text))


def test_a_phrase_is_found_across_the_lines_of_a_comment_or_a_string() -> None:
    for broken in ("# On their\n# way\n", 'x = "On their "\n    "way"', "// On\n  // their way"):
        assert "On their way" in _joined("\n" + broken)
