"""
Tasks as JSON text, each made once and then kept with its task: the hot path of writing a plan.

Law: a fragment is, to the byte, `to_text` of what `write_task` returns. Whatever is not written at
once is written that way.
"""

from collections.abc import Iterable
from json.encoder import encode_basestring
from operator import attrgetter

from todoplan.codec.faults import MisfitError
from todoplan.codec.tasks import write_task
from todoplan.codec.text import in_one_line, to_raw, to_text
from todoplan.codec.values import number, write_metadata, write_time
from todoplan.core.frozen import EMPTY
from todoplan.core.model import Task, keep_json

__all__ = ["fragments"]

_quoted = encode_basestring
_TIMES = ("created_at", "updated_at", "started_at", "completed_at")
_moments = attrgetter(*_TIMES)
_TROUBLE = (MisfitError, AttributeError, TypeError)


def fragments(tasks: Iterable[Task]) -> list[str]:
    """
    Return the tasks' texts. `tasks` can be gone through again.

    Raises:
        MisfitError: a task holds what JSON cannot; the path does not say which task.
    """
    try:
        return [task.json_memo or _kept(task) for task in tasks]
    except AttributeError:  # a memo was never set, as in a task out of a pickle
        return [getattr(task, "json_memo", None) or _kept(task) for task in tasks]


def _kept(task: Task) -> str:
    try:
        raw = (
            f'{{"id":{_quoted(task.id)},"subject":{_quoted(task.subject)}'
            f',"status":"{task.status._value_}"{_more(task)}}}'
        )
        text = raw if raw.isascii() else in_one_line(raw)
    except _TROUBLE:
        text = to_text(write_task(task))
    keep_json(task, text)
    return text


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
