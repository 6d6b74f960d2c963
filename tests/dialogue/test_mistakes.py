"""A developer's mistake: the exception says what was seen and what to write, and carries it."""

import attrs
import pytest
from support.talk import planned, toolbox

from todoplan.core.plan.plan import Plan
from todoplan.core.rules import CLAUDE_STRICT, DEFAULT
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Guidance, Memory, Message, Settings, unfinished_error
from todoplan.dialogue.toolbox import Toolbox, answered_beside, require, require_clock
from todoplan.dialogue.tools import LEAN, TASKS, TODOS, tasks
from todoplan.errors import TodoplanError

CALL = Call("write_todos", {})
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

MISTAKES = [
    (
        lambda: toolbox().call([], "write_todos", {}),
        "[] (list) was given; give Plan(), or the plan of the last reply",
        {"seen": []},
    ),
    (
        lambda: Toolbox("todos"),
        "'todos' (str) was given; give a tool set: Toolbox(TASKS)",
        {"seen": "todos"},
    ),
    (
        lambda: Toolbox(TASKS, "strict"),
        "'strict' (str) was given; give a policy, such as STRICT or DEFAULT.but(max_items='off')",
        {"seen": "strict"},
    ),
    (
        lambda: Toolbox(TASKS, DEFAULT, limits=3),
        "3 (int) was given; give limits, such as InputLimits(items=100)",
        {"seen": 3},
    ),
    (
        lambda: Toolbox(LEAN, CLAUDE_STRICT),
        DEMANDS,
        {"toolset": "lean", "rules": ("active_form_required", "priority_required")},
    ),
    (
        lambda: answered_beside(toolbox(), Plan(), [CALL], 1),
        "place 1 is none of 1 calls; they are counted from 0",
        {"seen": 1},
    ),
    (
        lambda: answered_beside(toolbox(), Plan(), [CALL], -1),
        "place -1 is none of 1 calls; they are counted from 0",
        {"seen": -1},
    ),
    (
        lambda: TODOS.renamed(write="x"),
        "todos has no tool write; it has write_todos, read_todos",
        {"unknown": ["write"]},
    ),
    (
        lambda: TODOS.renamed(write_todos=""),
        "'' (str) is no name of a tool; give a text that is not empty",
        {"seen": ""},
    ),
    (
        lambda: TODOS.renamed(write_todos="read_todos"),
        "two tools of todos would have one name; give each its own",
        {"names": {"write_todos": "read_todos"}},
    ),
    (
        lambda: attrs.evolve(TODOS, tools=("a",)),
        "'a' (str) was given; give a tuple of tools, such as (Tool(...), Tool(...))",
        {"seen": "a"},
    ),
    (
        lambda: TODOS.system_prompt("long"),
        "'long' (str) is no length of a prompt; write 'compact' or 'guided'",
        {"seen": "long"},
    ),
    (
        lambda: tasks("Camel"),
        "'Camel' (str) is no spelling; write tasks('camel') or tasks('snake')",
        {"seen": "Camel"},
    ),
    (
        lambda: require(3, Plan),
        "3 (int) was given; give a plan, such as plan_of([...]) or plan_of_state(...)",
        {"seen": 3},
    ),
    (
        lambda: require(3, Toolbox),
        "3 (int) was given; give a toolbox, such as Toolbox(TASKS, STRICT)",
        {"seen": 3},
    ),
    (lambda: require(3, str, "a name"), "3 (int) was given; give a name", {"seen": 3}),
    (
        lambda: require_clock(3),
        "3 (int) was given; give a clock: a function that returns an aware datetime",
        {"seen": 3},
    ),
    (
        lambda: Guidance("todos"),
        "'todos' (str) was given; give a tool set: Guidance(toolbox.toolset)",
        {"seen": "todos"},
    ),
    (
        lambda: Guidance(TODOS, {}),
        "{} (dict) was given; give settings, such as Settings(unfinished=1)",
        {"seen": {}},
    ),
    (
        lambda: Guidance(TODOS).before_model([], [], Memory()),
        "[] (list) was given; give Plan(), or the plan of the last reply",
        {"seen": []},
    ),
    (
        lambda: Guidance(TODOS).before_model(Plan(), [], {}),
        "{} (dict) was given; give Memory(), or Memory.of(...) with the stored data",
        {"seen": {}},
    ),
    (
        lambda: Settings(unfinished=-1),
        "Settings(unfinished=...) is -1 (int); write a whole number, 0 for never",
        {"seen": -1, "name": "unfinished"},
    ),
    (
        lambda: Settings(stale=True),
        "Settings(stale=...) is True (bool); write a whole number, 0 for never",
        {"seen": True, "name": "stale"},
    ),
    (
        lambda: Settings(changed=1),
        "Settings(changed=...) is 1 (int); write True or False",
        {"seen": 1, "name": "changed"},
    ),
    (
        lambda: Settings(all_done="on"),
        "Settings(all_done=...) is 'on' (str); write 'off' or 'if_silent' or 'always'",
        {"seen": "on", "name": "all_done"},
    ),
    (lambda: Memory.of([1]), DAMAGED.format("it is [1], which is no object"), {"name": "it"}),
    (
        lambda: Memory.of({"turn": True}),
        DAMAGED.format("turn is True, which is no whole number"),
        {"name": "turn"},
    ),
    (
        lambda: Message("human"),
        "'human' (str) is no role; write one of system, user, assistant, tool",
        {"seen": "human"},
    ),
    (
        lambda: Message("assistant", calls="write_todos"),
        (
            "'write_todos' (str) was given; give the names of the called tools, such as"
            ' ("write_todos",)'
        ),
        {"seen": "write_todos"},
    ),
    (
        lambda: Message("tool", results=("write_todos",)),
        "'write_todos' (str) was given; give a tuple of results: (ToolResult(\"search\"),)",
        {"seen": "write_todos"},
    ),
]


@pytest.mark.parametrize(("mistake", "text", "data"), MISTAKES)
def test_a_mistake_is_named_with_what_was_seen_and_its_remedy(mistake, text, data):
    """Word for word: a developer reads nothing else before the code is changed."""
    with pytest.raises(TodoplanError) as raised:
        mistake()
    assert str(raised.value) == text
    assert raised.value.data == data


def test_a_model_that_never_finishes_is_an_error_with_the_open_tasks():
    """What the verdict "raise" stands for."""
    error = unfinished_error(planned("a", "b"))
    assert str(error) == IGNORED
    assert error.data == {"task_ids": ("1", "2")}
