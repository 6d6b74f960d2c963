"""
Plans and journals as documents: reading and writing.

Law: what is read equals what was written, and new tasks get ids that were never used.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import cached_property, lru_cache
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Any, cast, get_args

from todoplan.codec.engine import (
    CHECK,
    CHECK_PATTERN,
    COUNT,
    DEFINITIONS,
    KINDS,
    LIMIT,
    LISTED,
    POSITIVE,
    PRIORITIES,
    STATUSES,
    FieldReader,
    Kind,
    MisfitError,
    Record,
    Schema,
    array_schema,
    checksum,
    count,
    in_one_line,
    kind_of,
    misfit,
    object_schema,
    one_of,
    or_null,
    parse,
    read_each,
    read_object,
    ref,
    shown,
    text,
    to_raw,
    to_text,
    to_unicode,
    unchecked,
    write_fields,
    write_ids,
    write_time,
    wrong_shape,
)
from todoplan.core.decide import plan_of
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base
from todoplan.core.events.types import Event, TaskEdited
from todoplan.core.plan.model import (
    EDITABLE,
    TASK_FIELDS,
    Approval,
    FieldKind,
    FrozenDict,
    Task,
    instance_of,
    mutable_variant,
)
from todoplan.core.plan.plan import ChunkWriter, Plan
from todoplan.core.problems import Problem
from todoplan.errors import CodecError, PlanError

# -------- tasks --------
# Tasks as plain data: reading and writing. This is the hot path.
#
# `TASK` reads and writes every field by its kind, in a loop over the fields. Code that names each
# field takes less than half the time. So such code is generated from the fields of `TASK`, as attrs
# generates constructors. (When it was written by hand, a forgotten field was lost on saving.)
#
# Law: `_quick` and the generated functions are only shortcuts. If they raise an error, `TASK` reads
# or writes the task, or describes the fault.


TASK = Record(Task, "id", "subject", "status")
"""The kind of tasks. The fields id, subject and status are always written."""

_LEAST = len(TASK.required)
_MutableTask = mutable_variant(Task)
# The errors that the shortcuts raise for a wrong value.
TROUBLE = (MisfitError, AttributeError, KeyError, TypeError)

_SOURCE = """
def to_data(task):
    data = {{"id": task.id, "subject": task.subject, "status": words[task.status]}}
    "".join(data.values())  # a TypeError if one is not a str
{data}    return data

def to_json(task):
    raw = (
        f'{{{{"id":"{{task.id}}","subject":{{quoted(task.subject)}}'
        f',"status":"{{words[task.status]}}"'
    )
{json}    raw += "}}"
    return raw if raw.isascii() else in_one_line(raw)
"""
_TEXT = "value if type(value) is str else text(value)", "{quoted(value)}"
# For frequent kinds: whether `value` is not the default, and how it is written as plain data, and
# in an f-string as JSON text.
_EXPRESSIONS = {
    FieldKind.TEXT: ('value != ""', *_TEXT),
    FieldKind.TEXT_OR_NONE: ("value is not None", *_TEXT),
    FieldKind.PARENT: ("value is not None", *_TEXT),
    FieldKind.PRIORITY: ("value is not None", "grades[value]", '"{grades[value]}"'),
    FieldKind.COUNT: ("value", "count(value)", "{count(value)}"),
    # `join` is only a check: it raises a TypeError if an id is not a str.
    FieldKind.IDS: (
        "value",
        '[*value] if "".join(value) else write_ids(value)',
        '[{",".join(map(quoted, value))}]',
    ),
    FieldKind.TIME: ("value is not None", "write_time(value)", '"{write_time(value)}"'),
}


class _Shortcuts:
    """The generated functions. They are generated when first used, because that takes 1 ms."""

    @cached_property
    def to_data(self) -> Callable[[Task], dict[str, Any]]:
        """Returns a task as plain data."""
        return cast("Callable[[Task], dict[str, Any]]", self._generated["to_data"])

    @cached_property
    def to_json(self) -> Callable[[Task], str]:
        """Returns the JSON text of a task."""
        return cast("Callable[[Task], str]", self._generated["to_json"])

    @cached_property
    def _generated(self) -> dict[str, Any]:
        names: dict[str, Any] = {
            # Looking up a word here takes a third of the time of the attribute `value`.
            "words": {status: word for word, status in STATUSES.items()},
            "grades": {priority: word for word, priority in PRIORITIES.items()},
            "text": text,
            "count": count,
            "write_ids": write_ids,
            "write_time": write_time,
            # With this function, writing takes half the time of json.dumps.
            "quoted": encode_basestring,
            "to_raw": to_raw,
            "in_one_line": in_one_line,
        }
        data = json = ""
        for field, default, write in TASK.rows[_LEAST:]:
            names |= {f"write_{field}": write, f"no_{field}": default}
            none, written = "None" if default is None else f"no_{field}", f"write_{field}(value)"
            other = f"value is not {none} and value != {none}", written, f"{{to_raw({written})}}"
            expressions = _EXPRESSIONS.get(TASK_FIELDS[field].kind, other)
            is_set, as_data, as_json = (e.replace("value", f"task.{field}") for e in expressions)
            data += f"    if {is_set}: data['{field}'] = {as_data}\n"
            json += f"""    if {is_set}: raw += f',"{field}":{as_json}'\n"""
        exec(_SOURCE.format(data=data, json=json), names)  # noqa: S102 - no text from elsewhere
        return names


_shortcuts = _Shortcuts()


def write_task(task: Task) -> dict[str, Any]:
    """
    Return a task as plain data: id, subject, status, and all other values that are not defaults.

    Raises:
        MisfitError: a value cannot be represented in JSON, or a time has no time zone.
    """
    try:
        return _shortcuts.to_data(task)
    except TROUBLE:
        return TASK.write(task)


def write_tasks(tasks: Iterable[Task], first: int = 0) -> list[dict[str, Any]]:
    """
    Return tasks as plain data. In error paths, tasks are numbered from `first`.

    Raises:
        MisfitError: some tasks cannot be written; the paths say which.
    """
    every = [*tasks]
    try:
        return [*map(_shortcuts.to_data, every)]
    except TROUBLE:
        return [*read_each(every, write_task, first)]


def read_task(data: Any) -> Task:
    """
    Read a task.

    Raises:
        MisfitError: the data are not a task; the error lists every fault.
    """
    try:
        return _quick([data])[0]
    except TROUBLE:
        return cast("Task", TASK.read(data))


def _quick(items: list[Any]) -> list[Task]:
    tasks = []
    readers, least = TASK.readers, TASK.required
    # Without a function call for each task, because the calls took a tenth of the time.
    for data in items:
        task_id, subject, status = data["id"], data["subject"], STATUSES[data["status"]]
        if not (type(task_id) is type(subject) is str and type(data) is dict):
            raise TypeError
        made = _MutableTask(task_id, subject, "", status)  # keywords would take 50 % longer
        if len(data) > _LEAST:
            for name, value in data.items():
                if name not in least:
                    setattr(made, name, readers[name](value))
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


KINDS[Task] = Kind(read_task, write_task, TASK.schema)
KINDS[tuple[Task, ...]] = Kind(read_tasks, write_tasks, array_schema(TASK.schema))


# -------- events --------
# Journal entries and events as plain data: reading and writing.


CHANGES = {name: kind for name, kind in TASK.kinds.items() if name in EDITABLE}
"""The kinds of the fields that "changes" may contain."""

_changed = {name: kind.read for name, kind in CHANGES.items()}
_changes = {name: kind.write for name, kind in CHANGES.items()}
_CHANGES = Kind(
    lambda data: FrozenDict(read_object(data, _changed)),
    # Defaults are written too, because a field that is set to its default is a change.
    lambda changes: read_object(dict(changes), _changes),
    object_schema({name: TASK.properties[name] for name in CHANGES}),
)

_RECORDS: dict[type[Any], Record] = {
    event: Record(event, **({"changes": _CHANGES} if event is TaskEdited else {}))
    for event in get_args(Event)
}
EVENTS: dict[str, Record] = {record.word: record for record in _RECORDS.values()}
"""The events by their name in the "type" field."""

for _word, _record in EVENTS.items():
    DEFINITIONS[_word] = object_schema(
        {"type": {"const": _word}, **_record.properties}, ("type", *_record.required)
    )
_read_word = one_of(EVENTS)


def _read_event(data: Any) -> Any:
    if not isinstance(data, dict):
        raise misfit(data, "no object")
    try:
        record = _read_word(data.get("type"))
    except MisfitError as error:
        raise MisfitError(error.below(".type")) from None
    return record.read({name: value for name, value in data.items() if name != "type"})


def _write_event(event: Any) -> dict[str, Any]:
    record = _RECORDS[type(event)]
    return {"type": record.word, **record.write(event)}


KINDS[Event] = Kind(
    _read_event, _write_event, {"oneOf": [record.schema for record in _RECORDS.values()]}
)
ENTRY = Record(Entry)
"""The kind of journal entries."""


# -------- versions --------
# The head of a document (format and version), and conversion from older versions (upcasting).


PLAN = "todoplan/plan"
JOURNAL = "todoplan/journal"
VERSION = 2

Upcasters = Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]
"""
A mapping from each version to the function that converts a document to the next version.

A function returns new data and does not change its argument. For a journal it receives one entry.
"""


class _Named(dict[int, Callable[[dict[str, Any]], dict[str, Any]]]):
    """
    A dict whose repr is always "UPCASTERS", for signatures. The repr of its functions would vary.
    """

    def __repr__(self) -> str:
        return "UPCASTERS"


# Version 2 only adds to version 1: the status failed, subtasks, waiting, answers, checks, evidence,
# approval. So a document of version 1 needs no change. From the version number, an older todoplan
# can tell why it cannot read the document. The mapping is read-only, because everybody shares it.
UPCASTERS: Upcasters = MappingProxyType(_Named({1: lambda data: data}))

_OTHER = {PLAN: "load_plan reads it", JOURNAL: "load_journal reads it"}


def check_head(data: Any, form: str) -> int:
    """
    Return the version of a document, after checking its format.

    Raises:
        CodecError: the document has another format, or a newer version than this todoplan.
    """
    if not isinstance(data, dict):
        msg = f"{shown(data)} is no {form} document"
        raise CodecError(msg, problem="wrong_format", path="")
    if (seen := data.get("format")) != form:
        hint = f"; {_OTHER[seen]}" if isinstance(seen, str) and seen in _OTHER else ""
        msg = f"format: {shown(seen)} is not {shown(form)}{hint}"
        raise CodecError(msg, problem="wrong_format", path="format", version=data.get("version"))
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
# Journals as documents, which are JSON Lines: first a head, then one entry per line.
#
# Each written line ends with a checksum (`todoplan.codec.engine`). A line without one can be read
# too. If a crash has left an incomplete last line, reading raises an error.


_HEAD = {"format": JOURNAL, "version": VERSION}


def entry_to_data(entry: Entry) -> dict[str, Any]:
    """
    Return the entry as plain JSON values.

    Raises:
        CodecError: a value cannot be represented in JSON (NaN, a set), or a time has no time zone.
    """
    instance_of(entry, Entry, "an Entry of a journal")
    try:
        return ENTRY.write(entry)
    except MisfitError as error:
        raise wrong_shape(error.found, "entry that JSON can hold") from None


def entry_from_data(
    data: Any, *, version: int = VERSION, upcasters: Upcasters = UPCASTERS
) -> Entry:
    """
    Return the entry that `entry_to_data` wrote. `version` is the version of the journal document.

    If the data have a checksum, as the lines of a journal have, the checksum is verified.

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
        # The checksum is of the data as they were written, so it is verified before upcasting.
        entry: Entry = ENTRY.read(upcast(unchecked(data, what, where), version, upcasters))
    except MisfitError as error:
        raise wrong_shape(error.found, what, version=version, **where) from None
    return entry


def dump_journal(entries: Iterable[Entry]) -> str:
    """
    Return the entries as JSON Lines.

    The text ends with a line break. To append an entry, write `entry_to_line(entry)` (see
    `todoplan.codec.documents`) and a line break.

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
        CodecError: a line is wrong. The error lists the faults of the first such line, and
            `data["line"]` is its number, counted from 1.
    """
    # `splitlines` would also break at U+2028, which JSON allows in strings, and which other
    # programs write unescaped.
    lines = enumerate(to_unicode(text, limit).split("\n"), 1)
    filled = ((place, line) for place, line in lines if line.strip())
    place, line = next(filled, (1, ""))
    head = parse(line, place)
    version = check_head(head, JOURNAL)
    try:
        read_object(head, {"format": str, "version": int})
    except MisfitError as error:
        raise wrong_shape(error.found, "head of a journal", version=version, line=1) from None
    return tuple(
        _entry(parse(line, place), version, upcasters, {"line": place}) for place, line in filled
    )


# -------- schema --------
# The documents as JSON Schema, draft 2020-12, for other programs.


_CHECKSUM: Schema = {"type": "string", "pattern": f"^{CHECK_PATTERN}$"}
# The ids that `number_of` accepts. Events may name any other text, which has no effect.
_ID: Schema = {"type": "string", "pattern": "^[1-9][0-9]{0,17}$"}


def json_schema() -> dict[str, Any]:
    """
    Return the schema of a plan document, and of a journal as an array of its lines.

    `$defs` has `plan`, `journal`, `journal_head`, `entry`, `task` and one definition for each
    event. A schema cannot express that edges are mirrored, ids are unique and dependencies have no
    cycle.
    """
    edges = {**array_schema(_ID), "uniqueItems": True}
    subject = {"pattern": r"\S", "description": "not only white space"}
    checked = {"id": _ID, "subject": subject, "blocks": edges, "blocked_by": edges}
    plan = {
        "revision": COUNT.schema,
        "next_id": {**POSITIVE.schema, "description": "above every id"},
        "tasks": array_schema({"allOf": [TASK.schema, {"properties": checked}]}),
    }
    optional_in_plan = {"approved": or_null(ref("approval")), CHECK: _CHECKSUM}
    journal = {
        "type": "array",
        "prefixItems": [ref("journal_head")],
        "items": ENTRY.schema,
        "minItems": 1,
        "description": "the lines of the document, each line one JSON value",
    }
    definitions = {
        **DEFINITIONS,
        "plan": _head_schema(PLAN, plan, optional_in_plan),
        "journal_head": _head_schema(JOURNAL, {}, {}),
        "journal": journal,
        "entry": object_schema({**ENTRY.properties, CHECK: _CHECKSUM}, ENTRY.required),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "todoplan documents",
        "anyOf": [ref("plan"), ref("journal")],
        "$defs": deepcopy(definitions),
    }


def _head_schema(form: str, required: Schema, others: Schema) -> Schema:
    required = {"format": {"const": form}, "version": {"const": VERSION}, **required}
    return object_schema({**required, **others}, required)


# -------- fragments --------
# A fragment is the JSON text of one task. Fragments are cached together with the plan, because a
# call mostly changes only one task of a plan.
#
# Law: a fragment is equal, byte for byte, to `to_text(write_task(task))`.


def fragment(task: Task) -> str:
    """
    Return the JSON text of a task of a plan. Ids in a plan are numbers, and need no escapes.

    Raises:
        MisfitError: the task contains a value that JSON cannot represent.
    """
    try:
        return _shortcuts.to_json(task)
    except TROUBLE:
        return to_text(write_task(task))


def _fragments(tasks: Iterable[Task]) -> list[str]:
    try:
        return [*map(_shortcuts.to_json, tasks)]
    except TROUBLE:
        return [*map(fragment, tasks)]


FRAGMENTS = ChunkWriter(fragment, _fragments, ",")
"""The writer of a plan's tasks. It encodes a task once, and again when the task has changed."""


def plan_to_data(plan: Plan) -> dict[str, Any]:
    """
    Return the plan as plain JSON values, for frameworks that save state themselves.

    Times are saved with microseconds and offset. Of a named time zone, only the offset is saved.

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
    data = {"format": PLAN, "version": VERSION, "revision": plan.revision, "next_id": plan.next_id}
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
    # Law 11: a corrupt document is an error. OpenHands and docker-agent read a corrupt file as an
    # empty list, and then overwrite the plan with the next save.
    version = check_head(data, PLAN)
    if version < VERSION:
        # The checksum is of the data as they were written, so it is verified before upcasting.
        data = upcast(unchecked(data, "plan", {}), version, upcasters)
    try:
        read = read_object(unchecked(data, "plan", {}), _FIELDS, _REQUIRED)
    except MisfitError as error:
        raise wrong_shape(error.found, "plan", version=version) from None
    approved = read.get("approved")
    plan = assembled(read["tasks"], read["next_id"], read["revision"], approved, version=version)
    # `plan_of` increases a next id that is too low. But a document with such a next id is corrupt:
    # if it has also lost its last tasks, their ids would be used again.
    if plan.next_id != read["next_id"]:
        found = [("next_id", f"{read['next_id']} is used; the lowest that is free: {plan.next_id}")]
        raise wrong_shape(found, "plan", version=version)
    return plan


_FIELDS: dict[str, FieldReader] = {
    "format": str,
    "version": int,
    "revision": COUNT.read,
    "next_id": POSITIVE.read,
    "approved": kind_of(Approval | None).read,
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
    Return the plan of existing tasks. If `next_id` is not above every id, it is increased.

    Raises:
        CodecError: the tasks do not form a plan; `data["problems"]` says why.
    """
    try:
        return plan_of(tasks, next_id=next_id, revision=revision, approved=approved)
    except PlanError as error:
        problems: tuple[Problem, ...] = error.data["problems"]
        named = [
            f"{one.code} {', '.join(map(shown, one.task_ids[:5]))} ({one.seen})"
            for one in problems[:LISTED]
        ]
        more = f"; and {len(problems) - LISTED} more" if len(problems) > LISTED else ""
        msg = f"these tasks are not a valid plan: {'; '.join(named)}{more}"
        data.update(problem="no_plan", path="tasks", problems=problems)
        raise CodecError(msg, **data) from None


def dump_plan(plan: Plan, *, check: bool = False) -> str:
    """
    Return the plan as one line of JSON. If `check` is true, the line has a checksum.

    By the checksum `load_plan` detects flipped bits, but for it all tasks are encoded again.
    Without a checksum, only the changed tasks are encoded again.

    Raises:
        CodecError: the same errors as `plan_to_data`.
    """
    instance_of(plan, Plan, "a Plan")
    if check:
        data = plan_to_data(plan)
        return to_text({**data, CHECK: checksum(data)})
    # The text is joined from cached parts, because the JSON encoder would encode all tasks again.
    try:
        tasks = [part.text for part in plan.written(FRAGMENTS) if part.text]
    except MisfitError:
        tasks = [to_text(task) for task in written(plan)]  # raises an error with all faults
    return f'{to_text(head(plan))[:-1]},"tasks":[{",".join(tasks)}]}}'


def load_plan(text: str | bytes, *, limit: int = LIMIT, upcasters: Upcasters = UPCASTERS) -> Plan:
    """
    Return the plan that `dump_plan` wrote. `limit` is in bytes.

    Raises:
        CodecError: the same errors as `plan_from_data`; or the text is truncated, too large or not
            JSON.
    """
    return plan_from_data(parse(to_unicode(text, limit)), upcasters=upcasters)


# -------- states --------
# The latest entries of a journal, which adapters save in a framework's state. And the merge base
# that version 0.2.0 saved there.
#
# Law: a state has at most 50 entries with at most 16,384 characters, but always the latest entry. A
# state is saved again and again, and a whole journal would soon be its largest part.
#
# An entry is saved as JSON text. So its length is known, and code that receives the state cannot
# change the entry in place.


RECENT = 50
_CHARACTERS = 16_384


def entry_line(entry: Entry) -> str:
    """
    Return the JSON text of an entry.

    Raises:
        CodecError: the entry contains a value that JSON cannot represent.
    """
    return to_text(entry_to_data(entry))


def with_entry(kept: Any, entry: Entry) -> list[str]:
    """Return the saved lines with one more entry. If there are too many, the oldest are dropped."""
    return with_lines(kept, [entry_line(entry)])


def with_lines(kept: Any, lines: Iterable[str]) -> list[str]:
    """Return the saved lines with further lines, without duplicates."""
    old = kept if isinstance(kept, list) else []
    all_lines = [*old, *(line for line in lines if line not in old)][-RECENT:]
    # Drop the oldest lines. This runs in every call, and mostly drops one line or none.
    size, first = sum(map(len, all_lines)), 0
    while size > _CHARACTERS and first < len(all_lines) - 1:
        size -= len(all_lines[first])
        first += 1
    return all_lines[first:]


def read_recent(kept: Any) -> tuple[Entry, ...]:
    """
    Return the saved entries, oldest first; () for `None`.

    Raises:
        CodecError: the value is not a list of entries.
    """
    if kept is None:
        return ()
    if not isinstance(kept, list) or not all(isinstance(line, str) for line in kept):
        msg = f"the journal in this state is damaged: {kept!r:.60} is no list of texts; remove it"
        raise CodecError(msg)
    return tuple(map(_entry_of, kept))


# Cached, because a state is read again and again, and most of its lines stay the same.
@lru_cache(maxsize=256)
def _entry_of(line: str) -> Entry:
    return entry_from_data(parse(line))


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


# `plan_from_data` reads the plan, and lists its faults.
_STATE_FIELDS: dict[str, FieldReader] = {"plan": lambda plan: plan, "actors": _actors}
