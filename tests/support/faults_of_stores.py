"""Stores that each do one thing wrongly, for the checks of the store suite to find."""

import asyncio
import os
import time
import unicodedata
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from threading import Barrier, BrokenBarrierError, Event, Lock

import attrs
from support import faults
from support.faults import caught_by, edited
from support.stores_sound import AsyncHolding, AsyncSound, Holding, Sound

from todoplan.codec import entry_to_data
from todoplan.core.decide import plan_of
from todoplan.core.events.apply import replay
from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.model import EMPTY
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import Key, Receipt, follow
from todoplan.stores.file import FileStore


def reading(checks, change, method="load", base=Sound):
    """Make a fault that changes what a method returns."""
    return faults.after(checks, base, **{method: lambda _, found, *__: change(found)})


def showing(meant, change):
    """Make a fault that changes each task that is read."""
    return reading(meant, lambda plan: edited(plan, change))


def writing(checks, change):
    """Make a fault that changes the entries that are written."""
    return faults.before(
        checks,
        Sound,
        append=lambda _, plan_id, expected, entries, plan: (
            plan_id, expected, change(entries), plan
        ),
    )  # fmt: skip


def forcing(checks, when):
    """Make a fault that always appends if `when` holds of the plan's and the expected revision."""

    def append(self, plan_id, expected, entries, plan):
        if when(self.revision(plan_id), expected):
            return self.force(plan_id, entries, plan)
        return Sound.append(self, plan_id, expected, entries, plan)

    return faults.instead(checks, Sound, append=append)


def renaming(function, checks="odd_ids_are_apart"):
    """Make a fault that stores a plan under the result of a function of its id."""
    changes = dict.fromkeys(
        ("load", "entries", "append"), lambda _, plan_id, *more: (function(plan_id), *more)
    )
    return faults.before(checks, Sound, **changes)


def bending(checks, **methods):
    """Make a fault that replaces methods of locks. Each gets the lock and the right method."""

    @contextmanager
    def hold(self, plan_id):
        with self.kept.hold(plan_id) as held:
            for name, method in methods.items():
                setattr(held, name, partial(method, held, getattr(held, name)))
            yield held

    return faults.instead(checks, Holding, hold=hold)


def bare(entries):
    """Return entries that do not say what they undo."""
    return tuple(attrs.evolve(entry, undoes=None) for entry in entries)


def encoded(text):
    """Return a text without lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def without_zone(entries):
    """Return entries whose times have no time zone."""
    return tuple(attrs.evolve(e, at=e.at and e.at.replace(tzinfo=None)) for e in entries)


# -------- one call after the other --------

KEPT, TEXTS, TAIL = (
    "what_is_appended_is_kept", "every_text_is_kept", "a_tail_is_what_came_behind_a_revision",
)  # fmt: skip
SaysNoneForNoPlan = reading(
    "a_plan_never_written_is_empty", lambda plan: plan if plan.revision else None
)
GivesNewestFirst = reading(KEPT, lambda found: found[::-1], "entries")
GivesAList = reading(KEPT, list, "entries")
DropsTheZone = reading(KEPT, without_zone, "entries")
CountsIdsAnew = reading(KEPT, lambda plan: plan_of(tuple(plan), revision=plan.revision))
KeepsTheLastEntry = writing(KEPT, lambda entries: entries[-1:])
ForgetsWhatWasUndone = writing(KEPT, bare)
LosesMetadata = showing(KEPT, lambda task: attrs.evolve(task, metadata=EMPTY))
DropsWhatDoesNotPrint = showing(
    KEPT,
    lambda task: attrs.evolve(task, subject="".join(filter(str.isprintable, task.subject)) or "a"),
)
KeepsUtf8 = showing(TEXTS, lambda task: attrs.evolve(task, subject=encoded(task.subject)))
CutsAtNul = showing(
    TEXTS, lambda task: attrs.evolve(task, subject=task.subject.partition("a\0b")[0] or "a")
)
CutsLongTexts = showing(TEXTS, lambda task: attrs.evolve(task, subject=task.subject[:4_000]))
MakesOneBreakOfAll = showing(
    TEXTS, lambda task: attrs.evolve(task, subject=task.subject.replace("\r\n", "\n"))
)
DropsWhatItCannotKeep = showing(
    "an_append_that_fails_leaves_nothing",
    lambda task: attrs.evolve(task, metadata=EMPTY) if "holes" in task.metadata else task,
)


@caught_by("a_plan_never_written_is_empty")
class KnowsNoOtherPlan(Sound):
    def load(self, plan_id):
        if not self.kept.entries(plan_id):
            raise KeyError(plan_id)
        return super().load(plan_id)


@caught_by("a_plan_never_written_is_empty")
class MakesAPlanByLooking(Sound):
    def entries(self, plan_id):
        found = super().entries(plan_id)
        if not found:
            self.kept.keep(plan_id, (), attrs.evolve(Plan(), revision=1), {})
        return found


SaysNothingOfSuccess = reading(KEPT, lambda _: None, "append")
CountsEntriesForRevisions = faults.instead(
    KEPT,
    Sound,
    append=lambda self, plan_id, expected, entries, plan: (
        len(self.kept.entries(plan_id)) == expected and self.force(plan_id, entries, plan)
    ),
)
SavesNothing = faults.instead(KEPT, Sound, again=lambda self: type(self)())


@caught_by("handles_see_what_others_wrote")
class RemembersWhatItRead(Sound):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.seen = {}

    def load(self, plan_id):
        return self.seen.setdefault(plan_id, super().load(plan_id))

    def append(self, plan_id, expected, entries, plan):
        self.seen.pop(plan_id, None)
        return super().append(plan_id, expected, entries, plan)


@caught_by("what_was_read_does_not_change")
class KeepsTheGivenList(Sound):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.given = {}

    def again(self):
        return self

    def entries(self, plan_id):
        return tuple(entry for given in self.given.get(plan_id, ()) for entry in given)

    def append(self, plan_id, expected, entries, plan):
        done = super().append(plan_id, expected, entries, plan)
        if done:
            self.given.setdefault(plan_id, []).append(entries)
        return done


@caught_by("what_was_read_does_not_change")
class ChangesThePlanInPlace(Sound):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.mine = {}

    def load(self, plan_id):
        mine = self.mine.setdefault(plan_id, attrs.evolve(Plan()))
        for field in attrs.fields(Plan):
            object.__setattr__(mine, field.name, getattr(super().load(plan_id), field.name))
        return mine

    def append(self, plan_id, expected, entries, plan):
        done = super().append(plan_id, expected, entries, plan)
        self.load(plan_id)
        return done


@caught_by("an_append_to_an_older_revision_is_refused")
class LooksForTheKeyOnly(Sound):
    def append(self, plan_id, expected, entries, plan):
        taken = {entry.revision for entry in self.kept.entries(plan_id)}
        if expected > self.revision(plan_id) or taken & {entry.revision for entry in entries}:
            return False
        return self.force(plan_id, entries, plan)


@caught_by("an_append_to_an_older_revision_is_refused")
class RaisesInstead(Sound):
    def append(self, plan_id, expected, entries, plan):
        if not super().append(plan_id, expected, entries, plan):
            msg = "duplicate key"
            raise ValueError(msg)
        return True


@caught_by("an_append_to_an_older_revision_is_refused")
class WritesAndSaysNo(Sound):
    def append(self, plan_id, expected, entries, plan):
        at_hand = self.revision(plan_id) == expected
        self.kept.keep(plan_id, entries if at_hand else (), plan, {})
        return at_hand


TakesWhatIsAhead = forcing(
    "an_append_to_a_newer_revision_is_refused", lambda now, expected: 0 < now < expected
)
TakesAnyFirst = forcing("a_plan_never_written_is_at_revision_zero", lambda now, _: not now)


@caught_by("an_append_that_fails_leaves_nothing")
class WritesOneByOne(Sound):
    def append(self, plan_id, expected, entries, plan):
        if self.revision(plan_id) != expected:
            return False
        for entry in entries:
            entry_to_data(entry)
            self.force(plan_id, (entry,), replay(self.kept.load(plan_id), entry.events))
        return True


KeepsOnePlan = renaming(lambda _: "one", "plans_are_apart")
FoldsCase = renaming(str.casefold)
StripsIds = renaming(str.strip)
StripsTheEnd = renaming(str.rstrip)
TakesTheFileName = renaming(lambda one: PurePosixPath(one).name)
ReplacesSlashes = renaming(lambda one: one.replace("/", "_"))
Normalises = renaming(lambda one: unicodedata.normalize("NFC", one))
CutsIds = renaming(lambda one: one[:64])
ReadsNumbers = renaming(lambda one: one.lstrip("0") if one.isdigit() else one)
TakesAscii = renaming(lambda one: one.encode("ascii", "replace").decode())
TakesLikeForEqual = renaming(lambda one: one.replace("%", "_"))


# -------- several who call --------


MOMENT = 0.1
"""Seconds that a fault waits for another caller."""


def meet(both):
    """Wait until another caller is at the same place, or for a moment."""
    try:
        both.wait(MOMENT)
    except BrokenBarrierError:
        both.reset()


class Waiting(Sound):
    """A store that waits, in the middle of an append, for another caller, or for a moment."""

    def __init__(self, kept=None):
        super().__init__(kept)
        self.seen = Event()

    def again(self):
        return self

    def wait(self):
        self.seen.wait(MOMENT)


@caught_by("one_of_several_appends_wins")
class AsksAndThenWrites(Sound):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.both = Barrier(2)

    def again(self):
        return self

    def append(self, plan_id, expected, entries, plan):
        if self.revision(plan_id) != expected:
            return False
        meet(self.both)
        return self.force(plan_id, entries, plan)


@caught_by("one_of_several_appends_wins")
class HasALockForEachHandle(AsksAndThenWrites):
    def __init__(self, kept=None, both=None):
        super().__init__(kept)
        self.both = both or self.both
        self.lock = Lock()

    def again(self):
        return type(self)(self.kept, self.both)

    def append(self, plan_id, expected, entries, plan):
        with self.lock:
            return super().append(plan_id, expected, entries, plan)


@caught_by("no_reader_sees_half_an_append")
class WritesTheJournalFirst(Waiting):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.half = {}

    def entries(self, plan_id):
        self.seen.set()
        return super().entries(plan_id) + self.half.get(plan_id, ())

    def append(self, plan_id, expected, entries, plan):
        if self.revision(plan_id) == expected:
            self.half = {plan_id: tuple(entries[:1])}
            self.seen.clear()
            self.wait()
        self.half = {}
        return super().append(plan_id, expected, entries, plan)


@caught_by("no_reader_sees_half_an_append")
class WritesThePlanFirst(Waiting):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.ahead = {}

    def load(self, plan_id):
        return self.ahead.get(plan_id) or super().load(plan_id)

    def entries(self, plan_id):
        self.seen.set()
        return super().entries(plan_id)

    def append(self, plan_id, expected, entries, plan):
        if self.revision(plan_id) == expected:
            self.ahead = {plan_id: plan}
            self.seen.clear()
            self.wait()
        self.ahead = {}
        return super().append(plan_id, expected, entries, plan)


@caught_by("plans_do_not_hinder_each_other")
class GivesUpWhenBusy(Waiting):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.lock = Lock()

    def append(self, plan_id, expected, entries, plan):
        if not self.lock.acquire(blocking=False):
            self.seen.set()
            return False
        try:
            self.wait()
            return super().append(plan_id, expected, entries, plan)
        finally:
            self.lock.release()


@caught_by("one_of_several_appends_wins")
class AsksAndAwaits(AsyncSound):
    async def append(self, plan_id, expected, entries, plan):
        if (await self.load(plan_id)).revision != expected:
            return False
        await asyncio.sleep(0)
        return self.kept.append(plan_id, self.kept.load(plan_id).revision, entries, plan)


@caught_by("no_reader_sees_half_an_append")
class AwaitsBetweenEntries(AsyncSound):
    def __init__(self, kept=None, half=None):
        super().__init__(kept)
        self.half = {} if half is None else half

    def again(self):
        return type(self)(self.kept, self.half)

    async def entries(self, plan_id):
        return await super().entries(plan_id) + self.half.get(plan_id, ())

    async def append(self, plan_id, expected, entries, plan):
        if self.kept.load(plan_id).revision == expected:
            self.half[plan_id] = tuple(entries[:1])
            await asyncio.sleep(0)
        self.half.clear()
        return self.kept.append(plan_id, expected, entries, plan)


TrimsItsJournal = reading("planners_lose_nothing", lambda found: found[-20:], "entries")
DoesNotSayWhatWasUndone = reading("what_planners_did_is_undone", bare, "entries")


# -------- held plans and keys --------


GivesTheEntryItself = faults.before(
    TAIL, Holding, entries_since=lambda _, plan_id, revision: (plan_id, max(revision - 1, -1))
)
DropsAnEvent = bending(
    TAIL,
    entries_since=lambda _, right, revision: tuple(
        attrs.evolve(entry, events=entry.events[:1]) for entry in right(revision)
    ),
)


@caught_by("a_plan_that_was_put_back_is_an_error")
class SaysNothingIsNew(Holding):
    def entries_since(self, plan_id, revision):
        with suppress(StoreError):
            return super().entries_since(plan_id, revision)
        return ()


@caught_by("a_hold_keeps_all_or_nothing")
class TearsABatch(Holding):
    """A torn batch: what was appended before the exception stays."""

    @contextmanager
    def hold(self, plan_id):
        with self.kept.hold(plan_id) as held:
            try:
                yield held
            except Exception:  # noqa: BLE001 - that is the fault
                held._signed.clear()
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


AppendsWithoutAsking = bending(
    "an_append_to_another_revision_of_a_held_plan_fails",
    append=lambda held, right, _, *given, **named: right(held.revision, *given, **named),
)


@caught_by("who_holds_a_plan_is_alone")
class HoldsNothing(Holding):
    """A stale reader: it returns entries that were read before the lock was taken."""

    def __init__(self, kept=None, both=None):
        super().__init__(kept)
        self.both = both or Barrier(2)

    def again(self):
        return type(self)(self.kept, self.both)

    @contextmanager
    def hold(self, plan_id):
        early = self.kept.entries(plan_id)
        meet(self.both)
        with self.kept.hold(plan_id) as held:
            held.entries_since = lambda revision: tuple(e for e in early if e.revision > revision)
            yield held


@caught_by("who_holds_a_plan_is_alone of_several_with_one_key_one_is_kept")
class LocksWithinAHandle(AsyncHolding):
    """The tasks of one handle wait for each other, and those of another handle do not."""

    def again(self):
        return type(self)(self.kept)


DAYS = count(1)
TIME, ONCE = "a_held_plan_has_the_stores_time", "an_append_with_a_key_happens_once"
HasNoZone = bending(TIME, now=lambda *_: datetime(2026, 1, 31))  # noqa: DTZ001 - that is the fault
GoesBack = bending(TIME, now=lambda _, right: right() - timedelta(next(DAYS)))
ListsTheLastOne = reading("plans_are_listed", lambda ids: ids[-1:], "plan_ids", Holding)
IgnoresKeys = bending(ONCE, append=lambda _, right, *given, **__: right(*given))
ForgetsTheAnswer = bending(
    ONCE, append=lambda _, right, *given, key=None, answer="": right(*given, key=key)
)


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
            self.mine.update(held._signed)


TakesAnyPayload = bending(
    "another_request_under_a_key_is_an_error",
    append=lambda _, right, *given, key=None, **named: right(
        *given, key=key and Key(key.name), **named
    ),
    receipt=lambda _, right, key: right(Key(key.name)),
)
FoldsKeys = bending(
    "keys_are_of_one_plan",
    append=lambda _, right, *given, key=None, **named: right(
        *given, key=key and Key(key.name.casefold(), key.payload), **named
    ),
)


@caught_by("keys_are_of_one_plan")
class HasKeysOfAllPlans(Holding):
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
            self.everything.update({name: found[1] for name, found in held._signed.items()})


@caught_by("a_key_goes_with_its_append")
class KeepsKeysOfWhatIsGone(Holding):
    @contextmanager
    def hold(self, plan_id):
        with self.kept.hold(plan_id) as held:
            try:
                yield held
            finally:
                signed = {
                    name: (payload, Receipt((), receipt.answer), 0)
                    for name, (payload, receipt, _) in held._signed.items()
                }
                self.kept._receipts.setdefault(plan_id, {}).update(signed)


@caught_by("of_several_with_one_key_one_is_kept")
class LooksForTheKeyTooEarly(HoldsNothing):
    @contextmanager
    def hold(self, plan_id):
        early = {**self.kept._receipts.get(plan_id, {})}
        meet(self.both)
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


# -------- processes that die or come together --------


class Lasting(FileStore):
    """A store in one file, that another process opens by its path."""

    def __init__(self, path=None):
        super().__init__(path or Path(mkdtemp(), "plans.json"), patience=60)

    def again(self):
        return FileStore(self.path)

    def opened(self):
        tests = str(Path(__file__).parents[1])
        name = type(self).__name__
        return (
            f"import sys; sys.path.insert(0, {tests!r})\n"
            f"from {type(self).__module__} import {name}\n"
            f"opened = lambda: {name}({str(self.path)!r})"
        )


@caught_by("what_was_acknowledged_outlives_its_writer")
class WritesLater(Lasting):
    """Accepts an append, and writes it only with the next one."""

    def __init__(self, path=None):
        super().__init__(path)
        self.late = None

    def load(self, plan_id):
        if self.late:
            return self.late[-1]
        return super().load(plan_id)

    def append(self, plan_id, expected, entries, plan):
        if self.late:
            given, self.late = self.late, None
            if not super().append(*given):
                return False
        if super().load(plan_id).revision != expected:
            return False
        self.late = (plan_id, expected, entries, plan)
        return True


@caught_by("many_open_a_fresh_store_at_once")
class MakesAFileWhenOpened(Lasting):
    """Checks whether the file exists, and writes an empty one a moment later."""

    def __init__(self, path=None):
        super().__init__(path)
        if path is not None and not self.path.exists():
            # One after the other, whatever their start: each has written before the next wipes it.
            time.sleep(os.getpid() % 16 / 8)
            self.path.write_text('{"format":"todoplan/plans","version":1,"plans":{}}')


# -------- claims --------


ClaimsNaively = forcing("workers_get_each_task_once", lambda *_: True)


@caught_by("who_lost_a_claim_changes_nothing")
class ReadsItsOwnOldPlan(Sound):
    """A replica that has fallen behind: it does not see what others did, and overwrites it."""

    def __init__(self, kept=None):
        super().__init__(kept)
        self.known = None

    def load(self, plan_id):
        if self.known is None or not self.known.revision:
            self.known = super().load(plan_id)
        return self.known

    def append(self, plan_id, expected, entries, plan):
        self.known = plan
        return self.force(plan_id, entries, plan)


@caught_by("who_lost_a_claim_changes_nothing")
class LosesTheFence(Sound):
    """Stores each claim with the fencing token 1."""

    def append(self, plan_id, expected, entries, plan):
        fenced = tuple(
            attrs.evolve(entry, events=tuple(map(_first, entry.events))) for entry in entries
        )
        whole = follow(Plan(), (*self.entries(plan_id), *fenced))
        return super().append(plan_id, expected, fenced, whole)


def _first(event):
    if not isinstance(event, TaskClaimed):
        return event
    return attrs.evolve(event, claim=attrs.evolve(event.claim, fence=1))


@caught_by("who_was_stopped_is_refused")
class DecidesBeforeItWasStopped(Lasting):
    """In another process it reads a plan only once, and appends whatever others did since."""

    def __init__(self, path=None):
        super().__init__(path)
        self.known = None
        self.is_first = path is None

    def load(self, plan_id):
        if self.is_first:
            return super().load(plan_id)
        if self.known is None:
            self.known = super().load(plan_id)
        return self.known

    def append(self, plan_id, expected, entries, plan):
        self.known = plan
        if self.is_first:
            return super().append(plan_id, expected, entries, plan)
        while True:
            now = super().load(plan_id)
            moved = follow(Plan(), super().entries(plan_id))
            if super().append(plan_id, now.revision, _behind(moved, entries), plan):
                return True


def _behind(plan, entries):
    revision, made = plan.revision, []
    for entry in entries:
        revision += len(entry.events)
        made.append(attrs.evolve(entry, revision=revision))
    return tuple(made)


# -------- watchers --------


class Waking(Holding):
    """A sound store with `wait_for_change`."""

    def wait_for_change(self, plan_id, revision, timeout):
        return self.kept.wait_for_change(plan_id, revision, timeout)


class AsyncWaking(AsyncSound):
    """A sound asynchronous store, whose `wait_for_change` loads the plan again and again."""

    async def wait_for_change(self, plan_id, revision, timeout):  # noqa: ASYNC109 - its name
        end = time.monotonic() + timeout
        while (await self.load(plan_id)).revision == revision:
            if time.monotonic() >= end:
                return False
        return True


GivesOnlyTheLastEntry = reading(TAIL, lambda found: found[-1:], "entries_since", Waking)
GivesAnEntryTwice = reading(TAIL, lambda found: (*found, *found[-1:]), "entries_since", Waking)
WatchedNewestFirst = reading(
    "a_watcher_sees_every_entry_once", lambda found: found[::-1], "entries"
)


@caught_by("a_wait_ends_with_a_change")
class CriesWolf(Waking):
    def wait_for_change(self, plan_id, revision, timeout):
        return True


@caught_by("a_wait_ends_with_a_change")
class SaysNothingOfAChange(Waking):
    def wait_for_change(self, plan_id, revision, timeout):
        super().wait_for_change(plan_id, revision, timeout)


@caught_by("a_wait_ends_with_a_change")
class WaitsForTheNextOneOnly(AsyncWaking):
    async def wait_for_change(self, plan_id, revision, timeout):  # noqa: ASYNC109 - its name
        revision = (await self.load(plan_id)).revision
        return await super().wait_for_change(plan_id, revision, min(timeout, 0.05))


@caught_by("a_wait_ends_with_a_change")
class IsWokenUpByOtherPlans(Waking):
    def wait_for_change(self, plan_id, revision, timeout):
        return sum(map(self.revision, "ab")) != revision
