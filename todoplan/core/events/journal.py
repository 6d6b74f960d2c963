"""One entry of a plan's history: the events of an accepted command, with time and actor."""

from __future__ import annotations

from datetime import datetime

import attrs

from todoplan.core.events.types import Event

__all__ = ["Entry"]


@attrs.frozen
class Entry:
    """
    The effect of one accepted command.

    `revision` is the plan's revision after the command, and identifies the entry. `cause` is the
    name of the command or tool. `undoes` is the revision of the entry that this one undid.
    """

    revision: int
    events: tuple[Event, ...]
    at: datetime | None = None
    actor: str | None = None
    cause: str = ""
    undoes: int | None = None
