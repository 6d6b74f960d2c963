"""Plans in this process's memory."""

from collections.abc import Sequence
from threading import Lock

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan

__all__ = ["MemoryStore"]

_NOTHING = (Plan(), 0)


class MemoryStore:
    """
    A `Store` that lives as long as the object. Safe to share between threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        # How long a journal is stands beside its plan: an append that is interrupted between the
        # two (Ctrl-C, or entries that raise while they are taken) is as if it had not been.
        self._plans: dict[str, tuple[Plan, int]] = {}
        self._journals: dict[str, list[Entry]] = {}

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.
        """
        # No lock: this is one look-up in a dict, and a plan never changes.
        return self._plans.get(plan_id, _NOTHING)[0]

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest first.
        """
        with self._lock:
            length = self._plans.get(plan_id, _NOTHING)[1]
            return tuple(self._journals.get(plan_id, ())[:length])

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`, and say whether that was so.
        """
        with self._lock:
            known, length = self._plans.get(plan_id, _NOTHING)
            if known.revision != expected:
                return False
            journal = self._journals.setdefault(plan_id, [])
            # From `length` on: this cuts off what an interrupted append has left behind.
            journal[length:] = entries
            self._plans[plan_id] = plan, len(journal)
            return True
