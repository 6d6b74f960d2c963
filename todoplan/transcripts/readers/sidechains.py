"""Who speaks on a line of a Claude Code log: the session, a teammate, or one of its subagents."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.transcripts.calls import MAIN_LANE
from todoplan.transcripts.readers.shapes import id_of, mapping

__all__ = ["Sidechains", "Voice"]

_REMEMBERED = 4096
_UNTOLD = "sidechain"


@attrs.frozen
class Voice:
    """
    The lane of a speaker's own todo list, and the speaker.
    """

    lane: str = MAIN_LANE
    actor: str = MAIN_LANE


class Sidechains:
    """
    Follows lines of subagents from child to parent, as far as the latest few thousand of them go.

    A subagent is known by its id, or by the call that started it, or by its first line.
    """

    def __init__(self) -> None:
        self._lanes: OrderedDict[str, str] = OrderedDict()

    def voice(self, fields: Mapping[str, Any]) -> Voice:
        """
        Give the speaker of this line.
        """
        agent = self._agent(fields)
        if agent:
            return Voice(agent, agent)
        return Voice(MAIN_LANE, id_of(fields.get("agentName")) or MAIN_LANE)

    def _agent(self, fields: Mapping[str, Any]) -> str:
        if fields.get("type") == "progress":
            return _named(mapping(fields.get("data")).get("agentId")) or _UNTOLD
        if fields.get("isSidechain") is True:
            return _named(fields.get("agentId")) or self._root(fields)
        return _named(fields.get("parent_tool_use_id"))

    def _root(self, fields: Mapping[str, Any]) -> str:
        own, parent = id_of(fields.get("uuid")), id_of(fields.get("parentUuid"))
        lane = self._lanes.get(parent, _UNTOLD)
        if own and not parent:
            lane = f"{_UNTOLD}-{own[:8]}"
        self._lanes[own] = lane
        if len(self._lanes) > _REMEMBERED:
            self._lanes.popitem(last=False)
        return lane


def _named(value: Any) -> str:
    name = id_of(value)
    return f"agent-{name}" if name else ""
