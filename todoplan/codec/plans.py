"""
Plans as documents, in both directions.

Law: what is read equals what was written, and the sequence of ids continues.
"""

from collections.abc import Iterable
from typing import Any

from todoplan.codec.checks import CHECK, checksum, unchecked
from todoplan.codec.faults import LISTED, MisfitError, shown, wrong_shape
from todoplan.codec.fragments import FRAGMENTS
from todoplan.codec.objects import approval, write_fields
from todoplan.codec.readers import FieldReader, optional, read_object
from todoplan.codec.tasks import read_tasks, write_tasks
from todoplan.codec.text import LIMIT, parse, to_text, to_unicode
from todoplan.codec.values import count, positive
from todoplan.codec.versions import PLAN, UPCASTERS, VERSION, Upcasters, check_head, upcast
from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import Approval, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import instance_of
from todoplan.core.problems import Problem
from todoplan.errors import CodecError, PlanError

__all__ = [
    "assembled",
    "dump_plan",
    "head",
    "load_plan",
    "plan_from_data",
    "plan_to_data",
    "written",
]


def plan_to_data(plan: Plan) -> dict[str, Any]:
    """
    Return the plan as plain JSON values, for frameworks that save state themselves.

    A time keeps its microseconds and its offset. A named time zone is saved as its offset at that
    time.

    Raises:
        CodecError: a task contains a value that JSON cannot represent (NaN, a set), or a time
            without a time zone.
    """
    instance_of(plan, Plan, "a Plan")
    return {**head(plan), "tasks": written(plan)}


def head(plan: Plan) -> dict[str, Any]:
    """
    Return the document of a plan without its tasks.

    Raises:
        CodecError: the approval contains a value that JSON cannot represent.
    """
    data = {
        "format": PLAN,
        "version": VERSION,
        "revision": plan.revision,
        "next_id": plan.next_id,
    }
    if plan.approved is not None:
        try:
            data["approved"] = write_fields(plan.approved)
        except MisfitError as error:
            raise wrong_shape(error.below("approved"), "plan that JSON can hold") from None
    return data


def written(tasks: Iterable[Task], first: int = 0) -> list[dict[str, Any]]:
    """
    Return tasks as plain data. `first` is the index of the first one in its plan, for error paths.

    Raises:
        CodecError: a task cannot be written; the path says which.
    """
    try:
        return write_tasks(tasks, first)
    except MisfitError as error:
        raise wrong_shape(error.below("tasks"), "plan that JSON can hold") from None


def plan_from_data(data: Any, *, upcasters: Upcasters = UPCASTERS) -> Plan:
    """
    Return the plan that `plan_to_data` wrote.

    Raises:
        CodecError: the data are not a plan document, are of a newer version, have faults (at most
            1,000 are listed), or do not match their "check".
    """
    # Law 11: OpenHands and docker-agent read a corrupt file as an empty list, and the next save
    # overwrites the plan.
    version = check_head(data, PLAN)
    if version < VERSION:
        # The checksum covers the data as written, so it is verified before upcasting.
        data = upcast(unchecked(data, "plan", {}), version, upcasters)
    try:
        read = read_object(unchecked(data, "plan", {}), _FIELDS, _REQUIRED)
    except MisfitError as error:
        raise wrong_shape(error.found, "plan", version=version) from None
    approved = read.get("approved")
    plan = assembled(read["tasks"], read["next_id"], read["revision"], approved, version=version)
    # `plan_of` increases a next id that is in use, but a document with such a next id is corrupt:
    # if its highest task had been cut off, an id would silently be used twice.
    if plan.next_id != read["next_id"]:
        found = [("next_id", f"{read['next_id']} is used; the lowest that is free: {plan.next_id}")]
        raise wrong_shape(found, "plan", version=version)
    return plan


_FIELDS: dict[str, FieldReader] = {
    "format": str,
    "version": int,
    "revision": count,
    "next_id": positive,
    "approved": optional(approval),
    "tasks": read_tasks,
}
_REQUIRED = tuple(name for name in _FIELDS if name != "approved")


def assembled(
    tasks: tuple[Task, ...],
    next_id: int,
    revision: int,
    approved: Approval | None = None,
    **data: Any,
) -> Plan:
    """
    Return the plan of existing tasks. `next_id` is increased above every id.

    Raises:
        CodecError: the tasks do not form a plan; `data["problems"]` says why.
    """
    try:
        return plan_of(tasks, next_id=next_id, revision=revision, approved=approved)
    except PlanError as error:
        found = error.data["problems"]
        data.update(problem="no_plan", path="tasks", problems=found)
        raise CodecError(_listed(found), **data) from None


def dump_plan(plan: Plan, *, check: bool = False) -> str:
    """
    Return the plan as one line of JSON. With `check`, `load_plan` detects flipped bits.

    A checksum costs the time to encode the whole plan; without one, only the changed tasks are
    encoded.

    Raises:
        CodecError: the same errors as `plan_to_data`.
    """
    instance_of(plan, Plan, "a Plan")
    if check:
        data = plan_to_data(plan)
        return to_text({**data, CHECK: checksum(data)})
    # Joined from cached text: the JSON encoder would encode all tasks again.
    try:
        tasks = [part.text for part in plan.written(FRAGMENTS) if part.text]
    except MisfitError:
        tasks = [to_text(task) for task in written(plan)]  # raises with all faults
    return f'{to_text(head(plan))[:-1]},"tasks":[{",".join(tasks)}]}}'


def load_plan(text: str | bytes, *, limit: int = LIMIT, upcasters: Upcasters = UPCASTERS) -> Plan:
    """
    Return the plan that `dump_plan` wrote. `limit` is in bytes.

    Raises:
        CodecError: the same errors as `plan_from_data`; or the text is truncated, too large or not
            JSON.
    """
    return plan_from_data(parse(to_unicode(text, limit)), upcasters=upcasters)


def _listed(problems: tuple[Problem, ...]) -> str:
    named = [
        f"{p.code} {', '.join(map(shown, p.task_ids[:5]))} ({p.seen})" for p in problems[:LISTED]
    ]
    more = f"; and {len(problems) - LISTED} more" if len(problems) > LISTED else ""
    return f"these tasks are no plan: {'; '.join(named)}{more}"
