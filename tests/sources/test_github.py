"""GitHub with renamed, missing and huge repositories, and all of its limits.

Shapes as in github/rest-api-description (descriptions/api.github.com): `git/get-tree` with
`truncated`, `pulls/list-reviews`, 301 for renamed repositories, 410 for issues that are switched
off, 409 for an empty repository; rate limits as its documents describe them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.sources.github_server import Hub
from tests.sources.server import Asked, Reply, Server, serving

from trivium.core.errors import SourceRefused
from trivium.ports import Change, Checkpoint, Failed, Gone, Only, Put, Wait
from trivium.sources.github import GitHubSource, budget
from trivium.sources.service import Service


@pytest.fixture
def hub() -> Hub:
    made = Hub()
    made.issue(1, "An issue")
    made.issue(2, "A change", pull_request={"url": "x"})
    made.files = {"README.md": "# R", "docs/a.md": "# A", "docs/deep/b.md": "# B", "src/x.md": "x"}
    return made


@pytest.fixture
def server(hub: Hub) -> Iterator[Server]:
    with serving(hub.answer) as made:
        hub.url = made.url
        yield made


def github(server: Server, *names: str, **more: Any) -> GitHubSource:
    service = Service("GitHub", server.url, {"Authorization": "Bearer good"}, budget)
    return GitHubSource(service, names or ["o/r"], **more)


def ids(changes: Sequence[Change]) -> set[str]:
    return {one.id for one in changes if isinstance(one, Put)}


def failures(changes: Sequence[Change]) -> dict[str, Failed]:
    return {one.id: one for one in changes if isinstance(one, Failed)}


@pytest.mark.parametrize("most", [100, 2, 1])
def test_a_truncated_tree_is_walked_folder_by_folder(hub: Hub, server: Server, most: int) -> None:
    hub.most_entries = most
    source = github(server, files=["docs/*.md", "README.md"])
    changes = list(source.changes(""))
    found = {one for one in ids(changes) if "/files/" in one}
    assert found == {f"o/r/files/{name}" for name in
                     ("README.md", "docs/a.md", "docs/deep/b.md")}  # fmt: skip
    asked = [one.path for one in server.asked if "/git/trees/" in one.path]
    assert not any(one.endswith(b"src/".hex()) for one in asked)


def test_a_tree_that_is_not_given_removes_no_file(hub: Hub, server: Server) -> None:
    hub.refused["/repos/o/r/git/trees/main"] = Reply({"message": "Not Found"}, 404)
    changes = list(github(server, files=["*.md"]).changes(""))
    assert failures(changes)["o/r/files"].hides == "o/r/files/"
    assert not [one for one in changes if isinstance(one, Only | Gone) and "files" in str(one)]
    assert "o/r/issues/1" in ids(changes)


def test_a_renamed_repository_is_followed(hub: Hub, server: Server) -> None:
    found = ids(list(github(server, "o/old", files=["README.md"]).changes("")))
    assert found == {"o/old/issues/1", "o/old/issues/2", "o/old/files/README.md"}


def test_a_missing_repository_fails_alone(hub: Hub, server: Server) -> None:
    changes = list(github(server, "o/none", "o/r").changes(""))
    assert failures(changes)["o/none"].hides == "o/none/"
    assert "o/r/issues/1" in ids(changes)
    assert isinstance(changes[-1], Checkpoint)
    again = list(github(server, "o/none").again(["o/none/issues/1"]))
    assert failures(again).keys() == {"o/none/issues/1"}  # unknown, not deleted


def test_a_part_that_is_switched_off_or_refused_fails_alone(hub: Hub, server: Server) -> None:
    hub.refused["/repos/o/r/issues"] = Reply({"message": "Issues are disabled"}, 410)
    changes = list(github(server, files=["README.md"]).changes(""))
    assert not failures(changes)
    assert ids(changes) == {"o/r/files/README.md"}
    hub.refused["/repos/o/r/issues"] = Reply({"message": "No access"}, 403)
    changes = list(github(server, files=["README.md"]).changes(""))
    assert failures(changes)["o/r/issues"].hides == "o/r/issues/"


def test_the_summaries_of_reviews_are_read(hub: Hub, server: Server) -> None:
    hub.summaries[2] = [
        {"id": 5, "user": {"login": "eve"}, "body": "Please rename it.", "html_url": "https://x/5",
         "state": "CHANGES_REQUESTED", "submitted_at": "2026-01-01T00:00:00Z"},
        {"id": 6, "user": {"login": "bob"}, "body": "", "state": "APPROVED"},
    ]  # fmt: skip
    source = github(server)
    found = {one.id: one for one in source.changes("") if isinstance(one, Put)}
    review = found["o/r/pulls/2/reviews/5"]
    assert (review.metadata["authors"], review.metadata["review"]) == (
        ("eve",), "changes requested",
    )  # fmt: skip
    assert "o/r/pulls/2/reviews/6" not in found
    assert ids(list(source.again(["o/r/pulls/2/reviews/5"]))) == {"o/r/pulls/2/reviews/5"}


@pytest.mark.parametrize("status", [403, 429])
def test_a_primary_limit_is_waited_for(hub: Hub, server: Server, status: int) -> None:
    spent = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}
    server.troubles = [
        Reply({"message": "API rate limit exceeded"}, status, spent),
        Reply({"message": "You have exceeded a secondary rate limit"}, status),
    ]
    changes = list(github(server).changes(""))
    waits = [one.seconds for one in changes if isinstance(one, Wait)]
    assert waits == [1.0, 60.0 if status == 403 else 30.0]
    assert "o/r/issues/1" in ids(changes)


def test_a_403_without_a_limit_is_a_refusal(hub: Hub, server: Server) -> None:
    hub.refused["/repos/o/r"] = Reply({"message": "Resource not accessible"}, 403)
    (failed,) = failures(list(github(server).changes(""))).values()
    assert "not accessible" in failed.message
    hub.refused["/repos/o/r"] = Reply({"message": "Bad credentials"}, 401)
    with pytest.raises(SourceRefused, match="Bad credentials"):
        list(github(server).changes(""))


def test_queries_wait_for_their_own_limit(hub: Hub, server: Server) -> None:
    hub.discuss(3, "An idea")
    limited = {"data": None, "errors": [{"type": "RATE_LIMITED", "message": "exceeded"}]}
    served = {"limited": 1}

    def answer(asked: Asked) -> Reply:
        if asked.path == "/graphql" and served.pop("limited", 0):
            return Reply(limited, 200, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"})
        return hub.answer(asked)

    server.answer = answer
    changes = list(github(server, discussions=True).changes(""))
    assert next(one.seconds for one in changes if isinstance(one, Wait)) == 1.0
    assert "o/r/discussions/3" in ids(changes)


def test_an_enterprise_server_is_asked_at_its_own_address(hub: Hub) -> None:
    hub.discuss(3, "An idea")

    def answer(asked: Asked) -> Reply:
        if asked.path == "/api/graphql":
            return hub._graphql(asked.body["variables"])
        if not asked.path.startswith("/api/v3/"):
            return Reply({"message": "Not Found"}, 404)
        return hub.answer(Asked(asked.method, asked.path.removeprefix("/api/v3"), asked.params,
                                asked.headers, asked.body))  # fmt: skip

    with serving(answer) as server:
        service = Service("GitHub", f"{server.url}api/v3/", {"Authorization": "Bearer good"})
        changes = list(GitHubSource(service, ["o/r"], discussions=True).changes(""))
    assert "o/r/discussions/3" in ids(changes)
    assert not failures(changes)


def test_an_item_without_its_parts_fails_alone(hub: Hub, server: Server) -> None:
    hub.issues[3] = {"updated_at": "2026-01-01T09:00:00Z", "title": "No number"}
    changes = list(github(server).changes(""))
    assert len(failures(changes)) == 1
    assert ids(changes) == {"o/r/issues/1", "o/r/issues/2"}
