"""What a run saves beside the messages, and how it is read again after a restart."""

from __future__ import annotations

from typing import Any

import attrs

from todoplan.adapters.functions._reading import Shape
from todoplan.core.plan.validation import short_repr
from todoplan.dialogue.application import require
from todoplan.dialogue.guidance.memory import Memory
from todoplan.errors import CodecError

__all__ = ["WHAT", "Asked", "SentBack", "revision"]

WHAT = "what run.to_data() returned"
_MEMORY, _SEEN = "memory", "seen"


def revision(seen: object) -> int | None:
    """
    Return the revision that a model has seen, or `None` for none.

    Raises:
        CodecError: it is damaged.
    """
    if seen is None or type(seen) is int:
        return seen
    msg = f"the revision that the model saw is damaged: {short_repr(seen)}; leave it out"
    raise CodecError(msg)


@attrs.frozen
class Asked:
    """
    A request that was made: what guidance remembers of it, and the revision that it showed, if any.
    """

    memory: Memory
    shown: int | None

    @classmethod
    def of(cls, kept: object) -> Asked | None:
        """
        Return what `to_data` wrote. Raises PlanError or CodecError where it is damaged.
        """
        if kept is None:
            return None
        given = require(kept, dict, WHAT)
        return cls(Memory.of(given.get(_MEMORY)), revision(given.get(_SEEN)))

    def to_data(self) -> dict[str, Any]:
        """
        Return it as plain JSON values.
        """
        return {_MEMORY: self.memory.to_data(), _SEEN: self.shown}


@attrs.frozen
class SentBack:
    """
    Answers that came too early: the `messages` and the `reminder` that end the next request alone,
    and those of them that `stand` in the conversation, should the model add nothing to them.
    """

    messages: tuple[Shape, ...] = ()
    reminder: str = ""
    stand: tuple[Shape, ...] = ()

    @classmethod
    def of(cls, kept: object) -> SentBack:
        """
        Return what `to_data` wrote. Raises PlanError where it is damaged.
        """
        if kept is None:
            return cls()
        given = require(kept, dict, WHAT)
        messages, stand = (require(given.get(name), list, WHAT) for name in ("messages", "stand"))
        return cls((*messages,), require(given.get("reminder"), str, WHAT), (*stand,))

    def to_data(self) -> dict[str, Any]:
        """
        Return it as plain JSON values; the messages are the provider's own.
        """
        return {**attrs.asdict(self), "messages": [*self.messages], "stand": [*self.stand]}
