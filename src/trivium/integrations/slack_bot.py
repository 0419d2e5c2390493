"""Answers in Slack: mentioned in a channel or written to, it replies in the thread, with citations.

What it answers from is what everyone who reads the reply may see: in a channel, what is public and
what was said in that channel itself; in a direct conversation, what the person who asks may see.
Guests, people of other organisations and people whom Slack doesn't know never get the labels of the
sources, and neither does a channel that one of them reads.
Hears of messages by Socket Mode, so it needs no address that others can reach. Needs
the extra `slack`. Knows nothing of stores or of how answers are made.
"""

from __future__ import annotations

import json
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Mapping
from threading import Event
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import quote

from trivium.core.access import Caller, Right
from trivium.core.answers import Answer, Turn
from trivium.core.errors import SourceRefused, TriviumError
from trivium.library import Library
from trivium.ports import Wait
from trivium.sources.service import Service
from trivium.sources.slack_messages import channel_label
from trivium.text.times import place_parts

log = logging.getLogger("trivium.slack")

_MENTION = re.compile(r"<@[A-Z0-9]+(?:\|[^>]*)?>")
_WEB = re.compile(r"https?://", re.IGNORECASE)
# As users.info marks who isn't a full member: docs.slack.dev/reference/objects/user-object.
_OUTSIDE = ("deleted", "is_restricted", "is_ultra_restricted", "is_stranger")
_NONE = {"None", ""}
_MOST_TEXT = 39_000  # characters; Slack refuses 40,000
_MOST_THREADS = 500  # whose earlier turns are remembered
_MOST_TURNS = 5
_REMEMBERED = 600.0  # seconds for which the bot knows who is a guest
_MOST_EVENTS = 1_000  # remembered, since Slack tells of some twice
_AGAIN_SECONDS = 5.0  # until a connection that broke is made again
T = TypeVar("T")


class SlackBot:
    def __init__(
        self, library: Library, bot: Service, app: Service, sleep: Callable[[float], object]
    ) -> None:
        """`bot` asks with the bot's token, `app` with the app-level one. `sleep`: how to wait where
        Slack asks for that."""
        self._library = library
        self._bot = bot
        self._app = app
        self._sleep = sleep
        self._turns: OrderedDict[tuple[str, str], list[Turn]] = OrderedDict()
        self._team: set[str] = set()  # ids of the bot's own workspace and organisation
        self._inside: frozenset[str] = frozenset()
        self._inside_at = 0.0
        self._event_ids: OrderedDict[str, None] = OrderedDict()

    # --- hearing

    def run(self, stop: Event) -> None:
        """Until `stop`. A connection that breaks is made again."""
        while not stop.is_set():
            try:
                self._listen(stop)
            except SourceRefused:
                raise
            except (TriviumError, OSError) as error:
                log.warning("the connection to Slack broke: %s", error)
                stop.wait(_AGAIN_SECONDS)

    def _listen(self, stop: Event) -> None:
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect

        url = str(self._call(self._app, "POST", "apps.connections.open")["url"])
        try:
            with connect(url, open_timeout=30) as socket:
                while not stop.is_set():
                    try:
                        payload = json.loads(socket.recv(timeout=1.0))
                    except TimeoutError:
                        continue
                    if payload.get("type") == "disconnect":
                        return
                    if envelope := payload.get("envelope_id"):
                        socket.send(json.dumps({"envelope_id": envelope}))
                    if payload.get("type") == "events_api":
                        self.hear(payload.get("payload") or {})
        except WebSocketException as reason:
            raise OSError(str(reason)) from reason

    def hear(self, payload: Mapping[str, Any]) -> None:
        """One event. What goes wrong with it is told in the thread, and the next one is heard."""
        event = payload.get("event") or {}
        id_ = str(payload.get("event_id") or "")
        if not self._is_question(event) or id_ in self._event_ids:
            return
        self._event_ids[id_] = None
        while len(self._event_ids) > _MOST_EVENTS:
            self._event_ids.popitem(last=False)
        question = _MENTION.sub("", str(event.get("text") or "")).strip()
        channel = str(event["channel"])
        thread = str(event.get("thread_ts") or event["ts"])
        try:
            text = self._answer(question, event, channel, thread) if question else _HELP
        except TriviumError as error:
            log.warning("a question of Slack failed: %s", error)
            text = _escaped(f"I couldn't answer that: {error.message}")
        except Exception:
            log.exception("a question of Slack failed")
            text = "Something went wrong inside Trivium; its log says where."
        self._reply(channel, thread, text)

    def _reply(self, channel: str, thread: str, reply: str) -> None:
        """A reply that Slack refuses (an archived channel, a locked thread) is logged."""
        text = reply if len(reply) <= _MOST_TEXT else f"{reply[: _MOST_TEXT - 1]}…"
        body = {
            "channel": channel, "thread_ts": thread, "text": text, "unfurl_links": False,
            "unfurl_media": False, "parse": "none", "link_names": False,
        }  # fmt: skip
        try:
            self._call(self._bot, "POST", "chat.postMessage", body)
        except TriviumError as error:
            log.warning("a reply in %s wasn't posted: %s", channel, error)

    def _is_question(self, event: Mapping[str, Any]) -> bool:
        """A mention, or a direct message of a person. Not what this or another bot says."""
        if event.get("bot_id") or event.get("subtype"):
            return False
        if not (event.get("user") and event.get("channel") and event.get("ts")):
            return False
        is_direct = event.get("type") == "message" and event.get("channel_type") == "im"
        return event.get("type") == "app_mention" or is_direct

    # --- answering

    def _answer(self, question: str, event: Mapping[str, Any], channel: str, thread: str) -> str:
        caller = self._caller(str(event["user"]), channel, event.get("channel_type") == "im")
        before = self._turns.get((channel, thread), [])
        answer = self._library.ask(question, history=before, within=caller.within())
        self._remember(channel, thread, answer.turn)
        return told(answer)

    def _caller(self, user: str, channel: str, is_direct: bool) -> Caller:
        """Who reads the reply: the labels that every one of them holds."""
        labels = {channel_label(channel)}
        if self._is_member(user) and (is_direct or self._is_ours(channel)):
            sources = (source for source in self._library.sync.all() if source.kind == "slack")
            labels |= {source.audience or source.name for source in sources}
        if is_direct:
            labels |= {channel_label(text) for text in self._shared_with(user)}
        rights = frozenset({Right.SEARCH})
        return Caller(f"slack-{user}", user, frozenset(labels), None, rights)

    def _is_member(self, user: str) -> bool:
        """A full member of the workspace: no guest, no bot, nobody of another organisation, and
        nobody whom Slack doesn't tell about."""
        try:
            about = self._call(self._bot, "GET", "users.info", {"user": user}).get("user") or {}
            return not about.get("is_bot") and self._is_inside(about)
        except TriviumError as error:
            log.warning("Slack doesn't say who %s is: %s", user, error)
            return False

    def _is_inside(self, fields: Mapping[str, Any]) -> bool:
        """Of the workspace or its organisation, and not a guest."""
        if not self._team:
            about = self._call(self._bot, "GET", "auth.test")
            self._team = {str(about.get(field)) for field in ("team_id", "enterprise_id")} - _NONE
        if any(fields.get(text) for text in _OUTSIDE):
            return False
        homes = {str(fields.get("team_id"))}
        enterprise = fields.get("enterprise_user")
        if isinstance(enterprise, dict):
            homes.add(str(enterprise.get("enterprise_id")))
        return bool(homes & self._team)

    def _is_ours(self, channel: str) -> bool:
        """Not shared with another organisation, and nobody in it is a guest or unknown."""
        try:
            fields = self._call(self._bot, "GET", "conversations.info", {"channel": channel})
            about = fields.get("channel") or {}
            if about.get("is_ext_shared") or about.get("is_pending_ext_shared"):
                return False
            inside = self._insiders()
            readers = self._pages("conversations.members", "members", {"channel": channel})
            return all(str(reader) in inside for reader in readers)
        except TriviumError as error:
            log.warning("Slack doesn't say who is in %s: %s", channel, error)
            return False

    def _insiders(self) -> frozenset[str]:
        """Everyone of the workspace but guests; asked for again after a while."""
        if not self._inside or monotonic() - self._inside_at > _REMEMBERED:
            people = self._pages("users.list", "members", {})
            self._inside = frozenset(
                str(person.get("id")) for person in people if self._is_inside(person)
            )
            self._inside_at = monotonic()
        return self._inside

    def _shared_with(self, user: str) -> Iterator[str]:
        """The private channels that this person and the bot are in."""
        parameters = {"user": user, "types": "private_channel,mpim"}
        for page in self._pages("users.conversations", "channels", parameters):
            yield str(page["id"])

    def _pages(self, method: str, part: str, parameters: Mapping[str, Any]) -> Iterator[Any]:
        cursor = None
        while True:
            sent = {**parameters, "limit": 200, "cursor": cursor}
            fields = self._call(self._bot, "GET", method, sent)
            yield from fields.get(part) or ()
            cursor = (fields.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return

    def _remember(self, channel: str, thread: str, turn: Turn) -> None:
        key = (channel, thread)
        self._turns[key] = [*self._turns.get(key, []), turn][-_MOST_TURNS:]
        self._turns.move_to_end(key)
        while len(self._turns) > _MOST_THREADS:
            self._turns.popitem(last=False)

    # --- asking Slack

    def _call(
        self, service: Service, method: str, name: str, sent: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        params = {"params": sent} if method == "GET" else {"body": sent or {}}
        answer = self._waited(service.ask(method, name, **params)).json("Slack")
        if not answer.get("ok"):
            raise SourceRefused(f"Slack refuses {name}: {answer.get('error')}.")
        result: dict[str, Any] = answer
        return result

    def _waited(self, asking: Generator[Wait, None, T]) -> T:
        while True:
            try:
                self._sleep(next(asking).seconds)
            except StopIteration as done:
                result: T = done.value
                return result


_HELP = "Ask me something: I answer from the documents that this conversation may see."


def told(answer: Answer) -> str:
    """As Slack shows it: the text, and below it a line for each statement that isn't supported and
    for each citation."""
    lines = [_escaped(answer.text)]
    for statement in answer.unsupported:
        lines.append(_escaped(f"Not supported: “{statement.text}” ({statement.why})."))
    for citation in answer.citations:
        title = _escaped(citation.title).replace("|", "¦").replace("\n", " ")
        place = "".join(f", {_escaped(part)}" for part in place_parts(citation))
        where = f"<{_address(citation.link)}|{title}>" if _WEB.match(citation.link) else title
        lines.append(f"[{citation.number}] {where}{place}")
    return "\n".join(lines)


def _address(link: str) -> str:
    """Of a document, for a mark `<address|title>`: it can't end the mark or begin another."""
    return quote(link, safe="%/:?#[]@!$&'()*+,;=~").replace("&", "&amp;")


def _escaped(text: str) -> str:
    """Words of documents mustn't mention people or channels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
