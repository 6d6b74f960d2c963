"""A step as a person reads it in a failure: what was done, and the plan before and after it."""

from enum import Enum
from textwrap import indent
from typing import Any

import attrs

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.replies.views import list_text
from todoplan.dialogue.toolbox import Call
from todoplan.testing.machine_judging import Outcome

__all__ = ["after_text", "before_text", "shown", "told"]

_MOST = 400


def shown(value: Any) -> str:
    """
    Return a command, or any value, as Python writes it, without the fields that have defaults.
    """
    if isinstance(value, tuple) and value:
        return f"({', '.join(map(shown, value))}{',' * (len(value) == 1)})"
    if isinstance(value, Enum):
        return repr(value.value)
    if not attrs.has(type(value)):
        return repr(value)
    given = [(field, getattr(value, field.name)) for field in attrs.fields(type(value))]
    said = [_field(field, inner) for field, inner in given if inner != field.default]
    return f"{type(value).__name__}({', '.join(said)})"


def _field(field: "attrs.Attribute[Any]", value: Any) -> str:
    return shown(value) if field.default is attrs.NOTHING else f"{field.name}={shown(value)}"


def told(call: Call) -> str:
    """
    Return a tool call on one line, clipped.
    """
    line = f"{call.name}({call.arguments!r})"
    return line if len(line) <= _MOST else f"{line[: _MOST - 3]}..."


def before_text(step: str, plan: Plan) -> str:
    """
    Return what is told before a step is taken.
    """
    return f"{step}\n  before:\n{_plan(plan)}"


def after_text(out: Outcome) -> str:
    """
    Return what is told behind it.
    """
    codes = f" ({', '.join(sorted(out.codes or ()))})" if out.codes else ""
    return f"  {f'refused{codes}' if out.refused else 'after'}:\n{_plan(out.plan)}"


def _plan(plan: Plan) -> str:
    return indent(list_text(plan), "    ")
