"""What a person does, upon a plan that others change: nothing is undone unseen (law 15)."""

import asyncio
import re
from importlib.resources import files

import pytest

from todoplan import DEFAULT, MemoryStore, Planner
from todoplan.board.application import FIELDS, KINDS, carry_out
from todoplan.core import commands
from todoplan.core.plan.model import EDITABLE, TASK_FIELDS
from todoplan.planner import AsyncPlanner
from todoplan.stores import SqliteStore


@pytest.fixture
def store():
    """A store with a plan of three tasks, at revision 3."""
    kept = MemoryStore()
    items = [commands.CreateTask(text) for text in ("Dig", "Plant", "Water")]
    Planner(kept, "garden").apply(commands.CreateTasks(items), actor="agent")
    return kept


def wish(store, **asked):
    """Carry out what a person wants."""
    planner = AsyncPlanner(store, "garden")
    return asyncio.run(carry_out(planner, DEFAULT, asked, "ada"))


def refusal(store, **asked):
    """Have a wish refused, and return why."""
    told = wish(store, **asked)
    assert told["accepted"] is False
    return told["message"]


def plan(store):
    """The plan as it is."""
    return store.load("garden")


def other(store, *done):
    """Somebody else does something."""
    for command in done:
        Planner(store, "garden").apply(command, actor="agent").unwrap()


LABELLED = {"subject", "description", "check", "owner", "priority", "estimate", "due"}
LABELLED |= {"active_form"}


def test_a_page_edits_every_field_or_leaves_it_out_on_purpose():
    """A wait and an answer have wishes of their own; metadata and evidence are the program's."""
    assert set(FIELDS) == EDITABLE - {"waiting", "answer", "metadata", "evidence"}
    script = files("todoplan.board").joinpath("static", "editor.js").read_text("utf-8")
    rows = script.partition("const FIELDS = {")[2].partition("\n};")[0]
    labelled = set(re.findall(r"^  (\w+): \[", rows, re.MULTILINE))
    # A new field needs no row: its name is its label. The fields of today have labels of their own.
    assert labelled == LABELLED
    assert labelled <= set(FIELDS)


@pytest.mark.parametrize("field", FIELDS)
def test_an_edit_touches_its_field_and_no_other(store, field):
    """One field of one task; "" takes away what need not be there."""
    value = {"priority": "high", "estimate": 30, "due": "2026-12-31"}.get(field, "new")
    before = plan(store)["1"]
    assert wish(store, do="edit", task="1", field=field, value=value, base=3)["accepted"]
    now = plan(store)["1"]
    changed = {name for name in TASK_FIELDS if getattr(now, name) != getattr(before, name)}
    assert changed - {"updated_at"} == {field}
    if field != "subject":
        wish(store, do="edit", task="1", field=field, value="")
        assert getattr(plan(store)["1"], field) == TASK_FIELDS[field].default


def test_the_later_edit_stands_and_names_the_earlier(store):
    """Both are in the journal, and who wrote last is told what was there."""
    other(store, commands.UpdateTask("1", subject="Dig deep", owner="bea"))
    told = wish(store, do="edit", task="1", field="subject", value="Dig wide", base=3)
    assert (plan(store)["1"].subject, plan(store)["1"].owner) == ("Dig wide", "bea")
    assert '"Dig deep"' in told["warnings"][0]
    told = wish(store, do="edit", task="1", field="priority", value="low", base=3)
    assert told["warnings"] == []
    other(store, commands.UpdateTask("2", owner="bea"), commands.UpdateTask("2", owner=None))
    assert wish(store, do="edit", task="2", field="owner", value="x", base=3)["warnings"] == []
    other(store, commands.UpdateTask("2", owner=None))
    told = wish(store, do="edit", task="2", field="owner", value="y", base=plan(store).revision - 1)
    assert '""' in told["warnings"][0]


def test_the_reply_says_whether_somebody_else_was_there_between(store):
    """`before` is the revision on which the change stood: the base, if nobody else was between."""
    told = wish(store, do="edit", task="1", field="owner", value="ann", base=3)
    assert (told["before"], told["revision"]) == (3, plan(store).revision)
    other(store, commands.UpdateTask("2", owner="bea"))
    between = plan(store).revision
    told = wish(store, do="edit", task="1", field="owner", value="carl", base=3)
    assert told["before"] == between > 3
    assert told["revision"] == plan(store).revision


def test_a_status_that_others_changed_is_looked_at_first(store):
    """A task that somebody has just finished is not cancelled by who did not see that."""
    other(store, commands.UpdateTask("1", status="completed"))
    why = refusal(store, do="status", task="1", status="cancelled", base=3)
    assert "now completed" in why
    assert wish(store, do="status", task="1", status="pending", base=4)["accepted"]
    assert wish(store, do="status", task="2", status="in_progress", base=3)["accepted"]


def test_a_task_that_others_changed_is_not_removed_unseen(store):
    """Nor the one that is gone already; one that nobody touched goes."""
    other(store, commands.UpdateTask("1", subject="Dig deep"), commands.DeleteTask("3"))
    assert refusal(store, do="remove", task="1", base=3)
    assert refusal(store, do="remove", task="3", base=3)
    assert refusal(store, do="edit", task="3", field="owner", value="x", base=3)
    assert wish(store, do="remove", task="2", base=3)["accepted"]
    assert wish(store, do="remove", task="1", base=plan(store).revision)["accepted"]
    assert len(plan(store)) == 0


@pytest.mark.parametrize("what", ["approve", "undo"])
def test_what_is_about_the_whole_plan_is_about_the_plan_that_was_seen(store, what):
    """Nobody agrees to what they have not seen, or takes back what they do not know of."""
    other(store, commands.UpdateTask("1", status="completed"))
    assert "has moved on from revision 3" in refusal(store, do=what, base=3)
    assert wish(store, do=what, base=4)["accepted"]
    assert wish(store, do=what)["accepted"]


def test_undo_is_told_by_what_it_changed(store, monkeypatch):
    """Unless somebody came in between: then the plan before it is not known."""
    other(store, commands.UpdateTask("3", status="completed"))
    assert wish(store, do="undo", base=4)["message"] == "reopened #3 Water"
    undo = AsyncPlanner.undo

    async def late(planner, **given):
        other(store, commands.UpdateTask("1", status="completed"))
        return await undo(planner, **given)

    monkeypatch.setattr(AsyncPlanner, "undo", late)
    assert wish(store, do="undo")["message"] == "restored #1-#3"


def test_a_task_that_somebody_works_on_is_not_taken_by_undo(store):
    """The page says who holds it; a release that names the fence is another thing."""
    other(store, commands.ClaimTask("worker", task_id="3"))
    assert "Task 3 is claimed by worker until" in refusal(store, do="undo")


def test_where_the_journal_was_cut_only_the_plan_as_it_is_will_do(tmp_path):
    """What was shown cannot be known any more; an edit of a field is an edit all the same."""
    store = SqliteStore(tmp_path / "plans.db")
    for text in ("Dig", "Plant"):
        other(store, commands.CreateTask(text))
    other(store, commands.UpdateTask("1", status="completed"))
    store.compact("garden", keep=1)
    why = refusal(store, do="status", task="1", status="cancelled", base=1)
    assert "has moved on from revision 1" in why
    assert wish(store, do="edit", task="2", field="owner", value="bea", base=1)["accepted"]
    assert wish(store, do="status", task="2", status="cancelled", base=4)["accepted"]


def test_each_wish_is_its_command(store):
    """What a page can ask for, one after the other; the journal names the commands."""
    for asked in (
        {"do": "add", "subject": "Rake"},
        {"do": "add", "subject": "Hoe", "parent": "4"},
        {"do": "start next"},
        {"do": "move", "task": "3", "before": "2"},
        {"do": "place", "task": "5", "parent": None},
        {"do": "link", "task": "4", "blocker": "2"},
        {"do": "unlink", "task": "4", "blocker": "2"},
        {"do": "wait", "task": "2", "reason": "rain", "question": ""},
        {"do": "resume", "task": "2"},
        {"do": "wait", "task": "2", "reason": "ann", "question": "Which?"},
        {"do": "answer", "task": "2", "answer": "both"},
        {"do": "place", "task": "5", "parent": "no such"},
    ):
        told = wish(store, **asked, base=plan(store).revision)
        assert told["accepted"] is (asked.get("parent") != "no such"), told
    assert plan(store)["2"].answer == "both"
    assert wish(store, do="resume", task="2")["message"] == "nothing to change"
    other(store, commands.ClaimTask("worker", task_id="3"))
    fence = plan(store)["3"].claim.fence
    assert wish(store, do="release", task="3", fence=fence)["accepted"]
    done = {entry.cause for entry in Planner(store, "garden").history()}
    assert {"CreateTask", "StartNext", "MoveTask", "UpdateTask", "AnswerTask"} <= done
    assert "undo" not in KINDS
