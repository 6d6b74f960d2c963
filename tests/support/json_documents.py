"""
JSON Schemas (draft 2020-12) of the documents that `--json` prints.

Other programs may rely on them.
"""

import json
from typing import Any, get_args

from jsonschema import Draft202012Validator

from todoplan.cli.plans import VIEWS_VERSION
from todoplan.codec import json_schema
from todoplan.core.plan.plan import Counts
from todoplan.core.rules import Severity
from todoplan.transcripts.commands import STATS_FORMAT, STATS_VERSION
from todoplan.transcripts.output import REPLAY_FORMAT, REPLAY_VERSION
from todoplan.transcripts.replay import Outcome

_Schema = dict[str, Any]

_TEXT: _Schema = {"type": "string"}
_TEXT_OR_NULL: _Schema = {"type": ["string", "null"]}
_COUNT: _Schema = {"type": "integer", "minimum": 0}
_COUNT_BY_NAME: _Schema = {"type": "object", "additionalProperties": _COUNT}


def _object(**properties: _Schema) -> _Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _array(of: _Schema) -> _Schema:
    return {"type": "array", "items": of}


def _counts(*names: str) -> dict[str, _Schema]:
    return dict.fromkeys(names, _COUNT)


def _stored(name: str) -> _Schema:
    """Return the schema of a part of the stored documents, such as "task"."""
    return {"$ref": f"#/$defs/{name}"}


def _or_null(schema: _Schema) -> _Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _document(form: str, version: int, **properties: _Schema) -> _Schema:
    # `required` lists every key, and additional keys are allowed: later versions may add keys.
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_object(format={"const": form}, version={"const": version}, **properties),
        "$defs": json_schema()["$defs"],
    }


_EVENTS = _stored("entry/properties/events")
_PLAN_COUNTS = _object(**_counts(*Counts._fields))
_UNREAD = _array(_object(file=_TEXT, reason=_TEXT))
_STEP = _object(
    line={"type": "integer", "minimum": 1},
    at=_TEXT_OR_NULL,
    lane=_TEXT,
    actor=_TEXT,
    tool=_TEXT,
    outcome={"enum": list(get_args(Outcome))},
    events=_EVENTS,
    counts=_PLAN_COUNTS,
    chars=_COUNT,
    before=_array(_object(what={"enum": ["compaction", "person"]}, line=_COUNT)),
)
_LANE = _object(
    name=_TEXT,
    **_counts("calls", "refused", "largest"),
    plan=_stored("plan"),
    sizes=_array(_COUNT),
    seconds={"type": "object", "additionalProperties": {"type": "number"}},
)
_FINDING = _object(
    code=_TEXT,
    severity={"enum": ["warn", "error"]},
    line=_COUNT,
    lane=_TEXT,
    task_ids=_array(_TEXT),
    text=_TEXT,
    detail=_TEXT,
)
_RECORDING = _object(
    file=_TEXT,
    dialect=_TEXT,
    steps=_array(_STEP),
    lanes=_array(_LANE),
    findings=_array(_FINDING),
    bad_lines=_COUNT,
    other_tools=_array(_TEXT),
)
_CALLS = _counts("calls", "updates", "reads", "failed", "chars", "bad_lines")
_TALLY = _object(
    file=_TEXT,
    dialect=_TEXT,
    **_counts("plans", "largest"),
    **_CALLS,
    **_counts("done", "total"),
    first=_TEXT_OR_NULL,
    last=_TEXT_OR_NULL,
    findings=_COUNT_BY_NAME,
)
_TOTALS = _object(
    **_counts("recordings", "plans"), median={"type": "number"}, **_counts("largest"), **_CALLS
)
_SHARE = _object(
    code=_TEXT,
    calls=_COUNT,
    share={"type": "number", "minimum": 0, "maximum": 1},
    **_counts("recordings", "count"),
)
_LEFT_OUT = {"unreadable": _UNREAD, "skipped": _UNREAD}

REPLAY_SCHEMA: _Schema = _document(
    REPLAY_FORMAT, REPLAY_VERSION, policy=_TEXT, recordings=_array(_RECORDING), **_LEFT_OUT
)
"""The schema of the output of `todoplan replay --json`."""

STATS_SCHEMA: _Schema = _document(
    STATS_FORMAT,
    STATS_VERSION,
    policy=_TEXT,
    recordings=_array(_TALLY),
    totals=_TOTALS,
    findings=_array(_SHARE),
    **_LEFT_OUT,
)
"""The schema of the output of `todoplan stats --json`."""

_PROBLEMS = _array(_object(code=_TEXT, task_ids=_array(_TEXT), text=_TEXT))
_CHANGED = {"was": _or_null(_stored("task")), "now": _or_null(_stored("task"))}
_VIEWS: dict[str, dict[str, _Schema]] = {
    "edit": {
        "accepted": {"type": "boolean"},
        "revision": _COUNT,
        "events": _EVENTS,
        "counts": _PLAN_COUNTS,
        "ready": _array(_TEXT),
        "warnings": _PROBLEMS,
        "problems": _PROBLEMS,
    },
    "list": {"document": _stored("plan"), "ready": _array(_TEXT)},
    "log": {"entries": _array(_stored("entry"))},
    "diff": {"since": _COUNT, "until": _COUNT, "tasks": _array(_object(**_CHANGED))},
    "drift": {
        "revision": _COUNT,
        "approved": {"type": "object"},
        "tasks": _array(_object(**_CHANGED, fields=_array(_TEXT), actor=_TEXT_OR_NULL)),
    },
    "watch": {
        "revision": _COUNT,
        "entry": _or_null(_stored("entry")),
        "counts": _PLAN_COUNTS,
        "ready": _array(_TEXT),
    },
    "check": {
        "rules": {"type": "object", "additionalProperties": {"enum": [*Severity]}},
        "limits": _COUNT_BY_NAME,
        "plan": _TEXT_OR_NULL,
        "revision": {"type": ["integer", "null"]},
        "problems": _PROBLEMS,
    },
}

PLAN_SCHEMAS: dict[str, _Schema] = {
    f"todoplan/{name}": _document(
        f"todoplan/{name}", VIEWS_VERSION, **{"plan": _TEXT, **properties}
    )
    for name, properties in _VIEWS.items()
}
"""The schemas of the `--json` output of the commands on a plan, by the value of `format`."""


def data_of(result: Any) -> Any:
    """Return the JSON that a run of the command line printed, checked against its schema."""
    data = json.loads(result.stdout)
    Draft202012Validator(PLAN_SCHEMAS[data["format"]]).validate(data)
    return data
