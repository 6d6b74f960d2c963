"""
What each actor that calls through one planner knows of the plan (law 15).

A session that calls by a planner without a record of its own is remembered by its actor, with the
plan as its last call left it: a `Plan` is a value that shares what did not change, so to keep one
costs little. As long as the plan stands at that revision nobody else has written, and there is
nothing to look up. Only otherwise the journal is read: it says who did what since.

An actor that this planner does not know (after a restart, in another process, or of more than are
remembered) has listed nothing: two clients may well have one name, and a line that changed nothing
is in no journal. If it has a name, its last tool call in the journal gives it a base all the same,
which only protects: its old lines mean no change, and what others did since is news to it. An edit
by `apply` is no such call: a program that edits in the name of a model shows it nothing.

The same holds of claims: a planner knows the fencing tokens that its own calls got, and no others.
"""

from collections.abc import Collection, Mapping, Sequence
from threading import Lock

import attrs

from todoplan.core.events.apply import replay
from todoplan.core.events.base import NOTHING_LISTED, Base, changed_by
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event
from todoplan.core.plan.frozen import EMPTY
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.held_claims import NO_FENCES, Fences, fences_after
from todoplan.dialogue.last_seen import is_refused_check
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.stores.hold import ALL
from todoplan.stores.journals import follow

_EMPTY_PLAN = Plan()
_MOST_ACTORS = 1_000  # a server meets any number of them; who is forgotten is found in the journal


def plan_at(journal: Sequence[Entry], revision: int, known: Plan = _EMPTY_PLAN) -> Plan | None:
    """
    Return the plan as it was at a revision, by its journal or the entries after a `known` one;
    `None` if the journal was cut after that, or does not go so far.
    """
    entries = [one for one in journal if known.revision < one.revision <= revision]
    if not entries or entries[-1].revision != revision:
        return known if revision == known.revision else None
    return follow(known, entries)


def caught_up(
    known: Base,
    journal: Sequence[Entry],
    actor: str | None,
    own: Collection[int] = (),
    earlier: Mapping[str, str] = EMPTY,
) -> Base:
    """
    Return what a session knows once others have written the entries after its plan: which of them
    are its own (`own` are their revisions, or what a verifier found for a call of this actor's that
    was refused), and who made the others; `earlier` says so of those of before the journal.
    """
    done: list[Event] = []
    others: list[Entry] = []
    for entry in journal:
        if entry.revision > known.plan.revision:
            if entry.revision in own or is_refused_check(entry, actor):
                done += entry.events
            else:
                others.append(entry)
    actors = {**earlier, **changed_by(known.plan, others)}
    return attrs.evolve(known, plan=replay(known.plan, done) if done else known.plan, actors=actors)


class Actors:
    """
    What the actors of one planner know, and the fencing tokens that their calls got.
    """

    def __init__(self, toolset: ToolSet) -> None:
        self._toolset = toolset
        self._known: dict[str | None, Base] = {}
        self._fences: dict[str | None, Fences] = {}
        self._lock = Lock()

    def knows(self, actor: str | None, known: Base) -> None:
        """
        Note what an actor knows after a call.
        """
        with self._lock:
            # Of two calls at once by one actor, the earlier one may come here last.
            # Taken out and put in again, so that the first one is the actor that was longest away.
            old = self._known.pop(actor, known)
            self._known[actor] = known if known.plan.revision >= old.plan.revision else old
            if len(self._known) > _MOST_ACTORS:
                del self._known[next(iter(self._known))]

    def did(self, actor: str | None, events: Sequence[Event]) -> None:
        """
        Note what an actor's own calls have brought about: the claims that they got or ended.
        """
        if not self._toolset.team and actor not in self._fences:
            return  # on the way of every call
        with self._lock:
            fences = fences_after(self._fences.pop(actor, NO_FENCES), events)
            if fences:
                self._fences[actor] = fences
            if len(self._fences) > _MOST_ACTORS:
                del self._fences[next(iter(self._fences))]

    def fences(self, actor: str | None) -> Fences:
        """
        Return the fencing tokens of the claims that an actor's own calls got (law 19).
        """
        return self._fences.get(actor, NO_FENCES)

    def since(self, actor: str | None, plan: Plan, newest: Entry | None = None) -> int | None:
        """
        Return the revision after which the journal has to be read for `base`; `None` if it need not
        be. `newest` is the last entry, if it is known.
        """
        known = self._known.get(actor)
        if known is not None:
            return known.plan.revision if plan.revision > known.plan.revision else None
        if actor is None or not plan.revision:
            return None
        return None if newest is not None and self._last_call(actor, (newest,)) else ALL

    def base(self, actor: str | None, plan: Plan, journal: Sequence[Entry]) -> Base | None:
        """
        Return the base of an actor's next calls; `None` if it has listed all that there is.

        `journal` has what `since` asked for.
        """
        known = self._known.get(actor)
        if known is None:
            if plan.next_id == 1:
                return None  # nothing was ever written: there is nothing that it could not know
            count = self._last_call(actor, journal) if actor is not None else 0
            then = follow(_EMPTY_PLAN, journal[:count]) if count else plan
            # It reopens nothing by a list: it does not know who has closed what.
            known = Base(then, listed=NOTHING_LISTED, overflow=True)
        if known.plan.revision != plan.revision:
            known = caught_up(known, journal, actor)
        if known.plan.revision != plan.revision:
            return known
        # Equal by now, also where all that came was found for its own calls: then it is this plan.
        return None if known.is_alone else attrs.evolve(known, plan=plan, actors=EMPTY)

    def _last_call(self, actor: str, journal: Sequence[Entry]) -> int:
        """
        Return how many entries there are up to the last tool call of an actor; 0 without one.
        """
        for place in reversed(range(len(journal))):
            entry = journal[place]
            # An entry by `apply` has a command's name as its cause, and so is found to be no call.
            is_call = entry.actor == actor and self._toolset.find(entry.cause)
            if is_call and not is_refused_check(entry, actor):
                return place + 1
        return 0
