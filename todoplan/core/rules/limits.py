"""How much a plan may hold."""

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
"""The fields of a task that are texts."""


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
    The sizes that the rules `max_items`, `max_text`, `max_metadata`, `max_edges`, `max_depth` and
    `max_history` hold a plan to; a rule finds them as `change.limits`.

    `items` and `open_items` count tasks. `subject`, `active_form` and `owner` count characters, and
    so does `text`, for the description and for any text without a limit of its own. `edges` counts
    one task's blockers. `metadata` counts the bytes of one task's metadata as JSON, if it has
    any, `metadata_keys` its keys at all levels, `metadata_levels` how deep objects and arrays lie
    in each other. `history` counts the events of a plan's life, which is its revision. `depth`
    counts levels: 1 is a plan without subtasks.
    """

    # Against exhaustion: a model that runs away meets a refusal in words, not a full disk.
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
        """
        The characters that each text of a task may have, by its field: a new field is bounded too.
        """
        return {name: getattr(self, name, self.text) for name in TEXTS}

    @cached_property
    def shortest(self) -> int:
        """
        The characters that any text may have: what every new task is asked first.
        """
        return min(self.texts.values())
