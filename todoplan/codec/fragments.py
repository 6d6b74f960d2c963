"""
Tasks as JSON text, each made once and then kept with its plan: the hot path of writing one.

Law: a fragment is, to the byte, `to_text` of what `write_task` returns. Whatever is not written at
once is written that way.
"""

from collections.abc import Sequence
from json.encoder import encode_basestring
from operator import attrgetter

from todoplan.codec.faults import MisfitError
from todoplan.codec.tasks import write_task
from todoplan.codec.text import in_one_line, to_raw, to_text
from todoplan.codec.values import number, write_metadata, write_time
from todoplan.core.plan.chunk_text import ChunkWriter
from todoplan.core.plan.frozen import EMPTY
from todoplan.core.plan.model import Task

__all__ = ["FRAGMENTS", "fragment"]

_quoted = encode_basestring
_TIMES = ("created_at", "updated_at", "started_at", "completed_at")
_moments = attrgetter(*_TIMES)
_TROUBLE = (MisfitError, AttributeError, TypeError)


def fragment(task: Task) -> str:
    """
    Return the text of a plan's task; its id is a number, hence nothing to be quoted.

    Raises:
        MisfitError: the task holds what JSON cannot.
    """
    try:
        raw = (
            f'{{"id":"{task.id}","subject":{_quoted(task.subject)}'
            f',"status":"{task.status._value_}"{_more(task)}}}'
        )
        return raw if raw.isascii() else in_one_line(raw)
    except _TROUBLE:
        return to_text(write_task(task))


def _fragments(tasks: Sequence[Task]) -> list[str]:
    return [fragment(task) for task in tasks]


FRAGMENTS = ChunkWriter(fragment, _fragments, ",")
"""How the tasks of a plan are written, each once."""


def _more(task: Task) -> str:
    text = ""
    if task.description != "" or not (task.active_form is task.priority is task.owner is None):
        text = _texts(task)
    if task.blocks:
        text += f',"blocks":[{",".join(map(_quoted, task.blocks))}]'
    if task.blocked_by:
        text += f',"blocked_by":[{",".join(map(_quoted, task.blocked_by))}]'
    if task.estimate is not None:
        text += f',"estimate":{to_raw(number(task.estimate))}'
    if task.metadata is not EMPTY and task.metadata:
        text += f',"metadata":{to_raw(write_metadata(task.metadata))}'
    if task.created_at is task.updated_at is task.started_at is task.completed_at is None:
        return text
    return text + _times(task)


def _texts(task: Task) -> str:
    text = f',"description":{_quoted(task.description)}' if task.description != "" else ""
    if task.active_form is not None:
        text += f',"active_form":{_quoted(task.active_form)}'
    if task.priority is not None:
        text += f',"priority":"{task.priority._value_}"'
    return text if task.owner is None else f'{text},"owner":{_quoted(task.owner)}'


def _times(task: Task) -> str:
    times = zip(_TIMES, _moments(task), strict=True)
    return "".join([f',"{name}":"{write_time(at)}"' for name, at in times if at is not None])
