"""What the strategies draw is valid and varied, and shrinks to small values."""

import json
import re
from random import Random
from typing import get_args

import attrs
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from todoplan.core import commands
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.events import types as events
from todoplan.core.events.apply import apply, replay
from todoplan.core.plan.model import (
    EDITABLE,
    TASK_FIELDS,
    Approval,
    Claim,
    Evidence,
    FieldKind,
    Status,
    Task,
    Todo,
    Waiting,
)
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import blocked
from todoplan.core.rules import PRESETS, Limits, Policy
from todoplan.dialogue.guidance import Message, is_final_answer
from todoplan.dialogue.tools import LEAN
from todoplan.errors import PlanError
from todoplan.testing import strategies as some
from todoplan.testing.registering import TYPES
from todoplan.testing.strategies import command as some_command
from todoplan.testing.strategies import text, values
from todoplan.testing.strategies.command import BY_TYPE, CHANGES, EVENTS
from todoplan.testing.strategies.text import HOSTILE

FOUND = settings(max_examples=300, database=None, derandomize=True, phases=[Phase.generate])
LONG = settings(FOUND, max_examples=3_000)
CHAIN = plan_of(
    [
        Task("1", "a", blocks=("2",)),
        Task("2", "b", blocked_by=("1",)),
        Task("3", "c", parent="2", waiting=Waiting("ann")),
        Task("4", "d", status="in_progress", claim=Claim("w1", 1), claims=1),
    ],
    revision=3,
)
CLAIMED = plan_of([Task("1", "a", status="in_progress", claim=Claim("w1", 1), claims=1)])
FREE = plan_of([Task("1", "a")])
KINDS = get_args(commands.Command)
SMALL = settings(FOUND, phases=[Phase.generate, Phase.shrink])


def least(strategy, condition=lambda _: True):
    """Return the smallest of a few shrunk counterexamples, as `support.failures` does."""
    lots = (Random(n) for n in range(3))  # noqa: S311 - no secret
    found = [find(strategy, condition, settings=SMALL, random=lot) for lot in lots]
    return min(found, key=lambda each: len(repr(each)))


def one(strategy, condition):
    """Return the first value found, not shrunk."""
    return find(strategy, condition, settings=FOUND)


def edges(plan):
    """Return the edges as pairs of places in the plan."""
    place = {task.id: n for n, task in enumerate(sorted(plan, key=lambda task: int(task.id)))}
    return {(place[task.id], place[end]) for task in plan for end in task.blocks}


@given(st.sampled_from(values.SHAPES), st.integers(0, 5), st.data())
def test_plans_have_their_size_and_are_whole(shape, size, data):
    """A plan of any shape is valid and has the wanted size."""
    plan = data.draw(some.plans(shape=shape, min_size=size, max_size=size))
    assert len(plan) == size
    again = plan_of(plan, next_id=plan.next_id, revision=plan.revision, approved=plan.approved)
    assert again == plan


@given(st.integers(0, 6), st.data())
def test_plans_have_their_shape(size, data):
    """The edges are those that the shape is defined by."""
    last = size - 1

    def drawn(shape):
        return edges(data.draw(some.plans(shape=shape, min_size=size, max_size=size)))

    assert drawn("disconnected") == set()
    assert drawn("chain") == {(n, n + 1) for n in range(last)}
    assert drawn("wide") == {(0, n) for n in range(1, size)}
    middle = range(1, last)
    diamond = {(0, n) for n in middle} | {(n, last) for n in middle}
    assert drawn("diamond") == (diamond or ({(0, 1)} if size == 2 else set()))
    assert drawn("tree") == set()


@given(st.sampled_from(values.SHAPES), st.data())
def test_subtasks_are_drawn_where_the_shape_has_them(shape, data):
    """Only the shapes `tree` and `any` have subtasks, unless `kinds` excludes parents."""
    flat = data.draw(some.plans(shape=shape, kinds={FieldKind.PARENT: st.none()}))
    assert not any(task.parent for task in flat)
    if shape not in {"tree", "any"}:
        assert not any(task.parent for task in data.draw(some.plans(shape=shape)))


def _completes(script):
    plan = Plan()
    for command in script:
        before, plan = plan, decide(plan, command, Policy()).unwrap()
        if type(command) is commands.UpdateTask and plan.counts.completed > before.counts.completed:
            return True
    return False


BLOCKED = plan_of(
    [Task("1", "a", blocks=("2",)), Task("2", "a", blocked_by=("1",))], next_id=3, revision=2
)
NESTED = plan_of([Task("1", "a"), Task("2", "a", parent="1")], next_id=3, revision=2)
SHRINKS = {
    "a blocked task": (some.plans(), blocked, [BLOCKED]),
    "a subtask": (some.plans(), lambda plan: plan.nested, [NESTED]),
    "a subtask in a tree": (some.plans(shape="tree"), lambda plan: plan.nested, [NESTED]),
    "an approval": (some.plans(), lambda plan: plan.approved, [plan_of((), approved=Approval(0))]),
    "some plan": (some.plans(), len, [plan_of([Task("1", "a")], revision=1)]),
    "a plan": (some.plans(), None, [Plan()]),
    "a task": (some.tasks(), None, [Task("1", "a")]),
    "a todo": (some.todos(), None, [Todo("a")]),
    "a command": (some.commands(), None, [commands.StartNext(), commands.CreateTask("a")]),
    "a script": (some.scripts(), len, [(commands.CreateTask("a"),)]),
    "a completion": (
        some.scripts(),
        _completes,
        [(commands.CreateTask("a"), commands.UpdateTask("1", status=Status.COMPLETED))],
    ),
    "a long title": (text.titles(), lambda text: len(text) > 3, ["a000", "a  b"]),
    "a call": (some.arguments(LEAN).map(lambda call: call.arguments), None, [{}]),
    "a conversation": (some.conversations(), None, [(Message("user"),)]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "wanted", "smallest"), SHRINKS.values(), ids=SHRINKS)
def test_what_is_looked_for_shrinks_to_little(strategy, wanted, smallest):
    """A counterexample has nothing that it does not need."""
    assert least(strategy, wanted or (lambda _: True)) in smallest


@pytest.mark.slow
def test_a_waiting_task_shrinks_to_one_or_two():
    """Shrinking may leave one plain task too many."""
    *others, last = least(some.plans(), lambda plan: any(plan.waiting()))
    assert last == Task(last.id, "a", waiting=Waiting("ann"))
    assert others in ([], [Task("1", "a")])


@given(some.plans(), st.data())
def test_sensible_commands_are_accepted_where_no_rule_holds(plan, data):
    """Only a rule refuses a command that makes sense for its plan."""
    command = data.draw(some.sensible_commands(plan))
    assert isinstance(decide(plan, command, Policy()), Accepted)


@given(st.data())
@FOUND
def test_what_others_have_claimed_is_not_deleted(data):
    """If a plan's only task is claimed, no command deletes it, by id or by clearing the plan."""
    command = data.draw(some.sensible_commands(CLAIMED))
    assert type(command) not in {commands.DeleteTask, commands.ClearPlan}
    assert isinstance(decide(CLAIMED, command, Policy()), Accepted)


@given(some.scripts(), some.scripts(policy=PRESETS["default"]), some.scripts(blind=True))
def test_scripts_follow_the_plan(free, script, blind):
    """Each command of a script fits the plan made by the earlier ones; a blind command need not."""
    plan = Plan()
    for command in free:
        plan = decide(plan, command, Policy()).unwrap()
    for command in (*script, *blind):
        decide(plan, command)


def default_fields(strategy, type_, fields):
    """Return the fields of a class that many draws leave at their defaults."""
    left = {field.name: field.default for field in attrs.fields(type_)}

    @given(strategy)
    @settings(FOUND, max_examples=600)
    def look(drawn):
        for value in fields(drawn):
            for name, default in list(left.items()):
                if getattr(value, name) != default:
                    del left[name]

    look()
    return set(left)


DRAWN = some_command.COMMANDS


def alone(made):
    """Return a value in a list."""
    return [made]


MADE = {
    "tasks in plans": (some.plans(), Task, tuple),
    "creations": (DRAWN[commands.CreateTask], commands.CreateTask, alone),
    "updates": (DRAWN[commands.UpdateTask], commands.UpdateTask, alone),
    "lines": (some.todos(), Todo, alone),
    "writes": (DRAWN[commands.WriteTodos], commands.WriteTodos, alone),
    "what is brought back": (DRAWN[commands.RestorePlan], Task, lambda made: made.tasks),
    "limits": (values.limits(), Limits, alone),
}


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "type_", "fields"), MADE.values(), ids=MADE)
def test_every_field_is_drawn(strategy, type_, fields):
    """Each field of a value is sometimes drawn with something other than its default."""
    assert default_fields(strategy, type_, fields) == set()


# Values that are seldom drawn are made likely: all of them together would take thousands of draws.
OFTEN = {FieldKind.TEXT_OR_NONE: "owner", FieldKind.METADATA: "metadata"}


def test_a_task_with_every_field_set_is_drawn():
    """A completed task with every field set is drawn, but for its parent, a wait and a claim."""
    kept = {n: f for n, f in TASK_FIELDS.items() if n not in {"parent", "waiting", "claim"}}

    def whole(task):
        return all(getattr(task, name) != field.default for name, field in kept.items())

    kinds = {kind: values.field_values()[name].filter(bool) for kind, name in OFTEN.items()}
    chains = some.plans(shape="chain", min_size=3, status=st.just(Status.COMPLETED), kinds=kinds)
    assert one(chains, lambda plan: any(map(whole, plan)))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EDITABLE))
def test_every_field_is_edited(name):
    """A sensible command and an event change each field that can be edited."""

    def edits(command):
        return getattr(command, name, None) not in (None, commands.UNSET, {})

    updates = some.sensible_commands(CHAIN).filter(lambda c: type(c) is commands.UpdateTask)
    if name in CHANGES:
        assert find(updates, edits, settings=LONG)
    assert one(EVENTS[events.TaskEdited], lambda happened: name in happened.changes)


@pytest.mark.slow
def test_fields_may_be_drawn_otherwise():
    """`kinds` replaces the strategy for one kind of field and keeps the others."""
    at = values.times().filter(bool)
    task = least(some.tasks(st.just("x"), kinds={FieldKind.TIME: at, FieldKind.TEXT: st.just("t")}))
    assert (task.subject, task.description, task.owner) == ("x", "t", None)
    assert None not in {task.created_at, task.updated_at, task.started_at, task.completed_at}


@pytest.mark.parametrize("kind", KINDS)
def test_blind_commands_are_of_every_kind(kind):
    """Every kind of command is drawn."""
    assert one(some.commands(), lambda command: type(command) is kind)


SENSIBLE = {
    **{kind.__name__: lambda command, kind=kind: type(command) is kind for kind in KINDS},
    "unlink": lambda command: getattr(command, "remove_blocked_by", ()),
    "nest": lambda command: getattr(command, "parent", None) == "1",
    "up": lambda command: type(command) is commands.UpdateTask and command.parent is None,
    "wait": lambda command: isinstance(getattr(command, "waiting", None), Waiting),
    "go on": lambda command: type(command) is commands.UpdateTask and command.waiting is None,
    "behind": lambda command: getattr(command, "after", None),
    "lift": lambda command: getattr(command, "children", None) == "lift",
    "indent": lambda command: any(todo.level for todo in getattr(command, "todos", ())),
    "local parent": lambda command: any(
        (item.parent or "").startswith("#") for item in getattr(command, "items", ())
    ),
    "link": lambda command: getattr(command, "add_blocked_by", ()),
    "edit": lambda command: getattr(command, "owner", commands.UNSET) == "ann",
    "list": lambda command: any(item.blocked_by for item in getattr(command, "items", ())),
    "batch": lambda command: getattr(command, "commands", ()),
    "finish several": lambda command: (
        [getattr(part, "status", None) for part in getattr(command, "commands", ())]
        == ["completed", "completed"]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("wanted", SENSIBLE.values(), ids=SENSIBLE)
def test_sensible_commands_are_of_every_kind(wanted):
    """Every kind of command and change is drawn; a plan is cleared only if no task is claimed."""
    plan = FREE if wanted is SENSIBLE["ClearPlan"] else CHAIN
    assert find(some.sensible_commands(plan), wanted, settings=LONG)


def _deep(plan):
    return any(task.parent and plan[task.parent].parent for task in plan)


FOUND_IN = {
    "a blind command that is taken": (
        some.commands(),
        lambda command: type(decide(Plan(), command)) is Accepted,
    ),
    "a blind command that is refused": (
        some.commands(),
        lambda command: type(decide(Plan(), command)) is Rejected,
    ),
    "subtasks in subtasks of a tree": (some.plans(shape="tree"), _deep),
    "subtasks in subtasks": (some.plans(), _deep),
    "a script": (some.scripts(), len),
    "a blind script": (some.scripts(blind=True), len),
    "a history": (some.histories(), len),
    "a mixed policy": (some.policies(), lambda policy: policy not in PRESETS.values()),
    "a conversation with a reminder": (
        some.conversations(),
        lambda talked: any(message.shows is not None for message in talked),
    ),
    "a task with times": (some.tasks(), lambda task: task.completed_at),
    "edges among any": (some.plans(min_size=2), edges),
    "gaps": (some.plans(min_size=2), lambda plan: plan.next_id > len(plan) + 3),
    "the deletion of a parent": (
        st.composite(some_command.delete)(plan_of([Task("1", "a"), Task("2", "b", parent="1")])),
        lambda command: command.task_id == "1" and command.children in {"lift", "remove"},
    ),
    "local blockers": (
        DRAWN[commands.CreateTasks],
        lambda made: any(each.blocks for each in made.items),
    ),
}


@pytest.mark.parametrize(("strategy", "wanted"), FOUND_IN.values(), ids=FOUND_IN)
def test_what_is_seldom_comes(strategy, wanted):
    """Rare values of a strategy are drawn, too."""
    assert one(strategy, wanted)


@given(some.histories())
def test_histories_replay(happened):
    """Replaying a history gives a plan, with one revision for each event."""
    assert replay(Plan(), happened).revision == len(happened)


@given(some.plans(), some.events())
def test_any_event_applies_to_any_plan(plan, happened):
    """`apply` accepts every event and returns a plan."""
    assert apply(plan, happened).revision == plan.revision + 1


@given(some.policies())
def test_policies_have_all_rules(policy):
    """A policy is a preset, or rates every rule there is."""
    assert {rule.name for rule, _ in policy.rules} == {rule.name for rule, _ in Policy().rules}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_hostile_texts_are_of_their_kind(kind):
    """A drawn text contains an attack of the named kind, and is not blank."""

    @given(some.hostile_texts(kind))
    @settings(max_examples=20, database=None)
    def body(text):
        assert any(attack in text for attack in HOSTILE[kind])
        assert text.strip()

    body()


def test_the_calls_of_a_turn_have_ids_of_their_own():
    """A turn may have several calls, each with its own id."""
    calls = one(some.turns(LEAN), lambda drawn: len(drawn) == 4)
    assert [call.call_id for call in calls] == ["call_1", "call_2", "call_3", "call_4"]


def test_an_unknown_kind_of_attack_is_an_error():
    """The error names the known kinds."""
    with pytest.raises(PlanError, match="no hostile text is called x; there are reminder, ansi"):
        some.hostile_texts("x")


@given(some.conversations(max_turns=0, ended=False))
def test_a_conversation_may_have_no_turns_yet(talked):
    """Without turns, a conversation ends with the user's message."""
    assert talked[-1].role == "user"


@given(some.conversations(LEAN, ended=True), some.conversations(ended=False))
def test_conversations_could_have_been(ended, open_):
    """Every call is answered, in order; only an ended conversation ends with a final answer."""
    assert is_final_answer(ended[-1])
    assert not is_final_answer(open_[-1])
    for talked in (ended, open_):
        called = [name for each in talked for name in each.calls]
        assert called == [result.name for each in talked for result in each.results]


@given(text.titles(), some.texts(), values.times(), values.metadata(), values.json_values())
def test_texts_and_values(title, text, time, metadata, value):
    """Titles are never blank nor hold controls; times are aware; values and metadata are JSON."""
    assert title.strip()
    assert not re.search(r"[\x00-\x1f\ud800-\udfff]", title)
    assert isinstance(text, str)
    assert time is None or time.tzinfo
    assert json.loads(json.dumps([metadata, value])) == [metadata, value]


def test_intake_leaves_titles_as_they_are():
    """No title has a `<`: Hypothesis also draws texts of our own code, such as a closing tag."""
    with pytest.raises(NoSuchExample):
        one(text.titles(), lambda title: "<" in title)


VALUES = [Plan, Task, Todo, Waiting, Claim, Evidence, Approval, Policy, Limits]


@pytest.mark.parametrize("type_", [*VALUES, *KINDS, *EVENTS])
@given(data=st.data())
@settings(max_examples=10)
def test_types_are_registered(type_, data):
    """`st.from_type` knows every value class."""
    assert type(data.draw(st.from_type(type_))) is type_


def test_every_registered_type_has_a_strategy():
    """All commands and events are registered, and each has a strategy of ours."""
    assert {*KINDS, *EVENTS} <= set(TYPES) == BY_TYPE.keys()


@given(st.from_type(commands.Command), st.from_type(events.Event))  # pyright: ignore[reportArgumentType]
def test_unions_are_registered(command, happened):
    """`st.from_type` knows the unions `Command` and `Event`."""
    assert isinstance(command, commands.Command)
    assert isinstance(happened, events.Event)
