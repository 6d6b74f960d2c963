"""
Plans as documents in a state that is never changed in place, as in a graph's channels.

Law: a document that is the same object holds the same plan, so that what was written or read here
is not read a second time. What anyone copied, sent or saved is a plain dict, and is read anew.
"""

from typing import Any

from todoplan.codec.faults import MisfitError
from todoplan.codec.plans import plan_from_data, plan_to_data
from todoplan.codec.tasks import write_task
from todoplan.codec.versions import VERSION
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan

__all__ = ["Document", "document_of", "write_document"]

_MOST = 64
_read: dict[int, tuple[Any, "Document"]] = {}


class Document(dict[str, Any]):
    """
    What `plan_to_data` returns of `plan`, and the plan's tasks in `order`. A copy is a plain dict,
    also one that is made by rebuilding what is found by its type, as `dataclasses.asdict` does.
    """

    __slots__ = ("order", "plan")

    def __new__(cls, data: Any, *kept: Any) -> Any:
        """
        Return a plain dict of the data if the plan does not come with them.
        """
        return super().__new__(cls) if kept else dict(data)

    def __init__(self, data: dict[str, Any], plan: Plan, order: tuple[Task, ...]) -> None:
        super().__init__(data)
        self.plan, self.order = plan, order

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def document_of(value: Any) -> Document:
    """
    Return the document that a value in a state is.

    Raises:
        CodecError: it is no plan document.
    """
    if isinstance(value, Document):
        return value
    known = _read.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    plan = plan_from_data(value)
    data = value if value["version"] == VERSION else plan_to_data(plan)
    if len(_read) >= _MOST:
        _read.clear()
    made = Document(data, plan, tuple(plan))
    _read[id(value)] = value, made
    return made


def write_document(plan: Plan, before: Any = None) -> Document:
    """
    Return the document of a plan; what it shares with the document `before` is taken from there.

    Raises:
        CodecError: a task holds what JSON cannot; `before` is no plan document.
    """
    order = tuple(plan)
    if not before:
        return Document(plan_to_data(plan), plan, order)
    old = document_of(before)
    known = dict(zip(map(id, old.order), old["tasks"], strict=True))
    try:
        tasks = [known.get(id(task)) or write_task(task) for task in order]
    except MisfitError:
        tasks = plan_to_data(plan)["tasks"]  # says which task it is
    head = {"revision": plan.revision, "next_id": plan.next_id, "tasks": tasks}
    return Document({**old, **head}, plan, order)
