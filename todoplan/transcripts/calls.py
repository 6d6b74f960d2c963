"""What a reader yields: planning calls with their results, and what could not be read."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from todoplan.core.events.journal import Entry

__all__ = [
    "BadLine",
    "CallResult",
    "Compaction",
    "Item",
    "OtherCall",
    "PersonSpoke",
    "PlanningCall",
    "RecordedEntry",
    "ShownPlan",
]

MAIN_LANE = "main"


@attrs.frozen
class CallResult:
    """
    What the tool answered.

    `data` is the structured answer where the recorder kept one (Claude Code's `toolUseResult`,
    OpenHands' observation), else `None`.
    """

    text: str
    is_error: bool = False
    data: Mapping[str, Any] | None = None


@attrs.frozen
class PlanningCall:
    """
    One call of a planning tool, as the model sent it.

    `arguments` are as recorded: a mapping, or the text that should have been JSON. `lane` names the
    plan that the call acts on, `actor` who called; calls with the same `turn` were sent in one
    message. `line` counts from 1: the physical line, or the message's number in a document.
    `result` is `None` where the recording holds no answer.
    """

    tool: str
    arguments: Mapping[str, Any] | str
    line: int
    lane: str = MAIN_LANE
    actor: str = MAIN_LANE
    turn: str = ""
    call_id: str = ""
    at: datetime | None = None
    result: CallResult | None = None


@attrs.frozen
class BadLine:
    """
    Something that could not be read, with the reason in one line; the rest was read all the same.

    `unfinished` marks the last line of a file that is still being written: no fault, but a note.
    """

    line: int
    reason: str
    unfinished: bool = False


@attrs.frozen
class Compaction:
    """
    The conversation was summarised here; the plan goes on.
    """

    line: int
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class PersonSpoke:
    """
    The person wrote a message here: what came before waited for them, what follows is theirs.
    """

    line: int
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class ShownPlan:
    """
    The recording shows beside any call how a plan stood.

    Claude Code reminds of its tasks so (`task_reminder`); a LangGraph state ends with its `todos`.
    """

    line: int
    result: CallResult
    lane: str = MAIN_LANE
    at: datetime | None = None


@attrs.frozen
class RecordedEntry:
    """
    An entry of a journal of ours, of the plan that is the lane.
    """

    line: int
    entry: Entry
    lane: str = MAIN_LANE


@attrs.frozen
class OtherCall:
    """
    A call of a tool that is no planning tool known here.

    Readers give only the first few tools, until there is a planning call.
    """

    tool: str
    line: int


Item = PlanningCall | RecordedEntry | BadLine | Compaction | PersonSpoke | ShownPlan | OtherCall
