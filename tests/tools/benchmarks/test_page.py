"""The page of the benchmark, and one round of it, as short as wrk allows."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.needs import program
from tests.tools.benchmarks.__main__ import measured
from tests.tools.benchmarks.loads import Spread
from tests.tools.benchmarks.page import page, write
from tests.tools.benchmarks.peers import BARE, OURS, bare_and_prism
from tests.tools.benchmarks.plots import bars, lines, marks
from tests.tools.benchmarks.small_results import GROWTH, small_results
from tests.tools.benchmarks.targets import targets
from tests.tools.benchmarks.workloads import workloads

SPACE = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SPACE}text")]


def test_bars_show_each_server_its_median_and_its_spread():
    svg = bars("Speed", "ms", {"one & two": Spread(20, 10, 40), OURS: Spread(10, 10, 10)})
    assert texts(svg) == ["one & two", "20", OURS, "10", "ms"]
    root = ElementTree.fromstring(svg)
    widths = [float(bar.attrib["width"]) for bar in root.iter(f"{SPACE}rect")]
    assert widths[0] == pytest.approx(2 * widths[1])
    spreads = [p.attrib["d"] for p in root.iter(f"{SPACE}path") if p.attrib["class"] == "spread"]
    first, last = map(float, re.findall(r"M([\d.]+) .*H([\d.]+)", spreads[0])[0])
    assert last - first == pytest.approx(widths[0] * 1.5, abs=0.2)


def test_lines_show_both_axes_and_every_point():
    svg = lines(GROWTH)
    assert {"1", "100", "people", "ms"} <= {*texts(svg)}
    root = ElementTree.fromstring(svg)
    assert len([it for it in root.iter() if "point" in it.attrib.get("class", "")]) == 3
    assert "a: 1 people: 5, 100 people: 9; b<: 100 people: 2" in root.attrib["aria-label"]


@pytest.mark.parametrize(
    ("most", "expected"),
    [(9, [0, 2, 4, 6, 8]), (23_000, [0, 5000, 10_000, 15_000, 20_000]), (0, [0])],
)
def test_the_marks_of_an_axis_are_round(most, expected):
    assert marks(most) == pytest.approx(expected)


def test_the_page_says_what_is_missing_and_that_the_machine_was_loaded():
    results = small_results()
    html = page(results, targets(results), "today", "Do not trust these figures")
    assert "Prism, start: no &lt;npm&gt;" in html
    assert "<p class=warning role=alert>Do not trust these figures</p>" in html
    assert "Speed &amp; size" in html


def test_each_chart_is_a_file_that_can_be_shown_alone(tmp_path):
    write(tmp_path, "<!doctype html>", small_results())
    names = {path.name for path in tmp_path.glob("*.svg")}
    assert {"throughput-lookup.svg", "memory.svg", "speed-size.svg"} <= names
    for path in tmp_path.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag == f"{SPACE}svg"


def test_one_round_measures_a_server_that_runs_alone(tmp_path):
    program("wrk")
    bare, _ = bare_and_prism()
    short = replace(bare, works=lambda _cache: workloads()[:1])
    figures = measured([short], tmp_path, rounds=1, seconds=1).servers[BARE]
    assert figures.notes == {}
    assert [load.rate > 0 for loads in figures.loads.values() for load in loads] == [True]
    assert min(figures.starts + figures.start_costs + figures.memory) > 0
