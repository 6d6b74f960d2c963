"""Calls that a person or a wrapper changed on their way: what was carried out is what counts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from support.scripted import Scripted, calls, says

from todoplan.adapters.langgraph import PlanMiddleware, plan_of_state
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, tasks

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
QUIET = Settings(plan_lost=False, unfinished=0)
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "no"}


def create(subject, call_id, **more):
    return ("TaskCreate", {"subject": subject, **more}, call_id)


def edited(name, **arguments):
    return {"type": "edit", "edited_action": {"name": name, "args": arguments}}


def agent(turn, *middleware, toolset=None):
    planner = PlanMiddleware(Toolbox(toolset or tasks()), settings=QUIET)
    model = Scripted(script=[turn, says("done")])
    return create_agent(model, middleware=[planner, *middleware], checkpointer=InMemorySaver())


def reviewed(turn, *decisions, toolset=None, **options):
    """
    Run a turn whose calls a person decides upon, each its own decision.
    """
    gate = HumanInTheLoopMiddleware(
        dict.fromkeys(("TaskCreate", "TaskUpdate", "write_todos"), True), **options
    )
    made = agent(turn, gate, toolset=toolset)
    made.invoke(HELLO, THREAD)
    answer = {"decisions": [*decisions]}
    if options:
        asked = {one.value["tool_call_id"]: one.id for one in made.get_state(THREAD).interrupts}
        named = zip((call["id"] for call in turn.tool_calls), decisions, strict=True)
        answer = {asked[call_id]: decision for call_id, decision in named}
    return made, made.invoke(Command(resume=answer), THREAD)


def subjects(made):
    return [task.subject for task in plan_of_state(made.get_state(THREAD))]


def texts(done):
    return [m.text.rpartition("\n")[2] for m in done["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_persons_edit_stays_whatever_stands_beside_it(mode, place):
    """
    Whichever of a turn's calls was edited, the plan and the list have the edited text.
    """
    turn = calls(create("a", "1"), create("b", "2", blockedBy=["1"]), create("c", "3"))
    decisions = [APPROVE, APPROVE, APPROVE]
    decisions[place] = edited("TaskCreate", subject="mine")
    options = {} if mode == "batched" else {"interrupt_mode": mode}
    made, done = reviewed(turn, *decisions, **options)
    expected = ["a", "b", "c"]
    expected[place] = "mine"
    assert subjects(made) == [todo["content"] for todo in done["todos"]] == expected
    assert texts(done) == ["0/1: #1 created", "0/2: #2 created", "0/3: #3 created"]


def test_the_calls_beside_an_edit_are_answered_upon_it():
    """
    A call that reads the plan shows what the person made of the call before it.
    """
    turn = calls(
        ("write_todos", {"todos": [{"content": "a", "status": "pending"}]}, "1"),
        ("read_todos", {}, "2"),
    )
    edit = edited("write_todos", todos=[{"content": "mine", "status": "pending"}])
    made, done = reviewed(turn, edit, toolset=TODOS)
    assert texts(done) == ["ok, 0/1 completed", "#1 [pending] mine"]
    assert subjects(made) == ["mine"]


def test_a_call_turned_into_another_is_that_one():
    """
    What it would have made is not there for the calls beside it.
    """
    turn = calls(create("a", "1"), ("TaskUpdate", {"taskId": "1", "status": "completed"}, "2"))
    made, done = reviewed(turn, edited("TaskList"), APPROVE)
    assert subjects(made) == []
    assert [m.status for m in done["messages"] if isinstance(m, ToolMessage)] == [
        "success",
        "error",
    ]


def test_what_a_person_refuses_as_the_call_runs_is_not_in_the_plan():
    """
    Its neighbours' tasks are, under the ids that they were told.
    """
    turn = calls(create("a", "1"), create("b", "2", blockedBy=["1"]))
    made, done = reviewed(turn, REJECT, APPROVE, interrupt_mode="per_call")
    (task,) = plan_of_state(made.get_state(THREAD))
    assert (task.id, task.subject, task.blocked_by) == ("2", "b", ())
    assert "0/2: #2 created" in texts(done)


def test_a_redaction_is_not_undone():
    """
    A wrapper changes a call's text: nothing of the old one is in the plan or the list.
    """

    @wrap_tool_call
    def redact(request, handler):
        given = {**request.tool_call, "args": {"subject": "[redacted]"}}
        is_secret = "secret" in request.tool_call["args"]["subject"]
        return handler(request.override(tool_call=given) if is_secret else request)

    made = agent(calls(create("secret", "1"), create("b", "2")), redact)
    done = made.invoke(HELLO, THREAD)
    assert subjects(made) == [todo["content"] for todo in done["todos"]] == ["[redacted]", "b"]


STEPS = st.one_of(
    st.builds(lambda text: ("TaskCreate", {"subject": text}), st.sampled_from("abc")),
    st.builds(
        lambda status: ("TaskUpdate", {"taskId": "1", "status": status}),
        st.sampled_from(["completed", "in_progress", "deleted"]),
    ),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(STEPS, STEPS), min_size=1, max_size=4))
def test_any_edits_come_to_the_edited_calls_in_order(pairs):
    """
    Plan and replies are as if the model had sent what the person made of its calls (law 13).
    """
    turn = calls(*((*sent, f"c{n}") for n, (sent, _) in enumerate(pairs)))
    decisions = [edited(name, **arguments) for _, (name, arguments) in pairs]
    made, done = reviewed(turn, *decisions)
    expected = Toolbox(tasks()).turn(Plan(), [Call(*run) for _, run in pairs])
    plan = plan_of_state(made.get_state(THREAD))
    assert [(t.id, t.subject, t.status) for t in plan] == [
        (t.id, t.subject, t.status) for t in expected.plan
    ]
    assert texts(done) == [reply.text.rpartition("\n")[2] for reply in expected.replies]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=5))
def test_any_rewriting_of_texts_is_what_the_plan_has(sent):
    """
    Whichever calls a wrapper changes as they run, the plan holds what ran, once each.
    """

    @wrap_tool_call
    def upper(request, handler):
        call = request.tool_call
        changed = {**call, "args": {"subject": call["args"]["subject"].upper()}}
        is_chosen = sent[int(call["id"])][1]
        return handler(request.override(tool_call=changed) if is_chosen else request)

    made = agent(calls(*(create(text, str(n)) for n, (text, _) in enumerate(sent))), upper)
    done = made.invoke(HELLO, THREAD)
    expected = [text.upper() if is_chosen else text for text, is_chosen in sent]
    assert subjects(made) == [todo["content"] for todo in done["todos"]] == expected


def test_calls_of_the_same_id_are_told_apart_by_their_arguments():
    """
    Each is answered for itself; the same call twice counts twice.
    """
    made = agent(calls(create("a", "x"), create("b", "x")))
    assert texts(made.invoke(HELLO, THREAD)) == ["0/1: #1 created", "0/2: #2 created"]
    assert subjects(made) == ["a", "b"]
    made = agent(calls(create("a", "x"), create("a", "x")))
    made.invoke(HELLO, THREAD)
    assert [(t.id, t.subject) for t in plan_of_state(made.get_state(THREAD))] == [
        ("1", "a"),
        ("2", "a"),
    ]
