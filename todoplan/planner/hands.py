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

from collections.abc import Sequence
from threading import Lock

from todoplan.core.events.apply import replay
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.events.touched import ids_of
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.held_claims import NO_FENCES, Fences, fences_after
from todoplan.dialogue.last_seen import is_refused_check
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.stores.hold import ALL
from todoplan.stores.journals import follow

__all__ = ["Hands"]

_MOST_HANDS = 1_000  # a server meets any number of them; who is forgotten is found in the journal


class Hands:
    """
    The hands on one plan, by actor.
    """

    def __init__(self, toolset: ToolSet) -> None:
        self._toolset = toolset
        self._seen: dict[str | None, Plan] = {}
        self._shown: dict[str | None, Plan] = {}
        self._fences: dict[str | None, Fences] = {}
        self._lock = Lock()

    def saw(self, actor: str | None, plan: Plan) -> None:
        """
        Note that a hand has seen this plan.
        """
        with self._lock:
            self._shown.pop(actor, None)
            # Of two calls at once by one hand, the earlier one may come here last.
            # Taken out and put in again, so that the first one is the hand that was longest away.
            known = self._seen.pop(actor, plan)
            self._seen[actor] = plan if plan.revision >= known.revision else known
            if len(self._seen) > _MOST_HANDS:
                del self._seen[next(iter(self._seen))]

    def asked(self, actor: str | None, shown: Plan | None) -> None:
        """
        Note which plan a reminder shows a hand in the request that goes out now, if one does.
        """
        with self._lock:
            self._shown.pop(actor, None)
            if shown is not None:
                self._shown[actor] = shown
                if len(self._shown) > _MOST_HANDS:
                    del self._shown[next(iter(self._shown))]

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
            return seen.revision if plan.revision > seen.revision else None
        is_own = newest is not None and self._last_call(actor, (newest,))
        return ALL if plan.revision and not is_own else None

    def base(self, actor: str | None, journal: Sequence[Entry]) -> Base | None:
        """
        Return the plan as a hand last saw it, and who changed it since; `None` if it has seen all,
        or was never here.

        `journal` is the plan's; it may be empty where the hand cannot be behind.
        """
        seen = self._seen.get(actor)
        known = 0 if seen is None else seen.revision
        news = [entry for entry in journal if entry.revision > known]
        looked = self._last_call(actor, news) if seen is None else 0
        # Who never looked has no base (law 15): a first write means the plan as it is.
        if looked == len(news) or (seen is None and not looked):
            return None
        then = follow(Plan() if seen is None else seen, news[:looked])
        own = [entry for entry in news[looked:] if is_refused_check(entry, actor)]
        others = [entry for entry in news[looked:] if not is_refused_check(entry, actor)]
        if not others:
            return None
        # All at once: `Base.after` copies them for each entry, and a hand may be away for long.
        actors = {
            task_id: entry.actor
            for entry in others
            if entry.actor is not None
            for event in entry.events
            for task_id in ids_of(event)
        }
        then = replay(then, [event for entry in own for event in entry.events])
        return Base(then, actors, self._shown.get(actor))

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
