"""The Evaluate screens: judged sets, their runs, and comparisons of two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Query, Request
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from trivium.core.errors import DatasetInvalid
from trivium.evaluate import pictures
from trivium.evaluate.judged_sets import JudgedSets, SavedRun
from trivium.evaluate.metrics import MAIN
from trivium.evaluate.run import EVERY, FUSED, RERANKED, Evaluation, beside, evaluate, run_title
from trivium.evaluate.saved import Comparison, ends_of
from trivium.evaluate.synthetic import synthesise
from trivium.http.asked import OWNERS, Here, Server
from trivium.web import judge
from trivium.web.pages import PageRoute, page, query

router = APIRouter(include_in_schema=False, route_class=PageRoute, dependencies=OWNERS)

WIDTH = 380  # of a chart: on a phone its letters keep their size
SHOWN = 12  # queries in a table, of each side
_MOST_MADE = 1_000
Name = Annotated[str, Path(max_length=100)]
Id = Annotated[str, Query(max_length=100)]


@dataclass(frozen=True, slots=True)
class QueryGain:
    """A query, its value in each run, and how far the fusion is ahead of the best signal."""

    text: str
    values: tuple[float, ...]
    gain: float


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; it escapes its own text."""

    svg: Markup
    told: str


@router.get("/evaluate")
async def sets(request: Request, server: Here, q: judge.Asked = "", name: Id = "") -> Response:
    """List the sets; with a query, go on to judge it."""
    if q.strip() and name.strip():
        place = quote(name.strip(), safe="")
        return RedirectResponse(f"/evaluate/{place}/judge?{query({'q': q.strip()})}", 303)
    saved = await server.read(server.judged_sets.all)
    documents = sum(
        collection.documents
        for collection in await server.read(server.library.documents.collections)
    )
    return page(request, "evaluate.html", {"sets": saved, "documents": documents})


@router.post("/evaluate/synthetic")
async def make(
    server: Here,
    name: Annotated[str, Form(min_length=1, max_length=100)],
    count: Annotated[int, Form(ge=1, le=_MOST_MADE)] = 50,
) -> Response:
    """Generate a set of queries from the documents themselves."""
    await server.judging.run(_make, server, name.strip(), count)
    return RedirectResponse(f"/evaluate/{quote(name.strip(), safe='')}", 303)


def _make(server: Server, name: str, count: int) -> None:
    made = synthesise(server.library, count)
    if not made:
        raise DatasetInvalid(
            "Couldn't generate queries from your documents.",
            fix="Add documents with headings or whole sentences.",
        )
    server.judged_sets.synthesise(name, made, seed=0)


@router.get("/evaluate/{name}")
async def show(
    request: Request, server: Here, name: Name, run: Id = "", against: Id = ""
) -> Response:
    """A set with one of its runs (by default the newest), optionally compared with another."""
    values = await server.read(_shown, server.judged_sets, name, run, against)
    return page(request, "evaluated.html", values)


def _shown(kept_sets: JudgedSets, name: str, run: str, against: str) -> dict[str, object]:
    kept_sets.check(name)  # says so where there is no such set
    (judged,) = [set_ for set_ in kept_sets.all() if set_.name == name]
    runs = kept_sets.runs(name)
    chosen = kept_sets.run(name, run) if run else next(iter(runs), None)
    values: dict[str, object] = {
        "set": judged,
        "runs": [
            (saved_run.id, when(saved_run.id), saved_run.found.runs.get(FUSED))
            for saved_run in runs
        ],
        "main": MAIN,
        "told": run_title,
        "stages": {name: run_title(name) for name in EVERY},
        "run": chosen,
        "when": when(chosen.id) if chosen else "",
        "against": against,
        "comparison": None,
    }
    if chosen is not None:
        values |= _figures(chosen)
    if chosen is not None and against:
        compared = kept_sets.compared(name, chosen.id, against)
        values |= {"comparison": compared, "before": when(against), **_changes(compared)}
    return values


def when(id_: str) -> str:
    """The time of a run, from its id."""
    day, hour = id_[:8], id_[9:15]
    return f"{day[:4]}-{day[4:6]}-{day[6:]} {hour[:2]}:{hour[2:4]}:{hour[4:]} UTC"


def _figures(run: SavedRun) -> dict[str, object]:
    evaluation = run.found
    measures = list(next(iter(evaluation.runs.values())).each)
    best = {m: max(of.means[m] for of in evaluation.runs.values()) for m in measures}
    by_query = "Result quality per query, worst first"
    drawn = pictures.measured(evaluation, WIDTH)
    charts = [
        *(Chart(Markup(svg), m) for svg, m in zip(drawn, measures, strict=True)),
        Chart(
            Markup(pictures.by_query(evaluation, WIDTH, 240, f"{MAIN}, query by query")), by_query
        ),
        *(Chart(Markup(svg), "Time") for svg in pictures.latency(evaluation, WIDTH)),
    ]
    wins, losses = _rows(evaluation)
    return {
        "found": evaluation,
        "measures": measures,
        "best": best,
        "charts": charts,
        "ahead": beside(evaluation),
        "wins": wins,
        "losses": losses,
    }


def _rows(evaluation: Evaluation) -> tuple[list[QueryGain], list[QueryGain]]:
    """Queries where the fusion is better than every signal alone, and where it is worse."""
    alone = [of.each[MAIN] for name, of in evaluation.runs.items() if name not in (FUSED, RERANKED)]
    if not alone or FUSED not in evaluation.runs:
        return [], []
    fused = evaluation.runs[FUSED].each[MAIN]
    rows = []
    for at, text in enumerate(evaluation.queries.values()):
        values = tuple(of.each[MAIN][at] for of in evaluation.runs.values())
        rows.append(QueryGain(text, values, fused[at] - max(of[at] for of in alone)))
    rows.sort(key=lambda row: (-row.gain, row.text))
    return ends_of(rows, SHOWN)


def _changes(comparison: Comparison) -> dict[str, object]:
    name = FUSED if FUSED in comparison.changes else next(iter(comparison.changes))
    changes = comparison.changes[name]
    gained, lost = ends_of(changes, SHOWN)
    charts = (
        pictures.changed(name, changes, WIDTH) if any(change.gain for change in changes) else []
    )
    return {
        "changed": name,
        "change_charts": [
            Chart(Markup(svg), f"{run_title(name)}, now and before") for svg in charts
        ],
        "gained": gained,
        "lost": lost,
    }


@router.post("/evaluate/{name}/run")
async def run(server: Here, name: Name) -> Response:
    """Measure while the browser waits. A script uses /v1 instead, and shows progress."""
    id_ = await server.judging.run(_run, server, name)
    return RedirectResponse(f"/evaluate/{name}?{query({'run': id_})}", 303)


def _run(server: Server, name: str) -> str:
    judged = server.judged_sets
    with judged.folder_of(name) as folder:
        evaluation = evaluate(folder, server.settings, library=server.library)
    return judged.keep(name, evaluation)
