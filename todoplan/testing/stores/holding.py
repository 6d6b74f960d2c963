"""
What a store owes that can hold a plan while somebody decides, and that keeps keys of calls.

For a store that cannot (`todoplan.stores.hold.is_holding`) these checks are skipped: the three
methods are enough for a planner, which then decides anew when somebody was faster.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from todoplan.core.commands import CreateTask
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.hold import ALL, Key, is_holding
from todoplan.stores.journals import follow
from todoplan.testing.assertions import must
from todoplan.testing.stores.appends import Append, adding
from todoplan.testing.stores.harness import Checks, Harness, accepted, equal, keeps, law, same_plan

__all__ = ["Holding"]

_RIVALS = 6
_TURNS = 3
_KEY = Key("call_7", "TaskCreate Dig")


class Holding(Checks):
    """
    Plans that are held, and appends that carry a key.
    """

    @law
    async def test_a_tail_is_what_came_behind_a_revision(self, harness: Harness) -> None:
        """Entries behind any revision are those of a larger one, held or not, by any handle."""
        store, other = await _holding(harness)
        made = [adding(Plan(), ("Dig",), ("Lay", "Fill"))]
        made.append(adding(made[0].plan, ("Plant",)))
        for append in made:
            await accepted(store, "a", append)
        journal = _entries(made)
        for revision in range(ALL, 5):
            wanted = tuple(entry for entry in journal if entry.revision > revision)
            found = await other.entries_since("a", revision)
            equal(found, wanted, f"entries_since('a', {revision})")
            async with store.hold("a") as held:
                equal(held.revision, 4, "held.revision")
                found = await held.entries_since(revision)
            equal(found, wanted, f"held.entries_since({revision})")
        equal(await other.entries_since("b", 0), (), "entries_since of a plan never written")

    @law
    async def test_a_plan_that_was_put_back_is_an_error(self, harness: Harness) -> None:
        """Whoever has seen more of a plan than there is hears that an older copy was put back."""
        # An empty tail would say that nothing has happened, and the next write would undo the rest.
        store, _ = await _holding(harness)
        await accepted(store, "a", adding(Plan(), ("Dig",)))
        await _raises("rolled_back", store.entries_since("a", 2), "entries_since behind the end")
        async with store.hold("a") as held:
            await _raises("rolled_back", held.entries_since(2), "held.entries_since, the same")

    @law
    async def test_a_hold_keeps_all_or_nothing(self, harness: Harness) -> None:
        """What was appended is there when the `with` ends, and gone if anything was raised."""
        store, other = await _holding(harness)
        first = adding(Plan(), ("Dig",), ("Lay",))
        second = adding(first.plan, ("Fill",))
        for raised in (ValueError(), KeyboardInterrupt(), asyncio.CancelledError()):
            try:
                async with store.hold("a") as held:
                    await _append(held, first)
                    raise raised
            except type(raised):
                pass
            await keeps(other, "a", [], f"after a hold that raised {raised!r}")
        async with store.hold("a") as held:
            await _append(held, first)
            equal(held.revision, 2, "held.revision after an append")
            await _append(held, second)
            found = await held.entries_since(1)
            equal(found, (*first.entries[1:], *second.entries), "held.entries_since(1), appended")
        await keeps(other, "a", [first, second], "after a hold of two appends")

    @law
    async def test_an_append_to_another_revision_of_a_held_plan_fails(
        self, harness: Harness
    ) -> None:
        """Who holds a plan appends at its revision: another is "overtaken", and leaves nothing."""
        store, _ = await _holding(harness)
        base = adding(Plan(), ("Dig",))
        await accepted(store, "a", base)
        for late in (adding(Plan(), ("Late",)), adding(adding(base.plan, ("B",)).plan, ("C",))):
            async with store.hold("a") as held:
                await _raises("overtaken", _append(held, late), f"at revision {late.expected}")
        await keeps(store, "a", [base], "after appends to other revisions")

    @law
    async def test_who_holds_a_plan_is_alone(self, harness: Harness) -> None:
        """Of several that hold at once, each decides upon what the one before it has left."""
        stores = await _holding(harness)

        async def work(number: int) -> None:
            store = stores[number % 2]
            for turn in range(_TURNS):
                async with store.hold("a") as held:
                    plan = follow(Plan(), await held.entries_since(ALL))
                    equal(plan.revision, held.revision, "the replay of a held plan's entries")
                    await harness.checks.runner.pause()
                    await _append(held, adding(plan, (f"{number}.{turn}",)))

        await harness.together(*map(work, range(_RIVALS)))
        plan = await stores[0].load("a")
        wanted = sorted(f"{number}.{turn}" for number in range(_RIVALS) for turn in range(_TURNS))
        equal(sorted(task.subject for task in plan), wanted, "the tasks that all have added")

    @law
    async def test_a_held_plan_has_the_stores_time(self, harness: Harness) -> None:
        """The time is aware, in UTC, and goes on: whoever shares the plan reads one clock."""
        store, other = await _holding(harness)
        times = []
        for each in (store, other, store):
            async with each.hold("a") as held:
                times.append(await held.now())
        offsets = [str(time.utcoffset()) for time in times]
        equal(offsets, ["0:00:00"] * 3, "the offsets of now()")
        equal(sorted(times), times, "now(), asked one after the other")

    @law
    async def test_plans_are_listed(self, harness: Harness) -> None:
        """The ids of all plans that were written, each once; a look or a hold alone makes none."""
        store, other = await _holding(harness)
        written = ("b", "a", "", "\xe9", "'; --")
        for plan_id in written:
            await accepted(store, plan_id, adding(Plan(), ("Dig",)))
        await store.load("c")
        async with store.hold("d"):
            """Nothing is appended."""
        equal(sorted(await other.plan_ids()), sorted(written), "plan_ids()")

    @law
    async def test_an_append_with_a_key_happens_once(self, harness: Harness) -> None:
        """Made again, by any handle, it adds nothing, and gives the entries and answer of then."""
        # Of 54 writers that were killed, 4 to 13 had appended what nobody was told of.
        store, other = await _holding(harness)
        first = adding(Plan(), ("Dig",), ("Lay",))
        async with store.hold("a") as held:
            equal(await held.receipt(_KEY), None, "the receipt of a key that was never used")
            found = await _append(held, first, key=_KEY, answer="0/2: #1-#2 created")
            equal(found, first.entries, "what append returned")
        later = adding(first.plan, ("Fill",))
        await accepted(store, "a", later)
        for each in (store, other):
            async with each.hold("a") as held:
                receipt = await held.receipt(_KEY)
                must(receipt is not None, "receipt(key) is None, wanted that of the append before")
                equal(receipt.entries, first.entries, "receipt(key).entries")
                equal(receipt.answer, "0/2: #1-#2 created", "receipt(key).answer")
                again = adding(later.plan, ("Dig",))
                equal(await _append(held, again, key=_KEY), first.entries, "append, made again")
        await keeps(other, "a", [first, later], "after an append that was made again")

    @law
    async def test_another_request_under_a_key_is_an_error(self, harness: Harness) -> None:
        """The same key with another payload is "key_reused", and nothing is appended."""
        store, _ = await _holding(harness)
        first = adding(Plan(), ("Dig",))
        async with store.hold("a") as held:
            await _append(held, first, key=_KEY)
        other = Key(_KEY.name, "TaskCreate Lay")
        async with store.hold("a") as held:
            await _raises("key_reused", held.receipt(other), "receipt with another payload")
            late = _append(held, adding(first.plan, ("Lay",)), key=other)
            await _raises("key_reused", late, "append with another payload")
        await keeps(store, "a", [first], "after another request under the same key")

    @law
    async def test_keys_are_of_one_plan(self, harness: Harness) -> None:
        """A key that one plan has seen is new to another; no two names are the same key."""
        store, _ = await _holding(harness)
        names = ("call_7", "CALL_7", "call_7 ", "", "a'b", "a%b", "\xe9", "e\u0301", "x" * 300)
        for plan_id in ("a", "b"):
            plan = Plan()
            for name in names:
                made = adding(plan, (name or "none",))
                async with store.hold(plan_id) as held:
                    await _append(held, made, key=Key(name, "the same"))
                plan = made.plan
            same_plan(await store.load(plan_id), plan, f"load({plan_id!a}) after {len(names)} keys")

    @law
    async def test_a_key_goes_with_its_append(self, harness: Harness) -> None:
        """Where the append was taken back, the key is free: the call is carried out next time."""
        store, _ = await _holding(harness)
        made = adding(Plan(), ("Dig",))
        try:
            async with store.hold("a") as held:
                await _append(held, made, key=_KEY)
                raise LookupError  # noqa: TRY301 - what a body raises
        except LookupError:
            pass
        async with store.hold("a") as held:
            equal(await held.receipt(_KEY), None, "the receipt of an append that was taken back")
            await _append(held, made, key=_KEY)
        await keeps(store, "a", [made], "after the call was made again")

    @law
    async def test_of_several_with_one_key_one_is_kept(self, harness: Harness) -> None:
        """The same call by several at once: one entry, and all are given it."""
        stores = await _holding(harness)

        async def call(number: int) -> tuple[Entry, ...]:
            async with stores[number % 2].hold("a") as held:
                plan = follow(Plan(), await held.entries_since(ALL))
                await harness.checks.runner.pause()
                return await _append(held, adding(plan, ("Dig",)), key=_KEY)

        given = await harness.together(*map(call, range(_RIVALS)))
        journal = await stores[0].entries("a")
        equal(len(journal), 1, "the entries of a call that was made by several at once")
        for found in given:
            equal(found, journal, "what one of them was given")

    @law
    async def test_planners_that_hold_lose_nothing(self, harness: Harness) -> None:
        """Calls with keys by two planners, some made twice, each happen once."""
        await _holding(harness)
        planners = await harness.planners("a")

        async def work(number: int) -> None:
            for turn in range(_TURNS):
                name = f"{number}.{turn}"
                for planner in planners:
                    await planner.apply(CreateTask(name), key=name)

        await harness.together(*map(work, range(_RIVALS)))
        wanted = sorted(f"{number}.{turn}" for number in range(_RIVALS) for turn in range(_TURNS))
        plan = await planners[0].plan()
        equal(sorted(task.subject for task in plan), wanted, "the tasks of calls made twice")
        same_plan(await planners[1].plan(), plan, "the plan by the other planner")


async def _holding(harness: Harness) -> Sequence[Any]:
    """
    Return two handles whose plans can be held; the check is skipped if they cannot.
    """
    kept = harness.handles[0]
    if not is_holding(kept):
        pytest.skip(f"{type(kept).__name__} holds no plans: it has no hold and entries_since")
    return harness.store, await harness.again()


async def _append(
    held: Any, made: Append, *, key: Key | None = None, answer: str = ""
) -> tuple[Entry, ...]:
    found: tuple[Entry, ...] = await held.append(
        made.expected, made.entries, made.plan, key=key, answer=answer
    )
    return found


async def _raises(problem: str, work: Any, what: str) -> None:
    try:
        found = await work
    except StoreError as error:
        equal(error.data.get("problem"), problem, f"{what}: the problem of the StoreError")
    else:
        must(holds=False, message=f"{what} returned {found!r}, wanted a StoreError ({problem!r})")


def _entries(made: Sequence[Append]) -> tuple[Entry, ...]:
    return tuple(entry for append in made for entry in append.entries)
