"""Every endpoint that a fake service answers: what it may be asked, and where that was seen.

The fakes refuse everything else (`refused`): another path, a parameter that the service doesn't
document, a page that is too large, another host. Some real services would ignore such a parameter
and answer as if it weren't there, which is worse to find out. Nothing of the repositories named
here is copied.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.sources.server import Asked, Reply

_JAVA = (
    "slackapi/java-slack-sdk, slack-api-client/…/methods/request/{} and json-logs/samples/api/{}"
)
_NOTION = "makenotion/notion-sdk-js, src/api-endpoints/{}.ts"
_GO = "google/go-github, github/{}.go; {}"
_PAGED = "octokit/fixtures, scenarios/api.github.com/paginate-issues"
_DATASERVER = "zotero/dataserver, model/API.inc.php and controllers/{}.php"
_LOCAL = "zotero/zotero, chrome/content/zotero/xpcom/server/server_localAPI.js"
_ETAPI = "zadam/trilium, src/etapi/etapi.openapi.yaml, notes.js and mappers.js"


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str  # a pattern
    asks: str  # names of parameters, in the address or in the body
    seen: str
    largest: str = ""  # page, as `name=number`


def _slack(method: str, asks: str, request: str, largest: str = "") -> Endpoint:
    seen = _JAVA.format(f"{request}.java", f"{method}.json")
    return Endpoint("GET", f"api/{re.escape(method)}", asks, seen, largest)


_REPOSITORY = r"(repos/o/(r|old|gone)|repositories/7)"
_LISTED = "sort direction since page per_page"
_ZOTERO = r"(api/)?(users|groups)/\d+"

ENDPOINTS: Mapping[str, tuple[Endpoint, ...]] = {
    "slack": (
        _slack("auth.test", "", "auth/AuthTestRequest"),
        _slack("users.list", "cursor limit include_locale team_id", "users/UsersListRequest",
               "limit=999"),
        _slack("users.info", "user include_locale", "users/UsersInfoRequest"),
        _slack("bots.info", "bot team_id", "bots/BotsInfoRequest"),
        _slack("files.info", "file count page", "files/FilesInfoRequest"),
        _slack("conversations.list", "cursor exclude_archived limit types team_id",
               "conversations/ConversationsListRequest", "limit=999"),
        _slack("conversations.members", "channel cursor limit",
               "conversations/ConversationsMembersRequest", "limit=999"),
        _slack("conversations.history",
               "channel cursor oldest latest limit inclusive include_all_metadata",
               "conversations/ConversationsHistoryRequest", "limit=999"),
        _slack("conversations.replies",
               "channel ts cursor oldest latest limit inclusive include_all_metadata",
               "conversations/ConversationsRepliesRequest", "limit=999"),
        Endpoint("GET", "files/.+", "", "docs.slack.dev, file object: `url_private` needs the"
                 " token, and sends browsers without one to a sign-in page"),
        Endpoint("GET", "", "redir", "the sign-in page itself"),
    ),
    "notion": (
        Endpoint("GET", "users", "start_cursor page_size", _NOTION.format("users"),
                 "page_size=100"),
        Endpoint("POST", "search", "sort query start_cursor page_size filter",
                 _NOTION.format("search"), "page_size=100"),
        Endpoint("POST", "data_sources/.+/query",
                 "archived sorts filter start_cursor page_size in_trash result_type",
                 _NOTION.format("data-sources") + " (`request_status`)", "page_size=100"),
        Endpoint("GET", "pages/[^/]+/properties/.+", "start_cursor page_size",
                 _NOTION.format("pages"), "page_size=100"),
        Endpoint("GET", "pages/[^/]+", "filter_properties", _NOTION.format("pages")),
        Endpoint("GET", "blocks/[^/]+/children", "start_cursor page_size", _NOTION.format("blocks")
                 + "; 400 for children of unsupported blocks: n8n-io/n8n#26188,"
                 " outline/outline#9289", "page_size=100"),
        Endpoint("GET", "comments", "block_id start_cursor page_size", _NOTION.format("comments"),
                 "page_size=100"),
    ),
    "github": (
        Endpoint("GET", _REPOSITORY, "", "octokit/fixtures, scenarios/api.github.com/"
                 "get-repository and rename-repository (301)"),
        Endpoint("GET", f"{_REPOSITORY}/issues",
                 f"milestone state assignee type creator mentioned labels {_LISTED}",
                 _GO.format("issues", _PAGED), "per_page=100"),
        Endpoint("GET", f"{_REPOSITORY}/issues/comments", _LISTED,
                 _GO.format("issues_comments", _PAGED), "per_page=100"),
        Endpoint("GET", f"{_REPOSITORY}/pulls/comments", _LISTED,
                 _GO.format("pulls_comments", _PAGED), "per_page=100"),
        Endpoint("GET", rf"{_REPOSITORY}/pulls/\d+/reviews", "page per_page",
                 _GO.format("pulls_reviews", _PAGED), "per_page=100"),
        Endpoint("GET", rf"{_REPOSITORY}/(issues|pulls)(/comments)?/\d+", "",
                 _GO.format("issues", "octokit/fixtures, lock-issue")),
        Endpoint("GET", f"{_REPOSITORY}/git/trees/.+", "recursive",
                 _GO.format("git_trees", "`truncated`")),
        Endpoint("GET", f"{_REPOSITORY}/git/blobs/.+", "", _GO.format("git_blobs", "base64")),
        Endpoint("POST", "(api/)?graphql", "query variables",
                 "octokit/graphql-schema, schema.graphql: see schemas.py"),
    ),
    "linear": (
        Endpoint("POST", "graphql", "query variables", "linear/linear,"
                 " packages/sdk/src/schema.graphql: see schemas.py; limits and errors:"
                 " packages/sdk/src/error.ts"),
    ),
    "zotero": (
        Endpoint("GET", f"{_ZOTERO}/(items|collections)",
                 "format limit start since sort direction itemKey includeTrashed include",
                 _DATASERVER.format("ItemsController") + "; the program's: " + _LOCAL,
                 "limit=100"),
        Endpoint("GET", rf"{_ZOTERO}/items/\w+/file", "", _DATASERVER.format("ItemsController")
                 + " (302 to where files are); the program's 302 to file: " + _LOCAL),
    ),
    "trilium": (
        Endpoint("GET", "etapi/notes", "search fastSearch includeArchivedNotes ancestorNoteId"
                 " ancestorDepth orderBy orderDirection limit debug", _ETAPI),
        Endpoint("GET", "etapi/notes/[^/]+/content", "", _ETAPI),
    ),
}  # fmt: skip


def refused(service: str, asked: Asked) -> Reply | None:
    """What comes back for a request that the service doesn't document; None: it does."""

    def no(why: str, status: int = 400) -> Reply:
        return Reply(
            {"ok": False, "message": why, "error": why, "code": "validation_error"}, status
        )

    if not asked.headers.get("host", "").startswith("127.0.0.1"):
        return no("This host has no API.", 421)
    path = asked.path.strip("/")
    known = [one for one in ENDPOINTS[service] if re.fullmatch(one.path, path)]
    if not known:
        return no(f"{service} has no endpoint {path}", 404)
    endpoint = next((one for one in known if one.method == asked.method), None)
    if endpoint is None:
        return no(f"{path} isn't asked with {asked.method}", 405)
    given = {**asked.params, **(asked.body or {})}
    if strange := sorted(given.keys() - set(endpoint.asks.split())):
        return no(f"{path} has no parameter {', '.join(strange)}")
    name, _, most = endpoint.largest.partition("=")
    if name and not 0 < int(given.get(name, 1)) <= int(most):
        return no(f"{name} must be from 1 to {most}")
    return None
