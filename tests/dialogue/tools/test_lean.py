"""The tool set `lean`: written once, then changed by id; completing starts the next."""

import pytest
from support.talk import check_reply, planned, texts_of, toolbox

from todoplan import DEFAULT, LEAN, Toolbox, decide
from todoplan.core.commands import ApprovePlan
from todoplan.core.plan.plan import Plan
from todoplan.dialogue import lean

BOX = toolbox("lean")


def say(plan, **arguments):
    """Call `plan`."""
    reply = BOX.call(plan, "plan", arguments)
    check_reply(plan, reply)
    return reply


def statuses(plan):
    """Return the statuses, in order, by their first letters."""
    return "".join(task.status.value[:2] for task in plan)


def test_writing_starts_the_first():
    """The plan is written once, as lines; its first task is in progress."""
    reply = say(Plan(), write=["a", "b", "c"])
    assert reply.text == "0/3: #1-#3 created; #1 started"
    assert statuses(reply.plan) == "inpepe"


def test_a_plan_that_waits_for_its_approval_is_written_and_not_started():
    """The start is the set's own, and no reason to refuse what the model did send."""
    policy = DEFAULT.but(approval_required="error")
    box = Toolbox(LEAN, policy)
    reply = box.call(Plan(), "plan", {"write": ["a", "b"]})
    assert reply.text == "0/2: #1-#2 created"
    refused = box.call(reply.plan, "plan", {"start": [1]})
    assert "(#1). Leave every task pending, show the plan to the user and wait." in refused.text
    edits = [{"id": 1, "text": "x"}, {"id": 2, "text": "y"}]
    edited = box.call(reply.plan, "plan", {"edit": edits})
    assert edited.text == "0/2: #1-#2 updated"
    plan = decide(reply.plan, ApprovePlan("ann")).unwrap()
    assert statuses(box.call(plan, "plan", {"add": ["c"]}).plan) == "inpepe"
    warned = Toolbox(LEAN, DEFAULT.but(approval_required="warn"))
    assert statuses(warned.call(Plan(), "plan", {"write": ["a", "b"]}).plan) == "inpe"


def test_done_starts_the_next_ready_one():
    """What waits is passed over, and the reply names what started."""
    plan = say(Plan(), write=["a", "b", "c"], edit=[{"id": 2, "after": [3]}]).plan
    reply = say(plan, done=[1])
    assert reply.text == "1/3: #1 completed; #3 started"
    reply = say(reply.plan, done=[3])
    assert reply.text == "2/3: #3 completed; #2 started"
    assert say(reply.plan, done=[2]).text == "3/3: #2 completed"


def test_all_in_one_call():
    """Write, add, edit, done, drop and start stand together, in that order."""
    plan = say(Plan(), write=["a", "b", "c"]).plan
    reply = say(plan, done=[1], add=["d"], edit=[{"id": 2, "text": "B"}], drop=[3], start=[4])
    assert texts_of(reply.plan) == ["a", "B", "c", "d"]
    assert statuses(reply.plan) == "copecain"
    assert (
        reply.text
        == "1/4, 1 cancelled: #4 created; #2 updated; #1 completed; #3 cancelled; #4 started"
    )


def test_an_empty_list_alone_ends_what_a_task_comes_after():
    """Other lists add to it, and so a text beside an empty list leaves it as it is."""
    plan = say(planned("a", "b", "c"), edit=[{"id": 3, "after": [1]}]).plan
    plan = say(plan, edit=[{"id": 3, "after": [2]}]).plan
    assert [*plan][2].blocked_by == ("1", "2")
    for kept in ({"text": "C", "after": []}, {"after": "none"}, {"after": ""}, {"after": None}):
        plan = say(plan, edit=[{"id": 3, **kept}]).plan
        assert [*plan][2].blocked_by == ("1", "2")
    reply = say(plan, edit=[{"id": 3, "after": []}])
    assert reply.text == "0/3: #3 updated; now ready: #3"
    assert [task.blocks for task in reply.plan] == [(), (), ()]
    assert say(reply.plan, edit=[{"id": 3, "after": []}]).text == "no change, 0/3 completed"
    both = say(plan, edit=[{"id": 3, "after": []}, {"id": 3, "after": [2]}])
    assert [*both.plan][2].blocked_by == ("2",)
    assert "There is no task 9" in say(plan, edit=[{"id": 9, "after": []}]).text


def test_a_team_ends_what_a_task_comes_after_in_the_same_way():
    """Its tool is another one, with the same edits."""
    box = Toolbox(lean(team=True))
    plan = box.call(Plan(), "plan", {"write": ["a", "b"], "edit": [{"id": 2, "after": [1]}]}).plan
    plan = box.call(plan, "plan", {"edit": [{"id": 2, "after": []}]}).plan
    assert [*plan][1].blocked_by == ()


@pytest.mark.parametrize("word", ["start", "reopen", "restart", "undone"])
def test_a_task_of_choice_is_started_and_a_completed_one_again(word):
    """By a word that is not published, since that would cost tokens in each request."""
    plan = say(say(Plan(), write=["a", "b", "c"]).plan, done=[1]).plan
    assert statuses(say(plan, **{word: [3]}).plan) == "coinin"
    assert statuses(say(plan, **{word: [1]}).plan) == "ininpe"


def test_an_edit_starts_nothing():
    """Only what moves the plan on starts the next task."""
    reply = say(planned("a", "b"), edit=[{"id": 1, "text": "A"}])
    assert (reply.text, statuses(reply.plan)) == ("0/2: #1 updated", "pepe")


@pytest.mark.parametrize(
    "nothing", [None, {}, {"write": [], "done": []}, {"write": None, "drop": []}]
)
def test_without_arguments_it_shows_the_plan(nothing):
    """One line a task, with what it waits for."""
    plan = say(planned("a", "b"), edit=[{"id": 2, "after": [1]}]).plan
    reply = BOX.call(plan, "plan", nothing)
    assert reply.text == "#1 [pending] a\n#2 [pending] b [blocked by #1]"
    assert reply.plan is plan


def test_writing_again_keeps_what_stays():
    """A second write keeps ids and statuses, and lets closed tasks go."""
    plan = say(say(Plan(), write=["a", "b"]).plan, done=[1]).plan
    reply = say(plan, write=["b", "c"])
    assert [task.id for task in reply.plan] == ["2", "3"]
    assert statuses(reply.plan) == "inpe"


def test_writing_again_drops_no_open_task():
    """A write that leaves open tasks out is refused with what would do: models lost tasks so."""
    plan = say(say(Plan(), write=["a", "b", "c"]).plan, done=[1]).plan
    reply = say(plan, write=["d"])
    assert reply.is_error
    assert reply.plan is plan
    assert "`write` leaves out open tasks (#2-#3)." in reply.text
    assert "add and edit; what is not wanted, drop first" in reply.text


def test_what_was_dropped_goes_with_the_next_write():
    """Dropped tasks are closed, so that a list may leave them out."""
    plan = say(say(Plan(), write=["a", "b", "c"]).plan, drop=[1, 2]).plan
    assert [task.subject for task in say(plan, write=["c", "d"]).plan] == ["c", "d"]


def test_faults_are_all_named_and_change_nothing():
    """All or nothing, without a path that the tool does not have; the example fits the plan."""
    plan = planned("a")
    reply = say(plan, done=[1, 8], drop=[9], write=["b"])
    assert reply.is_error
    assert "There is no task 8; the ids are: 2." in reply.text
    assert "There is no task 9" in reply.text
    assert "task_id" not in reply.text
    assert "Correct" not in reply.text
    assert 'Correct, for example: {"done": [1]}' in say(plan, done=["x"]).text
    assert 'Correct, for example: {"write": [' in say(Plan(), done=["x"]).text
    assert "write[1].text: The text is empty" in say(plan, write=["a", " "]).text
