"""
A framework's state as a store of one plan: the document in a slot, a key of a mutable mapping.

What a slot cannot do: keep a second plan, a whole journal (the latest 50 entries alone: undo goes
back to what was loaded), keys (a call that is made again after a crash), other processes, and be
read by somebody who holds an old copy of the mapping.
"""

from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any

from todoplan.codec import plan_from_data, plan_to_data
from todoplan.codec.states import entry_line, read_recent, with_lines
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import PlanError
from todoplan.stores.journals import beginning
from todoplan.stores.memory import MemoryHeld, MemoryStore

__all__ = ["HELD", "SLOT", "SlotStore"]

SLOT = "plan"
HELD = "held"
_JOURNAL = "journal"


class SlotStore(MemoryStore):
    """
    A store of one plan, in a mutable mapping: `plan` and `journal`. It is read once, and written
    with each append, so that the mapping may be saved at any time.
    """

    keeps_keys = False

    def __init__(self, slot: MutableMapping[str, Any]) -> None:
        super().__init__()
        self.slot = slot
        self.earlier = read_recent(slot.get(_JOURNAL))
        self._hand_over(plan_from_data(slot[SLOT]) if SLOT in slot else Plan())
        slot.setdefault(SLOT, plan_to_data(Plan()))

    def _hand_over(self, *plans: Plan) -> None:
        for held in plans:
            if held != Plan():
                entry = (beginning(held, HELD),)
                super()._add(SLOT, entry, held)

    def goes_on_from(self, base: Base) -> None:
        """
        Have the journal begin with the plan as a session last saw it.
        """
        plan = self.load(SLOT)
        self._plans.clear()
        self._journals.clear()
        self._hand_over(base.plan, plan)

    def history(self) -> tuple[Entry, ...]:
        """
        Return the latest entries, those of before it was loaded included.
        """
        return (*self.earlier, *(one for one in self.entries(SLOT) if one.cause != HELD))

    @contextmanager
    def hold(self, plan_id: str) -> Iterator[MemoryHeld]:
        """
        Hold the plan for the length of a `with`.
        """
        if plan_id != SLOT:
            msg = f"a slot holds one plan, under {SLOT!r}"
            raise PlanError(msg, plan_id=plan_id)
        with super().hold(plan_id) as held:
            yield held

    def _add(self, plan_id: str, entries: Sequence[Entry], plan: Plan) -> None:
        super()._add(plan_id, entries, plan)
        self.slot[SLOT] = plan_to_data(plan)
        self.slot[_JOURNAL] = with_lines(self.slot.get(_JOURNAL), map(entry_line, entries))
