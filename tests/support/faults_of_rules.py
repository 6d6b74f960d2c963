"""
Rules of seven kinds as users write them: the law of each, and faulty checks by what they forget.

The faults are those that users made: they look at one way to reach a state and forget the others.
"""

from collections import Counter

from todoplan import Status
from todoplan.core.plan.plan import ancestors
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.problems import Problem

DONE, BEGUN = Status.COMPLETED, Status.IN_PROGRESS


def newly(change, status):
    """Return the tasks that have a status, and had another one or were not there."""
    before = {task.id for task in change.before if task.status is status}
    return [task for task in change.after if task.status is status and task.id not in before]


def moved(change, status):
    """Return the tasks that were moved to a status."""
    return [*filter(None, (change.after.get(move.task_id) for move in change.moves(status)))]


def problems(tasks):
    """Return a problem with each of the tasks."""
    return [Problem("own", (task.id,), note=f"#{task.id} must not.") for task in tasks]


def agreeing(law):
    """Return the check that is right: it refuses what the law refuses."""

    def check(change):
        try:
            return [] if law(change) else [Problem("own")]
        except AssertionError as error:
            return [Problem("own", note=str(error))]

    return check


# A limit per owner: two tasks in progress for each.
LIMIT = 2


def loads(plan):
    return Counter(task.owner for task in plan.active() if task.owner)


def at_most_two_each(change):
    return all(many <= LIMIT for many in loads(change.after).values())


def limit_of_moves(change):
    after = loads(change.after)
    return problems(task for task in moved(change, BEGUN) if after[task.owner] > LIMIT)


def limit_one_by_one(change):
    before = loads(change.before)
    known = {(task.id, task.owner) for task in change.before.active()}
    new = [task for task in change.after.active() if (task.id, task.owner) not in known]
    return problems(task for task in new if before[task.owner] + 1 > LIMIT)


# A required field: what is completed says in its description what was done.
def described(change):
    return all(task.description for task in change.after if task.status is DONE)


def field_at_moves(change):
    return problems(task for task in moved(change, DONE) if not task.description)


def field_of_new(change):
    return problems(task for task in newly(change, DONE) if not task.description)


# An order: a task is completed after all tasks that stand before it.
def in_order(change):
    done = {task.id for task in newly(change, DONE)}
    closed = True
    for task in change.after:
        if task.id in done and not closed:
            return False
        closed = closed and task.status.closed
    return True


def open_before(plan, task):
    return any(int(each.id) < int(task.id) and not each.status.closed for each in plan)


def order_before(change):
    return problems(task for task in newly(change, DONE) if open_before(change.before, task))


def order_by_id(change):
    return problems(task for task in newly(change, DONE) if open_before(change.after, task))


# Metadata: what has a high risk is reviewed before it begins.
def unreviewed(task):
    return task.metadata.get("risk") == "high" and not task.metadata.get("reviewed")


def risky_is_reviewed(change):
    return not any(map(unreviewed, change.after.active()))


def metadata_at_start(change):
    return problems(filter(unreviewed, newly(change, BEGUN)))


def metadata_by_key(change):
    risky = (task for task in change.after.active() if task.metadata.get("risk") == "high")
    return problems(task for task in risky if "reviewed" not in task.metadata)


# An actor: only who owns a task completes it.
def owner_completes(change):
    for task in newly(change, DONE):
        owner = change.before[task.id].owner if task.id in change.before else task.owner
        assert owner is None or change.actor == owner, f"{change.actor} completed #{task.id}"
    return True


def actor_unknown(change):
    was = [change.before.get(task.id) or task for task in newly(change, DONE)]
    return problems(t for t in was if change.actor and t.owner and change.actor != t.owner)


def actor_after(change):
    done = newly(change, DONE)
    return problems(t for t in done if t.owner is not None and change.actor != t.owner)


# Blockers and parents: what is begun has no open blocker, and no closed task has an open one in it.
def begun_is_free(change):
    return not any(unresolved_blockers(change.after, task) for task in change.after.active())


def blockers_at_start(change):
    begun = newly(change, BEGUN)
    return problems(task for task in begun if unresolved_blockers(change.after, task))


def nothing_open_in_closed(change):
    plan = change.after
    left = [task for task in plan if not task.status.closed]
    return not any(plan[each].status.closed for task in left for each in ancestors(plan, task.id))


def parents_of_children(change):
    plan = change.after
    closed = [task for task in plan if task.status.closed and task.id in change.before]
    return problems(
        task
        for task in closed
        if any(not plan[child].status.closed for child in plan.children(task.id))
    )


CASES = {
    at_most_two_each: {"created or given": limit_of_moves, "several at once": limit_one_by_one},
    described: {"created": field_at_moves, "emptied later": field_of_new},
    in_order: {"reopened at once": order_before, "moved": order_by_id},
    risky_is_reviewed: {"edited later": metadata_at_start, "false": metadata_by_key},
    owner_completes: {"unknown": actor_unknown, "takes it": actor_after},
    begun_is_free: {"linked later": blockers_at_start},
    nothing_open_in_closed: {"new parent": parents_of_children},
}
"""The faulty checks by what they forget, of each law."""
