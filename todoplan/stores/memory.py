"""A store in the memory of this process."""

from collections.abc import Sequence
from threading import Condition

from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.stores.base import Key, LocalHold, Receipt, check_payload, gone_back
from todoplan.stores.locks import Turn

_NOTHING = (Plan(), 0)
_PATIENCE = 10.0  # seconds; a thread locks for so long only if it waits for something else
# By key name: the payload, the receipt, and the length of the journal after the append.
Signed = dict[str, tuple[str, Receipt, int]]


class MemoryStore:
    """A `HoldingStore` that lives as long as the object. Safe to share between threads."""

    never_waits = True  # so an asyncio event loop may call it directly; not inherited

    def __init__(self) -> None:
        self._turn = Turn("the store in memory")
        # The plan and the length of its journal, as one pair: an append that is interrupted before
        # this pair is assigned (by Ctrl-C) has no effect.
        self._plans: dict[str, tuple[Plan, int]] = {}
        self._journals: dict[str, list[Entry]] = {}
        self._receipts: dict[str, Signed] = {}
        self._changed = Condition()

    def load(self, plan_id: str) -> Plan:
        """Return the plan as its last entry left it."""
        # Reading needs no lock: this is one look-up in a dict, and a plan is immutable.
        return self._plans.get(plan_id, _NOTHING)[0]

    def plan_ids(self) -> tuple[str, ...]:
        """Return the ids of the written plans, in the order in which they were added."""
        return tuple(self._plans)

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """Return the plan's journal, oldest entry first."""
        # Read the length first: entries appended in the meantime come after it.
        length = self._plans.get(plan_id, _NOTHING)[1]
        return tuple(self._journals.get(plan_id, ())[:length])

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision, oldest first.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        plan, length = self._plans.get(plan_id, _NOTHING)
        if revision > plan.revision:
            raise gone_back(plan_id, revision, plan.revision)
        # Search from the end: most callers already have nearly all entries.
        journal, first = self._journals.get(plan_id, []), length
        while first and journal[first - 1].revision > revision:
            first -= 1
        return tuple(journal[first:length])

    def wait_for_change(self, plan_id: str, revision: int, timeout: float) -> bool:
        """
        Wait at most `timeout` seconds until the plan's revision differs from `revision`; return
        whether it does.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self.load(plan_id).revision != revision, timeout)

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """Add entries if the plan is at revision `expected`; return whether they were added."""
        return self.hold(plan_id).append_if_at(expected, entries, plan)

    def hold(self, plan_id: str) -> "MemoryHold":
        """
        Lock the plan, and all other plans of this store, for the duration of a `with` block.

        Raises:
            StoreError: another thread holds the lock for 10 seconds ("busy"), or this thread
                already holds it ("nested").
        """
        return MemoryHold(self, self._turn, plan_id)

    def kept(self, plan_id: str) -> tuple[Plan, int, Signed]:
        """Return a plan, the length of its journal, and its receipts by key, for `MemoryHold`."""
        return (*self._plans.get(plan_id, _NOTHING), self._receipts.get(plan_id, {}))

    def keep(self, plan_id: str, entries: Sequence[Entry], plan: Plan, signed: Signed) -> None:
        """
        Save the new entries and the new receipts (`signed`) of a locked plan, for `MemoryHold`.
        """
        self._receipts.setdefault(plan_id, {}).update(signed)
        # The entries are saved last, because a receipt is valid only if its entries are there. They
        # begin at `length`, and overwrite what an interrupted append has left there.
        journal = self._journals.setdefault(plan_id, [])
        length = self._plans.get(plan_id, _NOTHING)[1]
        journal[length:] = entries
        self._plans[plan_id] = plan, len(journal)
        with self._changed:
            self._changed.notify_all()


class MemoryHold(LocalHold):
    """A locked plan of a `MemoryStore`. All other plans of the store are locked too."""

    def __init__(self, store: MemoryStore, turn: Turn, plan_id: str) -> None:
        super().__init__(plan_id)
        self._store, self._turn = store, turn
        self._taken: list[bool] = []
        self._added: tuple[Entry, ...] = ()
        self._signed: Signed = {}

    def begin(self) -> None:
        """Lock the store."""
        self._turn.take(self._taken, _PATIENCE)
        self._plan, self._length, self._receipts = self._store.kept(self._plan_id)
        self._before = self.revision = self._plan.revision

    def keep(self) -> None:
        """Save the appended entries."""
        if self._added or self._signed:
            self._store.keep(self._plan_id, self._added, self._plan, self._signed)

    def release(self) -> None:
        """Release the lock."""
        self._turn.give_back(self._taken)

    def _receipt(self, key: Key) -> Receipt | None:
        """Look up the result of the append that had this key."""
        saved = self._signed.get(key.name) or self._receipts.get(key.name)
        if saved is None:
            return None
        payload, receipt, length = saved
        if key.name not in self._signed:
            # An interrupt may come after a receipt was saved and before its entries were saved.
            # Such a receipt does not count.
            first = length - len(receipt.entries)
            if self._store.entries(self._plan_id)[first:length] != receipt.entries:
                return None
        check_payload(self._plan_id, key, payload)
        return receipt

    def _tail(self, revision: int) -> tuple[Entry, ...]:
        """Return the entries after a revision."""
        before = self._store.entries_since(self._plan_id, min(revision, self._before))
        if not self._added:  # the usual read, of a fresh lock
            return before
        return before + tuple(entry for entry in self._added if entry.revision > revision)

    def _write(self, entries: tuple[Entry, ...], plan: Plan, key: Key | None, answer: str) -> None:
        """Collect entries. `keep` saves them later."""
        self._added += entries
        self._plan, self.revision = plan, plan.revision
        if key is not None:
            length = self._length + len(self._added)
            self._signed[key.name] = key.payload, Receipt(entries, answer), length
