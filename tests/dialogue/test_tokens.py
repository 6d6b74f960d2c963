"""What planning costs a model, exactly: counts of o200k_base tokens, held to a budget."""

import pytest
from support.talk import TOOLSETS, toolbox
from support.tokens import compact, fixed_cost, tokens

from todoplan.core.plan.plan import Plan
from todoplan.dialogue import lean, tasks

FRAMING = 7
ITEMS = 20
WORK = 3
VERBS = (
    "Write Test Check Move Read Split Name Mend Draw Sort "
    "Join Trim Load Save Send Scan Rank Pack Copy Ship"
)
TITLES = [f"{verb} the part that reads the recordings" for verb in VERBS.split()]


def life(box, name, calls):
    """
    Return the tokens written, read, and read again over a plan's life.

    Each planning request and three work requests per item carry the whole planning history.
    """
    plan, history, again, written, read = Plan(), 0, 0, 0, 0
    overhead = fixed_cost(box.toolset)
    for number, arguments in enumerate(calls):
        again += overhead + history
        call = tokens(name) + tokens(compact(arguments))
        reply = box.call(plan, name, arguments)
        assert not reply.is_error
        answer = tokens(reply.text)
        plan, written, read = reply.plan, written + call, read + answer
        history += call + answer + 2 * FRAMING
        if number < ITEMS:
            again += WORK * (overhead + history)
    assert plan.counts.completed == ITEMS
    return written, read, again


LEAN = [{"write": TITLES}, *({"done": [n]} for n in range(1, ITEMS + 1))]
WHOLE = [
    {
        "todos": [
            {
                "content": title,
                "status": "completed" if n < step else "in_progress" if n == step else "pending",
            }
            for n, title in enumerate(TITLES)
        ]
    }
    for step in range(ITEMS + 1)
]


def test_titles_have_the_length_of_the_baseline():
    """The budget is stated for items of about seven tokens."""
    assert 6.5 <= sum(map(tokens, TITLES)) / ITEMS <= 7.5


@pytest.mark.parametrize(("length", "most"), [("compact", 215), ("guided", 350)])
def test_fixed_cost_of_lean(length, most):
    """
    The lean tool set adds at most this to every request (the target was 240 and 450). Waiting,
    failed and subtasks are 30 tokens of it.
    """
    assert fixed_cost(TOOLSETS[3], length) <= most


@pytest.mark.parametrize(
    ("toolset", "compact_most", "guided_most"),
    [(TOOLSETS[0], 217, 373), (TOOLSETS[1], 620, 790), (TOOLSETS[2], 620, 790)],
)
def test_fixed_cost_of_the_others(toolset, compact_most, guided_most):
    """LangChain's one tool costs 1,233, AgentScope's four 1,905. `todos` has not grown."""
    assert fixed_cost(toolset) <= compact_most
    assert fixed_cost(toolset, "guided") <= guided_most


def test_fixed_cost_of_a_team():
    """To share a plan costs 45 and 60 tokens, the prompts of a team 60 and 100; off, nothing."""
    assert fixed_cost(lean(team=True)) <= 260
    assert fixed_cost(lean(team=True), "guided") <= 415
    assert fixed_cost(tasks(team=True)) <= 680
    assert fixed_cost(tasks(team=True), "guided") <= 890


def test_life_of_a_lean_plan():
    """Twenty items: W at most 1.1 x 386, R at most 1.5 x 163, all requests together at most 58k."""
    written, read, again = life(toolbox("lean"), "plan", LEAN)
    assert written <= 1.1 * 386
    assert read <= 1.5 * 163
    assert again <= 58_000


def test_life_of_a_whole_list():
    """With LangChain's arguments the re-read is at most 0.45 of LangChain's 627k."""
    written, _, again = life(toolbox("todos"), "write_todos", WHOLE)
    assert written <= 1.1 * 5_627
    assert again <= 0.45 * 627_000


def test_receipts_of_whole_lists_are_short():
    """At most ten tokens each."""
    box, plan = toolbox("todos"), Plan()
    for arguments in [*WHOLE, WHOLE[-1]]:
        reply = box.call(plan, "write_todos", arguments)
        assert tokens(reply.text) <= 10
        plan = reply.plan
