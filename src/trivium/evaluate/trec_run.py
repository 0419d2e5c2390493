"""Run files, as trec_eval reads them: `query Q0 document rank score name`, parted by blanks.

Blanks in a document's name (paths have them) are written as %20 and the like, and found again when
the name is one that was judged. Knows rankings and nothing of how they came about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from trivium.core.errors import DatasetInvalid, RunInvalid
from trivium.evaluate.lines import lines
from trivium.evaluate.metrics import Judged, Ranking, ordered

COLUMNS = 6


def write_run(path: Path, ranking: Ranking, name: str) -> None:
    rows = []
    for query, scores in ranking.items():
        for rank, document in enumerate(ordered(scores), start=1):
            columns = (one_column(query), "Q0", one_column(document), str(rank))
            rows.append(" ".join((*columns, f"{scores[document]:.6f}", one_column(name))))
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def read_run(path: Path, judgments: Mapping[str, Judged]) -> tuple[str, Ranking]:
    """The run's own name, and its results for the judged queries."""
    documents = {one_column(name): name for of_query in judgments.values() for name in of_query}
    queries = {one_column(query): query for query in judgments}
    ranking: Ranking = {}
    name = path.stem
    try:
        for number, line in lines(path):
            columns = line.split()
            if len(columns) != COLUMNS:
                raise RunInvalid(
                    f"{path.name}, line {number}: expected {COLUMNS} columns, found {len(columns)}."
                )
            query, _, document, _, score, name = columns
            if query in queries:
                scores = ranking.setdefault(queries[query], {})
                scores[documents.get(document, document)] = _number(score, path, number)
    except DatasetInvalid as reason:
        raise RunInvalid(reason.message) from reason
    if not ranking:
        raise RunInvalid(
            f"{path.name} answers none of the judged queries.",
            fix="Check that it was made with this set: the query ids must be the same.",
        )
    return name, ranking


def one_column(name: str) -> str:
    return re.sub(r"\s", lambda blank: quote(blank.group()), name) or "-"


def _number(text: str, path: Path, line: int) -> float:
    try:
        return float(text)
    except ValueError as reason:
        raise RunInvalid(f"{path.name}, line {line}: the score isn't a number: {text}.") from reason
