"""Slack's export archives, a zip file or the folder it was unpacked to: every message is an item.

A new export of the same workspace brings what changed, and what is gone from it goes here too.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from trivium.core.errors import SourceNonsense, SourceUnreachable
from trivium.extract.slack_message import person
from trivium.ports import Change, Checkpoint, Failed, Only, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.listed import Stamp, existing, missing, picked, stamp_of
from trivium.sources.slack_messages import (
    Channel,
    Names,
    channel_of,
    item_id,
    opener_of,
    put_of,
)

_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_PRIVATE = _LISTS[1:]
_MOST_DAY = 64 << 20  # bytes of one day


class SlackExportSource:
    deletions: Deletions = "told"

    def __init__(self, place: Path, workspace: str = "") -> None:
        self._place = place
        self._workspace = workspace

    def changes(self, cursor: str) -> Iterator[Change]:
        """The cursor: which archive was reported, and its channels until then."""
        stamp = self._stamp()
        before = json.loads(cursor) if cursor else {}
        if before.get("told") == list(stamp):
            yield Checkpoint(cursor)
            return
        reading = before if before.get("reading") == list(stamp) else {}
        done = set(reading.get("channels", ()))
        with _Archive(self._place) as archive:
            names = archive.names()
            folders = archive.channels(names)
            for count, (folder, channel) in enumerate(folders.items(), start=1):
                if folder in done:
                    continue
                ids, whole = set(), True
                for change in self._changes_of(archive, folder, channel, names):
                    yield change
                    ids.add(change.id)
                    whole = whole and isinstance(change, Put)
                if whole:  # otherwise the messages of a damaged day would be removed
                    yield Only(f"{channel.id}/", frozenset(ids))
                done.add(folder)
                at = {"told": before.get("told"), "reading": stamp, "channels": sorted(done)}
                yield Checkpoint(json.dumps(at), count, len(folders))
            channel_ids = {channel.id for channel in folders.values()}
        for id_ in sorted(set(before.get("ids", ())) - channel_ids):
            yield Only(f"{id_}/", frozenset())
        yield Checkpoint(json.dumps({"told": stamp, "ids": sorted(channel_ids)}))

    def ids(self) -> Iterator[str | Wait]:
        for change in self._all():
            if isinstance(change, Failed):
                raise SourceUnreachable(change.message)
            yield change.id

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        return picked(self._all({id_.partition("/")[0] for id_ in ids}), ids)

    def _all(self, only: Container[str] | None = None) -> Iterator[Put | Failed]:
        """`only`: ids of channels."""
        with _Archive(self._place) as archive:
            names = archive.names()
            for folder, channel in archive.channels(names).items():
                if only is None or channel.id in only:
                    yield from self._changes_of(archive, folder, channel, names)

    def _changes_of(
        self, archive: _Archive, folder: str, channel: Channel, names: Names
    ) -> Iterator[Put | Failed]:
        names.openers.clear()  # day by day, so a thread's first message comes before its replies
        for day in archive.days(folder):
            messages = archive.items(day)
            if messages is None:
                why = f"{day} is damaged."
                yield Failed(item_id(channel.id, day), why, "file.damaged", hides=f"{channel.id}/")
            for message in messages or ():
                if message.get("thread_ts") == message.get("ts") and message.get("ts"):
                    key = item_id(channel.id, str(message["ts"]))
                    names.openers[key] = opener_of(message, names)
                if (put := put_of(message, channel, names, self._workspace)) is not None:
                    yield put

    def _stamp(self) -> Stamp:
        if self._place.is_dir():
            stamps = [
                mark for path in sorted(self._place.rglob("*.json")) if (mark := stamp_of(path))
            ]
            return max((at for at, _ in stamps), default=0), sum(size for _, size in stamps)
        stamp = stamp_of(self._place)
        if stamp is None:
            raise missing(self._place)
        return stamp


class _Archive:
    """A zip file or a folder; reads one member at a time."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._zip: zipfile.ZipFile | None = None

    def __enter__(self) -> _Archive:
        if self._place.is_dir():
            members = [
                path.relative_to(self._place).as_posix() for path in self._place.rglob("*.json")
            ]
        else:
            try:
                self._zip = zipfile.ZipFile(self._place)
            except (OSError, zipfile.BadZipFile) as reason:
                raise SourceUnreachable(f"{self._place} can't be read: {reason}.") from reason
            members = [name for name in self._zip.namelist() if name.endswith(".json")]
        first = min(
            (member for member in members if member.endswith("users.json")), key=len, default=None
        )
        if first is None or not members:
            raise SourceNonsense(
                f"{self._place} isn't a Slack export: it has no users.json.", fix=""
            )
        self._root = first.removesuffix("users.json")
        self._members = sorted(member for member in members if member.startswith(self._root))
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()

    def names(self) -> Names:
        people = {str(user.get("id", "")): person(user) for user in self._list("users.json")}
        return Names(people)

    def channels(self, names: Names) -> dict[str, Channel]:
        """By folder: channels with messages. A channel that no list names is private."""
        folders = dict.fromkeys(
            member.removeprefix(self._root).split("/")[0] for member in self._members if "/" in
            member.removeprefix(self._root)
        )  # fmt: skip
        listed: dict[str, Channel] = {}
        for name in _LISTS:
            for fields in self._list(name):
                private = {"is_private": True} if name in _PRIVATE else {}
                channel = channel_of({**fields, **private}, names.people)
                names.channels[channel.id] = channel.name or channel.title
                for folder in (str(fields.get("name") or ""), channel.id):
                    if folder in folders:
                        listed[folder] = channel
        return {
            folder: listed.get(folder) or Channel(folder, f"#{folder}", True, folder)
            for folder in folders
        }

    def days(self, folder: str) -> list[str]:
        begin = f"{self._root}{folder}/"
        return [member for member in self._members if member.startswith(begin)]

    def items(self, member: str) -> list[dict[str, Any]] | None:
        """None: it is damaged."""
        try:
            if self._zip is None:
                data = (self._place / member).read_bytes()
            elif self._zip.getinfo(member).file_size > _MOST_DAY:
                return None
            else:
                data = self._zip.read(member)
            loaded = json.loads(data)
        except (OSError, ValueError, RecursionError, zipfile.BadZipFile):
            return None
        return (
            [message for message in loaded if isinstance(message, dict)]
            if isinstance(loaded, list)
            else None
        )

    def _list(self, name: str) -> list[dict[str, Any]]:
        member = f"{self._root}{name}"
        return (self.items(member) or []) if member in self._members else []


def _make(request: SourceAsked) -> SlackExportSource:
    return SlackExportSource(existing(request.option("path")), request.option("workspace"))


KIND = SourceKind(
    "slack-export",
    "an export of a Slack workspace, message by message",
    _make,
    {
        "path": "the zip file, or the unpacked folder",
        "workspace": "address of the workspace (https://NAME.slack.com), for links to messages",
    },
    required=("path",),
    files=("path",),
    members=r"(users|channels|groups|dms|mpims|integration_logs)\.json|[^/]+/\d{4}-\d\d-\d\d\.json",
)
