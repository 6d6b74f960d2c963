"""The maximum sizes of a plan and its parts."""

from functools import cached_property
from typing import Any

import attrs

from todoplan.core.plan.model import TASK_FIELDS, FieldKind
from todoplan.core.plan.validation import short_repr
from todoplan.errors import PlanError

__all__ = ["TEXTS", "Limits"]

TEXTS = tuple(
    field.name
    for field in TASK_FIELDS.values()
    if field.kind in {FieldKind.TEXT, FieldKind.TEXT_OR_NONE}
)
"""The fields of a task that contain text."""


def _must_be_a_count(_: object, field: "attrs.Attribute[int]", value: Any) -> None:
    # Not isinstance: True is an int.
    if type(value) is not int or value < 0:
        msg = f"{short_repr(value)} is no limit; write a number from 0 on, such as {field.name}=50"
        raise PlanError(msg, seen=value)


def _at_most(number: int) -> Any:
    return attrs.field(default=number, validator=_must_be_a_count)


@attrs.frozen(repr=False)
class Limits:
    """
    The limits that the rules `max_items`, `max_text`, `max_metadata`, `max_edges`, `max_depth` and
    `max_history` use. A rule reads them from `change.limits`.

    `items` and `open_items` limit the number of tasks. `subject`, `active_form` and `owner` are
    numbers of characters. So is `text`, which applies to the description and to any text without a
    limit of its own. `edges` limits the blockers of one task. `metadata` is the size of one task's
    metadata as JSON, in bytes; `metadata_keys` limits its keys at all levels, `metadata_levels` the
    depth of nested objects and arrays. `history` limits the number of events since the plan was
    created, which is its revision. `depth` limits the levels of the tree: 1 is a plan without
    subtasks.
    """

    # Protection against exhaustion: a runaway model gets a refusal with a reason instead of a full
    # disk.
    items: int = _at_most(10_000)
    open_items: int = _at_most(2_000)
    subject: int = _at_most(500)
    text: int = _at_most(16_384)
    edges: int = _at_most(100)
    active_form: int = _at_most(500)
    owner: int = _at_most(200)
    metadata: int = _at_most(16_384)
    metadata_keys: int = _at_most(200)
    metadata_levels: int = _at_most(16)
    history: int = _at_most(100_000)
    depth: int = _at_most(5)

    def __repr__(self) -> str:
        fields = attrs.fields(Limits)
        given = [(field, getattr(self, field.name)) for field in fields]
        other = [f"{field.name}={value}" for field, value in given if value != field.default]
        return f"Limits({', '.join(other)})"

    @cached_property
    def texts(self) -> dict[str, int]:
        """The most characters of each text field of a task. A new field gets the general limit."""
        return {name: getattr(self, name, self.text) for name in TEXTS}

    @cached_property
    def shortest(self) -> int:
        """The smallest limit of any text field. Every new task is checked against it first."""
        return min(self.texts.values())
