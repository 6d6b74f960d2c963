"""
Tasks as JSON text, encoded only once: after one call, only one task of a thousand has changed.

Law: a fragment is, byte for byte, `to_text` of what `write_task` returns. A fragment is created
once and then cached with its plan.
"""

from collections.abc import Sequence
from json.encoder import encode_basestring

from todoplan.codec.tasks import RARE, TROUBLE, plain_value, rare_values, write_task
from todoplan.codec.text import in_one_line, to_raw, to_text
from todoplan.codec.values import number, write_metadata, write_time
from todoplan.core.plan.chunk_text import ChunkWriter
from todoplan.core.plan.frozen import EMPTY
from todoplan.core.plan.model import Task

__all__ = ["FRAGMENTS", "fragment"]

# In a prototype, f-strings with this quoting took half the time of json.dumps.
_quoted = encode_basestring


def fragment(task: Task) -> str:
    """
    Return the JSON text of a plan's task. Its id is a number, so the id needs no quoting.

    Raises:
        MisfitError: the task contains a value that JSON cannot represent.
    """
    try:
        # `_value_`, because `value` is a descriptor implemented in Python.
        raw = (
            f'{{"id":"{task.id}","subject":{_quoted(task.subject)},"status":"{task.status._value_}"'
        )
        if task.description != "":
            raw += f',"description":{_quoted(task.description)}'
        if not (task.active_form is task.priority is task.owner is None):
            if task.active_form is not None:
                raw += f',"active_form":{_quoted(task.active_form)}'
            if task.priority is not None:
                raw += f',"priority":"{task.priority._value_}"'
            if task.owner is not None:
                raw += f',"owner":{_quoted(task.owner)}'
        if task.blocks:
            raw += f',"blocks":[{",".join(map(_quoted, task.blocks))}]'
        if task.blocked_by:
            raw += f',"blocked_by":[{",".join(map(_quoted, task.blocked_by))}]'
        if task.estimate is not None:
            raw += f',"estimate":{to_raw(number(task.estimate))}'
        if task.metadata is not EMPTY and task.metadata:
            raw += f',"metadata":{to_raw(write_metadata(task.metadata))}'
        # Written out: most tasks have none of these, and a function call would cost more than the
        # comparisons.
        if (
            task.parent is not None
            or task.waiting is not None
            or task.check is not None
            or task.answer is not None
            or task.evidence is not None
            or task.claim is not None
            or task.claims
            or task.failed_attempts
        ):
            for name, value in zip(RARE, rare_values(task), strict=True):
                if value is not None and value != 0:
                    raw += f',"{name}":{to_raw(plain_value(value))}'
        if task.created_at is not None:
            raw += f',"created_at":"{write_time(task.created_at)}"'
        if task.updated_at is not None:
            raw += f',"updated_at":"{write_time(task.updated_at)}"'
        if task.started_at is not None:
            raw += f',"started_at":"{write_time(task.started_at)}"'
        if task.completed_at is not None:
            raw += f',"completed_at":"{write_time(task.completed_at)}"'
        raw += "}"
        return raw if raw.isascii() else in_one_line(raw)
    except TROUBLE:
        return to_text(write_task(task))


def _fragments(tasks: Sequence[Task]) -> list[str]:
    return [fragment(task) for task in tasks]


FRAGMENTS = ChunkWriter(fragment, _fragments, ",")
"""Writer of a plan's tasks, which encodes each task only once."""
