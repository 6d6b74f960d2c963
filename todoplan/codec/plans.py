"""Plans as documents, both ways. Law: what is read equals what was written, and ids go on."""

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
    Return the plan as plain JSON values, for frameworks that keep state of their own.

    A time keeps its microseconds and its offset; a zone's name becomes the offset it then had.

    Raises:
        CodecError: a task holds what JSON cannot (NaN, a set), or a time without a zone.
    """
    instance_of(plan, Plan, "a Plan")
    return {**head(plan), "tasks": written(plan)}


def head(plan: Plan) -> dict[str, Any]:
    """
    Return the document of a plan without its tasks.

    Raises:
        CodecError: the approval holds what JSON cannot.
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
    Return tasks as plain data; `first` is the place of the first one in its plan.

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
        CodecError: no plan document, a newer one, or one with faults (at most 1,000 are named), or
            one that has a "check" and was changed since.
    """
    # Law 11: OpenHands and docker-agent read a corrupt file as an empty list, and the next save
    # overwrites the plan.
    version = check_head(data, PLAN)
    if version < VERSION:
        # The check is of what was written, hence before the upcasters.
        data = upcast(unchecked(data, "plan", {}), version, upcasters)
    try:
        read = read_object(unchecked(data, "plan", {}), _FIELDS, _REQUIRED)
    except MisfitError as error:
        raise wrong_shape(error.found, "plan", version=version) from None
    approved = read.get("approved")
    plan = assembled(read["tasks"], read["next_id"], read["revision"], approved, version=version)
    # `plan_of` raises a next id that is in use. A document that has one is corrupt: had its highest
    # task been cut off, an id would be used twice, and nobody would know.
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
    Return the plan of ready-made tasks; `next_id` is raised above every id.

    Raises:
        CodecError: the tasks are no plan. `data["problems"]` says why.
    """
    try:
        return plan_of(tasks, next_id=next_id, revision=revision, approved=approved)
    except PlanError as error:
        found = error.data["problems"]
        data.update(problem="no_plan", path="tasks", problems=found)
        raise CodecError(_listed(found), **data) from None


def dump_plan(plan: Plan, *, check: bool = False) -> str:
    """
    Return the plan as one line of JSON; with `check`, such that `load_plan` finds flipped bits.

    A check costs the time to write the whole plan, of which otherwise only what changed is written.

    Raises:
        CodecError: as of `plan_to_data`.
    """
    instance_of(plan, Plan, "a Plan")
    if check:
        data = plan_to_data(plan)
        return to_text({**data, CHECK: checksum(data)})
    # By hand, since the encoder would write all tasks anew: each chunk's text is there already.
    try:
        tasks = [part.text for part in plan.written(FRAGMENTS) if part.text]
    except MisfitError:
        tasks = [to_text(task) for task in written(plan)]  # raises: with all faults, and whose
    return f'{to_text(head(plan))[:-1]},"tasks":[{",".join(tasks)}]}}'


def load_plan(text: str | bytes, *, limit: int = LIMIT, upcasters: Upcasters = UPCASTERS) -> Plan:
    """
    Return the plan that `dump_plan` wrote. `limit` is in bytes.

    Raises:
        CodecError: as of `plan_from_data`, and for text that is truncated, too large or not JSON.
    """
    return plan_from_data(parse(to_unicode(text, limit)), upcasters=upcasters)


def _listed(problems: tuple[Problem, ...]) -> str:
    named = [
        f"{p.code} {', '.join(map(shown, p.task_ids[:5]))} ({p.seen})" for p in problems[:LISTED]
    ]
    more = f"; and {len(problems) - LISTED} more" if len(problems) > LISTED else ""
    return f"these tasks are no plan: {'; '.join(named)}{more}"
