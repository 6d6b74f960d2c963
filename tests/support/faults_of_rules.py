"""
Rules of six kinds as users write them, each with its law, the right check and two faulty ones.

The faults are those that users made: they look at one way to reach a state and forget the others.
"""

from collections import Counter

import attrs

from todoplan import Status
from todoplan.core.plan.plan import ancestors
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.problems import Problem
from todoplan.core.rules import Rule

DONE, BEGUN = Status.COMPLETED, Status.IN_PROGRESS


@attrs.frozen
class Case:
    """
    A rule of one kind: what the law says, what is right, and what is faulty, by what it forgets.
    """

    law: object
    right: object
    faulty: dict

    def rules(self):
        """Return the faulty rules by what they forget."""
        return {forgets: Rule("own", check) for forgets, check in self.faulty.items()}


def newly(change, *statuses):
    """Yield the tasks that have one of the statuses, and had another one or were not there."""
    for task in change.after:
        was = change.before.get(task.id)
        if task.status in statuses and (was is None or was.status is not task.status):
            yield task


def problem(task):
    """Return the problem with a task."""
    return Problem("own", (task.id,), note=f"#{task.id} must not.")


# A limit per owner: two tasks in progress for each.
LIMIT = 2


def loads(plan):
    return Counter(task.owner for task in plan.active() if task.owner)


def at_most_two_each(change):
    return all(many <= LIMIT for many in loads(change.after).values())


def limit_right(change):
    before = loads(change.before)
    for owner, many in loads(change.after).items():
        if many > LIMIT and many > before[owner]:
            yield Problem("own", seen=owner)


def limit_of_moves(change):
    after = loads(change.after)
    for move in change.moves(BEGUN):
        task = change.after.get(move.task_id)
        if task and after[task.owner] > LIMIT:
            yield problem(task)


def limit_one_by_one(change):
    before = loads(change.before)
    for task in change.after.active():
        was = change.before.get(task.id)
        new = was is None or was.status is not BEGUN or was.owner != task.owner
        if new and before[task.owner] + 1 > LIMIT:
            yield problem(task)


# A required field: what is completed says in its description what was done.
def described(change):
    return all(task.description for task in change.after if task.status is DONE)


def field_right(change):
    for task in change.after:
        if task.status is DONE and not task.description:
            yield problem(task)


def field_at_moves(change):
    for move in change.moves(DONE):
        task = change.after.get(move.task_id)
        if task and not task.description:
            yield problem(task)


def field_of_new(change):
    for task in newly(change, DONE):
        if not task.description:
            yield problem(task)


# An order: a task is completed after all tasks that stand before it.
def in_order(change):
    done = {task.id for task in newly(change, DONE)}
    closed = True
    for task in change.after:
        if task.id in done and not closed:
            return False
        closed = closed and task.status.closed
    return True


def order_right(change):
    done = {task.id for task in newly(change, DONE)}
    waits = False
    for task in change.after:
        if task.id in done and waits:
            yield problem(task)
        waits = waits or not task.status.closed


def order_before(change):
    open_before = [task for task in change.before if not task.status.closed]
    for task in newly(change, DONE):
        if any(int(each.id) < int(task.id) for each in open_before):
            yield problem(task)


def order_by_id(change):
    for task in newly(change, DONE):
        if any(int(e.id) < int(task.id) and not e.status.closed for e in change.after):
            yield problem(task)


# Metadata: what has a high risk is reviewed before it begins.
def risky_is_reviewed(change):
    return not any(
        task.metadata.get("risk") == "high" and not task.metadata.get("reviewed")
        for task in change.after.active()
    )


def unreviewed(task):
    return task.metadata.get("risk") == "high" and not task.metadata.get("reviewed")


def metadata_right(change):
    for task in change.after.active():
        if unreviewed(task):
            yield problem(task)


def metadata_at_start(change):
    for task in newly(change, BEGUN):
        if unreviewed(task):
            yield problem(task)


def metadata_by_key(change):
    for task in change.after.active():
        if task.metadata.get("risk") == "high" and "reviewed" not in task.metadata:
            yield problem(task)


# An actor: only who owns a task completes it.
def owner_completes(change):
    for task in newly(change, DONE):
        owner = change.before[task.id].owner if task.id in change.before else task.owner
        assert owner is None or change.actor == owner, f"{change.actor} completed #{task.id}"
    return True


def actor_right(change):
    for task in newly(change, DONE):
        was = change.before.get(task.id) or task
        if was.owner is not None and change.actor != was.owner:
            yield problem(task)


def actor_unknown(change):
    for task in newly(change, DONE):
        was = change.before.get(task.id) or task
        if change.actor and was.owner and change.actor != was.owner:
            yield problem(task)


def actor_after(change):
    for task in newly(change, DONE):
        if task.owner is not None and change.actor != task.owner:
            yield problem(task)


# Blockers and parents: what is begun has no open blocker, and no closed task has an open one in it.
def begun_is_free(change):
    return not any(unresolved_blockers(change.after, task) for task in change.after.active())


def blockers_right(change):
    for task in change.after.active():
        if unresolved_blockers(change.after, task):
            yield problem(task)


def blockers_at_start(change):
    for task in newly(change, BEGUN):
        if unresolved_blockers(change.after, task):
            yield problem(task)


def open_in_closed(plan):
    for task in plan:
        above = (plan[each] for each in ancestors(plan, task.id))
        if not task.status.closed and any(each.status.closed for each in above):
            yield task


def nothing_open_in_closed(change):
    return not [*open_in_closed(change.after)]


def parents_right(change):
    yield from map(problem, open_in_closed(change.after))


def parents_of_children(change):
    for task in change.after:
        if task.status.closed:
            for child in change.after.children(task.id):
                if not change.after[child].status.closed and task.id in change.before:
                    yield problem(task)


CASES = {
    "limit": Case(
        at_most_two_each,
        limit_right,
        {"created or given": limit_of_moves, "several at once": limit_one_by_one},
    ),
    "field": Case(
        described, field_right, {"created": field_at_moves, "emptied later": field_of_new}
    ),
    "order": Case(in_order, order_right, {"reopened at once": order_before, "moved": order_by_id}),
    "metadata": Case(
        risky_is_reviewed,
        metadata_right,
        {"edited later": metadata_at_start, "false": metadata_by_key},
    ),
    "actor": Case(
        owner_completes, actor_right, {"unknown": actor_unknown, "takes it": actor_after}
    ),
    "blockers": Case(begun_is_free, blockers_right, {"linked later": blockers_at_start}),
    "parents": Case(nothing_open_in_closed, parents_right, {"new parent": parents_of_children}),
}
