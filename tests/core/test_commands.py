import copy
import pickle
from datetime import UTC, datetime
from functools import partial
from typing import get_args

import attrs
import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core import commands
from todoplan.core.commands import UNSET
from todoplan.core.events import types as events
from todoplan.core.plan.model import (
    EDITABLE,
    LEVELS,
    TASK_FIELDS,
    Approval,
    Claim,
    Evidence,
    FrozenDict,
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


def test_every_command_and_every_event_is_public():
    """A member of the union that `__all__` leaves out would be missing in the namespace."""
    assert {kind.__name__ for kind in get_args(commands.Command)} <= {*commands.__all__}
    assert {kind.__name__ for kind in get_args(events.Event)} <= {*events.__all__}


def test_unset_is_neither_none_nor_a_copy():
    """UNSET means "leave it"; `None` clears."""
    assert copy.deepcopy(UNSET) is UNSET
    assert repr(UNSET) == "UNSET"
    assert commands.UpdateTask("1").status is commands.UpdateTask("1").priority is UNSET
    assert commands.UpdateTask("1", priority=None).priority is None


TUPLES = [
    (commands.WriteTodos, "todos", Todo("a")),
    (commands.CreateTasks, "items", commands.CreateTask("a")),
    (commands.RestorePlan, "tasks", Task("1", "a")),
    (commands.Batch, "commands", commands.StartNext()),
]
ENDS = [
    *((commands.CreateTask, name) for name in ("blocks", "blocked_by")),
    *(
        (commands.UpdateTask, name)
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


TEXT_FIELDS = ["description", "active_form", "owner", "parent", "check", "answer"]
TIME_FIELDS = ["created_at", "updated_at", "started_at", "completed_at"]
REFUSED = [
    *((make, "give a text") for make in (
        lambda: commands.CreateTask(None),
        lambda: commands.CreateTask("a", None),
        lambda: commands.CreateTask("a", owner=5),
        lambda: commands.CreateTask("a", active_form=5),
        lambda: commands.UpdateTask("1", subject=None),
        lambda: commands.UpdateTask("1", description=None),
        lambda: commands.UpdateTask("1", owner=5),
        lambda: commands.UpdateTask("1", active_form=5),
        lambda: commands.UpdateTask("1", parent=1),
        lambda: commands.UpdateTask("1", check=1),
        lambda: Todo(None),
        lambda: Todo("a", id=1),
        lambda: commands.AnswerTask("1", None),
        lambda: commands.RecordEvidence("1", passed=True, summary=None),
        lambda: commands.ApprovePlan(1),
        lambda: Waiting(None),
        lambda: Task("1", None),
        *(lambda name=name: Task("1", "a", **{name: b"5"}) for name in TEXT_FIELDS),
    )),
    *((make, "give an id") for make in (
        lambda: Task(5, "a"),
        lambda: commands.UpdateTask(3),
        lambda: commands.DeleteTask(3),
        lambda: commands.MoveTask("1", before=2),
        lambda: commands.MoveTask(1, before="2"),
        lambda: commands.CreateTask("a", parent=1),
    )),
    *((make, "a whole number from 0 on") for make in (
        lambda: commands.RestorePlan((), 1.5),
        lambda: commands.RestorePlan((), True),  # noqa: FBT003 - the mistake
        lambda: commands.RestorePlan((), None),
        lambda: commands.RestorePlan((), -5),
        lambda: Approval(-1),
        lambda: commands.WriteTodos((Todo("a", level=-1),)),
    )),
    *((make, "a whole number from 1 on") for make in (
        lambda: Claim("bot", 0),
        lambda: commands.ReleaseClaim("1", "x"),
        lambda: commands.UpdateTask("1", fence=0),
    )),
    *((make, "give a finite number or None") for make in (
        lambda: commands.CreateTask("a", estimate="30"),
        lambda: commands.UpdateTask("1", estimate=True),
        lambda: commands.UpdateTask("1", estimate=float("nan")),
    )),
    (lambda: commands.CreateTask("a", metadata=None), "give a mapping"),
    (lambda: commands.UpdateTask("1", metadata=[]), "give a mapping"),
    (lambda: Todo("a", waiting="ann"), "None, or a Waiting"),
    (lambda: commands.CreateTask("a", waiting="ann"), r"such as Waiting\(\"the answer of ann\"\)"),
    (lambda: commands.UpdateTask("1", waiting="ann"), "None, or a Waiting"),
    *((lambda name=name: Task("1", "a", **{name: "now"}), r"an aware time .*now\(UTC\)")
      for name in TIME_FIELDS),
    (lambda: Waiting("ann", until="tomorrow"), "an aware time"),
    (lambda: commands.CreateTask("a", due="2026-12-31"), "a date such as"),
    (lambda: commands.UpdateTask("1", due=datetime(2026, 12, 31, tzinfo=UTC)), "a date such as"),
    (lambda: Evidence("no"), "True or False"),
    (lambda: commands.RecordEvidence("1", "yes"), "True or False"),
    (lambda: Task("1", "a", evidence=True), r"such as Evidence\(True"),
    (lambda: Task("1", "a", claim="bot"), r"such as Claim\(\"worker-1\", fence=1\)"),
    (lambda: commands.RestorePlan((), approved=3), "or an approval"),
    (lambda: commands.AnswerTask("1", " "), r"the answer is empty; .* UpdateTask\(id"),
    (lambda: commands.ClaimTask(" "), "the owner of a claim has no name"),
    (lambda: commands.ClaimTask("bot", lease=0), "a lease has 0 seconds; give a number above 0"),
    (lambda: commands.ClaimTask("bot", lease=None), "a lease has None seconds"),
    (lambda: commands.ClaimTask("bot", give_to=" "), "^the actor to give a task to has no name"),
    (lambda: commands.ClaimTask("bot", attempts=0), "give a whole number from 1 on"),
    (lambda: commands.RenewClaim("1", 1, lease=1e300), "at most 1,000,000,000"),
    (lambda: commands.DeleteTask("1", "keep"),
     "'keep' is no value of children; write one of refuse, lift, remove"),
    (lambda: commands.DeleteTask("1", []), "is no value of children"),
    (lambda: commands.MoveTask("1"), r"say where to: MoveTask\('1', before=\"3\"\), or after"),
    (lambda: commands.MoveTask("1", before="2", after="3"), "not both"),
    (lambda: commands.UpdateTask("1", status="done"),
     r"'done' .* is no status; write one of pending, in_progress, .*cancelled, failed$"),
    (lambda: commands.CreateTask("a", status="compleated"), r"is no status; .*mean completed\?$"),
    (lambda: commands.UpdateTask("1", status=None), "is no status; write one of"),
    (lambda: commands.CreateTask("a", priority="hihg"), r"is no priority; .*did you mean high\?$"),
    (lambda: commands.UpdateTask("1", priority="urgent"), "write one of high, medium, low$"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "remedy"), REFUSED)
def test_what_does_not_fit_is_refused_where_it_is_given(make, remedy):
    """The developer's line is in the traceback; the message says what was seen and what to give."""
    with pytest.raises(PlanError, match=remedy) as caught:
        make()
    assert "seen" in caught.value.data


def test_what_fits_is_kept():
    """None clears, a word says what becomes of subtasks, true empties a list on purpose."""
    assert commands.UpdateTask("1", parent=None).parent is None
    assert commands.UpdateTask("1", waiting=None).waiting is None
    assert commands.DeleteTask("1", "lift").children == "lift"
    assert commands.MoveTask("1", after="2").after == "2"
    assert commands.WriteTodos((), clear=True).clear is True
    assert commands.RestorePlan((), approved=Approval(2)).approved == Approval(2)


@pytest.mark.parametrize("kind", [commands.CreateTask, commands.UpdateTask, partial(Task, "1")])
def test_metadata_that_was_given_is_frozen(kind):
    """Commands and tasks are values: what happens to the dict that was given does not reach it."""
    given = {"k": [1]}
    made = kind("1", metadata=given)
    twin = kind("1", metadata={"k": [1]})
    given["k"].append(2)
    assert made == twin
    assert hash(made) == hash(twin)
    assert made.metadata == FrozenDict({"k": [1]})
    assert type(made.metadata) is FrozenDict


def nested(levels):
    """Return batches in batches, so many levels in all."""
    batch = commands.Batch((commands.StartNext(),))
    for _ in range(levels - 1):
        batch = commands.Batch((commands.StartNext(), batch))
    return batch


def test_batches_lie_in_each_other_so_deep_and_no_deeper():
    """The limit is told by an error, not by the interpreter's stack."""
    assert pickle.loads(pickle.dumps(nested(LEVELS))) == nested(LEVELS)  # noqa: S301 - our own
    with pytest.raises(
        PlanError, match=f"more than {LEVELS} levels deep; put their commands into one"
    ) as told:
        nested(LEVELS + 1)
    assert told.value.data == {"limit": LEVELS}


@pytest.mark.parametrize("kind", [commands.CreateTask, commands.UpdateTask])
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
    given = list(attrs.fields_dict(commands.CreateTask))
    begins = list(TASK_FIELDS)[1 : 1 + len(given)]
    assert sorted(begins) == sorted(given)


def test_the_namespace_shows_its_public_names_only():
    """`dir(todoplan.commands)` is the sixteen commands and what belongs to them."""
    assert dir(commands) == sorted(commands.__all__)
    assert len(get_args(commands.Command)) == 16
    assert len(dir(commands)) == 19
    for name in dir(commands):
        assert getattr(commands, name) is not None
