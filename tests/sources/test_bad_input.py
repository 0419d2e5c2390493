"""A wrong token, a missing permission, an empty workspace and a service that answers with a web
page: for each service one clear sentence, and nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from tests.reference import open_memory
from tests.sources.github_server import Hub
from tests.sources.imap_server import Mail, serving_mail
from tests.sources.linear_server import Linear
from tests.sources.notion_server import Notion
from tests.sources.server import Asked, Reply, Server, nothing_there, serving
from tests.sources.slack_server import Workspace
from tests.sources.trilium_server import Trilium
from tests.sources.zotero_server import Zotero

from trivium.config import Settings
from trivium.core.errors import SourceError
from trivium.core.types import OWNER
from trivium.core.work import KeptSource
from trivium.library.model import CurrentModel
from trivium.library.sync import Checked, Sync
from trivium.testing.samples import ToyEmbedder

PAGE = Reply(b"<!DOCTYPE html><html><title>Sign in</title></html>", 200, {"Content-Type": "x/html"})
NOTHING = "It can be reached, but holds nothing yet."
BANNED = Reply(b"<html><body><h1>403 Forbidden</h1></body></html>", 403)


@dataclass(frozen=True)
class Case:
    """A service without content, how it is asked, and how it says that a token may not read."""

    answer: Callable[[Asked], Reply]
    secret: str = ""
    good: str = ""
    path: str = ""
    options: tuple[tuple[str, str], ...] = ()
    forbids: Reply = field(default_factory=lambda: BANNED)


def errors(code: str) -> Reply:
    error = {"message": "You don't have access.", "extensions": {"code": code}}
    return Reply({"errors": [error]}, 400)


CASES = {
    "slack": Case(
        Workspace().answer, "token", Workspace().token, "api/",
        forbids=Reply({"ok": False, "error": "missing_scope", "needed": "users:read"}),
    ),
    "github": Case(Hub().answer, "token", "good", options=(("repositories", "o/r"),)),
    "notion": Case(Notion().answer, "token", "good"),
    "linear": Case(Linear().answer, "key", "lin_good", forbids=errors("FORBIDDEN")),
    "trilium": Case(Trilium().answer, "token", "good", "etapi/"),
    "zotero": Case(Zotero().answer, "key", "good"),
    "feed": Case(
        lambda asked: Reply(b"<rss version='2.0'><channel><title>N</title></channel></rss>"),
        options=(("private", "on"),),
    ),
    "sitemap": Case(lambda asked: Reply(b"<urlset></urlset>"), options=(("private", "on"),)),
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(nothing_there) as made:
        yield made


@pytest.fixture
def sync() -> Iterator[Sync]:
    backend = open_memory()
    yield Sync(backend, CurrentModel(backend, ToyEmbedder(), Settings()))
    assert not backend.documents.all(OWNER)
    assert not backend.sources.all()
    backend.close()


def kept(kind: str, server: Server, secret: str) -> KeptSource:
    case = CASES[kind]
    options = {"url": server.url + case.path, **dict(case.options)}
    return KeptSource("it", kind, options, {case.secret: f"value:{secret}"} if case.secret else {})


def sentence(sync: Sync, source: KeptSource) -> str:
    """What a person reads when a check refuses."""
    with pytest.raises(SourceError) as refused:
        sync.check(source)
    said = refused.value.message
    assert said.endswith(".")
    assert not set("<>{}\n") & set(said), said
    assert len(said) < 200
    return said


@pytest.mark.parametrize("kind", [one for one, case in CASES.items() if case.secret])
def test_a_wrong_token(kind: str, sync: Sync, server: Server) -> None:
    server.answer = CASES[kind].answer
    said = sentence(sync, kept(kind, server, "wrong"))
    assert any(word in said for word in ("token", "refuses", "accept", "key")), said


@pytest.mark.parametrize("kind", CASES)
def test_a_missing_permission(kind: str, sync: Sync, server: Server) -> None:
    server.answer = lambda asked: CASES[kind].forbids
    said = sentence(sync, kept(kind, server, CASES[kind].good))
    assert any(word in said for word in ("may not", "403", "needs", "refuses")), said


@pytest.mark.parametrize("kind", CASES)
def test_an_empty_workspace(kind: str, sync: Sync, server: Server) -> None:
    server.answer = CASES[kind].answer
    said = sync.check(kept(kind, server, CASES[kind].good)).message
    assert said == NOTHING


@pytest.mark.parametrize("kind", CASES)
def test_a_web_page_in_place_of_an_answer(kind: str, sync: Sync, server: Server) -> None:
    server.answer = lambda asked: PAGE
    said = sentence(sync, kept(kind, server, CASES[kind].good))
    assert any(word in said for word in ("web page", "isn't a")), said


@pytest.mark.parametrize("kind", CASES)
def test_nobody_answers(kind: str, sync: Sync) -> None:
    nowhere = Server(nothing_there, "http://127.0.0.1:9/")
    assert "onnect" in sentence(sync, kept(kind, nowhere, CASES[kind].good))


def test_mail(sync: Sync) -> None:
    mail = Mail({"INBOX": {}})
    with serving_mail(mail) as (_, port):

        def source(password: str = "secret") -> KeptSource:
            options = {"host": "127.0.0.1", "port": str(port), "user": "ada", "tls": "off"}
            return KeptSource("it", "imap", options, {"password": f"value:{password}"})

        assert "refuses ada" in sentence(sync, source("wrong"))
        assert sync.check(source()) == Checked("it", "", NOTHING)
        mail.closed = {"INBOX"}
        assert "INBOX" in sentence(sync, source())
        mail.trouble = lambda command: "page"
        assert "as a mail server" in sentence(sync, source())
