"""What the hosts of adapters with a `Planning` have in common, for the adapter suite."""

import asyncio
from inspect import isawaitable


def result(value):
    """Return a value, or what comes of it if it has to be awaited."""
    return asyncio.run(_awaited(value)) if isawaitable(value) else value


async def _awaited(value):
    return await value


def events_of(entries):
    """Return the events of entries of a journal, in order."""
    return [event for entry in entries for event in entry.events]


class PlanningHost:
    """
    A host of an adapter's `Planning`. A subclass has the module of the adapter, and `place`, which
    returns where the framework keeps the plan of a session.
    """

    adapter = None

    def __init__(self, setup, **more):
        self.setup, self.sessions = setup, {}
        given = {"clock": setup.clock, "verify": setup.verify, **more}
        self.planning = self.adapter.Planning(setup.toolbox, setup.settings, **given)

    def seed(self, session, plan):
        result(self.adapter.seed_plan(self.planning, self.place(session), plan))

    def edit(self, session, command, actor):
        place = self.place(session)
        return result(self.adapter.edit_plan(self.planning, place, command, actor=actor))

    def plan(self, session):
        return result(self.adapter.plan_of_state(self.place(session)))
