"""Lists with a tree in them: every way in which models say what lies in what."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import check_reply, planned, toolbox, write

from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT
from todoplan.dialogue.intake import InputLimits
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS

LEAN, TASKS = toolbox("lean"), toolbox("tasks")
DEEP = DEFAULT.but(max_depth="off")


def tree(plan):
    """Return the titles in order, each behind a dot for each task that contains it."""
    depth = {}
    for task in plan:
        depth[task.id] = depth[task.parent] + 1 if task.parent else 0
    return [f"{'.' * depth[task.id]}{task.subject}" for task in plan]


def made(box, name, arguments, plan=None):
    """Return the tree after a call that is accepted."""
    reply = box.call(Plan() if plan is None else plan, name, arguments)
    assert not reply.is_error, reply.text
    return tree(reply.plan)


TREE = ["a", ".b", "..c", ".d", "e"]
NESTED = [{"text": "a", "subtasks": [{"text": "b", "children": ["c"]}, "d"]}, "e"]
SPELLINGS = [
    NESTED,
    ["a", ["b", ["c"], "d"], "e"],
    ["a", "  b", "    c", "  d", "e"],
    ["a", "\tb", "\t\tc", "\td", "e"],
    [{"text": "a", "subtasks": json.dumps(["b", ["c"], "d"])}, "e"],
    [{"text": "a", "sub_items": ["b", "  c", "d"]}, "e"],
]


@pytest.mark.parametrize("listed", SPELLINGS)
@pytest.mark.parametrize(
    ("box", "name", "key"),
    [(toolbox(), "write_todos", "todos"), (LEAN, "plan", "write"), (TASKS, "TaskCreate", "tasks")],
)
def test_a_tree_is_a_tree_however_it_is_written(box, name, key, listed):
    """Entries in an entry, lists in a list, indented lines: in every tool that takes entries."""
    assert made(box, name, {key: listed}) == TREE
    assert made(box, name, json.dumps({key: listed})) == TREE


CHECKLISTS = [
    "- [ ] a\n  - [ ] b\n    - [ ] c\n  - [ ] d\n- [ ] e",
    "- a\n  - b\n    - c\n  - d\n- e",
    "1. a\n   1. b\n      - c\n   2. d\n2. e",
    "1. a\n1.1 b\n1.1.1 c\n1.2 d\n2. e",
]


@pytest.mark.parametrize("text", CHECKLISTS)
def test_an_indented_checklist_is_a_tree(text):
    """As the whole list in one text; it is a guess, and removes nothing (law 17)."""
    assert made(toolbox(), "write_todos", {"todos": text}) == TREE
    assert made(LEAN, "plan", {"write": text}) == TREE
    lost = toolbox().call(planned("other"), "write_todos", {"todos": text})
    assert [problem.code for problem in lost.problems] == ["guessed_container"]


def entries(*rows):
    """Return entries of a whole list, each of an id, a title and its parent, if it names one."""
    return [
        {"id": own, "content": title, **({} if parent is None else {"parent": parent})}
        for own, title, parent in rows
    ]


@pytest.mark.parametrize(
    "listed",
    [
        entries((1, "a", ""), (2, "b", 1), (3, "c", 2), (4, "d", 1), (5, "e", None)),
        entries(("x", "a", None), ("y", "b", "x"), ("z", "c", "y"), ("w", "d", "x"), ("", "e", "")),
        entries((1, "a", "root"), (2, "b", "a"), (3, "c", "b"), (4, "d", "#1"), (5, "e", 0)),
        entries((3, "c", 2), (1, "a", None), (2, "b", 1), (4, "d", 1), (5, "e", None)),
        entries(("1", "a", None), ("1.1", "b", None), ("1.1.1", "c", None), ("1.2", "d", None),
                ("2", "e", None)),
        entries(("1", "a", None), (1.1, "b", None), ("1.1.7", "c", None), (1.2, "d", None),
                (2, "e", None)),
    ],
)  # fmt: skip
def test_a_parent_is_named_by_id_by_title_or_by_a_dotted_id(listed):
    """In any order: what is contained stands behind what contains it."""
    assert made(toolbox(), "write_todos", {"todos": listed}) == TREE


@pytest.mark.parametrize(
    ("listed", "code", "path"),
    [
        (entries((1, "a", 7)), "unknown_reference", "todos[0].parent"),
        (entries((1, "a", 1)), "unknown_reference", "todos[0].parent"),
        (entries((1, "a", 2), (2, "b", 1)), "parent_circle", "todos[0].parent"),
        (entries((1, "a", ["b"])), "wrong_type", "todos[0].parent"),
        ([{"content": "a", "subtasks": 5}], "wrong_type", "todos[0].subtasks[0]"),
        ([{"content": "a", "subtasks": ["b", {"status": "done"}]}], "missing_field",
         "todos[0].subtasks[1].content"),
        ([["a"], "b"], "wrong_type", "todos[0]"),
        ([{"content": "a", "subtasks": '["b"'}], "truncated", "todos[0].subtasks"),
    ],
)  # fmt: skip
def test_what_lies_nowhere_is_refused(listed, code, path):
    """With the place, and a correct example; nothing is put at the top in silence."""
    reply = write(listed)
    assert [(problem.code, problem.path) for problem in reply.problems] == [(code, path)]
    assert "Correct, for example" in reply.text


def test_entries_are_counted_all_together():
    """A tree has no more of them than a flat list may."""
    box = Toolbox(limits=InputLimits(items=3))
    fine = box.call(Plan(), "write_todos", {"todos": ["a", ["b"], "c"]})
    assert not fine.is_error
    more = box.call(Plan(), "write_todos", {"todos": ["a", ["b", "c"], "d"]})
    assert [problem.code for problem in more.problems] == ["too_many"]


def test_a_text_in_a_text_in_a_text_is_read_without_recursion():
    """Each is encoded once more, so that a megabyte holds some twenty."""
    text = json.dumps(["deepest"])
    for level in range(12):
        text = json.dumps([{"text": str(level), "subtasks": text}])
    box = Toolbox(TODOS, DEEP)
    assert made(box, "write_todos", {"todos": text})[-1] == f"{'.' * 12}deepest"


@given(
    st.lists(
        st.fixed_dictionaries(
            {"subject": st.sampled_from("abc")},
            optional={
                "id": st.sampled_from(
                    ["1", 2, "1.1", "1.1.1", "2.1", ".", "..1", "1.", "x", 1.5, []]
                ),
                "parent": st.sampled_from(["1", 2, "#0", "#1", "@0", "x", None, "2.1"]),
                "blockedBy": st.lists(st.sampled_from(["1", 2, "#0", "@1", "9"]), max_size=2),
                "subtasks": st.lists(st.just({"id": "1.2", "subject": "in"}), max_size=2),
            },
        ),
        max_size=5,
    ),
    st.booleans(),
)
def test_whatever_ids_are_given_it_is_answered(listed, single):
    """Law 10: never an exception; what is accepted adds, and leaves what was there."""
    plan = planned("old", "older")
    arguments = {"subject": "top", "subtasks": listed} if single else {"tasks": listed}
    reply = TASKS.call(plan, "TaskCreate", arguments)
    check_reply(plan, reply)
    assert [reply.plan[task.id].subject for task in plan] == ["old", "older"]
    assert [reply.plan[task.id].parent for task in plan] == [None, None]


titles = st.text("abc ", min_size=1).filter(str.strip)
trees = st.recursive(
    st.just([]), lambda inner: st.lists(st.tuples(titles, inner), max_size=4), max_leaves=12
)


def as_entries(rows):
    """Return a drawn tree as entries with subtasks."""
    return [{"text": title, "subtasks": as_entries(inner)} for title, inner in rows]


def as_tree(rows, dots=""):
    """Return a drawn tree as `tree` shows it."""
    shown = []
    for title, inner in rows:
        shown += [f"{dots}{title}", *as_tree(inner, f"{dots}.")]
    return shown


@given(
    trees.filter(bool),
    st.sampled_from([(TODOS, "write_todos", "todos"), (LEAN.toolset, "plan", "write"),
                     (TASKS.toolset, "TaskCreate", "tasks")]),
)  # fmt: skip
def test_any_tree_comes_out_as_it_went_in(rows, where):
    """By every tool set, whatever the titles."""
    toolset, name, key = where
    assert made(Toolbox(toolset, DEEP), name, {key: as_entries(rows)}) == as_tree(rows)
