"""What the owner sees of the server: settings and where they come from, tokens, collections."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from trivium.config import names
from trivium.library import Library
from trivium.web.settings import GROUPS


def test_settings_name_their_origin_and_can_be_found(owner: TestClient) -> None:
    every = owner.get("/settings").text
    assert "<code>chunk.size</code>" in every
    assert "a test</span>" in every, "the origin of what is not as by default"
    assert "Serving, access and quotas</h2>" in every
    beginnings = [one for some in GROUPS.values() for one in some]
    assert sorted({name.partition(".")[0] for name in names()}) == sorted(beginnings)
    some = owner.get("/settings", params={"find": "rerank second"}).text
    assert re.findall(r"<dt><code>(.*?)</code>", some) == ["rerank.seconds"]
    changed = owner.get("/settings", params={"changed": "true"}).text
    assert re.findall(r"<dt><code>(.*?)</code>", changed) == ["library"]
    part = owner.get("/settings", params={"find": "zzz"}, headers={"X-Part": "list"}).text
    assert "No setting matches" in part
    assert "<html" not in part


def test_a_token_is_shown_once_and_can_be_revoked(owner: TestClient, library: Library) -> None:
    form = {
        "name": "<Ann>",
        "audiences": "player, finance",
        "right": ["search", "add"],
        "collection": "rules",
        "expires": "30d",
    }
    made = owner.post("/settings/tokens", data=form)
    found = re.search(r"trv_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", made.text)
    assert found is not None
    assert "no-store" in made.headers["cache-control"]
    assert "&lt;Ann&gt;" in made.text
    caller = library.tokens.caller(found[0])
    assert caller.audiences == {"player", "finance"}
    assert caller.collections == {"rules"}
    assert caller.rights == {"search", "add"}
    later = owner.get("/settings/tokens").text
    assert found[0] not in later
    assert caller.id in later
    owner.post("/settings/tokens/revoke", data={"token": caller.id})
    assert library.tokens.all() == []


def test_a_token_needs_a_right_and_one_kind_of_audiences(owner: TestClient) -> None:
    nothing = owner.post("/settings/tokens", data={"name": "x"})
    assert nothing.status_code == 422
    assert "The token needs a right." in nothing.text
    both = owner.post("/settings/tokens", data={"right": "search", "audiences": "a", "every": "1"})
    assert both.status_code == 422
    assert "trv_" not in both.text


def test_a_collection_can_be_cut_otherwise(owner: TestClient, library: Library) -> None:
    owner.post("/settings/collections", data={"collection": "rules", "chunker": "sections"})
    owner.post("/settings/collections", data={"collection": "new", "chunker": "rows"})
    cut = {one.name: one.chunker for one in library.documents.collections()}
    assert cut == {"rules": "sections", "vault": "", "new": "rows"}
    wrong = owner.post("/settings/collections", data={"collection": "rules", "chunker": "scissors"})
    assert wrong.status_code == 422
