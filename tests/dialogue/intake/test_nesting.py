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
    [{"text": "a", "subtasks": {"text": "b", "subtasks": "- [ ] c\n"}}, {"text": "e"}],
]


@pytest.mark.parametrize("listed", SPELLINGS[:6])
@pytest.mark.parametrize(
    ("box", "name", "key"),
    [(toolbox(), "write_todos", "todos"), (LEAN, "plan", "write"), (TASKS, "TaskCreate", "tasks")],
)
def test_a_tree_is_a_tree_however_it_is_written(box, name, key, listed):
    """Entries in an entry, lists in a list, indented lines: in every tool that takes entries."""
    assert made(box, name, {key: listed}) == TREE
    assert made(box, name, json.dumps({key: listed})) == TREE


def test_one_entry_in_an_entry_and_a_checklist_in_one():
    """What a list may be given as, it may be given as in an entry, and each repair is told."""
    reply = write(SPELLINGS[6])
    assert tree(reply.plan) == ["a", ".b", "..c", "e"]
    assert [repair.code for repair in reply.repairs] == ["bare_entry", "checklist"]


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


def test_ids_of_ones_own_stay_ids():
    """A list with dotted ids keeps its whole numbers; the same list again changes nothing."""
    listed = entries(("1", "a", None), ("1.1", "b", None), ("2", "c", None))
    reply = write(listed)
    assert [task.id for task in reply.plan] == ["1", "3", "2"]
    assert write(listed, reply.plan).text == "no change, 0/3 completed"


def test_a_flat_list_says_nothing_of_the_tree():
    """Tasks stay where they are; one that says where some entries lie says it of all."""
    plan = write(["a", "  b", "  c"]).plan
    flat = [{"content": title, "status": "pending"} for title in "abc"]
    assert tree(write(flat, plan).plan) == ["a", ".b", ".c"]
    assert tree(write(["a", "  b", "c"], plan).plan) == ["a", ".b", "c"]
    assert tree(write([{**one, "parent": ""} for one in flat], plan).plan) == ["a", "b", "c"]


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


def test_bullets_are_lines_of_lean():
    """Where entries are published as texts: a bullet is half a level, and that is told once."""
    for listed in (["a", "- b", "- c"], ["- a", "  - b", "  - c"]):
        assert made(LEAN, "plan", {"write": listed})[:2] == ["a", ".b"]
    assert made(LEAN, "plan", {"write": ["a", "  b"]}) == ["a", ".b"]
    for listed in (["- a", "b"], ["a", "- b", "- c"], ["a", ["b", "- c"]], ["a", "  b", "  - c"]):
        for key in ("write", "add"):
            reply = LEAN.call(Plan(), "plan", {key: listed})
            note = f"note: took the bullets in {key} for indents"
            assert reply.text.splitlines()[1:] == [note], listed
    for listed in (["a", "  b"], ["a", "b - c", "-"]):
        assert "note" not in LEAN.call(Plan(), "plan", {"write": listed}).text
    assert made(LEAN, "plan", {"write": ["- a", "- b"]}) == ["a", "b"]
    assert made(LEAN, "plan", {"write": ["a\n  - b", "- "]}) == ["a\n  - b", "-"]
    assert made(toolbox(), "write_todos", {"todos": ["a", "- b"]}) == ["a", "- b"]


def test_lean_adds_a_task_with_subtasks():
    """What is indented lies in the line above it, of those that are added."""
    plan = planned("a")
    assert made(LEAN, "plan", {"add": ["  b", "    c", "d"]}, plan) == ["a", "b", ".c", "d"]
    below = {"add": [{"text": "b", "parent": 1, "subtasks": ["c"]}, "d"]}
    assert made(LEAN, "plan", below, plan) == ["a", ".b", "..c", "d"]


def test_references_count_the_entries_of_the_list_itself():
    """As its author counts: "#1" is the second entry, and those that lie in others do not count."""
    listed = [
        {"subject": "a", "subtasks": ["b", "c"]},
        {"subject": "d", "blockedBy": ["#0"]},
        {"subject": "e", "parentId": "#1", "blocks": ["1"]},
    ]
    reply = TASKS.call(planned("x"), "TaskCreate", {"tasks": listed})
    assert tree(reply.plan) == ["x", "a", ".b", ".c", "d", ".e"]
    assert (reply.plan["5"].blocked_by, reply.plan["6"].parent) == (("2",), "5")
    assert reply.plan["1"].blocked_by == ("6",)
    wrong = TASKS.call(Plan(), "TaskCreate", {"tasks": [{"subject": "a", "parentId": "#7"}]})
    assert "tasks[0].parentId: #7 names no task of this call" in wrong.text


OWN_IDS = [
    [{"id": 1, "subject": "a"}, {"id": 2, "subject": "b", "parent": 1}],
    [{"id": "x", "subject": "a"}, {"id": "y", "subject": "b", "parent_id": "x"}],
    [{"id": "1", "subject": "a"}, {"id": "1.1", "subject": "b"}],
    [{"id": "#1", "subject": "a"}, {"taskId": "7", "subject": "b", "parentTask": 1}],
]


@pytest.mark.parametrize("listed", OWN_IDS)
def test_ids_of_new_entries_name_each_other(listed):
    """Not the tasks that happen to have such a number: the reply says how it was read."""
    reply = TASKS.call(planned("old", "older"), "TaskCreate", {"tasks": listed})
    if "x" in str(listed):  # an id of words is no id that an argument could hold
        assert reply.is_error
        return
    assert tree(reply.plan) == ["old", "older", "a", ".b"]
    assert "note: read tasks[1]." in reply.text
    assert '"1" as #0' in reply.text


def test_edges_of_new_entries_follow_their_ids():
    """Also within entries and below a task; one that nothing names is left out, with a word."""
    plan = planned("old", "older")
    listed = [
        {"id": 1, "subject": "a", "subtasks": [{"id": 5, "subject": "b"}]},
        {"id": 2, "subject": "c", "needs": [1], "blocks": [9]},
        {"id": 9, "subject": "d", "blockedBy": [5]},
        {"id": 8, "subject": "e", "blockedBy": [2, "#0"]},
    ]
    reply = TASKS.call(plan, "TaskCreate", {"tasks": listed})
    assert {task.subject: task.blocked_by for task in reply.plan}.items() >= {
        "c": ("3",),
        "d": ("5", "4"),
        "e": ("5", "3"),
    }.items()
    assert "ignored tasks[3].id" not in reply.text  # three notes are named, the others counted
    below = {"subject": "top", "subtasks": [*OWN_IDS[2], {"subject": "c", "blockedBy": ["1"]}]}
    reply = TASKS.call(plan, "TaskCreate", below)
    assert tree(reply.plan)[2:] == ["top", ".a", "..b", ".c"]
    assert reply.plan["6"].blocked_by == ("4",)


def test_ids_that_name_nothing_are_left_out():
    """With a word: also one whose head comes later, or is that of nobody."""
    for ids in (["1", "2"], ["2.1", "2"], ["1", "3.1"], ["1", ""], ["", "1.1"]):
        listed = [{"id": own, "subject": f"t{own}"} for own in ids]
        reply = TASKS.call(Plan(), "TaskCreate", {"tasks": listed})
        assert [task.parent for task in reply.plan] == [None, None]
        assert reply.text.count("ignored tasks[") == len([own for own in ids if own])


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


def test_a_checklist_in_an_entry_is_several_entries():
    """Where only its lines were given; and as a guess it removes nothing (law 17)."""
    text = "- [ ] b\n  - [ ] c\n- [ ] d"
    assert made(LEAN, "plan", {"write": ["a", text, "e"]}) == ["a", "b", ".c", "d", "e"]
    assert made(toolbox(), "write_todos", {"todos": [text]}) == ["b", ".c", "d"]
    reply = LEAN.call(planned("old"), "plan", {"write": [text]})
    assert [problem.code for problem in reply.problems] == ["guessed_container"]
    assert made(LEAN, "plan", {"add": ["two\nlines"]}) == ["two\nlines"]


def test_a_single_creation_takes_subtasks_and_a_parent():
    """With the subtasks in the call, below a task that is there."""
    reply = TASKS.call(
        planned("x"),
        "TaskCreate",
        {"subject": "a", "parentId": "#1", "subtasks": ["b", {"subject": "c", "subtasks": ["d"]}]},
    )
    assert tree(reply.plan) == ["x", ".a", "..b", "..c", "...d"]
    assert reply.text == "0/5: #2-#5 created"
    assert made(TASKS, "TaskCreate", {"subject": "a", "subtasks": []}) == ["a"]


def test_a_task_moves_below_another_and_to_the_top():
    """By `parentId`; a `null` that stands alone, or "", is the top."""
    plan = planned("a", "b")
    inner = TASKS.call(plan, "TaskUpdate", {"taskId": 2, "parentId": 1})
    assert (inner.text, tree(inner.plan)) == ("0/2: #2 moved", ["a", ".b"])
    for top in (None, ""):
        reply = TASKS.call(inner.plan, "TaskUpdate", {"taskId": 2, "parentId": top})
        assert tree(reply.plan) == ["a", "b"]
    both = {"taskId": 2, "parentId": None, "owner": None}
    assert TASKS.call(inner.plan, "TaskUpdate", both).text == "no change, 0/2 completed"
    edit = LEAN.call(inner.plan, "plan", {"edit": [{"id": 2, "parent": None}]})
    assert tree(edit.plan) == ["a", "b"]


def test_a_task_with_subtasks_is_not_deleted_by_a_model():
    """The refusal names them, and says what to do."""
    plan = write(["a", "  b", "  c"]).plan
    reply = TASKS.call(plan, "TaskUpdate", {"taskId": 1, "status": "deleted"})
    assert reply.text == (
        "Nothing was changed. taskId: The first of #1-#3 has the others as its subtasks, so it is "
        "not deleted. Delete the subtasks first, or move them elsewhere."
    )


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
