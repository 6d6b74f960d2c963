"""What guidance remembers between two decisions: a value, kept by whoever keeps the thread."""

from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError

__all__ = ["Memory"]


@attrs.frozen
class Memory:
    """
    What guidance remembers of one thread: plain numbers, so that any state can hold them.

    `turn` counts requests to the model. `revision` is the last one of the plan that the model knew
    (-1: none), `touched` the turn in which that was; `shown` is the last one that a reminder told
    of, which the model knows only while that request lasts (-1: none). `asked` counts the further
    turns asked for since `resolved` tasks were closed, `empties` the hints to write a plan.
    `confirmed` is the revision for which the answer itself was asked for (-1: none).

    It belongs to a thread of one user. Kept in the process, or under a default key, it would let
    one user's reminders use up another's, as happened elsewhere.
    """

    turn: int = 0
    revision: int = -1
    touched: int = 0
    asked: int = 0
    resolved: int = 0
    empties: int = 0
    confirmed: int = -1
    shown: int = -1

    @classmethod
    def of(cls, data: Mapping[str, Any] | None) -> "Memory":
        """
        Return the memory that `to_data` wrote, also by another version; a new one for `None`.

        Raises:
            CodecError: what stands there are no numbers.
        """
        if data is None:
            return cls()
        if not isinstance(data, Mapping):
            raise _damaged(data, "object")
        # A newer version may have kept more. To refuse that would end every thread on a downgrade.
        known = {field.name for field in attrs.fields(cls)}
        kept = {name: value for name, value in data.items() if name in known}
        for name, value in kept.items():
            if type(value) is not int:  # a bool is none: it was something else once
                raise _damaged(value, "whole number", name)
        return cls(**kept)

    def to_data(self) -> dict[str, int]:
        """
        Return the memory as plain JSON values.
        """
        return attrs.asdict(self)

    def new_run(self, plan: Plan) -> "Memory":
        """
        Return the memory for a new request of the user: caps belong to a run, not to a plan.
        """
        return attrs.evolve(self, asked=0, resolved=plan.counts.closed, empties=0, confirmed=-1)

    def next_turn(self, plan: Plan, base: Base | None) -> "Memory":
        """
        Return the memory for one more request to the model, which last saw the plan as in `base`.
        """
        memory = attrs.evolve(self, turn=self.turn + 1)
        if memory.revision < 0:  # a new thread on a plan that may be old: nothing has changed yet
            memory = attrs.evolve(memory, revision=plan.revision, touched=memory.turn)
        # Others wrote what they then took back: nothing to tell of.
        if base is not None and not base.has_news(plan):
            memory = attrs.evolve(memory, revision=plan.revision)
        return memory

    def saw(self, plan: Plan) -> "Memory":
        """
        Return the memory after the model's own call made the plan this one.
        """
        return attrs.evolve(self, revision=plan.revision, touched=self.turn)

    def at(self, plan: Plan, base: Base | None, known: int | None) -> "Memory":
        """
        Return the memory for a plan in a store, of which a thread knows the revision `known`, and
        its `base` if others have changed it since.
        """
        if self.revision < 0 or known is None:  # never shown: nothing in it is news
            return self
        if base is not None:
            return attrs.evolve(self, revision=known)
        return self if self.revision == plan.revision else self.saw(plan)

    def saw_own(self, before: int, plan: Plan, *, refused: bool = False) -> "Memory":
        """
        Return the memory after the model's own calls brought a plan from a revision to this one.

        What others did before that is still unknown to the model, and a call that changed nothing
        is no sign that it knows the plan. One that was `refused`, and has left evidence, tells
        nothing of what a reminder showed.
        """
        known = {self.revision} if refused else {self.revision, self.shown}
        is_own = before in known and before != plan.revision
        return self.saw(plan) if is_own else self


def _damaged(seen: object, wanted: str, name: str = "it") -> CodecError:
    msg = (
        f"what guidance remembers is damaged: {name} is {seen!r:.60}, which is no {wanted}; "
        "leave all of it out, and guidance starts anew"
    )
    return CodecError(msg, name=name)
