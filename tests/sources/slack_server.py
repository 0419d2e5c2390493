"""A Slack workspace, as its Web API's public documents describe it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.sources.endpoints import refused
from tests.sources.server import Asked, Reply

TOKEN = "xoxb-secret"
NOW = 1_700_000_000.0


@dataclass
class Workspace:
    """`most`: messages of one answer, 15 for apps that Slack limits."""

    url: str = ""
    most: int = 1_000
    users: dict[str, str] = field(default_factory=lambda: {"U1": "Ada", "U2": "Bob"})
    channels: dict[str, dict[str, Any]] = field(default_factory=dict)
    messages: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    infos: dict[str, dict[str, Any]] = field(default_factory=dict)  # files of other organisations
    strangers: dict[str, dict[str, Any]] = field(default_factory=dict)  # not in the list of users
    lost: set[str] = field(default_factory=set)  # threads that can't be read
    bots: dict[str, str] = field(default_factory=dict)
    hides_files: bool = False  # the app has no right to read them
    closed: set[str] = field(default_factory=set)  # channels that the app isn't a member of
    token: str = TOKEN

    def channel(self, id_: str, name: str, **more: Any) -> None:
        self.channels[id_] = {"id": id_, "name": name, "is_member": True, **more}
        self.messages.setdefault(id_, {})

    def post(self, channel: str, at: float, text: str, user: str = "U1", **more: Any) -> str:
        stamp = f"{at:.6f}"
        said = {"type": "message", "user": user, "text": text, "ts": stamp, **more}
        self.messages[channel][stamp] = said
        return stamp

    def reply(self, channel: str, thread: str, at: float, text: str, **more: Any) -> str:
        self.messages[channel][thread]["thread_ts"] = thread
        return self.post(channel, at, text, thread_ts=thread, **more)

    def edit(self, channel: str, stamp: str, text: str) -> None:
        edited = {"text": text, "edited": {"user": "U1", "ts": f"{NOW:.6f}"}}
        self.messages[channel][stamp] |= edited

    def delete(self, channel: str, stamp: str) -> None:
        replies = self._replies(channel, stamp)
        if replies:  # what began a thread leaves a trace
            gone = {"subtype": "tombstone", "text": "This message was deleted.", "hidden": True}
            self.messages[channel][stamp] |= gone
        else:
            del self.messages[channel][stamp]

    # --- as a server

    def answer(self, asked: Asked) -> Reply:
        if reply := refused("slack", asked):
            return reply
        if asked.path.startswith("/files/"):
            # Without the right to read files Slack redirects to a page where people sign in.
            if asked.headers.get("authorization") != f"Bearer {self.token}" or self.hides_files:
                return Reply(b"", 302, {"Location": f"{self.url}?redir={asked.path}"})
            return Reply(self.files[asked.path.rpartition("/")[2]], 200, {"Content-Type": "x/y"})
        if asked.path == "/":
            html = b"<!DOCTYPE html><title>Sign in to your workspace</title>"
            return Reply(html, 200, {"Content-Type": "text/html; charset=utf-8"})
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return Reply({"ok": False, "error": "invalid_auth"})
        method = asked.path.rpartition("/")[2]
        answer = getattr(self, "_" + method.replace(".", "_"), None)
        if answer is None or "." not in method:
            return Reply({"ok": False, "error": "unknown_method", "req_method": method})
        return Reply(answer(asked.params))

    def _auth_test(self, _: dict[str, str]) -> dict[str, Any]:
        return {"ok": True, "url": "https://x.slack.com/", "user_id": "UBOT", "team": "x"}

    def _users_list(self, params: dict[str, str]) -> dict[str, Any]:
        users = [
            {"id": id_, "name": name.lower(), "profile": {"display_name": name}}
            for id_, name in self.users.items()
        ]
        return self._page(users, "members", params, 1)

    def _conversations_list(self, params: dict[str, str]) -> dict[str, Any]:
        kinds = params["types"].split(",")
        found = [
            one
            for one in self.channels.values()
            if ("private_channel" if one.get("is_private") else "public_channel") in kinds
        ]
        return self._page(found, "channels", params, 2)

    def _conversations_members(self, params: dict[str, str]) -> dict[str, Any]:
        members = self.channels[params["channel"]].get("members", [])
        return self._page(members, "members", params, 100)

    def _conversations_history(self, params: dict[str, str]) -> dict[str, Any]:
        channel = params["channel"]
        if channel in self.closed or channel not in self.channels:
            return {"ok": False, "error": "not_in_channel"}
        inclusive = params.get("inclusive") == "true"
        latest, oldest = params.get("latest"), params.get("oldest")
        found = []
        for stamp, message in sorted(self.messages[channel].items(), reverse=True):
            thread = message.get("thread_ts", stamp)
            if thread != stamp and message.get("subtype") != "thread_broadcast":
                continue  # replies are left out
            if latest and (stamp > latest or (stamp == latest and not inclusive)):
                continue
            if oldest and (stamp < oldest or (stamp == oldest and not inclusive)):
                continue
            found.append(self._shown(channel, stamp))
        size = min(int(params.get("limit", 100)), self.most)
        if oldest and not latest:  # then Slack may begin with the messages next to `oldest`
            found = found[-size:] + found[:-size]
        answer = {"ok": True, "messages": found[:size], "has_more": len(found) > size}
        if answer["has_more"]:
            answer["response_metadata"] = {"next_cursor": "opaque"}
        return answer

    def _conversations_replies(self, params: dict[str, str]) -> dict[str, Any]:
        channel, thread = params["channel"], params["ts"]
        if thread not in self.messages[channel] or thread in self.lost:
            return {"ok": False, "error": "thread_not_found"}
        stamps = [thread, *self._replies(channel, thread)]
        shown = [self._shown(channel, stamp) for stamp in stamps]
        return self._page(shown, "messages", params, self.most)

    def _users_info(self, params: dict[str, str]) -> dict[str, Any]:
        told = self.strangers.get(params["user"])
        return {"ok": True, "user": told} if told else {"ok": False, "error": "user_not_found"}

    def _bots_info(self, params: dict[str, str]) -> dict[str, Any]:
        name = self.bots.get(params["bot"])
        told = {"id": params["bot"], "deleted": False, "name": name, "app_id": "A1"}
        return {"ok": True, "bot": told} if name else {"ok": False, "error": "bot_not_found"}

    def _files_info(self, params: dict[str, str]) -> dict[str, Any]:
        told = self.infos.get(params["file"])
        return {"ok": True, "file": told} if told else {"ok": False, "error": "file_not_found"}

    def _replies(self, channel: str, thread: str) -> list[str]:
        held = self.messages[channel].items()
        return sorted(s for s, one in held if one.get("thread_ts") == thread and s != thread)

    def _shown(self, channel: str, stamp: str) -> dict[str, Any]:
        replies = self._replies(channel, stamp)
        more = {"reply_count": len(replies), "latest_reply": replies[-1]} if replies else {}
        return {**self.messages[channel][stamp], **more}

    def _page(
        self, found: list[Any], part: str, params: dict[str, str], most: int
    ) -> dict[str, Any]:
        start = int(params.get("cursor") or 0)
        size = min(int(params.get("limit", 100)), most)
        after = str(start + size) if start + size < len(found) else ""
        page = found[start : start + size]
        return {"ok": True, part: page, "response_metadata": {"next_cursor": after}}
