"""Adding on the page beside the terminal, and whether the time left that it shows is true.

    python -m bench.dropped                          # 66 mixed files, notes, papers, long texts
    python -m bench.dropped --kinds mixed            # one kind of folder
    python -m bench.dropped --kinds notes --most 5   # a quick look

Each folder is added twice, to new libraries: by `trivium add`, and chosen in Chromium on the page
of a running server. *times* is the page's seconds over the terminal's: of the clock, and of the
processors that each used with all its processes, which other work on the machine disturbs less.
*true* counts the times left that the page showed while five seconds or more were left: those within
a factor of two of what was left.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from bench.harness import arguments
from bench.page import BROWSERS
from bench.serving import served
from bench.stranger import HERE, build
from bench.timing import processor_seconds_of

UNITS = {"s": 1, "min": 60, "h": 3600}
LEAST = 5.0  # seconds left: below that a rounded number says little
_LEFT = re.compile(r"about ([\d.]+) (s|min|h) left")


def folder(kind: str, place: Path, data: Path, most: int) -> list[Path]:
    """Real files of one kind."""
    made = place / kind
    if kind in ("mixed", "papers"):
        build(made, HERE / "stranger_files", data, own=not (data / "documents").is_dir())
        files = sorted(path for path in made.rglob("*") if path.is_file())
        kept = [path for path in files if kind == "mixed" or path.suffix == ".pdf"]
        return random.Random(0).sample(kept, min(most, len(kept)))
    made.mkdir(parents=True)
    rows = (data / "retrieval" / "xquad_en" / "corpus.jsonl").read_text().splitlines()
    texts = [f"{row['title']}\n\n{row['text']}" for row in map(json.loads, rows)]
    if kind == "long":  # three of many pages among small ones
        texts = [*("\n\n".join(texts[n::12]) for n in range(3)), *texts[:30]]
    for number, text in enumerate(texts[:most]):
        (made / f"{number:03}.md").write_text(text, encoding="utf-8")
    return sorted(made.iterdir())


def by_terminal(files: list[Path], library: Path) -> tuple[float, float]:
    """Seconds of the clock and of processors."""
    begun, before = monotonic(), os.times()
    command = [sys.executable, "-m", "trivium.cli.main", "--library", str(library), "add"]
    subprocess.run([*command, *map(str, files)], check=False, capture_output=True)
    after = os.times()
    used = after.children_user + after.children_system
    return monotonic() - begun, used - before.children_user - before.children_system


def by_page(files: list[Path], library: Path) -> tuple[float, float, list[tuple[float, float]]]:
    """The same, and each time left that was shown with the moment at which it was."""
    from playwright.sync_api import sync_playwright

    browser_path = next(found for name in BROWSERS if (found := shutil.which(name)))
    arguments = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    shown: list[tuple[float, float]] = []
    with served(library, ("--workers", "1")) as (address, pid), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=arguments)
        page = browser.new_page()
        page.goto(f"{address}/add")
        used, begun = processor_seconds_of(pid), monotonic()
        page.locator("input[type=file]").first.set_input_files(files)
        ended = re.compile(r"files? added|Cancelled")
        while True:
            page.wait_for_timeout(500)
            told = page.locator("#panel").inner_text()
            if left := _LEFT.search(told):
                shown.append((monotonic() - begun, float(left[1]) * UNITS[left[2]]))
            running = page.locator("#panel").get_attribute("data-running")
            total = int(page.locator("#panel").get_attribute("data-total") or 0)
            if total >= len(files) and running == "0" and ended.search(told):
                break
        took, used = monotonic() - begun, processor_seconds_of(pid) - used
        browser.close()
    return took, used, shown


def main() -> None:
    given = arguments(
        __doc__, "data", kinds="mixed,notes,papers,long", most=(66, "files of a folder")
    )
    print("| folder | files | terminal s, CPU s | page s, CPU s | times, of CPU | shown | true |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for kind in given.kinds.split(","):
        with tempfile.TemporaryDirectory() as place:
            files = folder(kind, Path(place), given.data, given.most)
            wall, cpu = by_terminal(files, Path(place) / "terminal")
            took, used, shown = by_page(files, Path(place) / "page")
        counted = [(said, took - at) for at, said in shown if took - at >= LEAST]
        true = sum(said / 2 <= left <= said * 2 for said, left in counted)
        print(
            f"| {kind} | {len(files)} | {wall:.0f}, {cpu:.0f} | {took:.0f}, {used:.0f}"
            f" | {took / wall:.2f}, {used / cpu:.2f} | {len(counted)} | {true} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
