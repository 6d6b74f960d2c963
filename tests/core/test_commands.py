import copy
import pickle
from typing import get_args

import attrs
import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core import commands
from todoplan.core.commands import (
    UNSET,
    AnswerTask,
    ApprovePlan,
    Batch,
    CreateTask,
    CreateTasks,
    DeleteTask,
    MoveTask,
    RecordEvidence,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.model import (
    EDITABLE,
    LEVELS,
    TASK_FIELDS,
    Approval,
    Evidence,
    FrozenDict,
    Priority,
    Status,
    Task,
    Todo,
    Waiting,
)
from todoplan.errors import PlanError


@given(some.commands)
def test_commands_are_values(command):
    """A command survives pickling, and UNSET stays the one and only."""
    twin = pickle.loads(pickle.dumps(command))  # noqa: S301 - our own bytes
    assert twin == command
    assert type(twin) is type(command)


def test_unset_is_neither_none_nor_a_copy():
    """UNSET means "leave it"; `None` clears."""
    assert copy.deepcopy(UNSET) is UNSET
    assert repr(UNSET) == "UNSET"
    assert UpdateTask("1").status is UpdateTask("1").priority is UNSET
    assert UpdateTask("1", priority=None).priority is None


def test_words_become_members():
    """Statuses and priorities may be given as words; unknown ones are an error."""
    assert UpdateTask("1", status="completed", priority="low").status is Status.COMPLETED
    assert UpdateTask("1", priority="low").priority is Priority.LOW
    assert CreateTask("a", status="cancelled").status is Status.CANCELLED


TUPLES = [
    (WriteTodos, "todos", Todo("a")),
    (CreateTasks, "items", CreateTask("a")),
    (RestorePlan, "tasks", Task("1", "a")),
    (Batch, "commands", StartNext()),
]
ENDS = [
    *((CreateTask, name) for name in ("blocks", "blocked_by")),
    *(
        (UpdateTask, name)
        for name in ("add_blocks", "add_blocked_by", "remove_blocks", "remove_blocked_by")
    ),
]


@pytest.mark.parametrize(("kind", "name", "item"), TUPLES)
def test_any_iterable_of_items_is_kept_as_a_tuple(kind, name, item):
    """A list, a tuple or a generator, which can be walked only once, give equal commands."""
    made = kind((item, item)), kind([item, item]), kind(each for each in (item, item))
    assert {getattr(command, name) for command in made} == {(item, item)}
    assert kind(()) == kind([])


@pytest.mark.parametrize(("kind", "name", "item"), TUPLES)
@pytest.mark.parametrize("wrong", ["ab", b"ab", None, 5, ["a"], [None], {"a": 1}])
def test_what_is_no_list_of_such_items_is_refused(kind, name, item, wrong):
    """A text, a single value, or items of another kind: refused with what is allowed."""
    with pytest.raises(PlanError, match="was given; give a tuple of "):
        kind(wrong)
    with pytest.raises(PlanError, match="was given; give a tuple of "):
        kind(item)


@pytest.mark.parametrize(("kind", "name"), ENDS)
def test_ends_of_edges_are_ids_and_not_letters(kind, name):
    """The text "12" means neither the tasks 1 and 2 nor the task 12; a list of it means 12."""
    assert getattr(kind("1", **{name: ["12"]}), name) == ("12",)
    assert getattr(kind("1", **{name: (i for i in "12")}), name) == ("1", "2")
    for wrong in ("12", 12, (1, 2)):
        with pytest.raises(PlanError, match="was given; give a tuple of ids, which are texts"):
            kind("1", **{name: wrong})


@pytest.mark.parametrize(
    "make",
    [
        lambda: CreateTask(None),
        lambda: CreateTask("a", None),
        lambda: CreateTask("a", owner=5),
        lambda: CreateTask("a", active_form=5),
        lambda: CreateTask("a", metadata=None),
        lambda: UpdateTask("1", subject=None),
        lambda: UpdateTask("1", description=None),
        lambda: UpdateTask("1", owner=5),
        lambda: UpdateTask("1", active_form=5),
        lambda: UpdateTask("1", metadata=[]),
        lambda: UpdateTask(3),
        lambda: DeleteTask(3),
        lambda: RestorePlan((), "3"),
        lambda: RestorePlan((), 1.5),
        lambda: RestorePlan((), True),  # noqa: FBT003 - the mistake
        lambda: RestorePlan((), None),
        lambda: RestorePlan((), -5),
        lambda: Todo(None),
        lambda: Todo("a", id=1),
        lambda: Todo("a", waiting="ann"),
        lambda: Todo("a", level=-1),
        lambda: CreateTask("a", parent=1),
        lambda: CreateTask("a", waiting="ann"),
        lambda: UpdateTask("1", waiting="ann"),
        lambda: UpdateTask("1", parent=1),
        lambda: UpdateTask("1", check=1),
        lambda: MoveTask("1", before=2),
        lambda: AnswerTask("1", None),
        lambda: RecordEvidence("1", "yes"),
        lambda: RecordEvidence("1", passed=True, summary=None),
        lambda: ApprovePlan(1),
        lambda: RestorePlan((), approved="ann"),
        lambda: Waiting(None),
        lambda: Waiting("ann", "tomorrow"),
        lambda: Evidence(1),
        lambda: Approval(-1),
    ],
)
def test_a_value_of_another_type_is_refused_where_it_is_given(make):
    """The developer's line is in the traceback, and the message says what to give."""
    with pytest.raises(PlanError, match=r"was given; give (a|None|True)"):
        make()


@pytest.mark.parametrize("given", [{}, {"before": "2", "after": "3"}])
def test_a_move_goes_to_one_place(given):
    """Before a task or behind one: neither and both are refused, with what to write."""
    assert MoveTask("1", after="2").after == "2"
    with pytest.raises(PlanError, match=r"say where to: MoveTask\('1', before=\"3\"\), or after"):
        MoveTask("1", **given)


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_an_answer_says_something(empty):
    """Or the wait is ended without one."""
    with pytest.raises(PlanError, match=r"the answer is empty; .* UpdateTask\(id, waiting=None"):
        AnswerTask("1", empty)


def test_what_becomes_of_subtasks_is_one_of_three_words():
    """Another is refused with these."""
    assert DeleteTask("1", children="lift").children == "lift"
    with pytest.raises(
        PlanError, match=r"'keep' is no value of children; write one of refuse, lift, remove"
    ):
        DeleteTask("1", children="keep")


@pytest.mark.parametrize("wrong", ["no", "false", 1, 0, None])
def test_only_true_empties_a_list_on_purpose(wrong):
    """The word "no" is true in Python: it would get past the rule that keeps an open plan."""
    assert WriteTodos((), clear=True).clear is True
    with pytest.raises(PlanError, match="was given; give True or False"):
        WriteTodos((), clear=wrong)


@pytest.mark.parametrize("kind", [CreateTask, UpdateTask])
def test_metadata_of_a_command_is_frozen(kind):
    """A command is a value: what happens to the dict that was given does not reach it."""
    given = {"k": [1]}
    command = kind("1", metadata=given)
    twin = kind("1", metadata={"k": [1]})
    given["k"].append(2)
    assert command == twin
    assert hash(command) == hash(twin)
    assert command.metadata == FrozenDict({"k": [1]})


def nested(levels):
    """Return batches in batches, so many levels in all."""
    batch = Batch((StartNext(),))
    for _ in range(levels - 1):
        batch = Batch((StartNext(), batch))
    return batch


def test_batches_lie_in_each_other_so_deep_and_no_deeper():
    """The limit is told by an error, not by the interpreter's stack."""
    assert pickle.loads(pickle.dumps(nested(LEVELS))) == nested(LEVELS)  # noqa: S301 - our own
    with pytest.raises(
        PlanError, match=f"more than {LEVELS} levels deep; put their commands into one"
    ) as told:
        nested(LEVELS + 1)
    assert told.value.data == {"limit": LEVELS}


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (
            lambda: UpdateTask("1", status="done"),
            r"'done' .* is no status; write one of pending, in_progress, .*cancelled, failed$",
        ),
        (
            lambda: CreateTask("a", status="compleated"),
            r"is no status; .*mean completed\?$",
        ),
        (lambda: UpdateTask("1", status="blocked"), "is no status; write one of"),
        (lambda: UpdateTask("1", status=None), "is no status; write one of"),
        (lambda: CreateTask("a", priority="hihg"), r"is no priority; .*did you mean high\?$"),
        (lambda: UpdateTask("1", priority="urgent"), "write one of high, medium, low$"),
        (lambda: CreateTask("a", estimate="30"), "give a finite number or None"),
        (lambda: UpdateTask("1", estimate=True), "give a finite number or None"),
        (lambda: UpdateTask("1", estimate=float("nan")), "give a finite number or None"),
        (lambda: UpdateTask("1", estimate=float("inf")), "give a finite number or None"),
        (lambda: UpdateTask("1", estimate=10**400), "give a finite number or None"),
    ],
)
def test_an_unknown_word_is_refused_with_the_known_ones(make, remedy):
    """At once, in the developer's line: what was seen, what to write, and the nearest word."""
    with pytest.raises(PlanError, match=remedy) as caught:
        make()
    assert "seen" in caught.value.data


def test_estimates_and_members_stay_as_they_are():
    """Numbers, `None` and members of the enums need no reading."""
    assert CreateTask("a", estimate=30).estimate == 30
    assert CreateTask("a", estimate=0.5, priority=Priority.LOW).priority is Priority.LOW
    assert UpdateTask("1", estimate=None).estimate is None
    assert UpdateTask("1").estimate is UNSET
    assert UpdateTask("1", status=Status.PENDING).status is Status.PENDING


@pytest.mark.parametrize("kind", [CreateTask, UpdateTask])
def test_every_editable_field_can_be_given(kind):
    """
    A field that is added to `Task` as editable is offered by both commands, or this names it. What
    was answered and what was found have commands of their own.
    """
    offered = set(attrs.fields_dict(kind))
    assert offered >= EDITABLE - {"answer", "evidence"} | {"status", "parent"}
    assert offered - {"task_id"} <= set(TASK_FIELDS) | {
        "add_blocks",
        "add_blocked_by",
        "remove_blocks",
        "remove_blocked_by",
        "fence",
    }


def test_a_creation_gives_the_fields_that_a_task_begins_with():
    """`create` takes them over in one go: beside its id, a task begins with them, in one order."""
    given = list(attrs.fields_dict(CreateTask))
    begins = list(TASK_FIELDS)[1 : 1 + len(given)]
    assert sorted(begins) == sorted(given)


def test_the_namespace_shows_its_public_names_only():
    """`dir(todoplan.commands)` is the sixteen commands and what belongs to them."""
    assert dir(commands) == sorted(commands.__all__)
    assert len(get_args(commands.Command)) == 16
    assert len(dir(commands)) == 19
    for name in dir(commands):
        assert getattr(commands, name) is not None
