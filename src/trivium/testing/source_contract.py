"""What every source that a library keeps in step with must do: inherit the class, give it `source`.

`edits` are changes that a test makes at the service, one after the other; after each of them what
the source tells since its last cursor must lead to the same items as reading everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from trivium.core.types import Extraction
from trivium.ports import (
    Change,
    Checkpoint,
    Failed,
    Gone,
    Only,
    Put,
    RetryingSource,
    SyncSource,
    Wait,
)
from trivium.store.identity import WITHIN
from trivium.text.values import clean_metadata, is_clean

State = dict[str, tuple[object, ...]]  # by id: everything reported about an item


def told(put: Put) -> tuple[object, ...]:
    """Everything that a library keeps of an item."""
    content = put.content if isinstance(put.content, Extraction) else put.content()
    body = (content.title, content.text) if isinstance(content, Extraction) else (content,)
    return (put.title, *body, dict(put.metadata), put.audience, *map(told, put.parts))


def apply(state: State, changes: Iterable[Change]) -> str | None:
    """Do what a run does, without a library. Returns the last cursor, if there was one."""
    cursor = None
    for change in changes:
        match change:
            case Put():
                state[change.id] = told(change)
            case Gone(id_, below):
                state.pop(id_, None)
                for inner in [inner for inner in state if below and inner.startswith(f"{id_}/")]:
                    del state[inner]
            case Only():
                for inner in [inner for inner in state if change.drops(inner)]:
                    del state[inner]
            case Checkpoint():
                cursor = change.cursor
            case Failed() | Wait():
                pass
    return cursor


def everything(source: SyncSource) -> State:
    state: State = {}
    apply(state, source.changes(""))
    return state


class SourceContract:
    """`source` holds at least one item."""

    @pytest.fixture
    def source(self) -> SyncSource:
        raise NotImplementedError("give the suite a source")

    @pytest.fixture
    def edits(self, source: SyncSource) -> Sequence[Callable[[], object]]:
        """Changes at the service: new, edited and deleted items."""
        return ()

    def test_items_can_be_kept(self, source: SyncSource) -> None:
        puts = [change for change in source.changes("") if isinstance(change, Put)]
        assert puts
        for put in puts:
            assert put.id
            assert put.name
            assert is_clean(put.id)
            assert WITHIN not in put.id
            assert not clean_metadata(put.metadata)[1], f"{put.id} has metadata that can't be kept"
            assert told(put)

    def test_it_ends_with_a_cursor(self, source: SyncSource) -> None:
        changes = [change for change in source.changes("") if not isinstance(change, Wait)]
        assert isinstance(changes[-1], Checkpoint)

    def test_reading_twice_gives_the_same(self, source: SyncSource) -> None:
        assert everything(source) == everything(source)

    def test_ids_are_those_of_its_items(self, source: SyncSource) -> None:
        listed = [id_ for id_ in source.ids() if isinstance(id_, str)]
        assert sorted(set(listed)) == sorted(everything(source))

    def test_it_goes_on_from_every_cursor(self, source: SyncSource) -> None:
        """A run may be killed anywhere: what it had until its last cursor, and what comes after it,
        must be everything."""
        whole = everything(source)
        state: State = {}
        for change in source.changes(""):
            apply(state, [change])
            if isinstance(change, Checkpoint):
                rest = dict(state)
                assert apply(rest, source.changes(change.cursor)) is not None
                assert rest == whole

    def test_nothing_new_after_the_last_cursor(self, source: SyncSource) -> None:
        state: State = {}
        cursor = apply(state, source.changes(""))
        assert cursor is not None
        before = dict(state)
        apply(state, source.changes(cursor))
        assert state == before

    def test_changes_lead_to_what_is_there(
        self, source: SyncSource, edits: Sequence[Callable[[], object]]
    ) -> None:
        state: State = {}
        cursor = apply(state, source.changes(""))
        for edit in edits:
            edit()
            assert cursor is not None
            cursor = apply(state, source.changes(cursor))
            if source.deletions == "compared":
                listed = {id_ for id_ in source.ids() if isinstance(id_, str)}
                state = {id_: item for id_, item in state.items() if id_ in listed}
            now = everything(source)
            if source.deletions == "kept":
                assert {id_: state[id_] for id_ in now} == now
            else:
                assert state == now

    def test_single_items_can_be_asked_for(self, source: SyncSource) -> None:
        if isinstance(source, RetryingSource):
            whole = everything(source)
            some = sorted(whole)[:3]
            state: State = {}
            apply(state, source.again(some))
            assert state == {id_: whole[id_] for id_ in some}
            gone = list(source.again(["no-such-item"]))
            assert all(isinstance(change, Gone | Wait) for change in gone)
