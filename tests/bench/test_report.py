"""Tables and charts say what was measured, and what was not."""

from pathlib import Path
from xml.etree import ElementTree

from bench.charts import draw, speed, ticks, write_charts
from bench.lines import lines
from bench.report import readme, report
from PIL import Image
from tests.bench.results import results


def cells(table: str, first: str) -> list[str]:
    [row] = [line for line in table.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_times_are_compared_with_ours() -> None:
    row = cells(report(results()).split("queries a second")[0], "txtai, hybrid")
    assert row[1:6] == ["meaning, words", "6.0", "12.0", "13.0", "3.0"]
    assert row[10] == "1.5"  # results of ten that were left after the filter


def test_threads_and_processes_stand_beside_each_other() -> None:
    assert "Trivium in 2 processes, 8 clients in all: 210 queries a second" in report(results())


def test_what_a_new_process_waits_for_stands_beside_its_costs() -> None:
    costs = report(results()).split("| costs |")[1].split("##")[0]
    assert cells(costs, "txtai, hybrid")[-1] == "0.8"


def test_a_way_that_failed_says_why() -> None:
    row = cells(report(results()).split("queries a second")[0], "PostgreSQL, three")
    assert row[2] == "timeout"


def test_a_system_that_failed_says_why() -> None:
    for text in (report(results()), readme(results())):
        assert "Chroma failed: no wheel for x." in text


def test_the_readme_names_date_machine_and_versions() -> None:
    text = readme(results())
    assert "2026-11-15, 2 cores Chip (x), 8 GB, machine otherwise idle" in text
    assert "txtai 1.0" in text
    assert "1.5 of 10 found" in cells(text, "txtai, hybrid")[3]
    assert cells(text, "**Trivium, hybrid**")[-1] == ".743"


def test_quality_stands_only_beside_the_way_that_was_judged() -> None:
    assert cells(readme(results()), "PostgreSQL, three")[-1] == "–"


def test_a_busy_machine_is_said() -> None:
    found = results()
    found["rows"]["1000"]["txtai"]["ways"]["hybrid"]["plain"]["ms"]["others"] = 1.2
    assert "OTHERS USED UP TO 1.2 CORES" in readme(found)


def test_what_was_not_timed_is_not_called_idle() -> None:
    assert "idle" not in report(results() | {"rows": {}})


def test_a_run_that_was_stopped_is_reported_as_far_as_it_came() -> None:
    found = results()
    built = found["rows"]["1000"]["txtai"]["built"]
    found["rows"]["1000"]["txtai"] = {"built": built}
    assert "Trivium, hybrid" in report(found)
    assert "txtai, hybrid" not in report(found)


def test_ingest_is_a_share_of_the_model() -> None:
    assert "`Library.add` 9.0 (90% of it; it embeds 200 texts as 210 chunks" in report(results())


def test_charts_are_written_in_both_forms(tmp_path: Path) -> None:
    written = write_charts(results(), "somewhere", tmp_path)
    assert [path.name for path in written] == [
        "speed-1000.svg",
        "speed-1000.png",
        "quality.svg",
        "quality.png",
    ]
    texts = {e.text for e in ElementTree.parse(written[0]).iter() if e.tag.endswith("}text")}
    assert {"txtai, hybrid", "6.0 / 12", "6.0 / 12, 1.5 of 10", "timeout", "somewhere"} <= texts
    with Image.open(written[1]) as picture:
        assert len(picture.getcolors(maxcolors=1 << 20) or []) > 10


def test_a_longer_time_is_a_longer_bar() -> None:
    page = draw("", "", speed(lines(results(), 1000)))
    bars = [shape for shape in page.shapes if getattr(shape, "height", 0) > 10]
    solid = [bar.width for bar in bars if getattr(bar, "colour", "") in ("#1f5fbf", "#6b7686")]
    ours, txtai, postgres = solid[:3]
    assert postgres < ours < txtai


def test_ticks_cover_what_they_span() -> None:
    found = ticks(3, 400)
    assert found[0] <= 3
    assert found[-1] >= 400
    assert {10, 20, 50, 100} <= set(found)
