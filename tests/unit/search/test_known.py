"""Known items: names, numbers and words that only one document has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium import Filters, SearchOptions
from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

TEXTS = {
    "minutes.md": "# Minutes\n\nOdalys Brennecke asked about invoice 48213-B and left early.",
    "roof.md": "# The roof\n\nBrennecke, the builder, wants the ladder back. The roof leaks.",
    "ladder.md": "# Ladder rules\n\nNever lean on it. A ladder stands on firm ground.",
    "list.md": "# List\n\nFirm ground. The roof of the barn. "
    + "Nails and felt. " * 12
    + "A builder.",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("known")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    with Library(open_embedded(folder / "library"), TOY, Settings()) as opened:
        opened.add([folder / name for name in TEXTS])
        yield opened


@pytest.mark.parametrize(
    ("query", "name", "least"),
    [
        ("Odalys Brennecke", "minutes.md", 0.9),
        ("invoice 48213-B", "minutes.md", 0.9),
        ("odalys invoice", "minutes.md", 0.8),  # near each other
        ("ladder rules", "ladder.md", 0.9),
    ],
)
def test_the_only_document_with_all_words(
    library: Library, query: str, name: str, least: float
) -> None:
    (first, *_) = library.search(query, options=SearchOptions(limit=1))
    assert Path(first.found.document.uri).name == name
    assert first.match >= least
    assert first.why.startswith("No other document has all these words")


def test_a_word_that_several_documents_have_says_less(library: Library) -> None:
    for limit in (1, 5):
        first = library.search("builder", options=SearchOptions(limit=limit, mode="keyword"))[0]
        assert "No other document" not in first.why
        assert first.match < 0.9


def test_a_title_with_all_words_counts_however_many_documents_have_them(library: Library) -> None:
    first = library.search("roof", options=SearchOptions(limit=1, mode="keyword"))[0]
    assert (first.found.document.title, first.match >= 0.6) == ("The roof", True)
    assert first.why == "Its title or heading has all these words."


def test_a_hidden_document_is_no_other_document(tmp_path: Path) -> None:
    for name in ("ours.md", "theirs.md"):
        (tmp_path / name).write_text(f"# {name}\n\nThe quince jelly recipe of {name}.")
    with Library(open_embedded(tmp_path / "library"), TOY, Settings()) as library:
        library.add(tmp_path / "ours.md")
        library.add(tmp_path / "theirs.md", audience="them")
        (seen,) = library.search("quince jelly", filters=Filters(audiences=[]))
        first = library.search("quince jelly")[0]
    assert seen.why.startswith("No other document")
    assert not first.why.startswith("No other document")
