"""Toolboxes, plans and arguments for tests of calls, and what must hold for every reply."""

import json
import re
from functools import reduce

from hypothesis import strategies as st

from todoplan.core.events.apply import replay
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import PRESETS
from todoplan.dialogue.intake import Kind
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TOOLSETS as ALL_TOOLSETS

TOOLSETS = tuple(toolset for toolset in ALL_TOOLSETS.values() if not toolset.team)
BOXES = tuple(Toolbox(toolset) for toolset in TOOLSETS)
STATUSES = ("pending", "in_progress", "completed", "cancelled")
PYTHON = re.compile(r"Status\.|Priority\.|FrozenDict|Task\(|Todo\(|Unset|UNSET|\{'|\['|datetime")
"""Matches what only a Python repr contains."""


def toolbox(name="todos", policy="default", **options):
    """Return a toolbox by the name of its tool set and of its policy."""
    return Toolbox(ALL_TOOLSETS[name], PRESETS[policy], **options)


def planned(*titles):
    """Return a plan of pending tasks."""
    box = toolbox("tasks")
    return reduce(
        lambda plan, title: box.call(plan, "TaskCreate", {"subject": title}).plan, titles, Plan()
    )


def write(todos, plan=None, **more):
    """Return the reply to a whole-list write."""
    return toolbox().call(plan or Plan(), "write_todos", {"todos": todos, **more})


def texts_of(plan):
    """Return the subjects, in order."""
    return [task.subject for task in plan]


def check_reply(plan, reply):
    """Assert what must hold for every reply, whatever was sent."""
    assert isinstance(reply.text, str)
    assert reply.text
    reply.text.encode("utf-8")
    json.dumps(reply.text)
    assert replay(plan, reply.events) == reply.plan
    if reply.is_error:
        assert reply.plan is plan
        assert not reply.events
        assert reply.problems
        assert reply.text.startswith("Nothing was changed.")
        assert len(reply.text) < 6_000
    elif reply.repairs:
        assert "note: " in reply.text


def valid(fields, *, strict=False):
    """Draw arguments that the published schema of these fields allows."""
    shown = [field for field in fields if not field.hidden]
    required = {f.name: _valid(f, strict=strict) for f in shown if f.required}
    optional = {f.name: _valid(f, strict=strict) for f in shown if not f.required}
    if strict:
        nullable = {name: st.none() | drawn for name, drawn in optional.items()}
        return st.fixed_dictionaries({**required, **nullable})
    return st.fixed_dictionaries(required, optional=optional)


_lines = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cf")), min_size=1, max_size=9
)
titles = _lines.filter(lambda text: text.strip() and not re.search(r"[\[\]{}<\"`]", text))
_ids = st.integers(1, 4)
_json = st.dictionaries(titles, st.none() | st.booleans() | st.integers(0, 9) | titles, max_size=2)
_KINDS = {
    Kind.LINE: titles,
    Kind.TEXT: titles,
    Kind.STATUS: st.sampled_from(STATUSES),
    Kind.STATUS_OR_DELETED: st.sampled_from((*STATUSES, "failed", "deleted")),
    Kind.WAITING: titles,
    Kind.PARENT: st.just(""),
    Kind.SUBTASKS: st.just([]),
    Kind.PRIORITY: st.sampled_from(("high", "medium", "low")),
    Kind.MINUTES: st.integers(0, 999) | st.floats(0, 999),
    Kind.DATE: st.dates().map(str),
    Kind.FLAG: st.booleans(),
}


def _valid(field, *, strict):
    if field.kind is Kind.ITEMS:
        shown = [item for item in field.items if not item.hidden]
        entry = titles if len(shown) == 1 else valid(field.items, strict=strict)
        return st.lists(entry, max_size=3)
    if field.kind in (Kind.ID, Kind.REF, Kind.IDS, Kind.REFS):
        one = _ids if field.numeric else _ids.map(str)
        return one if field.kind in (Kind.ID, Kind.REF) else st.lists(one, max_size=3)
    if field.kind is Kind.WAITS:
        waits = st.dictionaries(_ids.map(str), titles, max_size=2)
        return waits.map(json.dumps) if strict else waits
    if field.kind is Kind.METADATA:
        return _json.map(json.dumps) if strict else _json
    return _KINDS[field.kind]
