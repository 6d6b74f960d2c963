"""One line of a plan's history: the events of an accepted command, when, and by whom."""

from __future__ import annotations

from datetime import datetime

import attrs

from todoplan.core.events.types import Event

__all__ = ["Entry"]


@attrs.frozen
class Entry:
    """
    What one accepted command did.

    `revision` is the plan's after it, and names the entry. `cause` is the command or tool by name.
    `undoes` is the revision of the entry that this one took back.
    """

    revision: int
    events: tuple[Event, ...]
    at: datetime | None = None
    actor: str | None = None
    cause: str = ""
    undoes: int | None = None
