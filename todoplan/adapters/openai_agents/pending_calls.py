"""
Which calls belong together: those of one model turn, whichever of them the SDK starts first.

Law 13 is about the calls of one turn, and the SDK starts each by itself, all at once. So the calls
of a turn are noted when the model has made them, and the first that is started carries out all that
are sure to come; a call that waits for a person's approval counts when it comes.
"""

from asyncio import Lock
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import attrs

from todoplan.adapters.openai_agents.conversation import portable
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import CodecError

__all__ = ["CallGroup", "PendingCalls"]

_MOST = 256


# Compared by identity: each of its calls leads to the same group, and `to_data` keeps it once.
@attrs.define(eq=False)
class CallGroup:
    """
    Calls that are carried out as one, in order, when the first of them is started.
    """

    calls: tuple[Call, ...]
    replies: Mapping[str, Reply] = attrs.field(factory=dict)
    lock: Lock = attrs.field(factory=Lock)

    def holds(self, call: Call) -> bool:
        """
        Say whether a call is one of these, as the SDK carries it.
        """
        return any(
            # Not by the id alone: ids are unique only within a run, and a session may have several.
            (one.call_id, one.name, portable(one.arguments))
            == (call.call_id, call.name, call.arguments)
            for one in self.calls
        )

    def to_data(self) -> list[list[dict[str, Any]]]:
        """
        Return the calls as JSON values; those that were carried out are no longer one.
        """
        calls = [attrs.asdict(call) for call in self.calls]
        return [[call] for call in calls] if self.replies else [calls]


class PendingCalls:
    """
    The calls that models have made and whose answers they have not seen yet, by their ids.

    Raises:
        CodecError: what was saved is damaged.
    """

    def __init__(self, toolbox: Toolbox, saved: Iterable[Iterable[Mapping[str, Any]]] = ()) -> None:
        self._toolbox = toolbox
        self._groups: dict[str, CallGroup] = {}
        for calls in _restored(saved):
            self._keep(calls)

    def heard(self, calls: Sequence[Call], sure: Collection[str]) -> None:
        """
        Note the calls of a turn. Those of the tools `sure` are carried out whatever happens; others
        may be waiting for approval, and count when they come.

        Whole-list writes that contradict each other belong together in any case.
        """
        clashing = self._toolbox.clashing([call.name for call in calls])
        at_once = []
        for place, call in enumerate(calls):
            if place not in clashing and call.name in sure:
                at_once.append(call)
            elif place not in clashing:
                self._keep([call])
        # Law 13: these are refused in any case, and so decided together, approved or not.
        self._keep([calls[place] for place in sorted(clashing)])
        self._keep(at_once)

    def _keep(self, calls: Sequence[Call]) -> None:
        # The SDK carries out an exact repetition once, and so must this.
        group = CallGroup(tuple(dict.fromkeys(calls)))
        for call in calls:
            self._groups[call.call_id] = group
        while len(self._groups) > _MOST:  # calls that no run has ever answered
            del self._groups[next(iter(self._groups))]

    def group(self, call: Call) -> CallGroup:
        """
        Return the group of a call; a call that no turn was heard of is one of its own.
        """
        found = self._groups.get(call.call_id)
        return found if found and found.holds(call) else CallGroup((call,))

    def awaits(self, call_ids: Iterable[str]) -> bool:
        """
        Say whether any of these calls has been made and not been answered.
        """
        return any(call_id in self._groups for call_id in call_ids)

    def answered(self, call_ids: Iterable[str]) -> None:
        """
        Forget calls whose answers the model has seen.
        """
        for call_id in call_ids:
            self._groups.pop(call_id, None)

    def to_data(self) -> list[list[dict[str, Any]]]:
        """
        Return what is to be remembered as JSON values.
        """
        groups = dict.fromkeys(self._groups.values())
        return [calls for group in groups for calls in group.to_data()]


def _restored(saved: Iterable[Iterable[Mapping[str, Any]]]) -> list[list[Call]]:
    with suppress(TypeError):
        groups = [[Call(**call) for call in calls] for calls in saved]
        parts = (part for calls in groups for call in calls for part in attrs.astuple(call))
        if all(isinstance(part, str) for part in parts):
            return groups
    msg = "the calls that were saved are damaged; without `calls` each counts when it comes"
    raise CodecError(msg)
