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
_COUNT: _Schema = {"type": "integer", "minimum": 0}


def _object(**properties: _Schema) -> _Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _array(of: _Schema) -> _Schema:
    return {"type": "array", "items": of}


def _counts(*names: str) -> dict[str, _Schema]:
    return dict.fromkeys(names, _COUNT)


# `required` lists every key, and additional keys are allowed: later versions may add keys.
_UNREAD = _array(_object(file=_TEXT, reason=_TEXT))

_STEP = _object(
    line={"type": "integer", "minimum": 1},
    at={"type": ["string", "null"]},
    lane=_TEXT,
    actor=_TEXT,
    tool=_TEXT,
    outcome={"enum": list(get_args(Outcome))},
    events={"$ref": "#/$defs/entry/properties/events"},
    counts=_object(**_counts(*Counts._fields)),
    chars=_COUNT,
    before=_array(_object(what={"enum": ["compaction", "person"]}, line=_COUNT)),
)
_LANE = _object(
    name=_TEXT,
    **_counts("calls", "refused", "largest"),
    plan={"$ref": "#/$defs/plan"},
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
    first={"type": ["string", "null"]},
    last={"type": ["string", "null"]},
    findings={"type": "object", "additionalProperties": _COUNT},
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


def _document(form: str, version: int, **properties: _Schema) -> _Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_object(
            format={"const": form},
            version={"const": version},
            policy=_TEXT,
            **properties,
            unreadable=_UNREAD,
            skipped=_UNREAD,
        ),
    }


REPLAY_SCHEMA: _Schema = {
    **_document(REPLAY_FORMAT, REPLAY_VERSION, recordings=_array(_RECORDING)),
    "$defs": json_schema()["$defs"],
}
"""The schema of the output of `todoplan replay --json`."""

STATS_SCHEMA: _Schema = _document(
    STATS_FORMAT,
    STATS_VERSION,
    recordings=_array(_TALLY),
    totals=_TOTALS,
    findings=_array(_SHARE),
)
"""The schema of the output of `todoplan stats --json`."""


def _answer(form: str, version: int, **properties: _Schema) -> _Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_object(format={"const": form}, version={"const": version}, **properties),
        "$defs": json_schema()["$defs"],
    }


_PROBLEMS = _array(_object(code=_TEXT, task_ids=_array(_TEXT), text=_TEXT))
_TASK_OR_NULL: _Schema = {"anyOf": [{"$ref": "#/$defs/task"}, {"type": "null"}]}

PLAN_SCHEMAS: dict[str, _Schema] = {
    each["properties"]["format"]["const"]: each
    for each in (
        _answer(
            "todoplan/edit",
            VIEWS_VERSION,
            plan=_TEXT,
            accepted={"type": "boolean"},
            revision=_COUNT,
            events={"$ref": "#/$defs/entry/properties/events"},
            counts=_object(**_counts(*Counts._fields)),
            ready=_array(_TEXT),
            warnings=_PROBLEMS,
            problems=_PROBLEMS,
        ),
        _answer(
            "todoplan/list",
            VIEWS_VERSION,
            plan=_TEXT,
            document={"$ref": "#/$defs/plan"},
            ready=_array(_TEXT),
        ),
        _answer(
            "todoplan/log", VIEWS_VERSION, plan=_TEXT, entries=_array({"$ref": "#/$defs/entry"})
        ),
        _answer(
            "todoplan/diff",
            VIEWS_VERSION,
            plan=_TEXT,
            since=_COUNT,
            until=_COUNT,
            tasks=_array(_object(was=_TASK_OR_NULL, now=_TASK_OR_NULL)),
        ),
        _answer(
            "todoplan/drift",
            VIEWS_VERSION,
            plan=_TEXT,
            revision=_COUNT,
            approved={"type": "object"},
            tasks=_array(
                _object(
                    was=_TASK_OR_NULL,
                    now=_TASK_OR_NULL,
                    fields=_array(_TEXT),
                    actor={"type": ["string", "null"]},
                )
            ),
        ),
        _answer(
            "todoplan/watch",
            VIEWS_VERSION,
            plan=_TEXT,
            revision=_COUNT,
            entry={"anyOf": [{"$ref": "#/$defs/entry"}, {"type": "null"}]},
            counts=_object(**_counts(*Counts._fields)),
            ready=_array(_TEXT),
        ),
        _answer(
            "todoplan/check",
            VIEWS_VERSION,
            rules={"type": "object", "additionalProperties": {"enum": [*Severity]}},
            limits={"type": "object", "additionalProperties": _COUNT},
            plan={"type": ["string", "null"]},
            revision={"type": ["integer", "null"]},
            problems=_PROBLEMS,
        ),
    )
}
"""The schemas of the `--json` output of the commands on a plan, by the value of `format`."""


def data_of(result: Any) -> Any:
    """Return the JSON that a run of the command line printed, checked against its schema."""
    data = json.loads(result.stdout)
    Draft202012Validator(PLAN_SCHEMAS[data["format"]]).validate(data)
    return data
