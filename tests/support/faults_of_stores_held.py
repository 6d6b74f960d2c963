"""Stores that hold plans and keep keys, and each do one thing wrongly."""

from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime, timedelta
from threading import Barrier, BrokenBarrierError

import attrs
from support.faults import caught_by
from support.stores_sound import AsyncHolding, Holding

from todoplan.errors import StoreError
from todoplan.stores.base import Key
from todoplan.stores.memory import MemoryStore

MOMENT = 0.1


class Bent(Holding):
    """
    Changes what is held before it is given.
    """

    @contextmanager
    def hold(self, plan_id):
        with self.kept.hold(plan_id) as held:
            yield self.bent(held, plan_id)

    def bent(self, held, plan_id):
        return held


@caught_by("a_tail_is_what_came_behind_a_revision")
class GivesTheEntryItself(Holding):
    def entries_since(self, plan_id, revision):
        return super().entries_since(plan_id, max(revision - 1, -1))


@caught_by("a_tail_is_what_came_behind_a_revision")
class DropsAnEvent(Bent):
    """A dropped event: the last one of a tail."""

    def bent(self, held, plan_id):
        real = held.entries_since
        held.entries_since = lambda revision: tuple(
            attrs.evolve(entry, events=entry.events[:1]) for entry in real(revision)
        )
        return held


@caught_by("a_plan_that_was_put_back_is_an_error")
class SaysNothingIsNew(Holding):
    def entries_since(self, plan_id, revision):
        with suppress(StoreError):
            return super().entries_since(plan_id, revision)
        return ()


@caught_by("a_hold_keeps_all_or_nothing")
class TearsABatch(Bent):
    """A torn batch: what was appended before the exception stays."""

    @contextmanager
    def hold(self, plan_id):
        with self.kept.hold(plan_id) as held:
            try:
                yield held
            except Exception:  # noqa: BLE001 - that is the fault
                held.signed.clear()
                failure = True
            else:
                failure = False
        if failure:
            raise ValueError


@caught_by("a_hold_keeps_all_or_nothing")
class KeepsWhatIsInterrupted(Holding):
    @contextmanager
    def hold(self, plan_id):
        interrupt = None
        with self.kept.hold(plan_id) as held:
            try:
                yield held
            except (KeyboardInterrupt, GeneratorExit) as raised:
                interrupt = raised
        if interrupt:
            raise interrupt


@caught_by("a_hold_keeps_all_or_nothing")
class KeepsWhatIsCancelled(AsyncHolding):
    @asynccontextmanager
    async def hold(self, plan_id):
        interrupt = None
        async with super().hold(plan_id) as held:
            try:
                yield held
            except BaseException as raised:  # noqa: BLE001 - that is the fault
                interrupt = raised
        if interrupt:
            raise interrupt


@caught_by("an_append_to_another_revision_of_a_held_plan_fails")
class AppendsWithoutAsking(Bent):
    def bent(self, held, plan_id):
        real = held.append
        held.append = lambda expected, entries, plan, **named: real(
            held.revision, entries, plan, **named
        )
        return held


@caught_by("who_holds_a_plan_is_alone")
class HoldsNothing(Holding):
    """A stale reader: what it gives is from before it waited."""

    def __init__(self, kept=None, both=None):
        super().__init__(kept)
        self.both = both or Barrier(2)

    def again(self):
        return type(self)(self.kept, self.both)

    @contextmanager
    def hold(self, plan_id):
        early = self.kept.entries(plan_id)
        try:
            self.both.wait(MOMENT)
        except BrokenBarrierError:
            self.both.reset()
        with self.kept.hold(plan_id) as held:
            held.entries_since = lambda revision: tuple(e for e in early if e.revision > revision)
            yield held


@caught_by("a_held_plan_has_the_stores_time")
class HasNoZone(Bent):
    def bent(self, held, plan_id):
        held.now = lambda: datetime(2026, 1, 31)  # noqa: DTZ001 - that is the fault
        return held


@caught_by("a_held_plan_has_the_stores_time")
class GoesBack(Bent):
    back = timedelta()

    def bent(self, held, plan_id):
        GoesBack.back += timedelta(1)
        now = held.now() - GoesBack.back
        held.now = lambda: now
        return held


@caught_by("plans_are_listed")
class ListsTheLastOne(Holding):
    def plan_ids(self):
        return super().plan_ids()[-1:]


@caught_by("an_append_with_a_key_happens_once")
class IgnoresKeys(Bent):
    """An ignored key."""

    def bent(self, held, plan_id):
        real = held.append
        held.append = lambda *given, **named: real(*given)
        return held


@caught_by("an_append_with_a_key_happens_once")
class KeepsKeysByHandle(Holding):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.mine = {}

    @contextmanager
    def hold(self, plan_id):
        with self.kept.hold(plan_id) as held:
            held._receipts = self.mine
            yield held
            self.mine.update(held.signed)


@caught_by("an_append_with_a_key_happens_once")
class ForgetsTheAnswer(Bent):
    def bent(self, held, plan_id):
        real = held.append
        held.append = lambda *given, key=None, answer="": real(*given, key=key)
        return held


@caught_by("another_request_under_a_key_is_an_error")
class TakesAnyPayload(Bent):
    def bent(self, held, plan_id):
        append, receipt = held.append, held.receipt
        held.append = lambda *given, key=None, answer="": append(
            *given, key=key and Key(key.name), answer=answer
        )
        held.receipt = lambda key: receipt(Key(key.name))
        return held


@caught_by("keys_are_of_one_plan")
class HasKeysOfAllPlans(Holding):
    everything = attrs.Factory(dict)

    def __init__(self, kept=None):
        super().__init__(kept)
        self.everything = {}

    def again(self):
        return self

    @contextmanager
    def hold(self, plan_id):
        with self.kept.hold(plan_id) as held:
            held._receipts = {}
            real = held.receipt
            held.receipt = lambda key: self.everything.get(key.name) or real(key)
            yield held
            self.everything.update({name: found[1] for name, found in held.signed.items()})


@caught_by("keys_are_of_one_plan")
class FoldsKeys(Bent):
    def bent(self, held, plan_id):
        real = held.append
        held.append = lambda *given, key=None, answer="": real(
            *given, key=key and Key(key.name.casefold(), key.payload), answer=answer
        )
        return held


@caught_by("a_key_goes_with_its_append")
class KeepsKeysOfWhatIsGone(Holding):
    @contextmanager
    def hold(self, plan_id):
        with self.kept.hold(plan_id) as held:
            try:
                yield held
            finally:
                self.kept._receipts.setdefault(plan_id, {}).update(
                    {
                        name: (payload, receipt, 0)
                        for name, (payload, receipt, _) in held.signed.items()
                    }
                )


class _AnyReceipt(MemoryStore):
    def has_kept(self, *_):
        return True


KeepsKeysOfWhatIsGone.__init__ = lambda self, kept=None: Holding.__init__(
    self, kept or _AnyReceipt()
)


@caught_by("of_several_with_one_key_one_is_kept")
class LooksForTheKeyTooEarly(HoldsNothing):
    @contextmanager
    def hold(self, plan_id):
        early = {**self.kept._receipts.get(plan_id, {})}
        try:
            self.both.wait(MOMENT)
        except BrokenBarrierError:
            self.both.reset()
        with self.kept.hold(plan_id) as held:
            held._receipts = early
            yield held


@caught_by("planners_that_hold_lose_nothing")
class LosesEveryThirdCommit(Holding):
    count = 0

    @contextmanager
    def hold(self, plan_id):
        with suppress(LookupError), self.kept.hold(plan_id) as held:
            yield held
            LosesEveryThirdCommit.count += 1
            if not LosesEveryThirdCommit.count % 3:
                raise LookupError
