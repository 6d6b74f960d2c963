"""Laws of seeded lists: mended and told, or refused and named; never silently dropped."""

import pytest
from agentscope.state import AgentState
from support.agentscope_agent import Desk, board, theirs

from todoplan.adapters.agentscope import plan_of_state, repair
from todoplan.errors import CodecError, PlanError

SEEDS = [
    (
        (theirs("a", id="1", blocks=["2"]), theirs("b", id="2")),
        [("1", "pending", ["2"], []), ("2", "pending", [], ["1"])],
        "both of their tasks (#1 -> #2)",
    ),
    (
        (theirs("a", id="1"), theirs("b", id="2", blocked_by=["1"])),
        [("1", "pending", ["2"], []), ("2", "pending", [], ["1"])],
        "both of their tasks (#1 -> #2)",
    ),
    (
        (theirs("a", id="x9", blocks=["7"]), theirs("b", id="7", blocked_by=["x9"])),
        [("8", "pending", ["7"], []), ("7", "pending", [], ["8"])],
        '"x9" is now #8',
    ),
    (
        (theirs("a", id="1"), theirs("b", id="1"), theirs("c", id="1")),
        [("1", "pending", [], []), ("2", "pending", [], []), ("3", "pending", [], [])],
        '"1" is now #2, "1" is now #3',
    ),
    (
        (theirs("a", id="1", blocks=["9", "1"], blocked_by=["8"]),),
        [("1", "pending", [], [])],
        "led nowhere (#1 -> #9, #1 -> #1, #8 -> #1)",
    ),
    ((theirs("", id="1", description="\n first\nsecond"),), [("1", "pending", [], [])], "(#1)"),
    ((theirs(" ", id="007"),), [("1", "pending", [], [])], '"007" is now #1'),
]


@pytest.mark.parametrize(("seed", "wanted", "told"), SEEDS)
def test_a_seed_is_mended_and_told_once(seed, wanted, told):
    """By the first answer; or by the developer's `repair` beforehand, then by no answer."""
    desk, other = (Desk(*(task.model_copy(deep=True) for task in seed)) for _ in "12")
    assert told in desk.do("TaskList")
    assert told in "".join(repair(other.state))
    assert board(desk) == board(other) == wanted
    for each in (desk, other):
        assert repair(each.state) == ()
        assert "note" not in each.do("TaskList")
    assert repair(AgentState()) == ()


def test_a_mend_is_told_even_if_guidance_read_the_list_first():
    """What was mended waits for the next planning call, also over edits and saving."""
    desk = Desk(theirs("a", id="x"))
    plan_of_state(desk.state)
    desk.tasks.append(theirs("b", id="y"))
    plan_of_state(desk.state)
    desk = desk.saved()
    text = desk.do("TaskCreate", subject="c")
    assert '"x" is now #1' in text
    assert '"y" is now #2' in text


def test_a_refused_call_tells_the_mend_too():
    """An error is an answer like any other."""
    assert '"x" is now #1' in Desk(theirs("a", id="x")).fail("TaskGet", task_id="9")


@pytest.mark.parametrize(
    ("seed", "code"),
    [
        (
            (theirs("a", id="1"), theirs("b", id="1"), theirs("c", id="2", blocks=["1"])),
            "duplicate_id",
        ),
        ((theirs("a", id="x"), theirs("b", id="x"), theirs("c", id="2", blocks=["x"])), "bad_id"),
        ((theirs("a", id="1", blocks=["2"]), theirs("b", id="2", blocks=["1"])), "cycle"),
    ],
)
def test_what_has_more_than_one_mend_is_refused(seed, code):
    """The list is left as it was, and the error holds every fault."""
    desk = Desk(*(task.model_copy(deep=True) for task in seed))
    before = board(desk)
    with pytest.raises(PlanError, match=code) as caught:
        repair(desk.state)
    assert code in {problem.code for problem in caught.value.data["problems"]}
    assert code in desk.fail("TaskCreate", subject="n")
    assert board(desk) == before


def test_what_no_task_can_hold_is_refused():
    """A wrong type is named with its place."""
    desk = Desk(theirs("a", id="1"))
    desk.tasks[0].owner = 5
    with pytest.raises(CodecError, match=r"tasks\[0\]\.owner"):
        repair(desk.state)
