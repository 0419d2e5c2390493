"""Routes to measure search quality, for the owner: judged sets, judgments, runs, comparisons."""

from __future__ import annotations

from time import monotonic
from typing import Annotated

from fastapi import Path, Request
from starlette.responses import StreamingResponse

from trivium.core.errors import DocumentNotFound
from trivium.evaluate.judged_sets import JudgedSet
from trivium.evaluate.judging import named
from trivium.evaluate.run import evaluate
from trivium.evaluate.saved import EvaluationAnswer, WholeComparison, WholeEvaluation
from trivium.evaluate.synthetic import synthesise
from trivium.http.answers import (
    JudgmentAnswer,
    JudgmentsAnswer,
    RunAnswer,
    RunsAnswer,
    SetsAnswer,
    WholeRunAnswer,
)
from trivium.http.asked import OWNERS, Here, Server
from trivium.http.routing import Routes
from trivium.http.streaming import LONGEST_SECONDS, Tell, described, stream
from trivium.library import Library
from trivium.operations.listing import CompareRuns, ListJudgments
from trivium.operations.managing import GenerateEvaluation, Judge, RunEvaluation

router = Routes(prefix="/v1", tags=["evaluations"], dependencies=OWNERS)

_OFTEN = 0.1  # seconds between two events about progress
Name = Annotated[str, Path(min_length=1, max_length=100)]
RunId = Annotated[str, Path(min_length=1, max_length=100)]


@router.get("/evaluations")
async def list_evaluations(server: Here) -> SetsAnswer:
    judged_sets = await server.read(server.judged_sets.all)
    return SetsAnswer(judged_sets)


@router.post("/evaluations", status_code=201)
async def generate_evaluation(server: Here, body: GenerateEvaluation) -> JudgedSet:
    """Generate a set of queries from the documents; no person asks or judges them."""
    return await server.judging.run(_make_up, server, body)


def _make_up(server: Server, body: GenerateEvaluation) -> JudgedSet:
    made = synthesise(server.library, body.queries, body.seed)
    return server.judged_sets.synthesise(body.name, made, body.seed)


@router.get("/evaluations/{name}/runs")
async def list_runs(server: Here, name: Name) -> RunsAnswer:
    saved_runs = await server.read(server.judged_sets.runs, name)
    return RunsAnswer([RunAnswer(run.id, EvaluationAnswer.of(run.found)) for run in saved_runs])


@router.post(
    "/evaluations/{name}/runs",
    response_class=StreamingResponse,
    responses=described(
        "Server-sent events: `progress`, then `done` with the saved run's id and figures.",
        *("progress", "done", "error"),
    ),
)
async def run_evaluation(
    server: Here, request: Request, name: Name, body: RunEvaluation
) -> StreamingResponse:
    """Measure each signal, the fused and the reranked results on a set, and save the run."""
    judged = server.judged_sets
    await server.read(judged.check, name)

    def work(tell: Tell) -> None:
        with judged.folder_of(name) as folder:
            evaluation = evaluate(
                folder,
                server.settings,
                library=server.library,
                only=body.only,
                on_progress=_Progress(tell),
            )
        id_ = judged.keep(name, evaluation)
        tell("done", RunAnswer(id_, EvaluationAnswer.of(evaluation)))

    return await stream(server, request, server.judging, work, LONGEST_SECONDS)


class _Progress:
    """Send progress a few times a second."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._stage, self._at = "", 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage or monotonic() - self._at > _OFTEN:
            self._stage, self._at = stage, monotonic()
            self._tell("progress", {"stage": stage, "done": done, "total": total})


@router.get("/evaluations/{name}/runs/{run}")
async def show_run(server: Here, name: Name, run: RunId) -> WholeRunAnswer:
    saved_run = await server.read(server.judged_sets.run, name, run)
    return WholeRunAnswer(saved_run.id, WholeEvaluation.of(saved_run.found))


@router.get("/evaluations/{name}/compare")
async def compare_runs(server: Here, name: Name, options: CompareRuns) -> WholeComparison:
    """Compare two saved evaluations, and say whether the difference may be chance."""
    comparison = await server.read(server.judged_sets.compared, name, options.run, options.against)
    return WholeComparison.of(comparison)


@router.get("/evaluations/{name}/judgments")
async def list_judgments(server: Here, name: Name, options: ListJudgments) -> JudgmentsAnswer:
    return await server.read(_judged, server, name, options.query)


@router.post("/evaluations/{name}/judgments")
async def judge(server: Here, name: Name, body: Judge) -> JudgmentsAnswer:
    """Judge how relevant a document is to a query; the first judgment creates the set."""
    return await server.read(_judge, server, name, body)


def _judge(server: Server, name: str, body: Judge) -> JudgmentsAnswer:
    document = server.library.documents.get(body.document)
    server.judged_sets.judge(name, body.query, named(document), body.grade)
    return _judged(server, name, body.query)


def _judged(server: Server, name: str, query: str) -> JudgmentsAnswer:
    judgments = server.judged_sets.judgments(name)
    grades = next(
        (judgments.grades.get(id_, {}) for id_, text in judgments.queries.items() if text == query),
        {},
    )
    answers = [
        JudgmentAnswer(_id_of(server.library, uri), uri, grade) for uri, grade in grades.items()
    ]
    return JudgmentsAnswer(name, query, answers)


def _id_of(library: Library, uri: str) -> int | None:
    try:
        return library.documents.get(uri).id
    except DocumentNotFound:  # it has gone since
        return None
