"""How soon a person sees results: in the system's Chromium, over loopback.

    python -m bench.page                                 # 100,000 chunks, 100 queries
    python -m bench.page --chunks 10000 --queries 30     # a quick look
    python -m bench.page --library DIR                   # any library, its own words as queries

The real program (`trivium serve`) over the library of `bench.search`. For each query two figures:
*paint*, from the navigation to the first contentful paint, with the results in the page (asserted),
and *typing*, from the last key to the frame in which new results are shown, the 70 ms that the page
waits for another key included. Read `others`: cores that other processes used meanwhile, Chromium's
own included.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bench.build import code_digest, place
from bench.corpus import load_corpus
from bench.harness import Namespace, arguments
from bench.serving import served
from bench.surroundings import surroundings
from bench.timing import percentile, processor_seconds
from trivium.config import load

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    "chromium-headless-shell",
)
_WARM = 5  # queries before any is counted
_PAINTED = """() => new Promise((told, fail) => {
  setTimeout(() => fail(new Error('nothing painted in a minute')), 60_000);
  const look = () => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    const answer = performance.getEntriesByType('navigation')[0];
    if (!paint) return requestAnimationFrame(look);
    told({paint: paint.startTime, answer: answer.responseEnd,
          results: document.querySelectorAll('.result').length});
  };
  look();
})"""
# From the last key to the frame after the swap.
_TYPED = """(text) => new Promise((told, fail) => {
  const box = document.getElementById('q');
  setTimeout(() => fail(new Error(`no results for ${text} in a minute`)), 60_000);
  box.value = text;
  const begun = performance.now();
  new MutationObserver((_, watch) => {
    watch.disconnect();
    requestAnimationFrame(() => told(performance.now() - begun));
  }).observe(document.getElementById('grid'), {childList: true});
  box.dispatchEvent(new Event('input', {bubbles: true}));
})"""


def main() -> None:
    asked = _arguments()
    library, queries, about = _subject(asked)
    with served(library, ()) as (address, _):
        found = {**about, **surroundings(), **measured(address, queries[: asked.queries])}
    print(json.dumps(found, indent=1) if asked.json else table(found))


def _subject(asked: Namespace) -> tuple[Path, list[str], dict[str, Any]]:
    """The library, its queries, and a line that describes it."""
    if asked.library:
        return asked.library, asked.words.split(","), {"library": asked.library.name}
    at = place(load().settings, load_corpus(asked.data), asked.chunks)
    if not at.built.exists():
        command = [sys.executable, "-m", "bench.build", "--chunks", str(at.chunks)]
        subprocess.run([*command, "--data", str(asked.data)], check=True)
    built = json.loads(at.built.read_text(encoding="utf-8"))
    queries = json.loads((at.folder / "queries.json").read_text(encoding="utf-8"))
    told = {"chunks": at.chunks, "built_by_this_code": built["code"] == code_digest()}
    return at.library, queries, told


def measured(address: str, queries: list[str]) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        sys.exit("There is no Chromium.")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        busy, begun = processor_seconds(), perf_counter()
        painted = [_painted(page, address, query) for query in _warmed(queries)][_WARM:]
        page.goto(address)
        typed = [float(page.evaluate(_TYPED, query)) for query in _warmed(queries)][_WARM:]
        others = (processor_seconds() - busy) / (perf_counter() - begun)
        browser.close()
    return {
        "queries": len(queries),
        "without_results": sum(not one["results"] for one in painted),
        "answer_ms": _percentiles([one["answer"] for one in painted]),
        "paint_ms": _percentiles([one["paint"] for one in painted]),
        "typing_ms": _percentiles(typed),
        "others": round(others, 2),
    }


def _warmed(queries: list[str]) -> list[str]:
    """No query follows itself: the page needn't show the same results again."""
    return [*(queries * _WARM)[-_WARM:], *queries]


def _painted(page: Page, address: str, query: str) -> dict[str, float]:
    page.goto(f"{address}/?q={quote(query)}", wait_until="commit")
    found: dict[str, float] = page.evaluate(_PAINTED)
    return found


def _percentiles(took: list[float]) -> dict[str, float]:
    took.sort()
    return {f"p{share}": round(percentile(took, share / 100), 1) for share in (50, 95)}


def table(found: dict[str, Any]) -> str:
    lines = [
        f"{found.get('chunks') or found.get('library')}, {found['queries']} queries,"
        f" {found['machine']['cores']} cores, {found['date']}, others {found['others']}",
        f"{'':<28}{'p50':>9}{'p95':>9}",
    ]
    for name, told in (
        ("answer", "the whole page is here"),
        ("paint", "first paint, with results"),
        ("typing", "from the last key"),
    ):
        ms = found[f"{name}_ms"]
        lines.append(f"{told:<28}{ms['p50']:>9}{ms['p95']:>9}")
    return "\n".join(lines)


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "chunks",
        "data",
        "json",
        queries=(100, "how many are asked"),
        library=(Path, "this library instead"),
        words=("crown,sling,harbour", "to ask it, with commas"),
    )


if __name__ == "__main__":
    main()
