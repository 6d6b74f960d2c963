"""What holds for every kind of event: a new kind that was forgotten somewhere fails here."""

from typing import get_args

import attrs
from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.commands import CreateTask
from todoplan.core.decide import Transaction, decide, plan_problems
from todoplan.core.events.apply import Entry, apply, replay, touched
from todoplan.core.events.base import changed_by, differences
from todoplan.core.events.merge import rebased, renumbered
from todoplan.core.events.types import Event, PlanCleared, PlanRestored
from todoplan.core.plan.model import TASK_FIELDS, FieldKind
from todoplan.core.plan.plan import Draft
from todoplan.core.rules import Change, Policy
from todoplan.dialogue.replies import freed_texts
from todoplan.testing.strategies import plans
from todoplan.testing.strategies.command import EVENTS

one_of_each = st.tuples(*(EVENTS[kind] for kind in get_args(Event)))
OF_THE_PLAN = (PlanCleared, PlanRestored)
"""Events that change every task, also tasks that they do not name."""

FOLLOWS = {"blocks", "blocked_by", "parent", "status", "claim", "waiting", "evidence"}
"""Fields that also change as a result of something else, such as a deletion or a status."""
WRITTEN = [
    name
    for name, field in TASK_FIELDS.items()
    if name not in FOLLOWS and field.kind not in {FieldKind.TIME, FieldKind.COUNT}
]


def ids(plan):
    """Return the ids of a plan's tasks."""
    return {task.id for task in plan}


def changed(plan, after):
    """Return the ids of the tasks that differ."""
    return {one.task.id for one in differences(plan, after)}


def links(plan):
    """Return the pairs of ids that belong together, as an edge or as parent and subtask."""
    edges = {(end, task.id) for task in plan for end in task.blocked_by}
    return edges | {(task.parent, task.id) for task in plan if task.parent}


@given(plans(), one_of_each)
def test_an_event_names_every_task_that_it_changes(plan, events):
    """Beside those, only tasks at the other end of an edge and subtasks change."""
    for event in events:
        named = [plan[task_id] for task_id in event.task_ids if task_id in plan]
        near = {
            end
            for task in named
            for end in (*task.blocks, *task.blocked_by, *plan.children(task.id))
        }
        if not isinstance(event, OF_THE_PLAN):
            assert changed(plan, apply(plan, event)) <= {*event.task_ids, *near}, event


@given(plans(), one_of_each)
def test_what_is_not_touched_is_the_same_object_in_the_same_place(plan, events):
    """So a copy of a plan can be kept up to date; a new task stands at the end."""
    for event in events:
        named, after = touched([event]), apply(plan, event)
        if named is not None:
            before = [task.id for task in plan]
            assert [task.id for task in after][: len(before)] == before, event
            assert all(after[i] is plan[i] for i in before if i not in named), event
            assert ids(after) - ids(plan) <= set(named), event


@given(one_of_each)
def test_a_merge_renames_every_id(events):
    """No old id is left in any field; a restored plan has its own tasks."""
    new = {str(number): f"new {number}" for number in range(1_000)}
    for event in events:
        if not isinstance(event, PlanRestored):
            renamed = renumbered(event, new)
            fields = attrs.fields(type(event))
            left = {text for field in fields for text in texts(getattr(renamed, field.name))}
            assert left.isdisjoint(new), event
            assert renamed.task_ids == tuple(map(new.__getitem__, event.task_ids)), event


def test_a_text_that_is_no_id_is_the_name_of_an_actor():
    """A merge knows the ids by their type: an id that was declared as a text would be left."""
    fields = [field for kind in get_args(Event) for field in attrs.fields(kind)]
    assert {field.name for field in fields if field.type in (str, str | None)} == {"by", "lost_by"}


def texts(value):
    """Yield a text, or the texts of a tuple."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)


@given(plans(), st.lists(one_of_each, max_size=2))
def test_a_merge_gives_a_plan_whatever_the_other_branch_did(plan, branches):
    """Two branches together close no cycle and break nothing else, by any event."""
    for number in range(len(EVENTS)):
        merged, _, applied = rebased(plan, [events[number] for events in branches])
        assert [*plan_problems(tuple(merged), merged.next_id)] == []
        assert replay(plan, applied) == merged


@given(plans(), plans())
def test_a_merged_restore_loses_no_task_of_the_other_branch(plan, earlier):
    """Whatever plan it restores, and the applied events lead to the merged plan."""
    theirs = decide(plan, CreateTask("theirs"), Policy()).unwrap()
    restored = PlanRestored(tuple(earlier), earlier.next_id, approved=earlier.approved)
    merged, _, applied = rebased(theirs, (restored,), was=plan)
    assert "theirs" in [task.subject for task in merged]
    assert [*plan_problems(tuple(merged), merged.next_id)] == []
    assert replay(theirs, applied) == merged


@given(plans(), one_of_each)
def test_a_change_knows_what_was_removed_and_written(plan, events):
    """Rules ask for both. Removed is what is gone; a restored plan counts as written."""
    for event in events:
        after = apply(plan, event)
        change = Change(plan, after, None, (event,))
        if not isinstance(event, OF_THE_PLAN):
            assert {task.id for task in change.removed()} == ids(plan) - ids(after), event
        written = {
            task.id
            for task in after
            if task.id not in plan
            or any(getattr(task, name) != getattr(plan[task.id], name) for name in WRITTEN)
        }
        assert written <= {task.id for task in change.written()}, event


@given(plans(min_size=2) | plans(shape="chain", min_size=4), one_of_each)
def test_new_edges_are_checked_before_anything_is_taken_away(plan, events):
    """Else an edge could close a cycle that the rest of the command opens again."""
    for event in events:
        transaction = Transaction(Draft(plan), None)
        transaction.unchecked = {("1", "2"): "add_blocks"}
        transaction.emit(event)
        after = apply(plan, event)
        if links(plan) - links(after) or ids(plan) - ids(after):
            assert not transaction.unchecked, event


@given(plans(), one_of_each)
def test_a_reply_names_other_tasks_that_are_ready_now(plan, events):
    """Whatever made them ready; of a restored plan the reply says only that it is restored."""
    for event in events:
        change = Change(plan, apply(plan, event), None, (event,))
        ready = {task.id for task in change.after.ready() if task.id in plan}
        freed = {task_id for task_id in ready if not plan.is_ready(task_id)} - {*event.task_ids}
        if freed and not isinstance(event, PlanRestored):
            assert freed_texts(change), event


@given(plans(), one_of_each)
def test_whoever_changes_a_named_task_is_known(plan, events):
    """Also what others took away."""
    for event in events:
        after = apply(plan, event)
        known = changed_by(plan, [Entry(after.revision, (event,), actor="ann")])
        assert changed(plan, after) & {*event.task_ids} <= known.keys(), event
