"""
Plans as documents, in both directions.

Law: what is read equals what was written, and the sequence of ids continues.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from json.encoder import encode_basestring
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args, get_origin

import attrs

from todoplan.codec.engine import (
    CHECK,
    CHECK_PATTERN,
    LIMIT,
    LISTED,
    MOST,
    PRIORITIES,
    STATUSES,
    TIME,
    FieldReader,
    Found,
    MisfitError,
    approval,
    checksum,
    claim,
    count,
    evidence,
    faults_in,
    field_path,
    ids,
    in_one_line,
    metadata,
    misfit,
    number,
    one_of,
    optional,
    parse,
    positive,
    read_each,
    read_object,
    shown,
    text,
    time,
    time_or_null,
    to_raw,
    to_text,
    to_unicode,
    unchecked,
    waiting,
    write_fields,
    write_metadata,
    write_time,
    wrong_shape,
)
from todoplan.core.decide import plan_of
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base
from todoplan.core.events.types import Event
from todoplan.core.plan.model import (
    EDITABLE,
    EMPTY,
    TASK_FIELDS,
    Approval,
    Claim,
    Evidence,
    FieldKind,
    FrozenDict,
    Status,
    Task,
    Waiting,
    instance_of,
    mutable_variant,
    thaw,
)
from todoplan.core.plan.plan import ChunkWriter, Plan
from todoplan.core.problems import Problem
from todoplan.errors import CodecError, PlanError

if TYPE_CHECKING:
    from cattrs import Converter
    from cattrs.errors import ClassValidationError


# -------- tasks --------
# Tasks as plain data, in both directions. This is the hot path, so the code is written out.
#
# Each field is read according to its kind (`TASK_FIELDS`). The two writers, here and in
# `fragments`, name the fields one by one: a loop over a table was tried, and took twice as long
# for a plan of 1,000 tasks. Therefore a test sets every field of a task and checks each writer for
# the field (`tests/codec/test_every_field.py`). A field that was once left out here was lost on
# saving, and no test noticed.
#
# Law: `_quick` is only a shortcut. Whatever it does not accept at once is decided by
# `read_object`.


REQUIRED = ("id", "subject", "status")
"""The fields that every written task has."""
_LEAST = len(REQUIRED)

_READERS: dict[FieldKind, FieldReader] = {
    FieldKind.ID: text,
    FieldKind.TEXT: text,
    FieldKind.TEXT_OR_NONE: optional(text),
    FieldKind.STATUS: one_of(STATUSES),
    FieldKind.PRIORITY: optional(one_of(PRIORITIES)),
    FieldKind.PARENT: optional(text),
    FieldKind.WAITING: optional(waiting),
    FieldKind.EVIDENCE: optional(evidence),
    FieldKind.CLAIM: optional(claim),
    FieldKind.COUNT: count,
    FieldKind.IDS: ids,
    FieldKind.NUMBER: optional(number),
    FieldKind.METADATA: metadata,
    FieldKind.TIME: time_or_null,
}
FIELD_READERS: dict[str, FieldReader] = {
    name: _READERS[TASK_FIELDS[name].kind] for name in dict.fromkeys((*REQUIRED, *TASK_FIELDS))
}
"""The reader of each task field, in the order in which fields are written."""

_WORDS = {status: word for word, status in STATUSES.items()}
_GRADES = {priority: word for word, priority in PRIORITIES.items()}
RARE = (
    "parent",
    "waiting",
    "check",
    "answer",
    "evidence",
    "claim",
    "claims",
    "failed_attempts",
)
rare_values = attrgetter(*RARE)
_MutableTask = mutable_variant(Task)
# Errors of the fast path for a wrong value; the slow path then describes the fault.
TROUBLE = (MisfitError, AttributeError, KeyError, TypeError)


def write_task(task: Task) -> dict[str, Any]:
    """
    Return a task as plain data: id, subject and status, and the fields that differ from their
    default.

    Raises:
        MisfitError: a value cannot be represented in JSON, or a time has no time zone.
    """
    try:
        return _written(task)
    except TROUBLE:
        values = {name: getattr(task, name) for name in FIELD_READERS}
        raise MisfitError(faults_in(_as_read(values), FIELD_READERS)) from None


def _written(
    task: Task,
) -> dict[str, Any]:
    blocks, blocked_by = task.blocks, task.blocked_by
    data: dict[str, Any] = {
        "id": task.id,
        "subject": task.subject,
        "status": _WORDS[task.status],
    }
    if task.description != "":
        data["description"] = task.description
    if task.active_form is not None:
        data["active_form"] = task.active_form
    if task.priority is not None:
        data["priority"] = _GRADES[task.priority]
    if task.owner is not None:
        data["owner"] = task.owner
    "".join((*data.values(), *blocks, *blocked_by))  # a TypeError if one is not a str
    if blocks:
        data["blocks"] = list(blocks)
    if blocked_by:
        data["blocked_by"] = list(blocked_by)
    if task.estimate is not None:
        data["estimate"] = number(task.estimate)
    if task.metadata is not EMPTY and task.metadata:
        data["metadata"] = write_metadata(task.metadata)
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
                data[name] = plain_value(value)
    if task.created_at is not None:
        data["created_at"] = write_time(task.created_at)
    if task.updated_at is not None:
        data["updated_at"] = write_time(task.updated_at)
    if task.started_at is not None:
        data["started_at"] = write_time(task.started_at)
    if task.completed_at is not None:
        data["completed_at"] = write_time(task.completed_at)
    return data


def plain_value(value: Any) -> Any:
    """Return a text, a count, or an object value as plain data."""
    if isinstance(value, str):
        return text(value)
    return count(value) if isinstance(value, int) else write_fields(value)


def _as_read(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a document would contain them, so that a reader can find their faults."""
    data = dict(values)
    for name, value in data.items():
        if isinstance(value, datetime):
            data[name] = value.isoformat()
        elif isinstance(value, tuple):
            data[name] = list(value)
        elif isinstance(value, Waiting | Evidence | Claim):
            data[name] = _as_read(attrs.asdict(value))
    return data


def write_changes(changes: Mapping[str, Any], readers: Mapping[str, FieldReader]) -> dict[str, Any]:
    """
    Return changed fields as plain data, including fields set to their default.

    `readers` has the fields that are allowed.

    Raises:
        MisfitError: there is no such field, or JSON cannot represent its value.
    """
    data = _as_read(changes)
    for name, value in read_object(data, readers).items():
        if isinstance(value, FrozenDict):
            data[name] = thaw(value)
        elif isinstance(value, Waiting | Evidence):
            data[name] = write_fields(value)
        elif isinstance(data[name], str):
            data[name] = str(data[name])  # the value of an enum member
        elif TASK_FIELDS[name].kind is FieldKind.NUMBER:
            data[name] = value
    return data


def write_tasks(tasks: Iterable[Task], first: int = 0) -> list[dict[str, Any]]:
    """
    Return tasks as plain data. In error paths, tasks are numbered from `first`.

    Raises:
        MisfitError: some tasks cannot be written; the paths say which.
    """
    return list(read_each(tasks, write_task, first))


def read_task(data: Any) -> Task:
    """
    Read a task.

    Raises:
        MisfitError: the data are not a task; the error lists every fault.
    """
    try:
        return _quick([data])[0]
    except TROUBLE:
        return Task(**read_object(data, FIELD_READERS, REQUIRED))


def _quick(items: list[Any]) -> list[Task]:
    tasks = []
    # In one loop: a function call for each task took a tenth of the time.
    for data in items:
        task_id, subject, status = data["id"], data["subject"], STATUSES[data["status"]]
        if not (type(task_id) is type(subject) is str and type(data) is dict):
            raise TypeError
        made = _MutableTask(task_id, subject, "", status)  # keywords cost half as much again
        if len(data) > _LEAST:
            for name, value in data.items():
                if name not in REQUIRED:
                    setattr(made, name, FIELD_READERS[name](value))
        made.__class__ = Task
        tasks.append(made)
    return tasks


def read_tasks(items: Any) -> tuple[Task, ...]:
    """
    Read an array of tasks.

    Raises:
        MisfitError: the data are not an array of tasks; the error lists every fault.
    """
    if not isinstance(items, list):
        raise misfit(items, "no array")
    try:
        return tuple(_quick(items))
    except TROUBLE:
        return read_each(items, read_task)


# -------- events --------
# Journal entries and events as plain data, in both directions.
#
# cattrs handles the classes, and our own readers handle the values. cattrs is imported when the
# first entry is read or written, because most plans need none.


def _word(event: type) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in event.__name__).removeprefix("_")


EVENTS: dict[str, type[Any]] = {_word(event): event for event in get_args(Event)}
"""The event classes by their name in the "type" field."""

CHANGES: dict[str, FieldReader] = {
    name: reader for name, reader in FIELD_READERS.items() if name in EDITABLE
}
"""The readers of the fields that "changes" may contain."""

_EVENT_WORDS = {event: word for word, event in EVENTS.items()}
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
    for kind, reader in _EVENT_READERS.items():
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
    return status.value if type(status) is Status else str(_EVENT_READERS[Status](status))


_EVENT_READERS: dict[type, FieldReader] = {
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
    return {"type": _EVENT_WORDS[type(event)], **converter.unstructure(event)}


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


# -------- versions --------
# The head of a document (format and version), and upcasting from older versions.


PLAN = "todoplan/plan"
JOURNAL = "todoplan/journal"
VERSION = 2

Upcasters = Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]
"""
A mapping from each version to the function that converts a document to the next version.

A function returns new data and does not change its argument. For a journal it receives one entry.
"""


# Version 2 only adds to version 1: the status failed, subtasks, waiting, answers, checks, evidence,
# approval. Its number tells an older todoplan why it cannot read such a document. The data are
# returned unchecked: if they are not an object, the readers report that.
def _from_1(data: dict[str, Any]) -> dict[str, Any]:
    return data


class _Named(dict[int, Callable[[dict[str, Any]], dict[str, Any]]]):
    """
    A dict whose repr in a signature is its name: an address in it would differ from run to run.
    """

    def __repr__(self) -> str:
        return "UPCASTERS"


# Read-only, because everybody shares this default.
UPCASTERS: Upcasters = MappingProxyType(_Named({1: _from_1}))

_OTHER = {PLAN: "load_plan reads it", JOURNAL: "load_journal reads it"}


def check_head(data: Any, form: str) -> int:
    """
    Return the version of a document, after checking its format.

    Raises:
        CodecError: the document has another format, or a newer version than this todoplan.
    """
    if not isinstance(data, dict) or data.get("format") != form:
        raise _wrong_format(data, form)
    version = data.get("version")
    if type(version) is not int or version < 0:  # True is an int, but not a version
        msg = f"version: {shown(version)} is no version; this todoplan reads up to {VERSION}"
        raise CodecError(msg, problem="wrong_version", path="version", version=version)
    if version > VERSION:
        msg = (
            f"written by a newer todoplan: version {shown(version)}, "
            f"this one reads up to {VERSION}; upgrade"
        )
        raise CodecError(msg, problem="newer_version", path="version", version=version)
    return version


def _wrong_format(data: Any, form: str) -> CodecError:
    if not isinstance(data, dict):
        msg = f"{shown(data)} is no {form} document"
        return CodecError(msg, problem="wrong_format", path="")
    seen = data.get("format")
    hint = _OTHER.get(seen, "") if isinstance(seen, str) else ""
    msg = f"format: {shown(seen)} is not {shown(form)}{hint and '; '}{hint}"
    return CodecError(msg, problem="wrong_format", path="format", version=data.get("version"))


def upcast(data: dict[str, Any], version: int, upcasters: Upcasters) -> dict[str, Any]:
    """
    Return the document converted to the current version.

    Raises:
        CodecError: an upcaster is missing, or the document was not what its upcaster expects.
    """
    for old in range(version, VERSION):
        if old not in upcasters:
            msg = f"version {old} is older than {VERSION}, and no upcaster reads it; give one"
            raise CodecError(msg, problem="older_version", path="version", version=version)
        try:
            data = upcasters[old](data)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            msg = f"the upcaster from version {old} failed: {error!r}"
            raise CodecError(msg, problem="upcast_failed", path="", version=version) from error
    return data


# -------- journals --------
# Journals as documents, in both directions: JSON Lines, with a head and then one entry per line.
#
# Each line written here ends with a checksum (`todoplan.codec.engine`); a line without one is read
# as well. An entry that was only partly appended because of a crash is refused.


_HEAD = {"format": JOURNAL, "version": VERSION}


def entry_to_data(entry: Entry) -> dict[str, Any]:
    """
    Return the entry as plain JSON values.

    Raises:
        CodecError: a value cannot be represented in JSON (NaN, a set), or a time has no time zone.
    """
    instance_of(entry, Entry, "an Entry of a journal")
    try:
        return write_entry(entry)
    except MisfitError as error:
        raise wrong_shape(error.found, "entry that JSON can hold") from None


def entry_from_data(
    data: Any, *, version: int = VERSION, upcasters: Upcasters = UPCASTERS
) -> Entry:
    """
    Return the entry that `entry_to_data` wrote. `version` is the version of the journal document.

    If the data have a "check", as lines do, it is verified.

    Raises:
        CodecError: the data have faults, which are listed with their paths; the checksum is wrong;
            or the version is newer than this todoplan.
    """
    return _entry(data, check_head({**_HEAD, "version": version}, JOURNAL), upcasters, {})


def entry_to_line(entry: Entry) -> str:
    """
    Return the entry as one line of JSON that ends with its checksum, without a line break.

    Raises:
        CodecError: the same errors as `entry_to_data`.
    """
    data = entry_to_data(entry)
    return to_text({**data, CHECK: checksum(data)})


def entry_from_line(
    line: str | bytes, *, version: int = VERSION, upcasters: Upcasters = UPCASTERS
) -> Entry:
    """
    Return the entry that `entry_to_line` wrote. A line without a checksum is read as well.

    Raises:
        CodecError: the same errors as `entry_from_data`; or the line is not JSON.
    """
    return entry_from_data(parse(to_unicode(line, LIMIT)), version=version, upcasters=upcasters)


def _entry(data: Any, version: int, upcasters: Upcasters, where: dict[str, Any]) -> Entry:
    what = f"entry (line {where['line']})" if where else "entry"
    try:
        # The checksum covers the data as written, so it is verified before upcasting an older
        # entry.
        return read_entry(upcast(unchecked(data, what, where), version, upcasters))
    except MisfitError as error:
        raise wrong_shape(error.found, what, version=version, **where) from None


def dump_journal(entries: Iterable[Entry]) -> str:
    """
    Return the entries as JSON Lines.

    The text ends with a line break. So an entry can be appended: `entry_to_line` (in
    `todoplan.codec.documents`) of the entry, and a line break.

    Raises:
        CodecError: the same errors as `entry_to_data`.
    """
    return "\n".join([to_text(_HEAD), *map(entry_to_line, entries), ""])


def load_journal(
    text: str | bytes, *, limit: int = LIMIT, upcasters: Upcasters = UPCASTERS
) -> tuple[Entry, ...]:
    """
    Return the entries that `dump_journal` wrote. Empty lines are skipped. `limit` is in bytes.

    A journal that was truncated between two lines cannot be distinguished from a shorter one.

    Raises:
        CodecError: a line is wrong. The error has the first such line, counted from 1, in
            `data["line"]`, and all its faults.
    """
    lines = _lines(to_unicode(text, limit))
    line, head = next(lines, (1, ""))
    version = _version(parse(head, line))
    return tuple(
        _entry(parse(entry, line), version, upcasters, {"line": line}) for line, entry in lines
    )


def _version(head: Any) -> int:
    version = check_head(head, JOURNAL)
    try:
        read_object(head, {"format": str, "version": int})
    except MisfitError as error:
        raise wrong_shape(error.found, "head of a journal", version=version, line=1) from None
    return version


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines: JSON allows U+2028 in strings, and other programs write it unescaped.
    for place, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield place, line


# -------- schema --------
# The documents as JSON Schema, draft 2020-12, for other programs.


_Schema = dict[str, Any]


def json_schema() -> dict[str, Any]:
    """
    Return the schema of a plan document, and of a journal as an array of its lines.

    `$defs` has `plan`, `journal`, `journal_head`, `entry`, `task` and one definition for each
    event. A schema cannot express that edges are mirrored, ids are unique and dependencies have no
    cycle.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "todoplan documents",
        "anyOf": [_ref("plan"), _ref("journal")],
        "$defs": {
            **_values(),
            "task": _object(_fields(), REQUIRED),
            "plan": _plan(),
            "journal_head": _head(JOURNAL, {}),
            "journal": _journal(),
            "entry": _schema_entry(),
            **{word: _event(word) for word in EVENTS},
        },
    }


def _ref(name: str) -> _Schema:
    return {"$ref": f"#/$defs/{name}"}


def _or_null(schema: _Schema) -> _Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _array(of: _Schema) -> _Schema:
    return {"type": "array", "items": of}


def _object(properties: _Schema, required: tuple[str, ...]) -> _Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_TEXT: _Schema = {"type": "string"}
_OR_TEXT, _MOMENT = _or_null(_TEXT), _or_null(_ref("time"))
_CHECKSUM: _Schema = {"type": "string", "pattern": f"^{CHECK_PATTERN}$"}
_COUNT: _Schema = {"type": "integer", "minimum": 0}
# The ids that `number_of` accepts. Events may name any text: an unknown id has no effect.
_ID: _Schema = {"type": "string", "pattern": "^[1-9][0-9]{0,17}$"}


def _values() -> _Schema:
    return {
        "status": {"enum": list(STATUSES)},
        "priority": {"enum": list(PRIORITIES)},
        "time": {"type": "string", "pattern": f"^{TIME}$"},
        "waiting": _object({"reason": _TEXT, "until": _MOMENT, "question": _OR_TEXT}, ()),
        "evidence": _object(
            {"passed": {"type": "boolean"}, "summary": _TEXT, "by": _OR_TEXT, "at": _MOMENT},
            ("passed",),
        ),
        "claim": _object(
            {"owner": _TEXT, "fence": {"type": "integer", "minimum": 1}, "until": _MOMENT},
            ("owner", "fence"),
        ),
        "approval": _object({"revision": _COUNT, "by": _OR_TEXT, "at": _MOMENT}, ("revision",)),
    }


_KINDS: dict[FieldKind, _Schema] = {
    FieldKind.ID: _TEXT,
    FieldKind.TEXT: _TEXT,
    FieldKind.TEXT_OR_NONE: _or_null(_TEXT),
    FieldKind.STATUS: _ref("status"),
    FieldKind.PRIORITY: _or_null(_ref("priority")),
    FieldKind.PARENT: _or_null(_TEXT),
    FieldKind.WAITING: _or_null(_ref("waiting")),
    FieldKind.EVIDENCE: _or_null(_ref("evidence")),
    FieldKind.CLAIM: _or_null(_ref("claim")),
    FieldKind.COUNT: _COUNT,
    FieldKind.IDS: _array(_TEXT),
    FieldKind.NUMBER: {"type": ["number", "null"]},
    FieldKind.METADATA: {"type": "object"},
    FieldKind.TIME: _or_null(_ref("time")),
}
_NOTES: dict[str, _Schema] = {
    "estimate": {"description": "minutes"},
    "description": {"default": ""},
}


def _fields() -> _Schema:
    return {
        name: {**_KINDS[TASK_FIELDS[name].kind], **_NOTES.get(name, {})} for name in FIELD_READERS
    }


def _plan() -> _Schema:
    edges = {**_array(_ID), "uniqueItems": True}
    subject = {"pattern": r"\S", "description": "not only white space"}
    checked = {"id": _ID, "subject": subject, "blocks": edges, "blocked_by": edges}
    own = {
        "revision": _COUNT,
        "next_id": {"type": "integer", "minimum": 1, "description": "above every id"},
        "tasks": _array({"allOf": [_ref("task"), {"properties": checked}]}),
    }
    return _head(PLAN, own, {"approved": _or_null(_ref("approval")), CHECK: _CHECKSUM})


def _head(form: str, more: _Schema, optional: _Schema | None = None) -> _Schema:
    required = {"format": {"const": form}, "version": {"const": VERSION}, **more}
    return _object({**required, **(optional or {})}, tuple(required))


def _journal() -> _Schema:
    return {
        "type": "array",
        "prefixItems": [_ref("journal_head")],
        "items": _ref("entry"),
        "minItems": 1,
        "description": "the lines of the document, each line one JSON value",
    }


def _schema_entry() -> _Schema:
    properties = {
        "revision": _COUNT,
        "events": _array({"oneOf": [_ref(word) for word in EVENTS]}),
        "at": _or_null(_ref("time")),
        "actor": _or_null(_TEXT),
        "cause": {**_TEXT, "default": ""},
        "undoes": _or_null(_COUNT),
        CHECK: _CHECKSUM,
    }
    return _object(properties, ("revision", "events"))


def _event(word: str) -> _Schema:
    fields = attrs.fields(EVENTS[word])
    properties = {field.name: _event_field(field.name) for field in fields}
    required = [field.name for field in fields if field.default is attrs.NOTHING]
    return _object({"type": {"const": word}, **properties}, ("type", *required))


def _event_field(name: str) -> _Schema:
    changed = {field: schema for field, schema in _fields().items() if field in CHANGES}
    known = {
        "task": _ref("task"),
        "tasks": _array(_ref("task")),
        "task_ids": _array(_TEXT),
        "next_id": _COUNT,
        "changes": _object(changed, ()),
        "old": _ref("status"),
        "new": _ref("status"),
        "at": _or_null(_ref("time")),
        "parent": _OR_TEXT,
        "by": _OR_TEXT,
        "approved": _or_null(_ref("approval")),
        "claim": _ref("claim"),
        "lost_by": _OR_TEXT,
        "until": _MOMENT,
    }
    return known.get(name, _TEXT)


# -------- fragments --------
# Tasks as JSON text, encoded only once: after one call, only one task of a thousand has changed.
#
# Law: a fragment is, byte for byte, `to_text` of what `write_task` returns. A fragment is created
# once and then cached with its plan.


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


def plan_to_data(plan: Plan) -> dict[str, Any]:
    """
    Return the plan as plain JSON values, for frameworks that save state themselves.

    A time keeps its microseconds and its offset. A named time zone is saved as its offset at that
    time.

    Raises:
        CodecError: a task contains a value that JSON cannot represent (NaN, a set), or a time
            without a time zone.
    """
    instance_of(plan, Plan, "a Plan")
    return {**head(plan), "tasks": written(plan)}


def head(plan: Plan) -> dict[str, Any]:
    """
    Return the document of a plan without its tasks.

    Raises:
        CodecError: the approval contains a value that JSON cannot represent.
    """
    data = {
        "format": PLAN,
        "version": VERSION,
        "revision": plan.revision,
        "next_id": plan.next_id,
    }
    if plan.approved is not None:
        try:
            data["approved"] = write_fields(plan.approved)
        except MisfitError as error:
            raise wrong_shape(error.below("approved"), "plan that JSON can hold") from None
    return data


def written(tasks: Iterable[Task], first: int = 0) -> list[dict[str, Any]]:
    """
    Return tasks as plain data. `first` is the index of the first one in its plan, for error paths.

    Raises:
        CodecError: a task cannot be written; the path says which.
    """
    try:
        return write_tasks(tasks, first)
    except MisfitError as error:
        raise wrong_shape(error.below("tasks"), "plan that JSON can hold") from None


def plan_from_data(data: Any, *, upcasters: Upcasters = UPCASTERS) -> Plan:
    """
    Return the plan that `plan_to_data` wrote.

    Raises:
        CodecError: the data are not a plan document, are of a newer version, have faults (at most
            1,000 are listed), or do not match their "check".
    """
    # Law 11: OpenHands and docker-agent read a corrupt file as an empty list, and the next save
    # overwrites the plan.
    version = check_head(data, PLAN)
    if version < VERSION:
        # The checksum covers the data as written, so it is verified before upcasting.
        data = upcast(unchecked(data, "plan", {}), version, upcasters)
    try:
        read = read_object(unchecked(data, "plan", {}), _FIELDS, _REQUIRED)
    except MisfitError as error:
        raise wrong_shape(error.found, "plan", version=version) from None
    approved = read.get("approved")
    plan = assembled(read["tasks"], read["next_id"], read["revision"], approved, version=version)
    # `plan_of` increases a next id that is in use, but a document with such a next id is corrupt:
    # if its highest task had been cut off, an id would silently be used twice.
    if plan.next_id != read["next_id"]:
        found = [("next_id", f"{read['next_id']} is used; the lowest that is free: {plan.next_id}")]
        raise wrong_shape(found, "plan", version=version)
    return plan


_FIELDS: dict[str, FieldReader] = {
    "format": str,
    "version": int,
    "revision": count,
    "next_id": positive,
    "approved": optional(approval),
    "tasks": read_tasks,
}
_REQUIRED = tuple(name for name in _FIELDS if name != "approved")


def assembled(
    tasks: tuple[Task, ...],
    next_id: int,
    revision: int,
    approved: Approval | None = None,
    **data: Any,
) -> Plan:
    """
    Return the plan of existing tasks. `next_id` is increased above every id.

    Raises:
        CodecError: the tasks do not form a plan; `data["problems"]` says why.
    """
    try:
        return plan_of(tasks, next_id=next_id, revision=revision, approved=approved)
    except PlanError as error:
        found = error.data["problems"]
        data.update(problem="no_plan", path="tasks", problems=found)
        raise CodecError(_listed(found), **data) from None


def dump_plan(plan: Plan, *, check: bool = False) -> str:
    """
    Return the plan as one line of JSON. With `check`, `load_plan` detects flipped bits.

    A checksum costs the time to encode the whole plan; without one, only the changed tasks are
    encoded.

    Raises:
        CodecError: the same errors as `plan_to_data`.
    """
    instance_of(plan, Plan, "a Plan")
    if check:
        data = plan_to_data(plan)
        return to_text({**data, CHECK: checksum(data)})
    # Joined from cached text: the JSON encoder would encode all tasks again.
    try:
        tasks = [part.text for part in plan.written(FRAGMENTS) if part.text]
    except MisfitError:
        tasks = [to_text(task) for task in written(plan)]  # raises with all faults
    return f'{to_text(head(plan))[:-1]},"tasks":[{",".join(tasks)}]}}'


def load_plan(text: str | bytes, *, limit: int = LIMIT, upcasters: Upcasters = UPCASTERS) -> Plan:
    """
    Return the plan that `dump_plan` wrote. `limit` is in bytes.

    Raises:
        CodecError: the same errors as `plan_from_data`; or the text is truncated, too large or not
            JSON.
    """
    return plan_from_data(parse(to_unicode(text, limit)), upcasters=upcasters)


def _listed(problems: tuple[Problem, ...]) -> str:
    named = [
        f"{p.code} {', '.join(map(shown, p.task_ids[:5]))} ({p.seen})" for p in problems[:LISTED]
    ]
    more = f"; and {len(problems) - LISTED} more" if len(problems) > LISTED else ""
    return f"these tasks are no plan: {'; '.join(named)}{more}"


# -------- states --------
# Data that adapters save in a framework's state beside the plan.
#
# These are the base (the plan as the model has last seen it), and the latest entries of the
# journal, for states that cannot contain a whole one.
#
# Law: at most 50 entries and at most 16,384 characters, but always the latest entry. A state is
# saved again and again, and a journal that grew with the thread would soon be most of what is
# saved.
#
# An entry is saved as JSON text: its length is known without encoding it again, and nobody who
# receives the state can change the entry in place.


RECENT = 50
_CHARACTERS = 16_384


def entry_line(entry: Entry, events: Any = None) -> str:
    """
    Return the JSON text of an entry. `events` are its events as data, if they were already encoded.

    Raises:
        CodecError: the entry contains a value that JSON cannot represent.
    """
    if events is None:
        return to_text(entry_to_data(entry))
    return to_text({**entry_to_data(attrs.evolve(entry, events=())), "events": events})


def with_entry(kept: Any, entry: Entry) -> list[str]:
    """Return the saved lines with one more entry. The oldest are dropped if there are too many."""
    return with_lines(kept, [entry_line(entry)])


def with_lines(kept: Any, lines: Iterable[str]) -> list[str]:
    """Return the saved lines with further lines, without duplicates."""
    old = kept if isinstance(kept, list) else []
    all_lines = [*old, *(line for line in lines if line not in old)][-RECENT:]
    # From the front, which is short: this runs in every call, and mostly drops one line or none.
    size, first = sum(map(len, all_lines)), 0
    while size > _CHARACTERS and first < len(all_lines) - 1:
        size -= len(all_lines[first])
        first += 1
    return all_lines[first:]


def read_recent(kept: Any) -> tuple[Entry, ...]:
    """
    Return the saved entries, oldest first; none for `None`.

    Raises:
        CodecError: the value is not a list of entries.
    """
    if kept is None:
        return ()
    if not isinstance(kept, list) or not all(isinstance(line, str) for line in kept):
        msg = (
            f"the journal in this state is damaged: {kept!r:.60} is no list of texts; leave it out"
        )
        raise CodecError(msg)
    return tuple(entry_from_data(parse(line)) for line in kept)


def base_of_0_2(data: object) -> Base:
    """
    Return a merge base as 0.2.0 saved it: {"plan": a plan document, "actors": {task id: actor}}.

    Raises:
        CodecError: the data have another shape, or contain no plan.
    """
    try:
        read = read_object(data, _STATE_FIELDS, ("plan",))
    except MisfitError as error:
        raise wrong_shape(error.found, "base") from None
    return Base(plan_from_data(read["plan"]), read.get("actors", {}))


def _actors(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise misfit(value, "no object")
    return {text(task_id): text(actor) for task_id, actor in value.items()}


def _state_plan(value: Any) -> Any:
    return value  # read by `plan_from_data`, which lists the faults of the plan document


_STATE_FIELDS: dict[str, FieldReader] = {"plan": _state_plan, "actors": _actors}
