"""
Plans as the documents in a state. What was just written or read is not read a second time.

Documents in a state are never changed in place, as LangGraph asks of all state; so one that is the
same object holds the same plan.
"""

from collections import OrderedDict
from threading import Lock
from typing import Any

from todoplan.codec import plan_from_data, plan_to_data
from todoplan.codec.plans import written
from todoplan.core.plan import Plan

__all__ = ["Flat", "Frozen", "read_document", "write_document"]


class Frozen(dict[str, Any]):
    """
    A dict that nobody changes, so that a deep copy of it is itself: `ToolNode` copies all updates.
    """

    def __deepcopy__(self, memo: object) -> "Frozen":
        return self


class Flat(list[dict[str, str]]):
    """
    A list of dicts of texts, so that a deep copy need not look further.
    """

    def __deepcopy__(self, memo: object) -> "Flat":
        return Flat(map(dict, self))


_MOST = 64
_lock = Lock()
_known: OrderedDict[int, tuple[dict[str, Any], Plan]] = OrderedDict()


def read_document(document: Any) -> Plan:
    """
    Return the plan of a document.

    Raises:
        CodecError: it is no plan document.
    """
    found = _known.get(id(document))
    known = found is not None and found[0] is document
    plan = found[1] if found and known else plan_from_data(document)
    _keep(document, plan)
    return plan


def write_document(plan: Plan, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """
    Return the document of a plan; what it shares with the document `before` is taken from there.

    Raises:
        CodecError: a task holds what JSON cannot.
    """
    document = Frozen(_changed(plan, before) if before else plan_to_data(plan))
    _keep(document, plan)
    return document


def _changed(plan: Plan, before: dict[str, Any]) -> dict[str, Any]:
    known = dict(zip(map(id, read_document(before)), before["tasks"], strict=True))
    tasks = [known.get(id(task)) or written((task,))[0] for task in plan]
    return {**before, "revision": plan.revision, "next_id": plan.next_id, "tasks": tasks}


def _keep(document: dict[str, Any], plan: Plan) -> None:
    with _lock:
        _known[id(document)] = document, plan
        _known.move_to_end(id(document))
        while len(_known) > _MOST:
            _known.popitem(last=False)
