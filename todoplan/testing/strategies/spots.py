"""Where in a tool's arguments something can be broken: a field, or a field of a list's entries."""

import copy
from collections.abc import Iterator
from typing import Any

import attrs

from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.tools.toolset import Tool

__all__ = ["OMITTED", "Spot", "spots"]

OMITTED: Any = object()
"""Put at a spot: the argument is not given."""


@attrs.frozen(eq=False)
class Spot:
    """
    A top-level field, or the field `inner` of the first entry of the list `outer`.
    """

    outer: Field
    inner: Field | None = None

    @property
    def field(self) -> Field:
        """
        The field itself.
        """
        return self.inner or self.outer

    def put(self, given: dict[str, Any], value: Any) -> dict[str, Any]:
        """
        Return a copy of the arguments with a value at the spot.
        """
        changed = copy.deepcopy(given)
        _set(self.holder(changed), self.field.name, value)
        return changed

    def holder(self, given: dict[str, Any]) -> dict[str, Any]:
        """
        Return the object that the spot is a key of.
        """
        if self.inner is None:
            return given
        first: dict[str, Any] = given[self.outer.name][0]
        return first


def _set(holder: dict[str, Any], name: str, value: Any) -> None:
    if value is OMITTED:
        holder.pop(name, None)
    else:
        holder[name] = value


def spots(tool: Tool, *kinds: Kind) -> Iterator[Spot]:
    """
    Yield the published spots of these kinds; of any kind if none is named.
    """
    for outer in tool.fields:
        if outer.hidden:
            continue
        if not kinds or outer.kind in kinds:
            yield Spot(outer)
        for inner in outer.items:
            if not inner.hidden and (not kinds or inner.kind in kinds):
                yield Spot(outer, inner)
