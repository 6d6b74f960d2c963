"""
Journal entries and events as plain data, in both directions.

cattrs handles the classes, and our own readers handle the values. cattrs is imported when the first
entry is read or written, because most plans need none.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin

import attrs

from todoplan.codec.faults import MOST, Found, MisfitError, field_path, misfit
from todoplan.codec.objects import approval, claim, write_fields
from todoplan.codec.readers import FieldReader, one_of, read_each, read_object
from todoplan.codec.tasks import FIELD_READERS, read_task, write_changes, write_task
from todoplan.codec.values import STATUSES, count, text, time, write_time
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import EDITABLE, Approval, Claim, Status, Task

if TYPE_CHECKING:
    from cattrs import Converter
    from cattrs.errors import ClassValidationError

__all__ = ["CHANGES", "EVENTS", "read_entry", "write_entry"]


def _word(event: type) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in event.__name__).removeprefix("_")


EVENTS: dict[str, type[Any]] = {_word(event): event for event in get_args(Event)}
"""The event classes by their name in the "type" field."""

CHANGES: dict[str, FieldReader] = {
    name: reader for name, reader in FIELD_READERS.items() if name in EDITABLE
}
"""The readers of the fields that "changes" may contain."""

_WORDS = {event: word for word, event in EVENTS.items()}
_read_word = one_of(EVENTS)


def read_entry(data: Any) -> Entry:
    """
    Read an entry.

    Raises:
        MisfitError: the data are not an entry; the error lists every fault.
    """
    return _converter().structure(data, Entry)


def write_entry(entry: Entry) -> dict[str, Any]:
    """
    Return an entry as plain data, without fields that have their default.

    Raises:
        MisfitError: a value cannot be represented in JSON, or a time has no time zone.
    """
    data: dict[str, Any] = _converter().unstructure(entry)
    return data


@cache
def _converter() -> "Converter":
    from cattrs import Converter  # noqa: PLC0415 - see above

    # cattrs only composes and decomposes classes. It does not convert values: by default, it turns
    # null into 'None', "false" into True, 2.9 into 2, and a text into a list of letters.
    #
    # Not the global converter of cattrs, which any library's hooks could change. Created once;
    # measured: 0.3 ms, 0.7 ms for its first hook, and 13 ms for importing cattrs.
    converter = Converter(forbid_extra_keys=True, omit_if_default=True)
    for kind, reader in _READERS.items():
        converter.register_structure_hook(kind, _hook(reader))
    for kind, writer in _WRITERS.items():
        converter.register_unstructure_hook(kind, writer)
    converter.register_structure_hook_factory(attrs.has, _class_reader)
    converter.register_structure_hook_factory(_is_tuple, _tuple_reader)
    converter.register_unstructure_hook_factory(_is_tuple, _tuple_writer)
    converter.register_structure_hook(Event, lambda data, _: _read_event(converter, data))
    converter.register_unstructure_hook(Event, lambda event: _write_event(converter, event))
    converter.register_structure_hook(Task, _hook(read_task))
    converter.register_unstructure_hook(Task, write_task)
    for kind, reader in ((Approval, approval), (Claim, claim)):
        converter.register_structure_hook(kind, _hook(reader))
        converter.register_unstructure_hook(kind, write_fields)
    return converter


def _read_changes(data: Any) -> FrozenDict:
    return FrozenDict(read_object(data, CHANGES))


def _write_changes(changes: FrozenDict) -> dict[str, Any]:
    return write_changes(changes, CHANGES)


def _write_status(status: Status) -> str:
    return status.value if type(status) is Status else str(_READERS[Status](status))


_READERS: dict[type, FieldReader] = {
    str: text,
    int: count,
    Status: one_of(STATUSES),
    datetime: time,
    FrozenDict: _read_changes,
}
# Writing refuses what loading would refuse: nothing is saved that cannot be read.
_WRITERS: dict[type, Callable[[Any], Any]] = {
    str: text,
    int: count,
    Status: _write_status,
    datetime: write_time,
    FrozenDict: _write_changes,
}


def _hook(reader: FieldReader) -> Callable[[Any, Any], Any]:
    return lambda value, _: reader(value)


def _read_event(converter: "Converter", data: Any) -> Any:
    if not isinstance(data, dict):
        raise misfit(data, "no object")
    try:
        kind = _read_word(data.get("type"))
    except MisfitError as error:
        raise MisfitError(error.below(".type")) from None
    # Without "type", which is not a field of the class: cattrs would reject it as unknown.
    return converter.structure({k: v for k, v in data.items() if k != "type"}, kind)


def _write_event(converter: "Converter", event: Any) -> dict[str, Any]:
    return {"type": _WORDS[type(event)], **converter.unstructure(event)}


def _class_reader(kind: type[Any], converter: "Converter") -> Callable[[Any, Any], Any]:
    from cattrs.errors import ClassValidationError  # noqa: PLC0415 - see above
    from cattrs.gen import make_dict_structure_fn  # noqa: PLC0415 - see above

    build = make_dict_structure_fn(kind, converter)

    def read(data: Any, _: Any) -> Any:
        if not isinstance(data, dict):
            raise misfit(data, "no object")
        try:
            return build(data, kind)
        except ClassValidationError as error:
            raise MisfitError(_found(error)) from None

    return read


def _found(errors: "ClassValidationError") -> list[Found]:
    noted, others = errors.group_exceptions()
    found = [(field_path(str(key)), "no such field") for error in others for key in _extra(error)]
    for error, note in noted:
        if isinstance(error, MisfitError):
            found += error.below(f".{note.name}")
        else:
            found.append((f".{note.name}", "missing"))
    return found


def _extra(error: Any) -> list[Any]:
    return sorted(error.extra_fields, key=str)[:MOST]


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _tuple_reader(kind: Any, converter: "Converter") -> Callable[[Any, Any], Any]:
    member = get_args(kind)[0]
    hook = converter.get_structure_hook(member)

    def read(data: Any, _: Any) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise misfit(data, "no array")
        return read_each(data, lambda item: hook(item, member))

    return read


def _tuple_writer(kind: Any, converter: "Converter") -> Callable[[Any], list[Any]]:
    hook = converter.get_unstructure_hook(get_args(kind)[0])
    return lambda items: list(read_each(items, hook))
