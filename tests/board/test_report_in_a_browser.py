"""A report in a real Chromium: one file, that needs nobody and nothing."""

import pytest
from playwright.sync_api import expect
from support.browser import PATIENCE, TEXTS, faults, sound_page

from todoplan import Planner
from todoplan.cli.documents import report
from todoplan.cli.plans import Place
from todoplan.core import commands
from todoplan.render.terminal import Screen
from todoplan.stores import SqliteStore

pytestmark = pytest.mark.slow

expect.set_options(timeout=PATIENCE)


@pytest.fixture
def written(tmp_path):
    """A function that writes the report of a plan, and gives its address."""

    def write(*done):
        kept = SqliteStore(tmp_path / "plans.db")
        planner = Planner(kept, "garden")
        for command in done:
            planner.apply(command, actor="agent").unwrap()
        kept.close()
        out = tmp_path / "report.html"
        assert report(Place(str(tmp_path / "plans.db")), Screen(), html=out) == 0
        return out.as_uri()

    return write


@pytest.fixture
def page(browser):
    """A page without a network; what goes wrong on it fails the test."""
    with sound_page(browser, offline=True) as opened:
        yield opened


def test_the_slider_goes_through_the_life_of_the_plan(page, written):
    """At each step the tasks, the graph, what was done, and what the rules found in it."""
    address = written(
        commands.CreateTask("Dig"),
        commands.CreateTask("Plant", blocked_by=("1",)),
        commands.UpdateTask("1", status="completed"),
    )
    page.goto(address)
    expect(page.get_by_role("treeitem")).to_have_count(2)
    expect(page.locator(".life .moment")).to_contain_text("Step 3 of 3")
    expect(page.locator(".life .finding")).to_contain_text("linear_status")
    expect(page.locator("[aria-current=step]")).to_contain_text("completed #1 Dig")
    expect(page.locator(".graph .box.completed")).to_have_count(1)
    page.get_by_label("Previous step").click()
    expect(page.locator(".graph .box.completed")).to_have_count(0)
    slider = page.get_by_label("Step", exact=True)
    slider.press("ArrowLeft")
    expect(page.get_by_role("treeitem")).to_have_count(1)
    slider.press("Home")
    expect(page.get_by_role("treeitem")).to_have_count(0)
    slider.press("End")
    page.get_by_role("treeitem").first.press("Enter")
    expect(page.locator(".life")).to_contain_text("#1 Dig")
    assert faults(page) == []


@pytest.mark.parametrize("width", [390, 1360])
def test_a_subtask_stands_below_its_parent_and_further_in(page, written, width):
    """Whatever the width: within the item of its parent, on a line of its own."""
    address = written(
        commands.CreateTask("Dig"),
        commands.CreateTask("Deeper", parent="1", owner="ann"),
        commands.CreateTask("Plant"),
    )
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address)
    outer, inner, last = (box.bounding_box() for box in page.locator(".todoplan .text").all())
    assert outer["y"] + outer["height"] <= inner["y"] < last["y"]
    assert outer["x"] < inner["x"]
    assert outer["x"] == last["x"]


def test_no_text_in_a_report_ever_runs(page, written):
    """Hostile texts stay texts, in the data of the slider as well."""
    page.goto(written(*(commands.CreateTask(text[:400], owner=text[:100]) for text in TEXTS)))
    expect(page.locator(".life .moment")).to_contain_text(f"of {len(TEXTS)}")
    assert page.evaluate("() => document.scripts.length") == 3
    assert page.evaluate("() => document.querySelectorAll('img, iframe, base, object').length") == 0
