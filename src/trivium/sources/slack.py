"""A Slack workspace by its Web API: every message and every file is an item.

    channel/ts            a message
    channel/ts/ts         a reply to it
    channel/.../F123      a file of either

Slack has no list of what changed. So each run reads, channel by channel, what is newer than the
last one and once more what is younger than `lookback`: edits, deletions and late replies show there
(a thread's first message tells when its latest reply came, which the history itself leaves out).
Of what is older each run reads the next few pages again, round and round, so that a reply to a
thread of last year is found too. The cursor holds where each channel is, so a run can end after any
request, as it must where Slack allows one a minute.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from zlib import crc32

from trivium.core.errors import BadSetting, SourceError, SourceRefused
from trivium.extract.composer import describe
from trivium.extract.slack_message import Message, author_of, person
from trivium.ports import Change, Checkpoint, Failed, Gone, Only, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.kinds import needed_secret
from trivium.sources.listed import ids_of
from trivium.sources.service import (
    Asking,
    Forbidden,
    NotThere,
    Refused,
    Service,
    ServiceReply,
    retry_after,
    seconds_within,
    whole_number,
)
from trivium.sources.slack_messages import (
    Channel,
    Names,
    channel_of,
    item_id,
    opener_of,
    put_of,
)

URL = "https://slack.com/api/"
# Files lie on files.slack.com, on a workspace's own host, or on those of GovSlack.
DOMAINS = ("slack.com", "slack-gov.com")
LOOKBACK = 30.0  # days
_MOST_DAYS = 36_500
_FRESH = 2 * 86_400.0  # seconds during which replies of a thread are checked for edits
_REREAD = 30 * 86_400.0  # seconds after which the replies of any thread are read again, for edits
# Pages older than the lookback that a run reads again. With 200 messages each and a run every 10
# minutes, it goes through 100,000 messages in 4 hours, with 2 of the 50 requests per minute that
# Slack allows.
_SWEEP = 20
_PAGE = 200  # messages; Slack gives fewer to apps that it limits
_DAY = 86_400.0
_EXPIRED = ("invalid_auth", "token_revoked", "token_expired", "account_inactive", "not_authed")
# Messages of an answer where Slack limits an app: docs.slack.dev/changelog/2025/05/29.
_SLOW_PAGE = 15
_SLOW = "Slack allows apps from outside its Marketplace one request a minute, for 15 messages each."
# Canvases and posts come as web pages, whatever type is announced.
_PAGES = ("quip", "space", "post", "canvas", "docs", "list")
_UNREAD = ("tombstone", "hidden_by_limit", "external")
_CLOSED = ("not_in_channel", "channel_not_found", "missing_scope", "no_permission", "is_archived")
# Threads, by ts: latest reply, number of replies, how the thread begins, when they were read.
_Heads = dict[str, list[Any]]


class _Closed(Exception):
    """A channel that the app may not read."""


class SlackSource:
    deletions: Deletions = "shown"

    def __init__(
        self,
        service: Service,
        *,
        channels: Sequence[str] = (),
        direct: bool = False,
        files: bool = True,
        lookback: float = LOOKBACK,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`channels`: names or ids; empty: all that the app may read. `lookback`: days."""
        self._service = service
        self._wanted = frozenset(channel.lstrip("#") for channel in channels)
        self._direct = direct
        self._files = files
        self._lookback = lookback * _DAY
        self._clock = clock
        self._workspace = ""
        self._is_slow = False  # Slack gives fewer messages than asked for

    def sends_token_to(self, url: str) -> bool:
        return self._service.is_own(url)

    # --- as a source

    def changes(self, cursor: str) -> Iterator[Change]:
        state: dict[str, Any] = json.loads(cursor) if cursor else {"channels": {}}
        channel_states: dict[str, Any] = state["channels"]
        names = yield from self._names()
        channels = yield from self._channels(names)
        for id_ in [id_ for id_ in channel_states if id_ not in channels]:
            yield Only(f"{id_}/", frozenset())
            del channel_states[id_]
        order = sorted(channels, key=lambda id_: (id_ in state.get("done", ()), id_))
        done = set(state.get("done", ()))
        for id_ in order:
            if id_ in done:
                continue
            channel = channels[id_]
            if channel_states.get(id_, {}).get("private", channel.private) != channel.private:
                channel_states[id_] = {}  # other people may see all of it now: report it again
            try:
                yield from self._channel(channel, names, state, done, len(channels))
            except _Closed as reason:
                text = f"{channel.title} can't be read: {reason}."
                yield Failed(id_, text, "source.refused", hides=f"{id_}/")
            except SourceError as reason:
                yield self._service.failed(id_, reason, channel.title, hides=f"{id_}/")
            done.add(id_)
            yield self._point(state, done, len(channels))
        yield from self._sweep(channels, names, state)
        yield self._point(state, set(), len(channels), len(channels))

    def ids(self) -> Iterator[str | Wait | Failed]:
        """Every message and file, which takes as long as reading them."""
        return ids_of(self.changes(""))

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        names = yield from self._names()
        channels = yield from self._channels(names)
        for id_ in ids:
            channel, *rest = id_.split("/")
            if channel not in channels:
                yield Gone(id_)
                continue
            title = channels[channel].title
            try:
                if rest:
                    puts = yield from self._single(channels[channel], rest, names)
                    yield next((put for put in puts if put.id == id_), None) or Gone(id_)
                else:  # a channel that couldn't be read: the next run tries it anyway
                    yield from self._ask("conversations.history", channel=channel, limit=1)
                    yield Gone(id_)
            except _Closed as reason:
                yield Failed(id_, f"{title} can't be read: {reason}.", "source.refused")
            except SourceError as reason:
                yield self._service.failed(id_, reason, title)

    # --- asking

    def _ask(self, method: str, **params: Any) -> Generator[Wait, None, dict[str, Any]]:
        while True:
            answer = yield from self._explained(self._service.get(method, params))
            payload: dict[str, Any] = answer.json("Slack")
            if payload.get("ok"):
                return payload
            error = str(payload.get("error", "unknown_error"))
            if error in ("ratelimited", "rate_limited"):
                yield Wait(
                    retry_after(answer.headers.get("retry-after", "")) or 60.0,
                    "Slack asks to wait before the next request.",
                )
                continue
            if error in _CLOSED:
                needed = f" (the app needs {payload['needed']})" if payload.get("needed") else ""
                raise _Closed(f"{error}{needed}")
            if error in _EXPIRED:
                raise SourceRefused(f"Slack doesn't accept the token ({error}).")
            raise Refused(f"Slack refuses {method}: {error}.")

    def _explained(self, asking: Asking) -> Asking:
        """Say why it takes so long where Slack allows one request a minute."""
        while True:
            try:
                wait = next(asking)
            except StopIteration as done:
                answer: ServiceReply = done.value
                return answer
            yield replace(wait, reason=f"{wait.reason} {_SLOW}") if self._is_slow else wait

    def _pages(
        self, method: str, part: str, **params: Any
    ) -> Generator[Wait, None, list[dict[str, Any]]]:
        pages: list[dict[str, Any]] = []
        cursor = None
        while True:
            fields = yield from self._ask(method, cursor=cursor, **params)
            pages += [item for item in fields.get(part, ()) if isinstance(item, dict)]
            cursor = (fields.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return pages

    def _names(self) -> Generator[Wait, None, Names]:
        try:
            users = yield from self._pages("users.list", "members", limit=_PAGE)
            about = yield from self._ask("auth.test")
        except _Closed as reason:
            raise SourceRefused(f"Slack refuses: {reason}.") from reason
        self._workspace = str(about.get("url", ""))
        return Names({str(user.get("id", "")): person(user) for user in users})

    def _channels(self, names: Names) -> Generator[Wait, None, dict[str, Channel]]:
        kinds = "public_channel,private_channel" + (",im,mpim" if self._direct else "")
        try:
            listed = yield from self._pages(
                "conversations.list", "channels", types=kinds, limit=_PAGE
            )
        except _Closed as reason:
            raise SourceRefused(f"Slack refuses the list of channels: {reason}.") from reason
        channels = {}
        for fields in listed:
            channel = channel_of(fields, names.people)
            names.channels[channel.id] = channel.name or channel.title
            named = not self._wanted or {channel.id, channel.name} & self._wanted
            # Slack lists only those private channels that the app was invited to. Members can read
            # public ones, unless the token is a person's.
            if named and (channel.private or fields.get("is_member", True) or self._wanted):
                channels[channel.id] = channel
        return channels

    # --- one channel

    def _channel(
        self, channel: Channel, names: Names, state: dict[str, Any], done: set[str], of: int
    ) -> Iterator[Change]:
        """Newest first, as Slack lists it, down to the lookback; the first time to the end. A later
        run notices what is deleted meanwhile, so a cursor needn't hold all ids."""
        channel_states: dict[str, Any] = state["channels"]
        before = channel_states.get(channel.id) or {}
        at = before.get("at")  # where an interrupted run got to
        top = at["top"] if at else None
        down = at["down"] if at else None
        latest = before.get("latest")
        oldest = at["oldest"] if at else self._oldest(latest)
        heads: _Heads = dict(before.get("threads", {}))
        seen, bare = (list(at["seen"]), list(at["bare"])) if at else ([], [])
        while True:
            fields = yield from self._ask(
                "conversations.history",
                channel=channel.id,
                latest=down or self._later(),
                oldest=oldest or "0",
                inclusive="false",
                limit=_PAGE,
            )
            messages = _newest_first(fields)
            for message in messages:
                stamp = str(message.get("ts", ""))
                top = top or stamp
                if _is_head(message):
                    if oldest is not None:
                        seen.append(item_id(channel.id, stamp))
                        bare += seen[-1:] if _is_bare(message) else []
                    yield from self._message(channel, message, names)
                    yield from self._thread(channel, message, names, heads)
            if messages:
                down = str(messages[-1].get("ts", ""))
            if not fields.get("has_more") or not messages:
                break
            self._is_slow = len(messages) <= _SLOW_PAGE < _PAGE
            place = {"top": top, "down": down, "oldest": oldest, "seen": seen, "bare": bare}
            channel_states[channel.id] = {
                "at": place,
                "latest": latest,
                "threads": heads,
                "private": channel.private,
            }
            begin = _seconds(oldest or "") or channel.created
            span = self._clock() - begin
            part = (self._clock() - _seconds(down or "")) / span if begin and span > 0 else 0.0
            yield self._point(state, done, of, len(done) + min(max(part, 0.0), 1.0))
        if oldest is not None:
            there = Only(
                f"{channel.id}/",
                frozenset(seen),
                since=_behind(channel.id, oldest),
                bare=frozenset(bare),
            )
            yield there
            heads = _remaining(heads, channel.id, there)
        channel_states[channel.id] = {
            "latest": max(top or "", latest or ""),
            "threads": heads,
            "private": channel.private,
        }

    def _oldest(self, latest: str | None) -> str | None:
        """Where a later run begins: a quiet channel is read as far back."""
        if latest is None:
            return None
        return f"{max(0.0, min(float(latest or 0), self._clock()) - self._lookback):.6f}"

    def _sweep(
        self, channels: Mapping[str, Channel], names: Names, state: dict[str, Any]
    ) -> Iterator[Change]:
        """The next pages older than the lookback, up to the end of the last channel. Starts with
        the second run: the first has just read everything."""
        channel_states: dict[str, Any] = state["channels"]
        at = state.get("sweep")
        if at is None:
            state["sweep"] = ["", ""]
            return
        if not at[0]:  # what is in no channel any more: a killed run may have left it
            yield Only("", frozenset(channels))
        for _ in range(_SWEEP):
            readable = (
                channel
                for channel in sorted(channels)
                if channel_states.get(channel, {}).get("latest")
            )
            id_ = next((id_ for id_ in readable if id_ >= at[0]), None)
            if id_ is None:
                at = ["", ""]
                break
            down = yield from self._old_page(
                channels[id_], names, channel_states[id_], at[1] if id_ == at[0] else ""
            )
            at = [id_, down] if down else [f"{id_}\0", ""]
            state["sweep"] = at
            yield self._point(state, set(channels), len(channels))
        state["sweep"] = at

    def _old_page(
        self, channel: Channel, names: Names, channel_state: dict[str, Any], down: str
    ) -> Generator[Change, None, str]:
        """Where the next page begins; empty: there is none."""
        edge = down or self._oldest(channel_state["latest"]) or ""
        try:
            fields = yield from self._ask(
                "conversations.history", channel=channel.id, latest=edge, oldest="0",
                inclusive="false" if down else "true", limit=_PAGE,
            )  # fmt: skip
        except _Closed:
            return ""
        except SourceError as reason:
            yield self._service.failed(channel.id, reason, channel.title, hides=f"{channel.id}/")
            return ""
        messages = _newest_first(fields)
        heads = [message for message in messages if _is_head(message)]
        ids = {item_id(channel.id, str(head.get("ts", ""))): head for head in heads}
        for message in heads:
            yield from self._message(channel, message, names)
            yield from self._thread(channel, message, names, channel_state["threads"])
        bottom = str(messages[-1].get("ts", "")) if fields.get("has_more") and messages else ""
        there = Only(
            f"{channel.id}/",
            frozenset(ids),
            since=item_id(channel.id, bottom) if bottom else "",
            before=item_id(channel.id, edge) if down else _behind(channel.id, edge),
            bare=frozenset(id_ for id_, head in ids.items() if _is_bare(head)),
        )
        yield there
        channel_state["threads"] = _remaining(channel_state["threads"], channel.id, there)
        return bottom

    def _message(self, channel: Channel, message: Message, names: Names) -> Iterator[Change]:
        yield from self._learn_author(message, names)
        put = put_of(message, channel, names, self._workspace)
        stamp = str(message.get("ts", ""))
        id_ = item_id(channel.id, stamp)
        if put is None:
            yield Gone(id_)
            return
        yield put
        files = yield from self._file_puts(id_, message, put)
        yield from files
        if not message.get("reply_count") and (files or message.get("edited")):
            yield Only(f"{id_}/", frozenset(file.id for file in files))

    def _thread(
        self, channel: Channel, head: Message, names: Names, heads: _Heads
    ) -> Iterator[Change]:
        """Its replies, if some came or went, if they are young enough to be edited, if the words
        shown with them changed, or if nobody has looked for a long time."""
        stamp = str(head.get("ts", ""))
        latest, count = str(head.get("latest_reply") or ""), whole_number(head.get("reply_count"))
        if not count and stamp not in heads:
            return
        now = [latest, count, crc32(opener_of(head, names).encode())]
        before, read = heads.get(stamp, [])[:3], (heads.get(stamp, []) + [0.0] * 4)[3]
        is_fresh = bool(latest) and self._clock() - _seconds(latest) < _FRESH
        if before == now and not is_fresh and self._clock() - read < _REREAD:
            return
        try:
            puts = yield from self._replies(channel, stamp, names)
        except (NotThere, Refused) as reason:  # the next run tries again: the head stays as it was
            above = item_id(channel.id, stamp)
            replies = f"the replies to a message in {channel.title}"
            yield self._service.failed(f"{above}/replies", reason, replies, hides=f"{above}/")
            return
        yield from puts
        ids = frozenset(put.id for put in puts)  # with the files of its replies
        yield Only(f"{item_id(channel.id, stamp)}/", ids, bare=ids)
        if count:
            heads[stamp] = [*now, round(self._clock())]
        else:
            del heads[stamp]

    def _replies(
        self, channel: Channel, thread: str, names: Names
    ) -> Generator[Wait, None, list[Put | Failed]]:
        """Of a thread: the files of its first message, every reply and their files."""
        messages = yield from self._pages(
            "conversations.replies", "messages", channel=channel.id, ts=thread, limit=_PAGE,
            oldest="0", latest=self._later(),
        )  # fmt: skip
        above = item_id(channel.id, thread)
        first = next((fields for fields in messages if str(fields.get("ts")) == thread), None)
        if first is not None:
            names.openers[above] = opener_of(first, names)
        puts: list[Put | Failed] = []
        for message in messages:
            yield from self._learn_author(message, names)
            put = put_of(message, channel, names, self._workspace)
            if put is None:
                continue
            if str(message.get("ts")) == thread:
                puts += yield from self._file_puts(above, message, put)
                continue
            reply = replace(put, id=f"{above}/{message['ts']}")
            puts.append(reply)
            puts += yield from self._file_puts(reply.id, message, reply)
        return puts

    def _file_puts(
        self, above: str, message: Message, put: Put
    ) -> Generator[Wait, None, list[Put | Failed]]:
        puts: list[Put | Failed] = []
        for listed in message.get("files") or () if self._files else ():
            if not isinstance(listed, dict) or not listed.get("id"):
                continue
            file, id_ = listed, f"{above}/{listed['id']}"
            if file.get("file_access") == "check_file_info":  # shared by another organisation
                try:
                    fields = yield from self._ask("files.info", file=file["id"])
                except (_Closed, SourceError) as reason:
                    file_name = f"the file {file.get('name') or file['id']}"
                    error = reason if isinstance(reason, SourceError) else Forbidden(str(reason))
                    puts.append(self._service.failed(id_, error, file_name))
                    continue
                file = {**file, **fields.get("file", {})}
            url = file.get("url_private_download") or file.get("url_private")
            if not url or file.get("is_external") or file.get("mode") in _UNREAD:
                continue
            puts.append(self._file_put(id_, str(url), file, put))
        return puts

    def _file_put(self, id_: str, url: str, file: Message, put: Put) -> Put:
        about = {name: value for name, value in put.metadata.items() if name != "files"}
        link = str(file.get("permalink") or about.get("link", ""))
        is_page = {file.get("mode"), file.get("filetype")} & {*_PAGES}
        media_type = "" if is_page else str(file.get("mimetype") or "application/octet-stream")
        size = 0 if is_page else whole_number(file.get("size"))
        return Put(
            id_,
            str(file.get("name") or file["id"]),
            partial(self._service.file, url, media_type=media_type, size=size),
            title=str(file.get("title") or file.get("name") or ""),
            metadata={**about, **describe({"link": link})},
            audience=put.audience,
            size=size,
        )

    def _single(
        self, channel: Channel, rest: Sequence[str], names: Names
    ) -> Generator[Wait, None, list[Put | Failed]]:
        """The message that an id begins with, and everything below it."""
        try:
            fields = yield from self._ask(
                "conversations.history", channel=channel.id, latest=rest[0], oldest=rest[0],
                inclusive="true", limit=1,
            )  # fmt: skip
            puts: list[Put | Failed] = []
            for message in fields.get("messages", ()):
                yield from self._learn_author(message, names)
                put = put_of(message, channel, names, self._workspace)
                if put is not None:
                    puts.append(put)
                    puts += yield from self._file_puts(put.id, message, put)
                if message.get("reply_count"):
                    puts += yield from self._replies(channel, str(message["ts"]), names)
        except _Closed:
            return []
        return puts

    def _learn_author(self, message: Message, names: Names) -> Iterator[Wait]:
        """The name of a bot, or of a person of another organisation: the list of users lacks
        them. Asked for once; without an answer the id stays."""
        for kind, id_ in (("user", message.get("user")), ("bot", message.get("bot_id"))):
            if not id_ or author_of(message, names.people) not in (id_, ""):
                continue
            try:
                fields = yield from self._ask(f"{kind}s.info", **{kind: id_})
            except (_Closed, Refused, NotThere):
                fields = {}
            about = fields.get(kind)
            named = person(about) if isinstance(about, dict) else ""
            names.people[str(id_)] = named or str(id_)

    def _later(self) -> str:
        """A time after every message. With `oldest` alone Slack may list from the wrong end."""
        return f"{self._clock() + _DAY:.6f}"

    def _point(
        self, state: Mapping[str, Any], done: set[str], of: int, count: float | None = None
    ) -> Checkpoint:
        """Counts in hundredths of a channel: one alone may take days."""
        text = json.dumps({**state, "done": sorted(done)})
        return Checkpoint(text, int(100 * (len(done) if count is None else count)), 100 * of)


def _newest_first(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a page."""
    messages = [message for message in fields.get("messages", ()) if isinstance(message, dict)]
    return sorted(messages, key=lambda message: str(message.get("ts", "")), reverse=True)


def _is_head(message: Message) -> bool:
    """Not a reply: one that is shown in the channel too is reported with its thread."""
    stamp = message.get("ts", "")
    return bool(message.get("thread_ts", stamp) == stamp)


def _is_bare(message: Message) -> bool:
    """Without replies and files."""
    return not message.get("reply_count") and not message.get("files")


def _seconds(stamp: str) -> float:
    try:
        return seconds_within(float(stamp), 1e11)
    except ValueError:
        return 0.0


def _behind(channel: str, stamp: str) -> str:
    """Sorts after the message of this time and everything below it, and before the next one."""
    return f"{item_id(channel, stamp)}0"


def _remaining(heads: _Heads, channel: str, there: Only) -> _Heads:
    """Without threads that are gone."""
    return {ts: replies for ts, replies in heads.items() if not there.drops(item_id(channel, ts))}


def _make(request: SourceAsked) -> SlackSource:
    token = needed_secret(request, "slack", "token")
    try:
        lookback = float(request.option("lookback", str(LOOKBACK)))
        if not 0 <= lookback <= _MOST_DAYS:
            raise ValueError
    except ValueError as reason:
        raise BadSetting(
            f"`lookback` must be a number of days from 0 to {_MOST_DAYS:,}.", fix="Write 30."
        ) from reason
    headers = {"Authorization": f"Bearer {token}"}
    return SlackSource(
        Service("Slack", request.option("url", URL), headers, domains=DOMAINS),
        channels=request.several("channels"),
        direct=request.on("direct"),
        files=request.on("files", True),
        lookback=lookback,
    )


KIND = SourceKind(
    "slack",
    "a Slack workspace: channels, threads and files that your app can read",
    _make,
    {
        "channels": "names or ids, comma-separated; empty: all channels the app is in",
        "direct": "on: include direct messages",
        "files": "off: skip files",
        "lookback": "days to check for edits, deletions and late replies; default: 30",
        "url": "address of the Web API, if not Slack's own",
    },
    secrets=("token",),
)
