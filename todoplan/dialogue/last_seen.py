"""
What the model last saw of a plan, where a framework hands over the calls of a turn one by one.

Law: the replies, taken together, are those of `Toolbox.turn` with the base of the turn (law 15).
All calls of a turn were written before any of the answers was read: a list that the model wrote
beside a first call is upon what it saw before that one, though its answer is a look.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import attrs

from todoplan.core.commands import Batch, RecordEvidence
from todoplan.core.events.apply import replay
from todoplan.core.events.base import Base, changed_by
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event, TaskEdited
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.application import unseen_by_model
from todoplan.dialogue.parallel_calls import answered_after
from todoplan.dialogue.replies.unseen import unseen_text
from todoplan.dialogue.toolbox import Call, Reply, Toolbox

__all__ = ["LastSeen", "base_at", "is_refused_check", "told_once"]

# A program's evidence stands under its command: that is news to a model.
_BY_PROGRAM = frozenset({RecordEvidence.__name__, Batch.__name__})


def is_refused_check(entry: Entry, actor: str | None = None) -> bool:
    """
    Say whether an entry is what a verifier found for a call of this hand's that was refused.

    Its answer has said so: it is no news to that hand, though the answer was no look.
    """
    # A model's tools cannot set it (law 20), so it was found within the call.
    is_found = all(
        isinstance(event, TaskEdited) and {*event.changes} == {"evidence"} for event in entry.events
    )
    return is_found and entry.actor == actor and entry.cause not in _BY_PROGRAM


def base_at(
    journal: Iterable[Entry],
    revision: int,
    own: Collection[int] = (),
    *,
    actor: str | None = None,
) -> Base:
    """
    Return what a hand has not seen that knows a plan's revision, from its whole journal; `own` are
    the revisions of the entries that it made itself since, `actor` is its name.
    """
    known: list[Event] = []
    unseen: list[Entry] = []
    for entry in journal:
        is_own = entry.revision in own or is_refused_check(entry, actor)
        if entry.revision <= revision or is_own:
            known += entry.events
        else:
            unseen.append(entry)
    was = replay(Plan(), known)
    return Base(was, changed_by(was, unseen))


def told_once(reply: Reply, base: Base, plan: Plan) -> Reply:
    """
    Return a reply to a call upon a plan without what others did since the base: an earlier answer
    of the same turn has told it.
    """
    told = unseen_text(base, plan, reply.plan)
    if not told or not reply.text.startswith(told):
        return reply
    # What a list left out and keeps stands behind the news, in the same line.
    return attrs.evolve(reply, text=reply.text[len(told) :].removeprefix("\n").removeprefix("; "))


@attrs.define
class LastSeen:
    """
    What the model last saw: `base`, which is kept with the plan, `None` while it has seen all.
    """

    base: Base | None = None
    # The calls of the turn last answered, and what all of them were written upon.
    _turn: tuple[str, ...] = ()
    _written_upon: Base | None = None

    def edited(self, before: Plan, entry: Entry) -> None:
        """
        Note that another hand has changed the plan `before` it.
        """
        self.base = unseen_by_model(self.base, before, entry)

    @property
    def is_of_interest(self) -> bool:
        """
        Say whether the turn of a call matters: there is, or was of late, something unseen.
        """
        return self.base is not None or bool(self._turn)

    def asked(self, shown: Plan | None = None) -> None:  # noqa: ARG002 - until adapters drop it
        """
        Note that the model has answered a request: its calls are those of another turn.
        """
        self._turn, self._written_upon = (), None

    def answer(  # noqa: PLR0913 - as `Toolbox.call`, and the turn
        self,
        toolbox: Toolbox,
        plan: Plan,
        call: Call,
        turn: Sequence[Call],
        *,
        at: datetime,
        actor: str | None = None,
    ) -> Reply:
        """
        Answer a call of a turn on a plan in which the calls before it are carried out. Nothing is
        noted: a call may be tried again (see `answered`).
        """
        names = [one.name for one in turn]
        base = self._upon(turn)
        clashing = {names[place] for place in toolbox.clashing(names)}
        if base is None or call.name in clashing:
            return answered_after(toolbox, plan, call, names, at=at, actor=actor)
        if self.base is None:  # an earlier answer of this turn has told it
            base = attrs.evolve(base, heard=plan)
        return toolbox.call(plan, call.name, call.arguments, at=at, base=base, actor=actor)

    def answered(self, reply: Reply, turn: Sequence[Call]) -> bool:
        """
        Note that this reply is given, and say whether the model sees by it what others did.
        """
        base, was_behind = self._upon(turn), self.base is not None
        if base is None:
            return False
        if reply.is_error:
            # What a verifier has found for it: the refusal says that, and nothing of others.
            if self.base is not None and reply.events:
                self.base = self.base.with_own(reply.events)
            return False
        # Its own work is no news to a hand, so the next call of this turn is upon that as well.
        own = base.with_own(reply.events)
        self.base, self._turn, self._written_upon = None, _ids(turn), own
        return was_behind

    def _upon(self, turn: Sequence[Call]) -> Base | None:
        # Each call comes with its whole turn: the same ids, the same turn.
        same = bool(self._turn) and self._turn == _ids(turn)
        return self._written_upon if same else self.base


def _ids(turn: Sequence[Call]) -> tuple[str, ...]:
    return tuple(call.call_id for call in turn)
