"""
A store of one plan in a slot: a mutable mapping in a framework's state, which the framework saves.

A slot has these limits:

- It has one plan only.
- It has the latest 50 entries of the journal. A `Session` can undo these; a planner can undo only
  changes that were made after the plan was loaded.
- Idempotency keys are in the memory of this process only.
- Other processes cannot write to it, and readers with an older copy of the mapping do not see
  changes.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from datetime import UTC
from typing import Any

from todoplan.codec import dump_plan, plan_from_data, plan_to_data
from todoplan.codec.documents import RECENT, entry_line, read_recent, with_lines
from todoplan.codec.engine import to_text
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import EdgeAdded, EdgeRemoved, StatusChanged
from todoplan.core.plan.plan import Plan
from todoplan.errors import PlanError
from todoplan.stores.base import beginning
from todoplan.stores.memory import MemoryHold, MemoryStore, Signed

SLOT = "plan"
"""The id of the plan in a slot, and the mapping key of its document."""

JOURNAL = "journal"
"""The mapping key of the latest entries."""

LOADED = "held"
"""The cause of the entry that contains the plan as it was loaded."""


def plan_in_slot(saved: Mapping[str, Any] | None, owner: str) -> Plan:
    """
    Return the plan in a mapping that an adapter saved, or an empty plan if there is none.

    `owner` says in the error message to whom the plan belongs, for example "agent".

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: the mapping has no plan, because a store keeps it.
    """
    if not saved:
        return Plan()
    _refuse_stored(saved, owner)
    return plan_from_data(saved[SLOT])


def history_in_slot(saved: Mapping[str, Any] | None, owner: str) -> tuple[Entry, ...]:
    """
    Return the latest journal entries in a mapping that an adapter saved, oldest first.

    `owner` says in the error message to whom the plan belongs, for example "agent".

    Raises:
        CodecError: the saved journal is damaged.
        PlanError: the mapping has no journal, because a store keeps the plan.
    """
    if not saved:
        return ()
    _refuse_stored(saved, owner)
    return read_recent(saved.get(JOURNAL))


def _refuse_stored(saved: Mapping[str, Any], owner: str) -> None:
    if SLOT not in saved:
        msg = f"a store keeps the plan of this {owner}: read it there"
        raise PlanError(msg)


class SlotStore(MemoryStore):
    """
    A store of one plan, `plan_id`, in a mutable mapping under the keys "plan" and "journal".

    The mapping is read once and updated by each append, so it may be saved at any time. With
    `lazily` it is updated only when the attribute `slot` is read. This is for adapters that save
    the mapping only when their user asks for it.

    Raises:
        CodecError: the content of the mapping is damaged.
    """

    never_waits = True

    def __init__(
        self, slot: MutableMapping[str, Any], plan_id: str = SLOT, *, lazily: bool = False
    ) -> None:
        super().__init__()
        self._slot, self._lazily = slot, lazily
        self._unwritten: list[str | Entry] = []
        self._is_behind = False  # whether the mapping has the document of an earlier plan
        self.plan_id = plan_id
        self._earlier = read_recent(slot.get(JOURNAL))
        plan = plan_from_data(slot[SLOT]) if SLOT in slot else Plan()
        if plan != Plan():
            super().keep(plan_id, (beginning(plan, LOADED),), plan, {})
        # A slot without a document means that a store keeps the plan.
        if SLOT not in slot:
            slot[SLOT] = plan_to_data(plan)

    @property
    def slot(self) -> MutableMapping[str, Any]:
        """The mapping, with the current plan and journal."""
        self._write_journal()
        if self._is_behind:
            self._slot[SLOT] = plan_to_data(self.load(self.plan_id))
            self._is_behind = False
        return self._slot

    def to_text(self, **more: Any) -> str:
        """Return the mapping and `more` as one JSON text. Only changed tasks are encoded again."""
        self._write_journal()
        rest = {key: value for key, value in {**self._slot, **more}.items() if key != SLOT}
        return f'{{"{SLOT}":{dump_plan(self.load(self.plan_id))},{to_text(rest)[1:]}'

    def _write_journal(self) -> None:
        if self._unwritten:
            unwritten, self._unwritten = self._unwritten, []
            lines = [one if isinstance(one, str) else entry_line(one) for one in unwritten]
            self._slot[JOURNAL] = with_lines(self._slot.get(JOURNAL), lines)
            self._is_behind = True

    def history(self) -> tuple[Entry, ...]:
        """Return the latest entries, oldest first, including the loaded ones."""
        return (*self._earlier, *(one for one in self.entries(self.plan_id) if one.cause != LOADED))

    def hold(self, plan_id: str) -> MemoryHold:
        """Lock the plan for the duration of a `with` block."""
        if plan_id != self.plan_id:
            msg = f"a slot has one plan, {self.plan_id!r}; use a MemoryStore for several"
            raise PlanError(msg, plan_id=plan_id)
        return super().hold(plan_id)

    def keep(self, plan_id: str, entries: Sequence[Entry], plan: Plan, signed: Signed) -> None:
        """Save the entries appended to the locked plan, also in the mapping."""
        # Encode first, because this fails for an entry that no document can contain.
        lines = [entry if _is_plain(entry) else entry_line(entry) for entry in entries]
        super().keep(plan_id, entries, plan, signed)
        self._unwritten = [*self._unwritten, *lines][-RECENT:]
        if not self._lazily:
            _ = self.slot


def _is_plain(entry: Entry) -> bool:
    # Encoding such events cannot fail, so they are encoded only when the slot is read.
    return all(
        isinstance(event, StatusChanged | EdgeAdded | EdgeRemoved)
        and (event.at is None or event.at.tzinfo is UTC)
        for event in entry.events
    ) and (entry.at is None or entry.at.tzinfo is UTC)
