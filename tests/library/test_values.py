"""Values that Python accepts and no store can keep: a typed error names them, never a fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from trivium.core.errors import TriviumError
from trivium.core.types import Labels, Signal
from trivium.library import Library
from trivium.operations.searching import Filters, SearchOptions

HALF, NAN, LONG = "\ud800", float("nan"), 10**400
CALLS: dict[str, Callable[[Library], object]] = {
    "limit": lambda library: library.search("a", LONG),
    "k": lambda library: library.search("a", options=SearchOptions(k=NAN)),
    "threshold": lambda library: library.search("a", options=SearchOptions(threshold=NAN)),
    "weights": lambda library: library.search(
        "a", options=SearchOptions(weights={Signal.VECTOR: NAN})
    ),
    "as_of": lambda library: library.search("a", options=SearchOptions(as_of=LONG)),
    "filter": lambda library: library.search("a", filters=Filters(collection=HALF)),
    "document": lambda library: library.documents.get(HALF),
    "document's number": lambda library: library.documents.get(LONG),
    "after": lambda library: library.documents.all(after=LONG),
    "remove": lambda library: library.remove([HALF]),
    "restore": lambda library: library.restore(1, LONG),
    "prune": lambda library: library.history.prune(keep=LONG),
    "job": lambda library: library.jobs.get(LONG),
    "retry": lambda library: library.jobs.retry(LONG),
    "offset": lambda library: library.jobs.tasks(1, offset=LONG),
    "token": lambda library: library.tokens.create(audiences=[HALF]),
    "token's name": lambda library: library.tokens.create(audiences=[], name=HALF),
    "conversation": lambda library: library.conversations.get(HALF),
    "chunker": lambda library: library.documents.set_chunker(HALF, "auto"),
    "watched folder": lambda library: library.folders.add(library.backend.folder, category=HALF),
    "metadata": lambda library: library.add(__file__, metadata={"year": NAN}),
    "collection": lambda library: library.add(__file__, collection=HALF),
    "later": lambda library: library.add_from(Nothing(), Labels(audience="\x00")),
}


class Nothing:
    def items(self) -> object:
        raise AssertionError("asked before its labels were checked")


def test_a_typed_error_at_every_door(library: Library, files: Path) -> None:
    (files / "a.txt").write_text("A note about amber.")
    library.add(files)
    for name, call in CALLS.items():
        with pytest.raises(TriviumError) as caught:
            call(library)
        assert str(caught.value).encode(), name
    assert not library.jobs.all(ended=False)
    assert len(library.search("amber", 1)) == 1
