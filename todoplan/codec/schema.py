"""The documents as JSON Schema, draft 2020-12, for other programs."""

from typing import Any

import attrs

from todoplan.codec.checks import CHECK, CHECK_PATTERN
from todoplan.codec.events import CHANGES, EVENTS
from todoplan.codec.tasks import FIELD_READERS, REQUIRED
from todoplan.codec.values import PRIORITIES, STATUSES, TIME
from todoplan.codec.versions import JOURNAL, PLAN, VERSION
from todoplan.core.plan.model import TASK_FIELDS, FieldKind

__all__ = ["json_schema"]

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
            "entry": _entry(),
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


def _entry() -> _Schema:
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
