"""A developer's mistake: the exception says what was seen and what to write, and carries it."""

import attrs
import pytest
from support.talk import planned, toolbox

from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import CLAUDE_STRICT, DEFAULT, Policy
from todoplan.dialogue import plan_closed
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import (
    Guidance,
    Memory,
    Message,
    Settings,
    before_partial,
    unfinished_error,
)
from todoplan.dialogue.toolbox import (
    Toolbox,
    answered_after,
    answered_beside,
    require,
    require_clock,
)
from todoplan.dialogue.tools import LEAN, TASKS, TODOS, ToolSet, tasks
from todoplan.errors import TodoplanError

CALL, ANSWER = Call("write_todos", {}), Message("assistant", "Done.")
DAMAGED = "the memory of guidance is damaged: {}; pass None instead, and guidance starts anew"
DEMANDS = (
    "the tool set lean takes no active_form, priority, which the policy demands by"
    " active_form_required, priority_required: every new task would be refused. Give"
    ' policy.but(active_form_required="off", priority_required="off"), or a tool set that takes it'
)
IGNORED = (
    "the model went on answering while 2 of 2 tasks are open, although it was asked to continue;"
    " allow more turns by Settings(unfinished=...), or let it go"
)
A_PLAN = "give Plan(), or the plan of the last reply"
A_MEMORY = "give Memory(), or Memory.of(...) with the stored data"
CALLS = 'give the calls of a turn, such as [Call("TaskList", {})]'
NUMBER = "a whole number, 0 for never"

# The value that was seen, the mistake, and what the message says to write.
GIVEN = [
    ([], lambda seen: toolbox().call(seen, "nobody", {}), A_PLAN),
    (None, lambda seen: toolbox().call(seen, "read_todos"), A_PLAN),
    ({}, lambda seen: toolbox().turn(seen, [CALL] * 2), A_PLAN),
    ({}, plan_closed, A_PLAN),
    ([], lambda seen: Guidance(TODOS).before_model(seen, [], Memory()), A_PLAN),
    ({}, lambda seen: Guidance(TODOS).before_model(Plan(), [], seen), A_MEMORY),
    (None, lambda seen: Guidance(TODOS).after_model(Plan(), ANSWER, seen), A_MEMORY),
    (None, lambda seen: before_partial(Guidance(TODOS), Plan(), seen), A_MEMORY),
    (Plan(), lambda seen: toolbox().call(Plan(), "read_todos", {}, base=seen),
     "give Base(plan), the plan as it was last seen"),
    (Plan(), lambda seen: toolbox().turn(Plan(), [], base=seen),
     "give Base(plan), the plan as it was last seen"),
    ("read_todos", lambda seen: toolbox().turn(Plan(), seen), CALLS),
    (("read_todos", {}), lambda seen: toolbox().turn(Plan(), [seen]), CALLS),
    ("todos", Toolbox, "give a tool set: Toolbox(TASKS)"),
    (tasks, Toolbox, "give a tool set: Toolbox(TASKS)"),
    ("strict", lambda seen: Toolbox(TASKS, seen),
     "give a policy, such as STRICT or DEFAULT.but(max_items='off')"),
    (3, lambda seen: Toolbox(TASKS, DEFAULT, limits=seen),
     "give limits, such as InputLimits(items=100)"),
    (Toolbox(), Guidance, "give a tool set: Guidance(toolbox.toolset)"),
    ({}, lambda seen: Guidance(TODOS, seen), "give settings, such as Settings(unfinished=1)"),
    ("strict", lambda seen: Guidance(TODOS, policy=seen), "give a policy, such as toolbox.policy"),
    ("a", lambda seen: attrs.evolve(TODOS, tools=(seen,)),
     "give a tuple of tools, such as (Tool(...), Tool(...))"),
    (3, lambda seen: require(seen, Plan),
     "give a plan, such as plan_of([...]) or plan_of_state(...)"),
    (3, lambda seen: require(seen, Policy),
     "give a policy, such as STRICT or DEFAULT.but(max_items='off')"),
    (3, lambda seen: require(seen, Settings), "give settings, such as Settings(unfinished=0)"),
    (3, lambda seen: require(seen, Toolbox), "give a toolbox, such as Toolbox(TASKS, STRICT)"),
    (3, lambda seen: require(seen, Task), "give a Task"),
    (3, lambda seen: require(seen, str, "a name"), "give a name"),
    (3, require_clock, "give a clock: a function that returns an aware datetime"),
    ("write_todos", lambda seen: Message("assistant", calls=seen),
     'give the names of the called tools, such as ("write_todos",)'),
    ("write_todos", lambda seen: Message("tool", results=(seen,)),
     'give a tuple of results: (ToolResult("search"),)'),
    ("write_todos", lambda seen: answered_after(toolbox(), Plan(), CALL, seen),
     'give the names of the tools of a turn, such as ["write_todos"]'),
]  # fmt: skip


@pytest.mark.parametrize(("seen", "mistake", "legal"), GIVEN)
def test_what_is_of_the_wrong_kind_is_named_with_what_to_give(seen, mistake, legal):
    """Before anything is read or changed: one name given for a tuple would be read by letters."""
    with pytest.raises(TodoplanError) as raised:
        mistake(seen)
    assert str(raised.value).endswith(f" ({type(seen).__name__}) was given; {legal}")
    assert raised.value.data == {"seen": seen}


MISTAKES = [
    (lambda: Toolbox(LEAN, CLAUDE_STRICT), DEMANDS,
     {"toolset": "lean", "rules": ("active_form_required", "priority_required")}),
    (lambda: answered_beside(toolbox(), Plan(), [CALL], 1),
     "place 1 is none of 1 calls; they are counted from 0", {"seen": 1}),
    (lambda: answered_beside(toolbox(), Plan(), [CALL], -1),
     "place -1 is none of 1 calls; they are counted from 0", {"seen": -1}),
    (lambda: TODOS.renamed(write="x"),
     "todos has no tool write; it has write_todos, read_todos", {"unknown": ["write"]}),
    (lambda: ToolSet("mine", LEAN.tools, "write"),
     "mine has no tool write; it has plan", {"unknown": ["write"]}),
    (lambda: TODOS.renamed(write_todos=""),
     "'' (str) is no name of a tool; give a text that is not empty", {"seen": ""}),
    (lambda: LEAN.renamed(plan=7),
     "7 (int) is no name of a tool; give a text that is not empty", {"seen": 7}),
    (lambda: TODOS.renamed(write_todos="read_todos"),
     "two tools of todos would have one name; give each its own",
     {"names": {"write_todos": "read_todos"}}),
    (lambda: TODOS.system_prompt("long"),
     "'long' (str) is no length of a prompt; write 'compact' or 'guided'", {"seen": "long"}),
    (lambda: tasks("Camel"),
     "'Camel' (str) is no spelling; write tasks('camel') or tasks('snake')", {"seen": "Camel"}),
    (lambda: tasks([]),
     "[] (list) is no spelling; write tasks('camel') or tasks('snake')", {"seen": []}),
    (lambda: Memory.of([1]), DAMAGED.format("it is [1], which is no object"), {"name": "it"}),
    (lambda: Memory.of("x"), DAMAGED.format("it is 'x', which is no object"), {"name": "it"}),
    (lambda: Memory.of({"turn": True}),
     DAMAGED.format("turn is True, which is no whole number"), {"name": "turn"}),
    (lambda: Memory.of({"asked": None}),
     DAMAGED.format("asked is None, which is no whole number"), {"name": "asked"}),
    (lambda: Message("human"),
     "'human' (str) is no role; write one of system, user, assistant, tool", {"seen": "human"}),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "text", "data"), MISTAKES)
def test_a_mistake_is_named_with_what_was_seen_and_its_remedy(mistake, text, data):
    """Word for word: a developer reads nothing else before the code is changed."""
    with pytest.raises(TodoplanError) as raised:
        mistake()
    assert str(raised.value) == text
    assert raised.value.data == data


@pytest.mark.parametrize(
    ("name", "seen", "shown", "legal"),
    [
        ("unfinished", -1, "-1 (int)", NUMBER),
        ("unfinished", True, "True (bool)", NUMBER),
        ("stale", 1.5, "1.5 (float)", NUMBER),
        ("empty", "1", "'1' (str)", NUMBER),
        ("plan_lost", 1, "1 (int)", "True or False"),
        ("changed", None, "None (NoneType)", "True or False"),
        ("on_ignored", "explode", "'explode' (str)", "'let_go' or 'raise'"),
        ("all_done", [], "[] (list)", "'off' or 'if_silent' or 'always'"),
    ],
)
def test_a_setting_that_means_nothing_is_refused_at_once(name, seen, shown, legal):
    """With what was seen, and what to write."""
    with pytest.raises(TodoplanError) as raised:
        Settings(**{name: seen})
    assert str(raised.value) == f"Settings({name}=...) is {shown}; write {legal}"
    assert raised.value.data == {"seen": seen, "name": name}


def test_a_model_that_never_finishes_is_an_error_with_the_open_tasks():
    """What the verdict "raise" stands for."""
    error = unfinished_error(planned("a", "b"))
    assert str(error) == IGNORED
    assert error.data == {"task_ids": ("1", "2")}
