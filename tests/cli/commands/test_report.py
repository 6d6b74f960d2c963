"""`todoplan report`: a plan of a store as one file."""

import re

import pytest

from todoplan import Planner
from todoplan.cli.documents import report
from todoplan.cli.plans import Place
from todoplan.core import commands
from todoplan.errors import ReadError
from todoplan.stores import SqliteStore


@pytest.fixture
def store(tmp_path):
    """The address of a store with a plan whose second task was never started."""
    kept = SqliteStore(tmp_path / "plans.db")
    planner = Planner(kept, "garden")
    items = [commands.CreateTask("Dig"), commands.CreateTask("Plant", blocked_by=("#0",))]
    planner.apply(commands.CreateTasks(items), actor="agent")
    planner.apply(commands.UpdateTask("1", status="completed"), actor="ada")
    kept.close()
    return f"sqlite:///{tmp_path}/plans.db"


def test_a_page_has_the_plan_its_life_and_findings(invoke, store, tmp_path):
    """The plan at the end, a step for each entry, who did it, and what the rules say of it."""
    out = tmp_path / "garden.html"
    result = invoke("report", "--store", store, "--html", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"the page is written to {out}" in result.stderr
    html = out.read_text("utf-8")
    assert "<title>garden</title>" in html
    assert html.count('"change":') == 2
    assert "ada" in html
    assert "linear_status" in html


def test_a_page_of_a_store_speaks_of_its_revisions(invoke, store, tmp_path):
    """As `todoplan log` does; there are no lines, and no calls."""
    plain = re.sub(
        "<script.*?</script>", "", invoke("report", "--store", store, "--html", "-").stdout
    )
    assert "2 changes" in plain
    assert "At the end 1 of 2 tasks are open" in plain
    assert re.findall(">revision ([0-9]+)<", plain) == ["3", "4"]
    assert not re.findall(r"\bline [0-9]|planning call", plain)


def test_a_picture_goes_to_stdout_too(invoke, store):
    """And nothing else does."""
    result = invoke("report", "--store", store, "--plan", "garden", "--svg", "-")
    assert result.exit_code == 0
    assert result.stdout.startswith("<svg ")
    assert result.stdout.endswith("</svg>\n")
    assert result.stderr == ""


def test_a_journal_that_was_cut_has_the_life_that_is_left(invoke, store, tmp_path):
    """It begins with the plan as it was then."""
    kept = SqliteStore(tmp_path / "plans.db")
    kept.compact("garden", keep=1)
    kept.close()
    result = invoke("report", "--store", store, "--html", "-")
    assert result.exit_code == 0
    assert "others are missing" not in result.stdout
    assert result.stdout.count('"change":') == 2
    assert re.findall(">revision ([0-9]+)<", result.stdout) == ["3", "4"]


def test_what_to_write_has_to_be_said(invoke, store):
    """Nothing was asked for."""
    result = invoke("report", "--store", store)
    assert result.exit_code == 2
    assert "--html OUT" in result.stderr


def test_what_cannot_be_read_or_written_is_exit_2(screen, complaints, store, tmp_path):
    """With the reason."""
    with pytest.raises(ReadError):
        report(Place(store, "house"), screen, html=tmp_path / "x")
    assert report(Place(store), screen, html=tmp_path / "no" / "x") == 2
    assert "cannot write" in complaints(screen)
