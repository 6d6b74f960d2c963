"""One plan as all who watch it know it: each is sent the difference to what it was sent last."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from todoplan import MemoryStore, Planner, Policy
from todoplan.board.application import Feed
from todoplan.board.messages import change, last_rows, rows_of, snapshot
from todoplan.codec import plan_to_data
from todoplan.core import commands
from todoplan.planner import AsyncPlanner
from todoplan.testing import strategies

PATIENCE = 60


def laid_upon(page, message):
    """What a page makes of a change: the tasks by id, in order."""
    known = {each["id"]: each for each in page}
    for task_id in message["gone"]:
        del known[task_id]
    known.update((each["id"], each) for each in message["tasks"])
    return [known[i] for i in message.get("order", known)]


@settings(max_examples=60)
@given(data=st.data(), places=st.tuples(st.integers(0, 30), st.integers(0, 30)))
def test_what_a_page_was_sent_and_the_change_are_the_plan(data, places):
    """Law 2 for a page: from any revision that it knows to any later one."""
    planner = Planner()
    plans = [planner.plan]
    for _ in range(8):
        planner.apply(data.draw(strategies.sensible_commands(planner.plan)), policy=Policy())
        plans.append(planner.plan)
    first, last = sorted(place % len(plans) for place in places)
    was, now = plans[first], plans[last]
    page = snapshot("plan", was, ())["tasks"]
    entries = [each for each in planner.history() if was.revision < each.revision <= now.revision]
    message = change(was, now, entries)
    assert laid_upon(page, message) == plan_to_data(now)["tasks"]
    assert [row["revision"] for row in message["rows"]] == [each.revision for each in entries]


def test_a_page_is_told_that_its_plan_is_approved():
    """As the document says it; of a plan that nobody has approved there is nothing to tell."""
    planner = Planner()
    planner.apply(commands.CreateTask("Dig"))
    assert snapshot("plan", planner.plan, ())["approved"] is None
    planner.apply(commands.ApprovePlan(), actor="ann")
    approved = snapshot("plan", planner.plan, ())["approved"]
    assert approved == plan_to_data(planner.plan)["approved"]


def test_rows_say_what_an_undo_changed():
    """Beside the plan before it, if that is known: of a gap nobody knows what came back."""
    planner = Planner()
    for subject in ("Dig", "Plant"):
        planner.apply(commands.CreateTask(subject))
    was = planner.plan
    planner.undo()
    planner.apply(commands.CreateTask("Rest"))
    planner.undo()
    journal = planner.history()
    rows = last_rows(journal, planner.plan)
    assert [row["what"] for row in rows[2:]] == [("removed #2",), ("created #3",), ("removed #3",)]
    assert change(was, planner.plan, journal[2:])["rows"] == rows[2:]
    assert rows_of(journal[4:], planner.plan, was)[0]["what"] == ("restored #1 Dig",)


@pytest.fixture
def store():
    """A store with the plan "garden"."""
    kept = MemoryStore()
    Planner(kept, "garden").apply(commands.CreateTask("Dig"), actor="agent")
    return kept


def feed_of(store):
    """The feed of that plan."""
    return Feed("garden", AsyncPlanner(store, "garden"))


async def after(messages):
    """The next message, if it comes."""
    return await asyncio.wait_for(anext(messages), PATIENCE)


def test_two_readers_are_sent_the_same(store):
    """Each begins where it is; what is new comes to both, and to one when the other is gone."""

    async def read():
        feed, planner = feed_of(store), Planner(store, "garden")
        async with aclosing(feed.messages()) as early:
            await after(early)
            planner.apply(commands.CreateTask("Plant"))
            await after(early)
            planner.apply(commands.CreateTask("Water"))
            await after(early)
            async with aclosing(feed.messages(known=2)) as late:
                caught_up = await after(late)
                planner.apply(commands.CreateTask("Rake"))
                both = await after(early), await after(late)
            planner.apply(commands.CreateTask("Mow"))
            return caught_up, *both, await after(early)

    caught_up, one, other, last = asyncio.run(read())
    assert [each["subject"] for each in last[1]["tasks"]] == ["Mow"]
    assert [each["subject"] for each in caught_up[1]["tasks"]] == ["Water"]
    assert [row["revision"] for row in caught_up[1]["rows"]] == [3]
    assert one == other


def test_what_came_while_a_reader_was_busy_is_one_message(store):
    """Ten changes are one difference, with the rows of all ten."""

    async def read():
        feed, planner = feed_of(store), Planner(store, "garden")
        async with aclosing(feed.messages()) as messages:
            await after(messages)
            for number in range(10):
                planner.apply(commands.UpdateTask("1", subject=f"Dig {number}"))
            while feed._plan.revision < planner.plan.revision:
                await feed._news.wait()
            return await after(messages)

    name, data = asyncio.run(read())
    assert (name, [each["subject"] for each in data["tasks"]]) == ("change", ["Dig 9"])
    assert len(data["rows"]) == 10


def test_nobody_reads_nobody_asks(store):
    """When the last reader is gone nothing is watched; the next one begins anew."""

    async def read():
        feed = feed_of(store)
        async with aclosing(feed.messages()) as messages:
            await after(messages)
            assert feed._following is not None
        assert feed._following is None
        Planner(store, "garden").apply(commands.CreateTask("Plant"))
        async with aclosing(feed.messages()) as messages:
            return await after(messages)

    assert asyncio.run(read())[1]["revision"] == 2


def test_a_reader_that_knows_all_is_sent_what_is_new(store):
    """No snapshot, and nothing twice."""

    async def read():
        async with aclosing(feed_of(store).messages(known=1)) as messages:
            waiting = asyncio.create_task(after(messages))
            done, _ = await asyncio.wait([waiting], timeout=0.05)
            assert not done
            Planner(store, "garden").apply(commands.CreateTask("Plant"))
            return await waiting

    name, data = asyncio.run(read())
    assert (name, [each["subject"] for each in data["tasks"]]) == ("change", ["Plant"])


class Torn(MemoryStore):
    """A store whose journal lacks its beginning."""

    def entries(self, plan_id):
        """All but the first."""
        return super().entries(plan_id)[1:]


def test_a_journal_that_does_not_tell_gives_the_whole_plan():
    """A page that cannot be told what came since is shown the plan as it is."""
    store = Torn()
    planner = Planner(store, "garden")
    for text in ("Dig", "Plant", "Water"):
        planner.apply(commands.CreateTask(text))

    async def read():
        async with aclosing(feed_of(store).messages(known=2)) as messages:
            return await after(messages)

    name, data = asyncio.run(read())
    assert (name, len(data["tasks"])) == ("snapshot", 3)
