"""The state of guidance between two decisions, stored by the caller for each thread."""

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
    The state of guidance for one thread, in plain numbers that any storage can keep.

    `turn` counts the requests to the model. `revision` is the last revision of the plan that the
    model knew. `touched` is the turn from which a "stale" reminder counts: that of the model's last
    change, of the last such reminder, or the first turn. `shown` is the last revision that a
    reminder showed; the model knows it only during that request. `asked` counts the final answers
    sent back since `resolved` tasks were closed. `empties` counts the hints to write a plan.
    `confirmed` is the revision for which the model was asked whether its answer is complete. A
    revision of -1 means none.

    The state belongs to one thread of one user. If it were shared in the process, or under a
    default key, one user's reminders would use up another user's caps, as happened elsewhere.
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
        Return the memory from the data of `to_data`, of any version; for `None`, a new memory.

        Raises:
            CodecError: the data is not a mapping of names to whole numbers.
        """
        if data is None:
            return cls()
        if not isinstance(data, Mapping):
            raise _damaged(data, "object")
        # A newer version may have stored more fields. Refusing them would break every thread on a
        # downgrade.
        known = {field.name for field in attrs.fields(cls)}
        kept = {name: value for name, value in data.items() if name in known}
        for name, value in kept.items():
            if type(value) is not int:  # not a bool either
                raise _damaged(value, "whole number", name)
        return cls(**kept)

    def to_data(self) -> dict[str, int]:
        """Return the memory as plain JSON values."""
        return attrs.asdict(self)

    def new_run(self, plan: Plan) -> "Memory":
        """Return the memory for a new user request: caps apply to a run, not to a plan."""
        return attrs.evolve(self, asked=0, resolved=plan.counts.closed, empties=0, confirmed=-1)

    def next_turn(self, plan: Plan, base: Base | None) -> "Memory":
        """Return the memory for the next request to the model, whose merge base is `base`."""
        memory = attrs.evolve(self, turn=self.turn + 1)
        if memory.revision < 0:  # a new thread, maybe on an old plan: nothing has changed yet
            memory = attrs.evolve(memory, revision=plan.revision, touched=memory.turn)
        # Others made changes and reverted them: there is nothing to report.
        if base is not None and not base.has_news(plan):
            memory = attrs.evolve(memory, revision=plan.revision)
        return memory

    def saw(self, plan: Plan) -> "Memory":
        """Return the memory after a call of the model that led to this plan."""
        return attrs.evolve(self, revision=plan.revision, touched=self.turn)

    def at(self, plan: Plan, base: Base | None, known: int | None) -> "Memory":
        """
        Return the memory for a plan that is kept in a store.

        `known` is the revision that the thread knows. `base` is its merge base, if others have
        changed the plan since.
        """
        if self.revision < 0 or known is None:  # never shown: nothing in the plan is news
            return self
        if base is not None:
            return attrs.evolve(self, revision=known)
        return self if self.revision == plan.revision else self.saw(plan)

    def saw_own(self, before: int, plan: Plan, *, refused: bool = False) -> "Memory":
        """
        Return the memory after the model's own calls led from revision `before` to this plan.

        If the model did not know revision `before`, the memory stays: the earlier changes by others
        are still unknown to the model. It also stays if the calls changed nothing. `refused` is
        true for a refused call that recorded evidence: its reply does not report the changes that a
        reminder showed.
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
