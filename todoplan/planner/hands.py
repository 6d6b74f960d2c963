"""
What each hand last saw of a plan, so that none undoes what it has never seen (law 15).

A hand that calls through this planner is remembered by its actor, with the plan as its own last
call left it: a `Plan` is a value that shares what did not change, so to keep one costs little. As
long as the plan stands at the revision that the hand knew, nobody else has written, and there is
nothing to look up. Only otherwise the journal is read: it says who did what since.

A hand that this planner does not know (after a restart, in another process, or of more hands than
are remembered) is found in the journal by its tool calls. An edit by `apply` is no look at the
plan, whoever makes it: a program that edits shows its model nothing.

Once a planner knows a hand, whatever came by another planner is another's, even under the same
name: two clients may well have one name. To be told of one's own work costs a line; to undo
another's costs the work. The same holds of claims: a planner knows the fences that its own hands'
calls got, and no others by the same name.
"""

import os
from collections.abc import Sequence
from threading import Lock

import attrs

from todoplan.core.events.apply import replay
from todoplan.core.events.base import NOBODYS, Base
from todoplan.core.events.journal import Entry
from todoplan.core.events.touched import ids_of
from todoplan.core.events.types import Event, StatusChanged, TaskCreated, TaskEdited
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.held_claims import NO_FENCES, Fences, fences_after
from todoplan.dialogue.last_seen import is_refused_check
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.stores.hold import ALL
from todoplan.stores.journals import follow

__all__ = ["Hands"]

NEWCOMERS = os.environ.get("NEWCOMERS", "listed nothing")
"""Prototype: what a named session knows that has no record: also "base by name", "all by name"."""
_MOST_HANDS = 1_000  # a server meets any number of them; who is forgotten is found in the journal


class Hands:
    """
    The hands on one plan, by actor.
    """

    def __init__(self, toolset: ToolSet) -> None:
        self._toolset = toolset
        self._seen: dict[str | None, Base] = {}
        self._fences: dict[str | None, Fences] = {}
        self._lock = Lock()

    def saw(self, actor: str | None, known: Base) -> None:
        """
        Note what a session knows now.
        """
        with self._lock:
            # Of two calls at once by one hand, the earlier one may come here last.
            # Taken out and put in again, so that the first one is the hand that was longest away.
            old = self._seen.pop(actor, known)
            self._seen[actor] = known if known.plan.revision >= old.plan.revision else old
            if len(self._seen) > _MOST_HANDS:
                del self._seen[next(iter(self._seen))]

    def did(self, actor: str | None, events: Sequence[Event]) -> None:
        """
        Note what a hand's own calls have brought about: the claims that they got or ended.
        """
        if not self._toolset.team and actor not in self._fences:
            return  # on the road of every call
        with self._lock:
            held = fences_after(self._fences.pop(actor, NO_FENCES), events)
            if held:
                self._fences[actor] = held
            if len(self._fences) > _MOST_HANDS:
                del self._fences[next(iter(self._fences))]

    def fences(self, actor: str | None) -> Fences:
        """
        Return the fences of the claims that a hand's own calls got (law 19).
        """
        return self._fences.get(actor, NO_FENCES)

    def since(self, actor: str | None, plan: Plan, newest: Entry | None = None) -> int | None:
        """
        Return behind which revision the journal says what a hand has not seen; `None`: it has all.

        `newest` is the last entry, if it is known.
        """
        seen = self._seen.get(actor)
        if seen is not None:
            return seen.plan.revision if plan.revision > seen.plan.revision else None
        if actor is None or NEWCOMERS == "listed nothing":
            return None
        is_own = newest is not None and self._last_call(actor, (newest,))
        return ALL if plan.revision and not is_own else None

    def base(self, actor: str | None, plan: Plan, journal: Sequence[Entry]) -> Base | None:
        """
        Return what a session knows of a plan, and who changed it since; `None` if it is alone.

        `journal` is the plan's; it may be empty where the session cannot be behind.
        """
        known = self._seen.get(actor)
        if known is None:
            known = self._newcomer(actor, plan, journal)
        if known.plan.revision == plan.revision:
            return None if known.is_alone else attrs.evolve(known, plan=plan)
        news = [entry for entry in journal if entry.revision > known.plan.revision]
        own = [entry for entry in news if is_refused_check(entry, actor)]
        # All at once: `Base.after` copies them for each entry, and a hand may be away for long.
        actors = {
            task_id: entry.actor
            for entry in news
            if entry.actor is not None and not is_refused_check(entry, actor)
            for event in entry.events
            for task_id in ids_of(event)
        }
        if len(own) == len(news):
            return None if known.is_alone else attrs.evolve(known, plan=plan)
        then = replay(known.plan, [event for entry in own for event in entry.events])
        return attrs.evolve(known, plan=then, actors=actors)

    def _newcomer(self, actor: str | None, plan: Plan, journal: Sequence[Entry]) -> Base:
        if plan.next_id == 1:
            return Base(plan)
        looked = self._last_call(actor, journal) if actor and NEWCOMERS != "listed nothing" else 0
        if not looked:
            return Base(plan, listed=NOBODYS)
        then = follow(Plan(), journal[:looked])
        if NEWCOMERS == "base by name":
            return Base(then, listed=NOBODYS)
        mine = {
            event.task.id if isinstance(event, TaskCreated) else event.task_id
            for entry in journal[:looked]
            if entry.actor == actor and self._toolset.find(entry.cause)
            for event in entry.events
            if isinstance(event, TaskCreated | StatusChanged | TaskEdited)
        }
        listed = frozenset(task.id for task in then if task.id in mine)
        return Base(then, listed=None if len(listed) == len(then) else listed)

    def _last_call(self, actor: str | None, news: Sequence[Entry]) -> int:
        """
        Return how many entries there are up to the last tool call of a hand; 0 without one.
        """
        for place in reversed(range(len(news))):
            entry = news[place]
            # An entry by `apply` has a command's name as its cause, and so is found to be no call.
            is_call = entry.actor == actor and self._toolset.find(entry.cause)
            if is_call and not is_refused_check(entry, actor):
                return place + 1
        return 0
