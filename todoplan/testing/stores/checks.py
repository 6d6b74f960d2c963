"""
The checks of a store. Each tests one law: a statement that must hold for every store.

`Sequential` makes one call after the other, `Concurrent` several calls in parallel. `Holding` is
about locks on plans, `Claiming` about workers that share a plan. `Surviving` kills processes that
write. `Watching` waits for entries that others write. Checks of features that a store lacks are
skipped.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import cycle, product
from random import Random
from threading import Event
from typing import IO, Any

import attrs
import pytest

from todoplan.core.commands import ClaimTask, CreateTask, CreateTasks, RenewClaim, UpdateTask
from todoplan.core.decide import Accepted
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.model import FrozenDict, Status
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.planner import AsyncPlanner
from todoplan.stores.base import ALL, AsyncStore, Key, follow, is_holding
from todoplan.testing.assertions import must
from todoplan.testing.stores.appends import Append, adding, appends
from todoplan.testing.stores.harness import (
    Checks,
    Harness,
    TaskRunner,
    ThreadRunner,
    accepted,
    awaited,
    drawn,
    entries_of,
    equal,
    keeps,
    refused,
    same_plan,
)
from todoplan.testing.strategies.text import HOSTILE

ODD_IDS = (
    "a",
    *("", "A", " a", "a ", "a\n", "aa"),  # case, space
    # agentscope#1249, CVE-2026-3954, -4307: ids as paths.
    *("a/b", "a\\b", "../a", "a:b", "a.b", "a?b#c", "a_b", "a%b", "a*"),  # paths, keys, patterns
    *("a'b", 'a"b', "'; drop table plans; --", "{a}", "$a"),  # quoting
    *("1", "01", "1.0", "null", "plan"),  # texts that look like other values
    *("\xe9", "e\u0301", "\u4f60\u597d", "\U0001f331"),  # scripts
    *(f"{'x' * 199}y", f"{'x' * 199}z"),  # truncation
)
"""Ids that stores may confuse or cannot handle, grouped by the reason."""

_ONE_OR_TWO = ((("Late",),), (("Late",), ("Later",)))
_UNKEPT = FrozenDict({"holes": frozenset({1})})  # JSON has no sets


class Sequential(Checks):
    """Plans and journals are written and read back."""

    async def test_a_plan_never_written_is_empty(self, harness: Harness) -> None:
        """
        A plan that was never written is the empty one, without entries; reading does not create it.
        """
        # If reading created a row, the list of plans would contain every id that was ever read, and
        # the first append would no longer be at revision 0.
        for when in ("before any append", "before any append, but once read"):
            await keeps(harness.store, "a", [], when)

    @drawn(appends())
    async def test_what_is_appended_is_kept(
        self, harness: Harness, appended: tuple[Append, ...]
    ) -> None:
        """
        `load` and `entries` of any handle, even of one that is opened later, return all accepted
        appends.
        """
        for count, append in enumerate(appended, 1):
            await accepted(harness.store, "a", append)
            await keeps(harness.store, "a", appended[:count], "after an append")
        await keeps(await harness.again(), "a", appended, "after reopening")

    async def test_every_text_is_kept(self, harness: Harness) -> None:
        """
        Every text is returned unchanged: control characters, quotes, long texts, lone surrogates.
        """
        for kind, texts in HOSTILE.items():
            # The texts are values and keys. They include NUL and lone surrogates, which are not
            # tested in plan ids.
            meta = FrozenDict({text: [text] for text in texts})
            append = adding(Plan(), texts, metadata=meta)
            await accepted(harness.store, kind, append)
            when = f"after an append of texts of the kind {kind!r}"
            await keeps(harness.store, kind, [append], when)

    async def test_handles_see_what_others_wrote(self, harness: Harness) -> None:
        """
        A handle sees what other handles write after this handle was opened and after it has read.
        """
        # With a cache that only its own writes refresh, a handle would return an outdated plan.
        handles, done = [harness.store, await harness.again()], list[Append]()
        for subject in ("Dig", "Lay", "Fill", "Plant"):
            done.append(adding(done[-1].plan if done else Plan(), (subject,)))
            await accepted(handles[0], "a", done[-1])
            for handle in handles:
                await keeps(handle, "a", done, "after an append by one of two handles")
            handles.reverse()

    async def test_what_was_read_does_not_change(self, harness: Harness) -> None:
        """
        An append does not change values that were read before, and the store keeps no reference to
        the list that was passed to `append`.
        """
        first = adding(Plan(), ("Dig",), ("Lay",))
        given = list(first.entries)
        await harness.store.append("a", 0, given, first.plan)
        given.clear()
        plan, journal = await harness.store.load("a"), await harness.store.entries("a")
        await accepted(harness.store, "a", adding(first.plan, ("Fill",)))
        same_plan(plan, first.plan, "after a later append, the earlier result of load('a')")
        equal(journal, first.entries, "after a later append, the earlier result of entries('a')")

    async def test_an_append_to_an_older_revision_is_refused(self, harness: Harness) -> None:
        """
        If the plan is already at a later revision than an append expects, the append returns False
        and changes nothing.
        """
        # If it were accepted, one of two updates would be lost. A unique key on the revision alone
        # does not prevent this if an entry has several events, because the revisions of entries
        # then differ by more than one.
        base = adding(Plan(), ("Dig",), ("Lay", "Fill"))
        await accepted(harness.store, "a", base)
        for revision, much in product(range(base.plan.revision), _ONE_OR_TWO):
            late = adding(attrs.evolve(Plan(), revision=revision), *much)
            await refused(harness.store, "a", late)
            when = f"after a refused append of {len(much)} at revision {revision}"
            await keeps(harness.store, "a", [base], when)

    async def test_an_append_to_a_newer_revision_is_refused(self, harness: Harness) -> None:
        """
        If the plan is still at an earlier revision than an append expects, the append returns False
        and changes nothing.
        """
        base = adding(Plan(), ("Dig",), ("Lay", "Fill"))
        await accepted(harness.store, "a", base)
        ahead = adding(adding(base.plan, ("Unseen",)).plan, ("Early",))
        await refused(harness.store, "a", ahead)
        await keeps(harness.store, "a", [base], "after a refused append at a newer revision")

    async def test_a_plan_never_written_is_at_revision_zero(self, harness: Harness) -> None:
        """
        The first append must expect revision 0; if it expects another revision, it is refused and
        nothing is stored.
        """
        first = adding(Plan(), ("Dig",))
        await refused(harness.store, "a", adding(first.plan, ("Early",)))
        await keeps(harness.store, "a", [], "after a refused append to a plan never written")
        await accepted(harness.store, "a", first)
        await keeps(harness.store, "a", [first], "after the first append")

    async def test_an_append_that_fails_leaves_nothing(self, harness: Harness) -> None:
        """
        If the second of two entries cannot be stored, append raises an error and stores neither.
        """
        # Half of a batch would be a wrong plan: for example, a task without its dependency.
        base = adding(Plan(), ("Dig",))
        await accepted(harness.store, "a", base)
        fine = adding(base.plan, ("Lay",))
        unkept = adding(fine.plan, ("Fill",), metadata=_UNKEPT)
        try:
            entries = fine.entries + unkept.entries
            await harness.store.append("a", 1, entries, unkept.plan)
        except Exception:  # noqa: BLE001 - a store may raise any error here
            await keeps(harness.store, "a", [base], "after an append that raised")
        else:  # a store that can keep a set, such as one in memory, must keep both entries
            when = "after an append with a set in the metadata, which did not raise"
            await keeps(harness.store, "a", [base, fine, unkept], when)

    async def test_plans_are_apart(self, harness: Harness) -> None:
        """An append to one plan, accepted or refused, does not affect another plan."""
        # Both plans have a task "1": pydantic-ai-todo keys its table by that id alone.
        first, other = adding(Plan(), ("Dig",)), adding(Plan(), ("Cook", "Eat"))
        await accepted(harness.store, "garden", first)
        await keeps(harness.store, "kitchen", [], "after an append to another plan")
        await accepted(harness.store, "kitchen", other)
        second = adding(first.plan, ("Lay",))
        await refused(harness.store, "kitchen", second)
        await accepted(harness.store, "garden", second)
        await keeps(harness.store, "garden", [first, second], "after appends to both")
        await keeps(harness.store, "kitchen", [other], "after appends to both")

    async def test_odd_ids_are_apart(self, harness: Harness) -> None:
        """
        Each id has a plan of its own, even if ids differ only in spaces or case, contain slashes,
        quotes or letters of any script, or are long.
        """
        # Plan ids come from threads, sessions and users. If a store uses them as file names, keys
        # or patterns, ids may collide, or a path may leave the store's directory.
        made = {plan_id: adding(Plan(), (f"for {plan_id!r}",)) for plan_id in ODD_IDS}
        for plan_id, append in made.items():
            await keeps(harness.store, plan_id, [], "before it was written")
            await accepted(harness.store, plan_id, append)
        store = await harness.again()
        for plan_id, append in made.items():
            await keeps(store, plan_id, [append], "after all were written")


_ROUNDS = 8
# Beads#4657: of eight workers that claimed at the same time, up to seven succeeded.
_RIVALS = 6
_APPENDS = 6
_TASKS = 12
_THREE = (("Dig",), ("Lay",), ("Fill",))


class Concurrent(Checks):
    """Parallel writers and readers on one plan and on several plans, and parallel planners."""

    async def test_one_of_several_appends_wins(self, harness: Harness) -> None:
        """Of several parallel appends at the same revision, exactly one is accepted and stored."""
        # Several other systems lose updates because they read, compare and write in three steps.
        handles, done = [harness.store, await harness.again()], list[Append]()

        async def bid(store: AsyncStore, made: Append) -> bool:
            return await store.append("a", made.expected, made.entries, made.plan)

        for number in range(_ROUNDS):
            plan = done[-1].plan if done else Plan()
            bids = [adding(plan, (f"{number}.{rival}",)) for rival in range(_RIVALS)]
            pairs = zip(cycle(handles), bids, strict=False)
            answers = await harness.together(*(bid(store, made) for store, made in pairs))
            won = [made for made, answer in zip(bids, answers, strict=True) if answer]
            at = f"{len(bids)} appends at revision {plan.revision}, at once"
            must(len(won) == 1, f"{at}: {len(won)} of them returned True, wanted exactly one")
            done += won
            await keeps(harness.store, "a", done, "after a race")

    async def test_no_reader_sees_half_an_append(self, harness: Harness) -> None:
        """
        While another caller appends, a reader sees all entries of the append or none, with the
        matching plan.
        """
        # If plan and journal are stored in two places, one of them is written first.
        made = [adding(Plan(), *_THREE)]
        for _ in range(_ROUNDS):
            made.append(adding(made[-1].plan, *_THREE))
        ended = Event()

        async def write() -> None:
            try:
                for append in made:
                    await accepted(harness.store, "a", append)
            finally:
                ended.set()

        async def read(store: AsyncStore) -> None:
            over = False
            while not over:  # once more after the end, to read the last append
                over = ended.is_set()
                await _read_whole(store, made)
                await harness.checks.runner.pause()

        readers = [read(harness.store), read(await harness.again())]
        await harness.together(write(), *readers)

    async def test_plans_do_not_hinder_each_other(self, harness: Harness) -> None:
        """Parallel appends to different plans are all accepted."""
        stores = cycle([harness.store, await harness.again()])
        handles = {name: next(stores) for name in ("a", "b", "c", "d")}

        async def write(store: AsyncStore, plan_id: str) -> list[Append]:
            plan, appended = Plan(), list[Append]()
            for number in range(_APPENDS):
                when = f"during appends to other plans, load({plan_id!a})"
                same_plan(await store.load(plan_id), plan, when)
                appended.append(adding(plan, (f"{plan_id} {number}",)))
                await accepted(store, plan_id, appended[-1])
                plan = appended[-1].plan
            return appended

        written = await harness.together(*(write(store, name) for name, store in handles.items()))
        for name, appended in zip(handles, written, strict=True):
            await keeps(harness.store, name, appended, "after appends to all at once")

    async def test_planners_lose_nothing(self, harness: Harness) -> None:
        """Two planners that add tasks in parallel lose none, and no id is given twice."""
        # Each planner adds more than nine tasks, because a journal that is sorted as text has "10"
        # before "2".
        one, other = await harness.planners("a")

        async def add(planner: AsyncPlanner, who: str) -> None:
            for number in range(_TASKS):
                await planner.apply(CreateTask(f"{who} {number}"))

        await harness.together(add(one, "one"), add(other, "other"))
        plan = await other.plan()
        wanted = [f"{who} {n}" for who in ("one", "other") for n in range(_TASKS)]
        _has_tasks(plan, wanted, "the tasks that two planners added")
        ids = [str(number) for number in range(1, 2 * _TASKS + 1)]
        equal([task.id for task in plan], ids, "the ids that were given")
        same_plan(await harness.store.load("a"), plan, "load('a') after the planners")
        revisions = [entry.revision for entry in await one.history()]
        equal(revisions, [*map(int, ids)], "the revisions in the journal")

    async def test_what_planners_did_is_undone(self, harness: Harness) -> None:
        """Two parallel undos undo two commands, and later undos undo the rest."""
        one, other = await harness.planners("a")
        for subject in ("Dig", "Lay", "Fill"):
            await one.apply(CreateTask(subject))
        await harness.together(one.undo(), other.undo())
        equal([task.subject for task in await other.plan()], ["Dig"], "the tasks after two undos")
        await one.apply(CreateTask("Plant"))
        equal([task.id for task in await other.plan()], ["1", "4"], "the ids after a new task")
        await other.undo()
        await one.undo()
        plan, history = await other.plan(), await other.history()
        equal([*plan], [], "the tasks after all was undone")
        taken = sorted(entry.undoes for entry in history if entry.undoes is not None)
        made = [entry.revision for entry in history if entry.undoes is None]
        equal(taken, made, "the revisions that were undone")
        equal(plan.next_id, 5, "the next id after all was undone")


def _has_tasks(plan: Plan, subjects: Iterable[str], what: str) -> None:
    equal(sorted(task.subject for task in plan), sorted(subjects), what)


async def _read_whole(store: AsyncStore, made: Sequence[Append]) -> None:
    """
    Read the plan and then the journal. Both must end with a complete append, and the journal must
    not be older than the plan.
    """
    plan, journal = await store.load("a"), await store.entries("a")
    replayed = replay(Plan(), (event for entry in journal for event in entry.events))
    stages = {append.plan.revision: append.plan for append in made} | {0: Plan()}
    for found, what in ((plan, "load('a')"), (replayed, "the replay of entries('a')")):
        at = f"during appends of {len(_THREE)} entries, {what} is at revision {found.revision}"
        must(found.revision in stages, f"{at}, wanted one of the revisions {sorted(stages)}")
        same_plan(found, stages[found.revision], f"during appends, {what}")
    ahead = f"load returned revision {plan.revision}, entries read later only {replayed.revision}"
    must(plan.revision <= replayed.revision, f"{ahead}, wanted at least the same")


_TURNS = 3
_OF_RIVALS = [f"{number}.{turn}" for number in range(_RIVALS) for turn in range(_TURNS)]
_KEY = Key("call_7", "TaskCreate Dig")


class Holding(Checks):
    """Locks on plans, and appends with an idempotency key."""

    async def test_a_tail_is_what_came_behind_a_revision(self, harness: Harness) -> None:
        """
        `entries_since` returns exactly the entries after a revision, with or without the lock,
        through any handle.
        """
        store, other = await _holding(harness)
        made = [adding(Plan(), ("Dig",), ("Lay", "Fill"))]
        made.append(adding(made[0].plan, ("Plant",)))
        for append in made:
            await accepted(store, "a", append)
        for revision in range(ALL, 5):
            wanted = tuple(entry for entry in entries_of(made) if entry.revision > revision)
            found = await other.entries_since("a", revision)
            equal(found, wanted, f"entries_since('a', {revision})")
            async with store.hold("a") as held:
                equal(held.revision, 4, "held.revision")
                found = await held.entries_since(revision)
            equal(found, wanted, f"held.entries_since({revision})")
        equal(await other.entries_since("b", 0), (), "entries_since of a plan never written")

    async def test_a_plan_that_was_put_back_is_an_error(self, harness: Harness) -> None:
        """
        A reader gets an error if it has seen a later revision than the store has. This happens when
        an old backup of the store was restored.
        """
        # An empty result would say that nothing has changed, and the reader would continue with a
        # plan that the store no longer has.
        store, _ = await _holding(harness)
        await accepted(store, "a", adding(Plan(), ("Dig",)))
        await _raises("rolled_back", store.entries_since("a", 2), "entries_since after the end")
        async with store.hold("a") as held:
            await _raises("rolled_back", held.entries_since(2), "held.entries_since after the end")

    async def test_a_hold_keeps_all_or_nothing(self, harness: Harness) -> None:
        """
        Appends under a lock are committed at the end of the `with` block. After any exception in
        the block they are rolled back.
        """
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

    async def test_an_append_to_another_revision_of_a_held_plan_fails(
        self, harness: Harness
    ) -> None:
        """
        Under a lock, an append that expects another revision than the plan's raises "overtaken" and
        stores nothing.
        """
        store, _ = await _holding(harness)
        base = adding(Plan(), ("Dig",))
        await accepted(store, "a", base)
        for late in (adding(Plan(), ("Late",)), adding(adding(base.plan, ("B",)).plan, ("C",))):
            async with store.hold("a") as held:
                await _raises("overtaken", _append(held, late), f"at revision {late.expected}")
        await keeps(store, "a", [base], "after appends to other revisions")

    async def test_who_holds_a_plan_is_alone(self, harness: Harness) -> None:
        """
        If several callers lock a plan in parallel, each caller sees the appends of the previous
        one.
        """
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
        _has_tasks(await stores[0].load("a"), _OF_RIVALS, "the tasks that all have added")

    async def test_a_held_plan_has_the_stores_time(self, harness: Harness) -> None:
        """
        The store's time is aware, in UTC, and never goes back; all users of a plan read the same
        clock.
        """
        store, other = await _holding(harness)
        times = []
        for each in (store, other, store):
            async with each.hold("a") as held:
                times.append(await held.now())
        offsets = [str(time.utcoffset()) for time in times]
        equal(offsets, ["0:00:00"] * 3, "the offsets of now()")
        equal(sorted(times), times, "now(), asked one after the other")

    async def test_plans_are_listed(self, harness: Harness) -> None:
        """
        Each written plan's id is listed once; a plan that was only read or locked is not listed.
        """
        store, other = await _holding(harness)
        written = ("b", "a", "", "\xe9", "'; --")
        for plan_id in written:
            await accepted(store, plan_id, adding(Plan(), ("Dig",)))
        await store.load("c")
        async with store.hold("d"):
            """Nothing is appended."""
        equal(sorted(await other.plan_ids()), sorted(written), "plan_ids()")

    async def test_an_append_with_a_key_happens_once(self, harness: Harness) -> None:
        """
        If an append is repeated with the same key, through any handle, it adds nothing and returns
        the entries of the first append.
        """
        # Of 54 writers that were killed, 4 to 13 had appended an entry without learning the result.
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
                equal(await _append(held, again, key=_KEY), first.entries, "the repeated append")
        await keeps(other, "a", [first, later], "after an append was repeated")

    async def test_another_request_under_a_key_is_an_error(self, harness: Harness) -> None:
        """The same key with another payload raises "key_reused", and nothing is appended."""
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

    async def test_keys_are_of_one_plan(self, harness: Harness) -> None:
        """
        A key that was used in one plan is unused in another plan. Keys are different even if their
        names differ only in case, spaces or accents.
        """
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

    async def test_a_key_goes_with_its_append(self, harness: Harness) -> None:
        """If the append is rolled back, the key is free again and the next call is executed."""
        store, _ = await _holding(harness)
        made = adding(Plan(), ("Dig",))
        try:
            async with store.hold("a") as held:
                await _append(held, made, key=_KEY)
                raise LookupError  # noqa: TRY301 - an error in the body
        except LookupError:
            pass
        async with store.hold("a") as held:
            equal(await held.receipt(_KEY), None, "the receipt of an append that was rolled back")
            await _append(held, made, key=_KEY)
        await keeps(store, "a", [made], "after the call was repeated")

    async def test_of_several_with_one_key_one_is_kept(self, harness: Harness) -> None:
        """Parallel calls with the same key append one entry, and each call returns it."""
        stores = await _holding(harness)

        async def call(number: int) -> tuple[Entry, ...]:
            async with stores[number % 2].hold("a") as held:
                plan = follow(Plan(), await held.entries_since(ALL))
                await harness.checks.runner.pause()
                return await _append(held, adding(plan, ("Dig",)), key=_KEY)

        given = await harness.together(*map(call, range(_RIVALS)))
        journal = await stores[0].entries("a")
        equal(len(journal), 1, "the number of entries of several parallel calls with one key")
        for found in given:
            equal(found, journal, "the entries that one of the calls returned")

    async def test_planners_that_hold_lose_nothing(self, harness: Harness) -> None:
        """If the same calls are made with keys through two planners, each call is executed once."""
        await _holding(harness)
        planners = await harness.planners("a")

        async def work(number: int) -> None:
            for turn in range(_TURNS):
                name = f"{number}.{turn}"
                for planner in planners:
                    await planner.apply(CreateTask(name), key=name)

        await harness.together(*map(work, range(_RIVALS)))
        plan = await planners[0].plan()
        _has_tasks(plan, _OF_RIVALS, "the tasks of calls made twice")
        same_plan(await planners[1].plan(), plan, "the plan by the other planner")


async def _holding(harness: Harness) -> Sequence[Any]:
    """Return two handles on a store that can lock plans; skip the check if it cannot."""
    kept = harness.handles[0]
    if not is_holding(kept):
        pytest.skip(f"{type(kept).__name__} cannot lock plans: it has no hold and entries_since")
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


_LEASE = 0.2  # seconds; short, so that it expires soon
_STOPPED = 60.0

_BEGIN = """
import asyncio, os, signal, sys, time
from inspect import isawaitable
from todoplan.core.commands import ClaimTask, CreateTask, UpdateTask
from todoplan.core.events.types import TaskClaimed
from todoplan.core.rules import Policy
from todoplan.planner import AsyncPlanner

async def planner_on_store():
    made = opened()
    return AsyncPlanner(await made if isawaitable(made) else made, "a")

async def work():
"""
STOPS = f"""{_BEGIN}
    planner = await planner_on_store()
    for _ in range(int(sys.argv[1])):
        done = await planner.apply(ClaimTask("stopped", lease=float(sys.argv[2])))
        claim, = [event for event in done.events if isinstance(event, TaskClaimed)]
        print(claim.task_id, flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        late = UpdateTask(claim.task_id, status="completed", fence=claim.claim.fence)
        print(type(await planner.apply(late)).__name__, flush=True)

asyncio.run(work())
"""
"""
Script of a process that stops itself while it has a claim. Arguments: the number of stops, and the
lease in seconds.
"""


class Claiming(Checks):
    """Workers that share a plan."""

    stops = 2
    """How many times a holder is stopped until its lease has expired."""

    async def test_workers_get_each_task_once(self, harness: Harness) -> None:
        """Workers that claim in parallel get different tasks, each with its own fencing token."""
        # Beads#4657: of eight workers that claimed one bead at the same time, up to seven
        # succeeded.
        workers = await harness.planners("a")
        await _begin(workers[0], _TASKS)
        got: list[str] = []

        async def drain(worker: AsyncPlanner, name: str) -> None:
            while (claim := await _claimed(worker, ClaimTask(name))) is not None:
                got.append(claim.task_id)
                closed = UpdateTask(claim.task_id, status="completed", fence=claim.claim.fence)
                found = await worker.apply(closed, actor=name)
                must(isinstance(found, Accepted), f"{name} could not complete its task: {found!r}")
                await harness.checks.runner.pause()

        await harness.together(drain(workers[0], "one"), drain(workers[1], "two"))
        twice = [task_id for task_id, times in Counter(got).items() if times > 1]
        must(not twice, f"the tasks {twice} were claimed by two workers")
        plan = await workers[1].plan()
        equal([task.status for task in plan], [Status.COMPLETED] * _TASKS, "the tasks in the end")

    async def test_who_lost_a_claim_changes_nothing(self, harness: Harness) -> None:
        """
        A worker is refused once its lease has expired and another worker has claimed its task.
        """
        late, other = await harness.planners("a")
        await _begin(late, 1)
        first = await _claimed(late, ClaimTask("late", lease=_LEASE))
        must(first is not None, "the only task could not be claimed")
        second = await _claimed_in_time(other, "1")
        assert first is not None  # noqa: S101 - asked for above
        must(second.claim.fence > first.claim.fence, "the fencing token has not grown")
        before = await other.plan()
        for command in (
            UpdateTask("1", status="completed", fence=first.claim.fence),
            RenewClaim("1", first.claim.fence),
        ):
            found = await late.apply(command)
            must(not isinstance(found, Accepted), f"{command!r} of a lost claim was accepted")
        equal((await other.plan()).revision, before.revision, "the revision after refused commands")

    async def test_who_was_stopped_is_refused(self, harness: Harness) -> None:
        """
        If a process is stopped for longer than its lease and then continues, its change is refused.
        """
        script = _opening(harness, STOPS)
        planner, _ = await harness.planners("a")
        await _begin(planner, self.stops)
        refused = await refused_after_a_stop(script, planner, self.stops)
        equal(refused, self.stops, "how often a holder was refused after its lease had expired")


def _opening(harness: Harness, script: str) -> str:
    """
    Return a script that opens the store in another process. Skip the check if the suite has none.
    """
    lines = harness.checks.in_another_process(harness.handles[0])
    if lines is None:
        pytest.skip("the suite has no code with which another process opens the store")
    return f"{lines}\n{script}"


def _process(script: str, *arguments: object, stdout: Any) -> "subprocess.Popen[bytes]":
    line = [sys.executable, "-c", script, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(line, stdout=stdout, env=environment)  # noqa: S603 - ours


async def refused_after_a_stop(script: str, planner: AsyncPlanner, times: int) -> int:
    """
    Let a process stop while it holds a claim, claim its task for another worker, and let the
    process continue and try to complete the task. Return how often the process is refused.
    """
    refused = 0
    with _process(script, times, _LEASE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None  # noqa: S101 - a pipe
        try:
            for _ in range(times):
                task_id = holder.stdout.readline().decode().strip()
                must(task_id, "the process that should claim a task has failed")
                os.waitpid(holder.pid, os.WUNTRACED)  # noqa: ASYNC222 - nothing else runs
                claim = await _claimed_in_time(planner, task_id)
                holder.send_signal(signal.SIGCONT)
                refused += holder.stdout.readline().decode().strip() == "Rejected"
                done = UpdateTask(task_id, status="completed", fence=claim.claim.fence)
                (await planner.apply(done)).unwrap()
        finally:
            holder.kill()
    return refused


async def _begin(planner: AsyncPlanner, count: int) -> None:
    tasks = tuple(CreateTask(f"task {number}") for number in range(1, count + 1))
    (await planner.apply(CreateTasks(tasks))).unwrap()


async def _claimed(planner: AsyncPlanner, command: ClaimTask) -> TaskClaimed | None:
    decision = await planner.apply(command, actor=command.owner)
    events = decision.events if isinstance(decision, Accepted) else ()
    return next((event for event in events if isinstance(event, TaskClaimed)), None)


async def _claimed_in_time(planner: AsyncPlanner, task_id: str) -> TaskClaimed:
    """Claim a task as soon as the lease of its holder has expired, by the store's clock."""
    end = time.monotonic() + _STOPPED
    while True:
        claim = await _claimed(planner, ClaimTask("other", task_id=task_id))
        if claim is not None:
            return claim
        must(time.monotonic() < end, f"a lease of {_LEASE} s had not expired after {_STOPPED:g} s")
        time.sleep(_LEASE / 10)  # noqa: ASYNC251 - nothing else runs


_WRITERS = 3
_OPENERS = 5
_MOMENT = 0.1  # seconds; a writer is killed within this time after its first output
_LONGEST = 120.0

SCRIPT = f"""{_BEGIN}
    while time.time() < float(sys.argv[3]):
        time.sleep(0.001)
    planner = await planner_on_store()
    for number in range(int(sys.argv[2])):
        name = sys.argv[1] + "." + str(number)
        (await planner.apply(CreateTask(name), policy=Policy())).unwrap()
        print(name, flush=True)

asyncio.run(work())
"""
"""
Script of a writer. Lines that define `opened` precede it. Arguments: name, task count, start time.
"""


@attrs.frozen
class _Writer:
    """A process that adds tasks and prints the subject of each when it has been acknowledged."""

    process: "subprocess.Popen[bytes]"
    output: IO[bytes]

    def killed(self, chance: Random) -> list[str]:
        """Kill the process while it works, and return the acknowledged subjects."""
        end = time.monotonic() + _LONGEST
        # Wait for output and not for a fixed time: on a busy machine a process takes seconds to
        # start.
        while not os.fstat(self.output.fileno()).st_size and self.process.poll() is None:
            must(time.monotonic() < end, f"a writer has printed nothing for {_LONGEST:g} seconds")
            time.sleep(0.005)
        time.sleep(chance.uniform(0, _MOMENT))
        self.process.kill()
        return self.ended()

    def ended(self) -> list[str]:
        """Wait for the end of the process, and return the acknowledged subjects."""
        self.process.wait(_LONGEST)
        with self.output:
            self.output.seek(0)
            # The last line may be incomplete.
            return self.output.read().decode().split("\n")[:-1]

    def stop(self) -> None:
        """End the process if it still runs, because a check that fails stops waiting for it."""
        self.process.kill()
        self.process.wait()
        self.output.close()


class Surviving(Checks):
    """Several processes on one store."""

    kills = 5
    """How many writers are killed: at least 3, which write in parallel."""

    async def test_what_was_acknowledged_outlives_its_writer(self, harness: Harness) -> None:
        """Appends that were acknowledged are kept, whenever their writer is killed."""
        acknowledged = told_to_the_killed(_opening(harness, SCRIPT), self.kills)
        store = await harness.again()
        plan, journal = await store.load("a"), await store.entries("a")
        subjects = [task.subject for task in plan]
        must(acknowledged, "no append of a writer was acknowledged: see the writers' output")
        lost = sorted(set(acknowledged) - set(subjects))
        counted = f"{len(lost)} of {len(acknowledged)}"
        must(not lost, f"{counted} acknowledged tasks are lost, such as {lost[:3]}")
        must(len({*subjects}) == len(subjects), "a task that was added once is in the plan twice")
        revisions = [entry.revision for entry in journal]
        equal(revisions, [*range(1, len(journal) + 1)], "the revisions in the journal")
        replayed = replay(Plan(), (event for entry in journal for event in entry.events))
        same_plan(replayed, plan, "the replay of the journal")

    async def test_many_open_a_fresh_store_at_once(self, harness: Harness) -> None:
        """
        If several processes open a new store in parallel, all succeed, and no process loses
        another's work.
        """
        # Beads#2672: several agents that opened a database for the first time in parallel lost it.
        script = _opening(harness, SCRIPT)
        start = time.time() + 1.5
        with ExitStack() as stack:
            openers = [_started(stack, script, f"{n}", 1, start) for n in range(_OPENERS)]
            acknowledged = [line for opener in openers for line in opener.ended()]
        codes = [opener.process.returncode for opener in openers]
        equal(codes, [0] * _OPENERS, "the exit codes of processes that open a store in parallel")
        plan = await (await harness.again()).load("a")
        _has_tasks(plan, acknowledged, "the tasks that they added")
        equal([task.id for task in plan], [f"{n}" for n in range(1, _OPENERS + 1)], "their ids")


def told_to_the_killed(script: str, kills: int) -> list[str]:
    """Kill `kills` writers, one after the other, and return the acknowledged tasks."""
    chance, acknowledged = Random(11), list[str]()  # noqa: S311 - no secret
    with ExitStack() as stack:
        writers = [_started(stack, script, f"{number}", 10**6) for number in range(_WRITERS)]
        for number in range(_WRITERS, kills + _WRITERS):
            acknowledged += writers.pop(chance.randrange(len(writers))).killed(chance)
            # Each killed writer is replaced, so that some are always writing.
            if number < kills:
                writers.append(_started(stack, script, f"{number}", 10**6))
    return acknowledged


def _started(stack: ExitStack, script: str, name: str, count: int, at: float = 0) -> _Writer:
    # The output is a file and not a pipe, because a writer blocks when its pipe is full.
    output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
    writer = _Writer(_process(script, name, count, at, stdout=output), output)
    stack.callback(writer.stop)
    return writer


_WATCHED = 8
_NO_TIME, _LONG = 0.0, 60.0


class Watching(Checks):
    """Watchers that follow a plan while others write."""

    quiet = 10.0
    """How many seconds a watcher waits for an entry until the check fails."""

    async def test_a_watcher_sees_every_entry_once(self, harness: Harness) -> None:
        """A watcher sees every entry once and in order, whichever handle wrote it."""
        # If a store only forwards notifications, entries that arrive while nobody listens are lost.
        handles = [harness.store, await harness.again()]
        made = _chain(_WATCHED)
        wanted, seen = entries_of(made), list[Any]()

        async def write() -> None:
            for number, append in enumerate(made):
                await accepted(handles[number % 2], "a", append)
                await harness.checks.runner.pause()

        async def watch() -> None:
            watched = harness.checks.runner.watched
            seen.extend(await watched(harness.handles[0], "a", len(wanted), self.quiet))

        await harness.together(write(), watch())
        equal(tuple(seen), wanted, "the entries a watcher saw while two handles appended in turns")

    async def test_a_wait_ends_with_a_change(self, harness: Harness) -> None:
        """
        A wait returns True as soon as the plan has changed, or False when the time to wait is over.
        """
        other = await harness.again()
        waits = getattr(harness.handles[0], "wait_for_change", None)
        if waits is None:
            pytest.skip("the store has no wait_for_change: watchers poll it")
        first, second = _chain(2)

        async def wait(revision: int, seconds: float, wanted: object) -> None:
            found = await awaited(waits("a", revision, seconds))
            at = f"wait_for_change('a', {revision}, {seconds:g})"
            must(found is wanted, f"{at} returned {found!r}, wanted {wanted}")

        await wait(0, _NO_TIME, wanted=False)
        await accepted(other, "a", first)
        await wait(0, _LONG, wanted=True)
        await accepted(other, "b", first)
        await wait(first.plan.revision, _NO_TIME, wanted=False)
        append = accepted(other, "a", second)
        await harness.together(wait(first.plan.revision, _LONG, wanted=True), append)


def _chain(count: int) -> list[Append]:
    """Return consecutive appends of two entries each."""
    made: list[Append] = []
    for number in range(count):
        plan = made[-1].plan if made else Plan()
        made.append(adding(plan, (f"{number} Dig",), (f"{number} Lay", "Fill")))
    return made


class StoreSuite(Sequential, Concurrent, Holding, Claiming, Surviving, Watching):
    """
    All checks of a `Store`. Subclass it as `Test...`, and define `store` and, if possible,
    `reopened`.

    No event loop runs. Parallel work is done in threads.
    """

    runner = ThreadRunner()


class AsyncStoreSuite(Sequential, Concurrent, Holding, Claiming, Surviving, Watching):
    """
    All checks of an `AsyncStore`. Parallel work is done in tasks.

    `store`, `reopened` and `close` may be coroutines. Each store has an event loop of its own, in
    which it is created, used and closed.
    """

    runner = TaskRunner()
