"""One plan of a recording, as far as the recording has been read."""

import attrs

from todoplan.core.plan.plan import Plan

__all__ = ["Lane"]


@attrs.define
class Lane:
    """
    A plan and what is counted of it. `shown` has our id for a recorded one where they differ.
    """

    name: str
    plan: Plan = attrs.field(factory=Plan)
    calls: int = 0
    refused: int = 0
    largest: int = 0
    last_line: int = 0
    shown: dict[str, str] = attrs.Factory(dict)
    written_in: str = ""
