"""What the hosts for the adapter suite have in common."""

import asyncio
import json
from contextvars import ContextVar
from inspect import isawaitable
from tempfile import mkdtemp

import pytest

from todoplan.testing.adapters.host import in_thread

SCRIPT = ContextVar("SCRIPT")
"""The script of the current run, for a framework whose agent has one model for all runs."""


def result(value):
    """Return a value, awaited if necessary. An event loop may be running in this thread."""

    async def awaited():
        return await value

    return in_thread(lambda: asyncio.run(awaited())).result() if isawaitable(value) else value


def as_text(arguments):
    """Return the arguments of a call as JSON text. A text is returned unchanged."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def events_of(entries):
    """Return the events of journal entries, in order."""
    return [event for entry in entries for event in entry.events]


class InFolders:
    """A suite whose hosts keep plans in folders: `new_folder` makes one for each host."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def new_folder(self):
        return mkdtemp(dir=self.folder)


class PlanningHost:
    """
    A host for adapters that have a class `Planning`.

    A subclass sets `adapter`, the adapter's module, and defines `place`, which returns the object
    in which the framework keeps the plan of a session.
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
