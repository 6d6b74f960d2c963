"""Plans in this process's memory."""

from collections.abc import Sequence
from threading import Lock

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan

__all__ = ["MemoryStore"]


class MemoryStore:
    """
    A `Store` that lives as long as the object. Safe to share between threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._plans: dict[str, Plan] = {}
        self._journals: dict[str, list[Entry]] = {}

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.
        """
        return self._plans.get(plan_id, Plan())

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest first.
        """
        with self._lock:
            return tuple(self._journals.get(plan_id, ()))

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`, and say whether that was so.
        """
        with self._lock:
            if self.load(plan_id).revision != expected:
                return False
            self._journals.setdefault(plan_id, []).extend(entries)
            self._plans[plan_id] = plan
            return True
