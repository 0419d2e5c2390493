"""The Judge screen: you say which documents are relevant to a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from trivium.core.errors import EvaluationNotFound
from trivium.core.results import Result
from trivium.evaluate.judged_sets import JudgedSets
from trivium.evaluate.judging import GRADES, named, pool
from trivium.http.asked import OWNERS, Here, Server
from trivium.http.problems import PART
from trivium.operations.searching import LONGEST_QUERY
from trivium.web.found import Card, address_of, card_of, words_of
from trivium.web.pages import PageRoute, page, query

router = APIRouter(include_in_schema=False, route_class=PageRoute, dependencies=OWNERS)

SKIPPED = "skip"
_SAID = {2: "Exactly right", 1: "Relevant", 0: "Not relevant"}
Name = Annotated[str, Path(max_length=100)]
Asked = Annotated[str, Query(max_length=LONGEST_QUERY)]


@dataclass(frozen=True, slots=True)
class Judged:
    """A document to judge, by its best passage, and its judgment so far."""

    card: Card
    grade: int | None
    seen: bool


@router.get("/evaluate/{name}/judge")
async def show(request: Request, server: Here, name: Name, q: Asked = "") -> Response:
    """The documents to judge for a query; without one, the queries so far."""
    values = await server.read(_shown, server, name, q.strip())
    return page(request, "judge.html", values)


@router.post("/evaluate/{name}/judge")
async def judge(
    request: Request,
    server: Here,
    name: Name,
    q: Annotated[str, Form(min_length=1, max_length=LONGEST_QUERY, pattern=r"\S")],
    document: Annotated[int, Form(ge=1, le=2**53)],
    grade: Annotated[str, Form(pattern=f"^([{GRADES[0]}-{GRADES[-1]}]|{SKIPPED})$")],
) -> Response:
    """Save the judgment of one document; it can be changed later."""
    number = None if grade == SKIPPED else int(grade)
    await server.read(_judge, server, name, q.strip(), document, number)
    if PART not in request.headers:
        return RedirectResponse(f"/evaluate/{name}/judge?{query({'q': q.strip()})}", 303)
    values = await server.read(_shown, server, name, q.strip())
    return page(request, "judge.html", values)


def _judge(server: Server, name: str, text: str, document: int, grade: int | None) -> None:
    judged = server.library.documents.get(document)
    server.judged_sets.judge(name, text, named(judged), grade)


def _shown(server: Server, name: str, text: str) -> dict[str, object]:
    queries, grades = _said(server.judged_sets, name)
    known_as = next((id_ for id_, query in queries.items() if query == text), "")
    judgments = grades.get(known_as, {})
    pooled: list[Judged] = []
    if text:
        pooled = [_judged(result, text, judgments) for result in pool(server.library, text)]
    return {
        "name": name,
        "q": text,
        "judged": pooled,
        "left": sum(not judged.seen for judged in pooled),
        "queries": [(query, len(grades.get(id_, {}))) for id_, query in queries.items()],
        "said": _SAID,
        "skipped": SKIPPED,
        "longest": LONGEST_QUERY,
    }


def _judged(result: Result, text: str, judgments: dict[str, int | None]) -> Judged:
    document = named(result.found.document)
    card = card_of(result, words_of([text]), frozenset(), address_of(result.found, [text]))
    return Judged(card, judgments.get(document), document in judgments)


def _said(
    kept_sets: JudgedSets, name: str
) -> tuple[dict[str, str], dict[str, dict[str, int | None]]]:
    """The queries of a set and their judgments; empty for a new set."""
    try:
        judgments = kept_sets.judgments(name)
    except EvaluationNotFound:
        return {}, {}
    return judgments.queries, judgments.grades
