"""The session of a graph's state answers as `Session` does: lists, reads and edits at random."""

from hypothesis import given
from hypothesis import strategies as st
from langgraph.prebuilt import ToolRuntime
from support.scripted import calls

from todoplan.adapters.langgraph import command_update, make_tools, merge_plans, plan_of_state
from todoplan.core import commands
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS
from todoplan.planner.session import opened

BOX = Toolbox(TODOS)
TOOLS = {tool.name: tool for tool in make_tools(BOX)}
# No two tasks of one text: where equal lines stand for equal tasks, the place of one that is gone
# would count, and a record does not keep it.
WORDS = st.sampled_from(["a", "b", "c", "d", "Ann's 2", "Ann's 3", "renamed 2", "renamed 3"])
STATUSES = st.sampled_from(["pending", "in_progress", "completed", "cancelled"])
LINES = st.lists(st.tuples(WORDS, STATUSES), unique_by=lambda line: line[0], min_size=1, max_size=5)
IDS = st.integers(1, 6).map(str)


def line(content, status):
    return {"content": content, "status": status}


WRITES = LINES.map(lambda lines: ("write_todos", {"todos": [line(*each) for each in lines]}))
READS = st.just(("read_todos", {}))
TURNS = st.one_of(
    WRITES.map(lambda write: [write]),
    READS.map(lambda read: [read]),
    WRITES.map(lambda write: [("read_todos", {}), write]),
    WRITES.map(lambda write: [write, ("read_todos", {})]),
)
EDITS = st.one_of(
    st.just(lambda number: commands.CreateTask(f"Ann's {number}")),
    IDS.map(lambda task: lambda number: commands.UpdateTask(task, subject=f"renamed {number}")),
    st.builds(
        lambda task, status: lambda _: commands.UpdateTask(task, status=status), IDS, STATUSES
    ),
    IDS.map(lambda task: lambda _: commands.DeleteTask(task)),
)


def state_after(value, turn, number):
    """
    Return the value of a state after the calls of a turn, all of which see the state before it, and
    what was answered.
    """
    made = [(name, arguments, f"{number}-{at}") for at, (name, arguments) in enumerate(turn)]
    state = {"todoplan": value, "messages": [calls(*made, id=f"m{number}")]}
    given = {"context": None, "config": {}, "stream_writer": None, "store": None}
    told, after = [], value
    for name, arguments, call_id in made:
        runtime = ToolRuntime(state=state, tool_call_id=call_id, **given)
        call = {"name": name, "args": {**arguments, "runtime": runtime}, "id": call_id}
        update = TOOLS[name].invoke({**call, "type": "tool_call"}).update
        told.append(update["messages"][0].text)
        after = merge_plans(after, update.get("todoplan", {}))
    return after, told


@given(st.lists(st.one_of(TURNS, EDITS), max_size=8))
def test_a_session_in_a_state_is_that_of_a_slot(steps):
    """
    The same lists, reads and edits by a person: equal plans, equal replies.
    """
    value, session = {}, opened({}, toolbox=BOX)
    first = [("write_todos", {"todos": [line(each, "pending") for each in "abc"]})]
    for number, step in enumerate([first, *steps]):
        if isinstance(step, list):
            value, told = state_after(value, step, number)
            turn = [Call(name, arguments, str(at)) for at, (name, arguments) in enumerate(step)]
            assert told == [reply.text for reply in session.answer(turn).replies]
        else:
            command, state = step(number), {"todoplan": value}
            update = command_update(state, command, actor="ann", policy=BOX.policy)[1]
            value = merge_plans(value, update.get("todoplan", {}))
            session.edit(command, actor="ann")
        lines = [(task.id, task.subject, task.status) for task in session.plan]
        plan = plan_of_state({"todoplan": value})
        assert [(task.id, task.subject, task.status) for task in plan] == lines
