"""What a run writes: results, a page and a plot."""

import json
from xml.etree import ElementTree as ET

import pytest

from benchmarks.plots.main import drawn
from benchmarks.reports.page import page
from benchmarks.reports.tables import cell, figures, took
from benchmarks.suites import life


def timed(operation, contender, size, us):
    """Return a row of results."""
    quartiles = [us / 2 - 0.1, us / 2 + 0.1]
    row = {"operation": operation, "contender": contender, "n": size, "us": us, "iqr": 0.1}
    return {**row, "ratio": us / 2, "ratio_quartiles": quartiles}


FOUND = {
    "made": {
        "date": "today",
        "cpu": "a cpu",
        "cores": 2,
        "system": "Linux",
        "python": "CPython",
        "load": [1.0],
        "versions": {"attrs": "26.1.0"},
    },
    "seconds": {"operations": 3},
    "operations": [
        timed("status_change", "floor", 20, 2.0),
        timed("status_change", "todoplan", 20, 3.0),
        timed("status_change", "todoplan", 1_000, 3.1),
        timed("status_change", "LangChain invoke", 20, 300.0),
        {"operation": "status_change", "contender": "floor", "n": 1_000, "note": "left out"},
        {"operation": "status_change", "contender": "todoplan", "growth": 0.01},
    ],
    "life": [timed("life", "todoplan", 5, 80.0), timed("life", "todoplan", 20, 320.0)],
    "recordings": [{"note": "no recordings beside the checkout"}],
}


def test_a_page_tells_machine_versions_and_spread():
    """The page has the machine, the versions and the quartiles, and says why a cell has no time."""
    told = page(FOUND)
    for words in ("a cpu", "attrs 26.1.0", "3.00 us<br>1.50x (1.40-1.60)", "left out", "100x"):
        assert words in told
    assert "$" not in told


def test_a_plot_is_svg_for_light_and_dark():
    """The plot is an SVG with both colour schemes, and with a line for each contender."""
    told = drawn(FOUND)
    root = ET.fromstring(told)  # noqa: S314 - our own text
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme: dark" in told
    assert {line.get("class") for line in root.iter("{http://www.w3.org/2000/svg}polyline")} == {
        "series floor",
        "series ours",
        "series langchain",
    }


def test_figures_have_three_digits_and_a_unit():
    """Times from less than a microsecond to thousands of seconds are readable."""
    assert [took(us) for us in (0.5, 12.3, 4_567.0, 2.5e6, 3e9)] == [
        "0.50 us",
        "12.3 us",
        "4.57 ms",
        "2.50 s",
        "3,000 s",
    ]
    assert figures(1234.0) == "1,234"
    assert cell({"note": "RecursionError"}) == "RecursionError"


def test_the_command_writes_where_it_is_told(command, monkeypatch, tmp_path, capsys):
    """A run writes results, page and plot; `--again` writes the page anew from the results."""
    monkeypatch.setattr(life, "_SIZES", (3,))
    command("life", "--quick", "--only", "floor,todoplan", "--save", tmp_path)
    assert "life n=3" in capsys.readouterr().out
    found = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert found["made"]["versions"]["attrs"]
    first = (tmp_path / "README.md").read_text("utf-8")
    (tmp_path / "README.md").unlink()
    command("--again", "--save", tmp_path)
    assert (tmp_path / "README.md").read_text("utf-8") == first
    assert (tmp_path / "benchmarks.svg").read_text("utf-8").startswith("<svg")


def test_an_unknown_suite_is_refused(command, capsys):
    """The error names the known suites."""
    with pytest.raises(SystemExit):
        command("nosuch")
    assert "no suite is called nosuch; there are tokens" in capsys.readouterr().err
