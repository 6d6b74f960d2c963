"""
Which hand a request is: two clients on one plan must not undo each other (law 15).

A session is a hand. Its journal entries bear the name that the client gave itself, which is no
more than a label: two windows of one program have the same. So each session has its own sight of
the plan; one that comes anew goes on from the last entry under its name. Since protocol 2026-07-28
there are no sessions, and a client's name is all that tells its requests from others'.
"""

from typing import Any

from todoplan.planner import AsyncPlanner

__all__ = ["Clients"]

# mcp 1.x does not say that a client is gone; one that is forgotten goes on by its name.
_MOST = 1_000
_LONGEST_NAME = 40
_NO_SESSIONS = "2026-07-28"


class Clients:
    """
    The clients of one plan's planner.
    """

    def __init__(self, planner: AsyncPlanner) -> None:
        self._planner = planner
        self._hands: dict[int, tuple[Any, AsyncPlanner]] = {}

    def hand(self, context: Any) -> tuple[AsyncPlanner, str | None]:
        """
        Return the planner that knows what the client of a request has seen, and its name.
        """
        said = context.session.client_params
        if said is None:
            return self._planner, None
        name = _name(said)
        # Versions are ISO dates, which compare as text; a context of mcp 1.x has none.
        if getattr(context, "protocol_version", "") >= _NO_SESSIONS:
            return self._planner, name
        # What the client said of itself in the handshake is one object for the whole connection in
        # both versions of mcp. It is kept too: its number could be another's once it is gone.
        found = self._hands.pop(id(said), None) or (said, self._planner.for_another_hand())
        self._hands[id(said)] = found
        for longest_away in list(self._hands)[:-_MOST]:
            del self._hands[longest_away]
        return found[1], name


def _name(said: Any) -> str | None:
    # mcp 2.x has names in snake_case, 1.x those of the wire.
    info = getattr(said, "client_info", None) or said.clientInfo
    # Other hands' models read it in their replies: one short line, without control characters.
    return "".join(filter(str.isprintable, info.name))[:_LONGEST_NAME] or None
