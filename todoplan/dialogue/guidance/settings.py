"""The options of guidance: which reminders it gives, and how often."""

from typing import Literal, get_args

import attrs

from todoplan.core.plan.validation import short_repr
from todoplan.errors import PlanError

__all__ = ["Settings"]


@attrs.frozen
class Settings:
    """
    The options of guidance; 0, `False` or "off" switches a reminder off.

    `plan_lost`: show the plan again if no message of the request shows it.
    `unfinished`: how often a final answer is sent back while tasks are open. The count starts again
    whenever more tasks are closed. After that the answer is accepted, or the verdict is "raise" if
    `on_ignored="raise"`. A question to the user is never sent back, nor is an answer while all open
    tasks wait for something outside the plan.
    `empty`: how often a run without a plan is reminded that it may write one.
    `stale`: after how many turns without a change a task in progress is mentioned.
    `changed`: report the changes by others since the model last saw the plan.
    `all_done`: when no task is open any more, ask once whether the final answer is complete;
    "if_silent" asks only if the final answer has no text.

    Raises:
        PlanError: an option has an illegal value.
    """

    plan_lost: bool = True
    # A cap is needed here: LangChain lets a run go on for 9,999 steps.
    unfinished: int = 2
    on_ignored: Literal["let_go", "raise"] = "let_go"
    # Off, as is `stale`: users of other tools complain most about these (claude-code#56415,
    # #81700).
    empty: int = 0
    stale: int = 0
    changed: bool = True
    all_done: Literal["off", "if_silent", "always"] = "off"

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(Settings):
            value = getattr(self, field.name)
            if words := get_args(field.type):
                fits, legal = value in words, " or ".join(map(repr, words))
            elif isinstance(field.default, bool):
                fits, legal = isinstance(value, bool), "True or False"
            else:  # `type`, since True is an int, but is not meant as a number
                fits, legal = type(value) is int and value >= 0, "a whole number, 0 for never"
            if not fits:
                msg = f"Settings({field.name}=...) is {short_repr(value)}; write {legal}"
                raise PlanError(msg, seen=value, name=field.name)

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in attrs.fields(Settings)
            if getattr(self, field.name) != field.default
        ]
        return f"Settings({', '.join(changed)})"
