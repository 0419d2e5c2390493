"""An evaluation as one page for people: tables and charts, light and dark, nothing to load.

Everything that comes from data (queries, names, settings) is escaped. Knows figures only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from trivium.config import described as described_settings
from trivium.evaluate.metrics import MAIN
from trivium.evaluate.pictures import by_query, changed, latency, measured
from trivium.evaluate.run import FUSED, Evaluation, beside, run_title
from trivium.evaluate.saved import Change, Comparison, ends_of
from trivium.evaluate.statistics import RunDifference

MOST_CHANGES = 10  # queries in each table of wins and losses
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --dim: #5d6778; --paper: #fff; --card: #f5f6f9;
  --rule: #d5dae3; --win: #1a7f4b; --loss: #c2413a; --c0: #0b8aa5; --c1: #3f8f3a; --c2: #a24fb5;
  --c3: #2f5fd0; --c4: #c76a12; --c5: #77808f; --c6: #8a6d3b; --c7: #4b5563; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --dim: #9aa5b8; --paper: #12161d;
  --card: #1a202a; --rule: #343d4c; --win: #47c586; --loss: #f0796f; --c0: #35b8d4; --c1: #6cc464;
  --c2: #cf86e0; --c3: #7ea2ff; --c4: #f09a4a; --c5: #9aa5b8; --c6: #cbb079; --c7: #b4bccb; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { margin: .4rem 0; } .dim { color: var(--dim); }
.banner { border-left: 4px solid var(--c4); background: var(--card); padding: .6rem 1rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .3rem .7rem; border-bottom: 1px solid var(--rule);
  font-variant-numeric: tabular-nums; white-space: nowrap; }
th { font-weight: 600; } td small { color: var(--dim); display: block; font-weight: 400; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
td.text { white-space: normal; min-width: 16rem; } td.best { font-weight: 700; }
.win-text { color: var(--win); } .loss-text { color: var(--loss); }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0; }
figure { margin: 0; background: var(--card); border-radius: 8px; padding: 1rem; flex: 1 1 21rem;
  max-width: 36rem; } svg { max-width: 100%; height: auto; display: block; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .title { font-weight: 600; }
svg .tick { fill: var(--dim); font-size: 11px; } .end { text-anchor: end; }
.middle { text-anchor: middle; } .grid { stroke: var(--rule); fill: none; }
.whisker { stroke: var(--ink); stroke-width: 1.3; fill: none; }
.line { fill: none; stroke-width: 2; } .win { fill: var(--win); } .loss { fill: var(--loss); }
.same { fill: var(--dim); } .dot { fill-opacity: .55; }
figure:has(.legend) { flex-basis: 34rem; }
.legend span { margin-right: 1rem; white-space: nowrap; }
.legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px;
  margin-right: .35rem; vertical-align: -1px; }
@media print { figure, .banner { background: none; border: 1px solid var(--rule); } }
""" + "".join(
    f".c{n} {{ fill: var(--c{n}); }} .s{n} {{ stroke: var(--c{n}); }}"
    f" .b{n} {{ background: var(--c{n}); }}\n"
    for n in range(8)
)


def page(evaluation: Evaluation, against: Comparison | None = None) -> str:
    """The whole page."""
    title = f"Evaluation of {evaluation.dataset}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="dim">{evaluation.documents:,} documents, {len(evaluation.queries):,} queries.'
        f" Trivium {escape(evaluation.version)}.</p>",
        _banner(evaluation),
        "<h2>Measures</h2>",
        '<p class="dim">Means over all queries, 95% confidence intervals below (bootstrap'
        " over queries).</p>",
        _measures(evaluation),
        *_charts(evaluation),
        *_comparison(against),
        _settings(evaluation.settings),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _banner(evaluation: Evaluation) -> str:
    notes = list(evaluation.notes)
    if evaluation.synthetic:
        notes.insert(
            0, "Synthetic queries: generated from the documents, not asked or judged by people."
        )
    return "".join(f'<p class="banner">{escape(note)}</p>' for note in notes)


def _measures(evaluation: Evaluation) -> str:
    measures = list(dict.fromkeys(name for run in evaluation.runs.values() for name in run.each))
    best = {m: max(run.means[m] for run in evaluation.runs.values()) for m in measures}
    worst = {m: min(run.means[m] for run in evaluation.runs.values()) for m in measures}
    rows = []
    for name, run in evaluation.runs.items():
        cells = [f"<td>{escape(run_title(name))}</td>"]
        for m in measures:
            kind = ' class="best"' if run.means[m] == best[m] > worst[m] else ""
            ends = f"{run.intervals[m].low:.3f} – {run.intervals[m].high:.3f}"
            cells.append(f"<td{kind}>{run.means[m]:.4f}<small>{ends}</small></td>")
        rows.append("".join(cells))
    return _table(["run", *measures], rows)


def _charts(evaluation: Evaluation) -> list[str]:
    parts = [
        f'<div class="charts">{_figures(measured(evaluation))}</div>',
        "<h2>Query by query</h2>",
    ]
    parts.append(
        f'<div class="charts">{_figures([by_query(evaluation), *latency(evaluation)])}</div>'
    )
    ahead = beside(evaluation)
    if ahead:
        parts.append(f"<h2>{run_title(FUSED).capitalize()} against the others, nDCG@10</h2>")
        parts.append(_differences(ahead))
    return parts


def _comparison(against: Comparison | None) -> list[str]:
    if against is None:
        return []
    parts = [
        f"<h2>Against the saved evaluation of {escape(against.dataset)}, nDCG@10</h2>",
        f'<p class="dim">{against.common:,} queries in common.</p>',
        "".join(f'<p class="banner">{escape(note)}</p>' for note in against.notes),
        _differences({name: of[MAIN] for name, of in against.differences.items()}),
    ]
    if against.settings:
        rows = [
            f"<td>{escape(name)}</td><td>{escape(then)}</td><td>{escape(now)}</td>"
            for name, (then, now) in against.settings.items()
        ]
        parts.append(_table(["setting", "before", "now"], rows))
    for name in ("hybrid", "reranked"):
        if name in against.changes:
            parts += _changes(name, against.changes[name])
    return parts


def _changes(name: str, changes: Sequence[Change]) -> list[str]:
    wins, losses = ends_of(changes, MOST_CHANGES)
    rows = [
        f'<td class="{"win" if c.gain > 0 else "loss"}-text">{c.gain:+.3f}</td>'
        f"<td>{c.theirs:.3f}</td><td>{c.ours:.3f}</td>"
        f'<td class="text">{escape(c.text)} <span class="dim">{escape(c.query)}</span></td>'
        for c in (*wins, *losses)
    ]
    parts = [f"<h2>{escape(run_title(name).capitalize())}: wins and losses</h2>"]
    parts.append(f'<div class="charts">{_figures(changed(name, changes))}</div>')
    return [*parts, _table(["gain", "before", "now", "query"], rows)] if rows else parts


def _differences(differences: dict[str, RunDifference]) -> str:
    rows = [
        f"<td>{escape(run_title(name))}</td><td>{d.gain:+.4f}<small>{d.interval.low:+.3f} to"
        f" {d.interval.high:+.3f}</small></td><td>{d.p:.4f}</td><td>{d.wins}</td>"
        f'<td>{d.losses}</td><td>{d.ties}</td><td class="text">{escape(str(d))}</td>'
        for name, d in differences.items()
    ]
    return _table(["run", "difference", "p", "better", "worse", "same", ""], rows)


def _settings(settings: dict[str, str]) -> str:
    """Settings that differ from the defaults."""
    defaults = {name: default for name, default, _, _ in described_settings()}
    rows = [
        f"<td>{escape(name)}</td><td>{escape(value)}</td><td>{escape(defaults.get(name, ''))}</td>"
        for name, value in settings.items()
        if value != defaults.get(name)
    ]
    if not rows:
        return '<h2>Settings</h2><p class="dim">All settings have their defaults.</p>'
    return "<h2>Settings</h2>" + _table(["setting", "value", "default"], rows)


def _table(columns: Sequence[str], rows: Iterable[str]) -> str:
    text = {"query", ""}
    head = "".join(
        f'<th class="text">{escape(c)}</th>' if c in text else f"<th>{escape(c)}</th>"
        for c in columns
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _figures(charts: Iterable[str]) -> str:
    return "".join(f"<figure>{chart}</figure>" for chart in charts)
