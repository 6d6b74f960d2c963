"""
The rules of a policy in the naive model, and examples that break a rule or do not.

A rule is a function of a decision and the limits, which returns whether the rule is broken. Like
the model, the rules are written from the design. Most look at the result of a command, because a
batch may break a rule that none of its parts breaks. The examples, `FIRES` and `QUIET`, are checked
by these rules and by the real ones.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
from support.naive.decision import NaiveDecision
from support.naive.model import CLOSED, normalised

from todoplan.core.commands import (
    ApprovePlan,
    Batch,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RecordEvidence,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.model import TASK_FIELDS, Approval, Claim, Evidence, Task, Todo, Waiting
from todoplan.core.rules import Limits

_Broken = Callable[[NaiveDecision, Limits], bool]


def problems(decision: NaiveDecision, severities: Mapping[str, str], limits: Limits) -> set[str]:
    """Return structural faults, or if there are none, the rules at `error` that are broken."""
    faults = {code for code, times in decision.faults.items() if times}
    strict = {name for name, level in severities.items() if level == "error"}
    # An invalid plan is not checked by rules.
    return faults or {name for name in strict if NAIVE_RULES[name](decision, limits)}


def _changes(decision: NaiveDecision) -> Iterator[tuple[dict[str, Any] | None, dict[str, Any]]]:
    """
    Yield each task that was created, edited or restored: before, or `None`, and after.
    """
    restored = any(isinstance(part, RestorePlan) for part in decision.commands)
    for task_id in decision.after.ids() if restored else decision.written:
        new = decision.after.get(task_id)
        if new is not None:  # a later part of a batch may have deleted it
            yield decision.before.get(task_id), new


def _linked(decision: NaiveDecision) -> list[str]:
    """Return the ids of the tasks that have new blockers."""
    restored = [part for part in decision.commands if isinstance(part, RestorePlan)]
    edges = [(end, task.id) for part in restored for task in part.tasks for end in task.blocked_by]
    return decision.linked + [edge[1] for edge in edges if edge not in decision.before.edges]


# Rules about the plan as a whole ask whether it got worse: a plan that somebody else left with two
# tasks in progress, or over its limits, must not refuse every later command.


def _single(decision: NaiveDecision, _: Limits) -> bool:
    before, after = (
        {i for i in model.active() if model[i]["claim"] is None}
        for model in (decision.before, decision.after)
    )
    return len(after) > 1 and bool(after - before)


def _some(decision: NaiveDecision, _: Limits) -> bool:
    if not isinstance(decision.command, WriteTodos | Batch):
        return False
    # Single updates come one by one: completing a task before the next is started is no fault.
    idle_before = decision.before.open() and not decision.before.active()
    return bool(decision.after.open() and not decision.after.active() and not idle_before)


def _first(decision: NaiveDecision, _: Limits) -> bool:
    listed = bool(decision.writes()) or isinstance(decision.command, CreateTasks)
    fresh = listed and not decision.before.open()
    return bool(fresh and decision.after.open() and not decision.after.active())


def _final(decision: NaiveDecision, _: Limits) -> bool:
    done = [i for i in decision.before.ids() if decision.before.status(i) == "completed"]
    # A finished list may be cleared away to begin anew.
    gone = decision.before.open() and set(done) & set(decision.removed) - set(decision.after.ids())
    there = set(done) & set(decision.written) & set(decision.after.ids())
    reworded = any(decision.after[i]["subject"] != decision.before[i]["subject"] for i in there)
    return any(move[1] == "completed" for move in decision.moves) or reworded or bool(gone)


def _linear(decision: NaiveDecision, _: Limits) -> bool:
    return any(move[1:] == ("pending", "completed") for move in decision.moves)


def _blocked(status: str) -> _Broken:
    def broken(decision: NaiveDecision, _: Limits) -> bool:
        # Asked of the plan after it all: pydantic-ai-todo refuses the batch {complete a, start b},
        # the hand-off that it advertises.
        moved = [i for i, _, new in decision.moves if new == status]
        created = [i for i in decision.written if i not in decision.before.ids()]
        here = [i for i in moved + created if i in decision.after.ids()]
        return any(decision.after.status(i) == status and decision.after.blockers(i) for i in here)

    return broken


def _dropped(decision: NaiveDecision, _: Limits) -> bool:
    gone = set(decision.removed) & set(decision.before.open()) - set(decision.after.ids())
    return bool(gone) and any(not write.clear for write in decision.writes())


def _empty(decision: NaiveDecision, _: Limits) -> bool:
    # OpenHands takes a call without its list for an empty one, and wipes the plan.
    wiped = any(not write.todos and not write.clear for write in decision.writes())
    return wiped and bool(decision.before.open())


def _duplicate(decision: NaiveDecision, _: Limits) -> bool:
    now = Counter(normalised(task["subject"]) for task in decision.after.tasks)
    return any(
        now[normalised(new["subject"])] > 1
        for old, new in _changes(decision)
        if old is None or old["subject"] != new["subject"]
    )


def _required(field: str) -> _Broken:
    def broken(decision: NaiveDecision, _: Limits) -> bool:
        return any(
            not new[field] and (old is None or old[field]) for old, new in _changes(decision)
        )

    return broken


def _items(decision: NaiveDecision, limits: Limits) -> bool:
    more = limits.items < len(decision.after.tasks) > len(decision.before.tasks)
    return more or limits.open_items < len(decision.after.open()) > len(decision.before.open())


def _text(decision: NaiveDecision, limits: Limits) -> bool:
    most = {"subject": limits.subject, "active_form": limits.active_form, "owner": limits.owner}
    most |= dict.fromkeys(("description", "check", "answer", "waiting", "evidence"), limits.text)
    return any(
        len(text or "") > most[field]
        for old, new in _changes(decision)
        for field in most
        if old is None or old[field] != new[field]
        for text in _texts(new[field])
    )


def _texts(value: Any) -> list[str | None]:
    """Return the texts of a field's value."""
    if isinstance(value, Waiting):
        return [value.reason, value.question]
    return [value.summary] if isinstance(value, Evidence) else [value]


def _metadata(decision: NaiveDecision, limits: Limits) -> bool:
    for old, new in _changes(decision):
        # A task without any has none of a size.
        if new["metadata"] and (old is None or old["metadata"] != new["metadata"]):
            text = json.dumps(new["metadata"], ensure_ascii=False)
            keys, levels = _shape(new["metadata"])
            size = len(text.encode("utf-8", "surrogatepass"))  # half a pair counts too
            most = (limits.metadata, limits.metadata_keys, limits.metadata_levels)
            if any(found > limit for found, limit in zip((size, keys, levels), most, strict=True)):
                return True
    return False


def _shape(value: Any) -> tuple[int, int]:
    """Return the keys of a JSON value in all, and its levels."""
    if not isinstance(value, dict | list):
        return 0, 0
    items = list(value.values()) if isinstance(value, dict) else value
    inner = [_shape(item) for item in items]
    own = len(value) if isinstance(value, dict) else 0
    return own + sum(keys for keys, _ in inner), 1 + max((n for _, n in inner), default=0)


def _edges(decision: NaiveDecision, limits: Limits) -> bool:
    counts = Counter(b for _, b in decision.after.edges)
    return any(counts[i] > limits.edges for i in _linked(decision))


def _completions(decision: NaiveDecision, _: Limits) -> bool:
    return len({i for i, _, new in decision.moves if new == "completed"}) > 1


def _no_op(decision: NaiveDecision, _: Limits) -> bool:
    return bool(decision.writes()) and not decision.changed


def _owner(decision: NaiveDecision, _: Limits) -> bool:
    # AgentScope overwrites an owner without a check.
    here = [i for i in decision.written if decision.before.get(i) and decision.after.get(i)]
    owners = [(decision.before[i]["owner"], decision.after[i]["owner"]) for i in here]
    return any(old and new and old != new for old, new in owners)


def _depth(decision: NaiveDecision, limits: Limits) -> bool:
    after = decision.after
    moved = _put_elsewhere(decision, _restored(decision))
    deep = [i for i in after.ids() if len(after.ancestors(i)) + 1 > limits.depth]
    return any(i in moved or set(after.ancestors(i)) & moved for i in deep)


def _put_elsewhere(decision: NaiveDecision, restored: list[str]) -> set[str]:
    """Return the tasks that have another parent than before, also the restored ones."""
    before, after = decision.before, decision.after
    here = [i for i in [*decision.placed, *restored] if after.get(i) and after[i]["parent"]]
    return {i for i in here if (before.get(i) or {}).get("parent") != after[i]["parent"]}


def _restored(decision: NaiveDecision) -> list[str]:
    parts = [part for part in decision.commands if isinstance(part, RestorePlan)]
    return [task.id for part in parts for task in part.tasks]


def _parent_complete(decision: NaiveDecision, _: Limits) -> bool:
    after = decision.after
    done = {i for i, _, new in decision.moves if new == "completed" and i in after.ids()}
    parents = [i for i in done if after.status(i) == "completed"]
    return any(set(after.ancestors(i)) & set(parents) for i in after.open())


def _child_of_closed(decision: NaiveDecision, _: Limits) -> bool:
    after = decision.after
    reopened = {i for i, old, new in decision.moves if old in CLOSED and new not in CLOSED}
    here = [i for i in after.open() if i in reopened | _put_elsewhere(decision, [])]
    return any(after.status(above) in CLOSED for i in here for above in after.ancestors(i))


def _evidence(decision: NaiveDecision, _: Limits) -> bool:
    # Law 20: completed by whatever command, and without a check by none that takes it away.
    done = {i for i, status in decision.arrived if status == "completed"}
    for task_id in done & set(decision.after.ids()):
        task, was = decision.after[task_id], decision.before.get(task_id) or {"check": None}
        found = task["evidence"] is not None and task["evidence"].passed
        if task["status"] == "completed" and (task["check"] or was["check"]) and not found:
            return True
    return False


def _approval(decision: NaiveDecision, _: Limits) -> bool:
    begun = [i for i, status in decision.arrived if status in ("in_progress", "completed")]
    return bool(begun) and decision.after.approved is None


def _approved(decision: NaiveDecision, _: Limits) -> bool:
    approved = decision.before.approved
    others = set(decision.before.ids()) ^ set(decision.after.ids())
    if approved is None or not others:
        return False
    return decision.actor is None or decision.actor != approved["by"]


NAIVE_RULES: dict[str, _Broken] = {
    "single_in_progress": _single,
    "some_in_progress": _some,
    "first_in_progress": _first,
    "completed_is_final": _final,
    "linear_status": _linear,
    "blocked_start": _blocked("in_progress"),
    "blocked_complete": _blocked("completed"),
    "dropped_open_items": _dropped,
    "empty_write": _empty,
    "duplicate_content": _duplicate,
    **{f"{field}_required": _required(field) for field in TASK_FIELDS},
    "max_items": _items,
    "max_text": _text,
    "max_edges": _edges,
    "max_metadata": _metadata,
    "owner_taken": _owner,
    "batch_completion": _completions,
    "no_op_write": _no_op,
    "max_depth": _depth,
    "parent_complete": _parent_complete,
    "child_of_closed": _child_of_closed,
    "evidence_required": _evidence,
    "approval_required": _approval,
    "approved_changed": _approved,
}


# Examples. Their plans are tasks alone: how a plan is made of them is judged elsewhere.


@attrs.frozen
class Given:
    """What a plan is made of that an example begins with."""

    tasks: tuple[Task, ...] = attrs.field(converter=tuple)
    revision: int = 0
    approved: Approval | None = None


SIZES = {"subject": 5, "text": 6, "active_form": 7, "owner": 3, "edges": 1, "history": 9}
METADATA = {"metadata": 20, "metadata_keys": 2, "metadata_levels": 2}
LIMITS = Limits(items=4, open_items=3, depth=2, **SIZES, **METADATA)
EMPTY = Given([])
BUSY = Given([Task("1", "a", status="in_progress"), Task("2", "b")])
IDLE = Given([Task("1", "a"), Task("2", "b")])
MIXED = Given([Task("1", "a", status="completed"), Task("2", "b")])
DONE = Given([Task("1", "a", status="completed")])
LINKED = Given([Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",)), Task("3", "c")])
FORMED = Given([Task("1", "a", active_form="doing a", priority="low")])
TWINS = Given([Task("1", "a"), Task("2", "A!")])
OWNED = Given([Task("1", "a", owner="ann"), Task("2", "b")])
LONG = Given([Task("1", "longer", "longer still")])
HEAVY = Given([Task("1", "a", metadata={"key": "x" * 20})])
OLD = Given([Task("1", "a")], revision=8)
FULL = Given([Task("1", "a")], revision=9)
BROKEN = Given([Task("1", "a")], revision=12)
FIVE = Given([Task(i, "x") for i in "12345"])
TWO_ON = Given([Task(i, i, status="in_progress") for i in "12"])
CLAIMED = Task("1", "a", status="in_progress", claim=Claim("bot", 1), claims=1)
TEAM = Given([CLAIMED, Task("2", "b")])
TWO_AND_ONE = Given([*TWO_ON.tasks, Task("3", "c")])
# 1 {2 {}, 3 {}}, 4: the third level is one too many.
NESTED = Given([Task("1", "a"), *(Task(i, i, parent="1") for i in "23"), Task("4", "d")])
DEEP_DOWN = Given([Task("1", "a"), Task("2", "b", parent="1"), Task("3", "c", parent="2")])
FAILED = Task("2", "b", parent="1", status="failed")
ENDED = Given([Task("1", "a", status="completed"), FAILED, Task("3", "c")])
CHECKED = Given(
    [
        Task("1", "a", check="it runs"),
        Task("2", "b", check="it runs", evidence=Evidence(passed=False)),
        Task("3", "c", check="it runs", evidence=Evidence(passed=True)),
        Task("4", "d", check="it runs", status="completed"),
    ]
)
AGREED = Given([Task("1", "a"), Task("2", "b")], approved=Approval(0, "ann"))
UNKNOWN = Given([Task("1", "a"), Task("2", "b")], approved=Approval(0))
TIED = Given([*(Task(i, i, blocks=("3",)) for i in "12"), Task("3", "y", blocked_by=("1", "2"))])


def write(*todos: str | tuple[str, str], clear: bool = False) -> WriteTodos:
    """Return a write of these lines: texts, or text and status."""
    lines = (Todo(t) if isinstance(t, str) else Todo(*t) for t in todos)
    return WriteTodos(tuple(lines), clear)


def to(task_id: str, status: str) -> UpdateTask:
    """Return the command that sets a status."""
    return UpdateTask(task_id, status=status)


def back(given: Given) -> RestorePlan:
    """Return the command that brings back the tasks of a plan."""
    return RestorePlan(given.tasks, len(given.tasks) + 1)


ON, WAIT = "in_progress", "pending"
PLAIN = CreateTask("b")
DEEP, MANY = {"a": [{}]}, {"a": 1, "b": {"c": 2}}
FIRES: list[tuple[Any, ...]] = [
    ("single_in_progress", BUSY, to("2", ON), (("1", "2"), "2", "1")),
    ("single_in_progress", EMPTY, write(("a", ON), ("b", ON))),
    ("single_in_progress", BUSY, back(TWO_ON)),
    ("single_in_progress", TWO_AND_ONE, Batch((to("1", "completed"), to("3", ON)))),
    ("some_in_progress", BUSY, Batch((to("1", "completed"),))),
    ("some_in_progress", EMPTY, write("a"), (("1",), "0", "1")),
    ("some_in_progress", BUSY, write(("a", "completed"), "b")),
    ("first_in_progress", EMPTY, write("a", "b"), (("1", "2"), "0", "1")),
    ("first_in_progress", DONE, CreateTasks((CreateTask("b"),))),
    ("first_in_progress", EMPTY, Batch((write("a"),))),
    ("completed_is_final", MIXED, to("1", WAIT), (("1",), "set to pending", "")),
    ("completed_is_final", MIXED, UpdateTask("1", subject="x"), (("1",), "reworded", "")),
    ("completed_is_final", MIXED, DeleteTask("1"), (("1",), "removed", "")),
    ("completed_is_final", MIXED, ClearPlan(), (("1",), "removed", "")),
    ("completed_is_final", MIXED, write("b"), (("1",), "removed", "")),
    ("linear_status", IDLE, to("1", "completed"), (("1",), "pending to completed", "")),
    ("linear_status", IDLE, Batch((to("1", ON), to("2", "completed")))),
    ("blocked_start", LINKED, to("2", ON), (("2",), "#1", "")),
    ("blocked_start", LINKED, CreateTask("x", status=ON, blocked_by=("1",))),
    ("blocked_complete", LINKED, to("2", "completed"), (("2",), "#1", "")),
    ("dropped_open_items", IDLE, write("a"), (("2",), "1", '"b"')),
    ("dropped_open_items", IDLE, write("x"), (("1", "2"), "2", '"a", "b"')),
    ("dropped_open_items", IDLE, Batch((to("1", ON), write("a")))),
    ("empty_write", IDLE, write(), ((), "2", "")),
    ("empty_write", IDLE, Batch((write(),))),
    ("duplicate_content", IDLE, CreateTask(" A!")),
    ("duplicate_content", IDLE, UpdateTask("2", subject="a")),
    ("duplicate_content", IDLE, back(TWINS)),
    ("duplicate_content", IDLE, CreateTask("A"), (("1", "3"), "2", "")),
    ("active_form_required", EMPTY, CreateTask("a"), (("1",), "active_form", "")),
    ("active_form_required", FORMED, UpdateTask("1", active_form=None)),
    ("active_form_required", FORMED, back(IDLE)),
    ("active_form_required", EMPTY, CreateTasks((CreateTask("a", active_form="x"), PLAIN))),
    ("priority_required", EMPTY, write("a")),
    ("priority_required", FORMED, UpdateTask("1", priority=None)),
    ("priority_required", EMPTY, back(IDLE)),
    ("priority_required", EMPTY, CreateTask("a"), (("1",), "priority", "")),
    ("max_items", EMPTY, write(*(("x", "completed"),) * 5), ((), "5", "4")),
    ("max_items", EMPTY, write("a", "b", "c", "d"), ((), "4 open", "3")),
    ("max_items", EMPTY, back(FIVE)),
    ("max_text", EMPTY, CreateTask("longer"), (("1",), "subject of 6 characters", "5")),
    ("max_text", IDLE, UpdateTask("1", description="longest")),
    ("max_text", IDLE, back(LONG)),
    ("max_text", EMPTY, CreateTask("short", "seven!!")),
    ("max_text", EMPTY, CreateTask("short", active_form="8 is one")),
    ("max_text", EMPTY, CreateTask("short", owner="anna")),
    ("max_text", EMPTY, Batch((CreateTask("short"), CreateTask("longer")))),
    ("max_text", IDLE, UpdateTask("1", owner="anna")),
    ("max_text", EMPTY, CreateTask("a", "longest"), (("1",), "description of 7 characters", "6")),
    ("max_text", EMPTY, CreateTask("a", owner="anna"), (("1",), "owner of 4 characters", "3")),
    ("max_text", EMPTY, CreateTask("a", waiting=Waiting("longest"))),
    ("max_text", EMPTY, CreateTask("a", waiting=Waiting("ann", question="longest"))),
    ("max_text", CHECKED, RecordEvidence("1", passed=True, summary="longest")),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"key": "x" * 10})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"key": "\u00e9" * 6})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"a": 1, "b": {"c": 2}})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"a": [{}]})),
    ("max_metadata", IDLE, UpdateTask("1", metadata={"key": "x" * 11}),
     (("1",), "22 bytes as JSON", "20")),
    ("max_metadata", IDLE, back(HEAVY)),
    ("max_metadata", EMPTY, CreateTask("a", metadata=MANY), (("1",), "23 bytes as JSON", "20")),
    ("max_metadata", EMPTY, CreateTask("a", metadata=DEEP), (("1",), "3 levels", "2")),
    ("max_history", FULL, to("1", ON), ((), "10", "9")),
    ("max_history", BROKEN, to("1", ON)),
    ("max_history", OLD, Batch((to("1", ON), UpdateTask("1", owner="ann")))),
    ("max_history", FULL, DeleteTask("1")),
    ("max_history", FULL, back(IDLE)),
    ("max_edges", LINKED, UpdateTask("2", add_blocked_by=("3",)), (("2",), "2", "1")),
    ("max_edges", LINKED, UpdateTask("1", add_blocked_by=("2", "3"), remove_blocks=("2",)),
     (("1",), "2", "1")),
    ("max_edges", LINKED, back(TIED)),
    ("max_edges", EMPTY, back(TIED)),
    ("owner_taken", OWNED, UpdateTask("1", owner="bob"), (("1",), "ann", "")),
    ("batch_completion", IDLE, Batch((to("1", "completed"), to("2", "completed"))),
     (("1", "2"), "2", "")),
    ("no_op_write", IDLE, write("a", "b"), ((), "", "")),
    ("no_op_write", EMPTY, Batch((write(),))),
    ("max_depth", NESTED, CreateTask("x", parent="2")),
    ("max_depth", NESTED, UpdateTask("2", parent="3")),
    ("max_depth", NESTED, UpdateTask("1", parent="4"), (("2",), "3", "2")),
    ("max_depth", NESTED, Batch((UpdateTask("4", parent="3"), CreateTask("x", parent="4")))),
    ("max_depth", EMPTY, back(DEEP_DOWN)),
    ("max_depth", EMPTY, WriteTodos(tuple(Todo(str(n), level=n) for n in range(3)))),
    ("parent_complete", NESTED, to("1", "completed"), (("1",), "2, 3", "")),
    ("parent_complete", DEEP_DOWN, Batch((to("2", "completed"), to("1", "completed")))),
    ("parent_complete", DEEP_DOWN, to("1", "completed")),
    ("child_of_closed", ENDED, CreateTask("x", parent="1")),
    ("child_of_closed", ENDED, UpdateTask("3", parent="2"), (("3",), "2", "")),
    ("child_of_closed", ENDED, to("2", WAIT), (("2",), "1", "")),
    ("evidence_required", CHECKED, to("1", "completed"), (("1",), "it runs", "")),
    ("evidence_required", CHECKED, to("2", "completed")),
    ("evidence_required", CHECKED, Batch((to("3", ON), to("3", "completed")))),
    ("evidence_required", CHECKED, Batch((to("4", WAIT), to("4", "completed")))),
    ("evidence_required", CHECKED, UpdateTask("1", status="completed", check=None)),
    ("evidence_required", IDLE, UpdateTask("1", status="completed", check="it runs")),
    ("evidence_required", EMPTY, CreateTask("a", status="completed", check="it runs")),
    ("approval_required", IDLE, to("1", ON), (("1",), "", "")),
    ("approval_required", IDLE, to("1", "completed")),
    ("approval_required", IDLE, StartNext()),
    ("approval_required", EMPTY, CreateTask("a", status="completed")),
    ("approval_required", EMPTY, write(("a", ON))),
    ("approval_required", AGREED, Batch((back(IDLE), to("1", ON)))),
    ("approved_changed", AGREED, CreateTask("x"), (("3",), "added since", "ann")),
    ("approved_changed", AGREED, DeleteTask("1")),
    ("approved_changed", AGREED, write("a", "x")),
    ("approved_changed", AGREED, ClearPlan()),
    ("approved_changed", AGREED, back(DONE)),
    ("approved_changed", UNKNOWN, CreateTask("x")),
    ("approved_changed", UNKNOWN, DeleteTask("1"), (("1",), "removed since", "somebody else")),
]  # fmt: skip
"""
Rule, plan and command: what each rule refuses. A fourth entry, where there is one, is what the
problem has: task ids, seen, legal.
"""

QUIET: list[tuple[str, Given, Command]] = [
    ("single_in_progress", TEAM, to("2", ON)),
    ("single_in_progress", TWO_ON, back(TWO_ON)),
    ("single_in_progress", TWO_ON, UpdateTask("1", subject="x")),
    ("completed_is_final", MIXED, back(IDLE)),
    ("completed_is_final", MIXED, Batch((to("2", ON), back(LONG)))),
    ("owner_taken", OWNED, back(Given([Task("1", "a", owner="bob")]))),
    ("active_form_required", IDLE, back(IDLE)),
    ("priority_required", IDLE, back(FORMED)),
    ("duplicate_content", TWINS, back(TWINS)),
    ("max_items", FIVE, back(FIVE)),
    ("max_text", LONG, back(LONG)),
    ("max_edges", TIED, back(TIED)),
    ("max_metadata", HEAVY, back(HEAVY)),
    ("max_metadata", HEAVY, UpdateTask("1", owner="ann")),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"key": "x" * 9})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"a": 1, "b": [2]})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"a": "{:{:{:"})),
    ("max_metadata", HEAVY, UpdateTask("1", metadata={"key": None})),
    ("max_history", OLD, to("1", ON)),
    ("max_history", BROKEN, to("1", WAIT)),
    ("max_text", EMPTY, CreateTask("short", active_form="7 is ok", owner="ann")),
    ("owner_taken", OWNED, UpdateTask("1", owner="ann", subject="x")),
    ("owner_taken", OWNED, UpdateTask("1", owner=None)),
    ("owner_taken", OWNED, UpdateTask("2", owner="bob")),
    ("owner_taken", OWNED, CreateTask("c", owner="bob")),
    ("single_in_progress", BUSY, Batch((to("1", "completed"), to("2", ON)))),
    ("some_in_progress", BUSY, Batch((to("1", "completed"), to("2", ON)))),
    ("some_in_progress", BUSY, to("1", "completed")),
    ("some_in_progress", EMPTY, CreateTask("a")),
    ("some_in_progress", EMPTY, CreateTasks((CreateTask("a"),))),
    ("some_in_progress", IDLE, Batch((to("1", "completed"),))),
    ("some_in_progress", DONE, ClearPlan()),
    ("first_in_progress", EMPTY, write(("a", ON), "b")),
    ("first_in_progress", IDLE, write("c")),
    ("first_in_progress", EMPTY, CreateTask("a")),
    ("first_in_progress", EMPTY, write(("a", "completed"))),
    ("completed_is_final", MIXED, Batch((to("2", ON), UpdateTask("1", owner="x")))),
    ("completed_is_final", MIXED, UpdateTask("2", subject="x")),
    ("completed_is_final", MIXED, DeleteTask("2")),
    ("completed_is_final", DONE, write("next list")),
    ("linear_status", BUSY, to("1", "completed")),
    ("linear_status", IDLE, to("1", "cancelled")),
    ("blocked_start", LINKED, Batch((to("2", ON), to("1", "completed")))),
    ("blocked_start", LINKED, Batch((to("2", ON), to("2", WAIT)))),
    ("blocked_start", LINKED, Batch((to("2", ON), DeleteTask("2")))),
    ("blocked_start", LINKED, to("1", ON)),
    ("blocked_complete", LINKED, to("1", "completed")),
    ("dropped_open_items", IDLE, write("a", clear=True)),
    ("dropped_open_items", MIXED, write("b")),
    ("dropped_open_items", IDLE, Batch((write("x"), back(IDLE)))),
    ("dropped_open_items", IDLE, DeleteTask("1")),
    ("empty_write", IDLE, write(clear=True)),
    ("empty_write", DONE, write()),
    ("empty_write", IDLE, ClearPlan()),
    ("duplicate_content", IDLE, CreateTask("c")),
    ("duplicate_content", TWINS, UpdateTask("1", owner="x")),
    ("active_form_required", EMPTY, CreateTask("a", active_form="doing a")),
    ("active_form_required", IDLE, UpdateTask("1", owner="x")),
    ("priority_required", EMPTY, CreateTask("a", priority="low")),
    ("priority_required", IDLE, UpdateTask("1", subject="x")),
    ("max_items", EMPTY, write("a", "b", "c", ("d", "completed"))),
    ("max_text", EMPTY, CreateTask("short", "short.")),
    ("max_text", LONG, UpdateTask("1", owner="x")),
    ("max_edges", LINKED, UpdateTask("3", add_blocked_by=("1",))),
    ("max_edges", LINKED, Batch((UpdateTask("3", add_blocked_by=("1",)), DeleteTask("3")))),
    ("batch_completion", IDLE, Batch((to("1", "completed"), to("2", ON)))),
    ("no_op_write", IDLE, write("b", "a")),
    ("no_op_write", IDLE, UpdateTask("1")),
    ("max_depth", NESTED, CreateTask("x", parent="1")),
    ("max_depth", NESTED, Batch((CreateTask("x", parent="2"), DeleteTask("5")))),
    ("max_depth", DEEP_DOWN, back(DEEP_DOWN)),
    ("max_depth", DEEP_DOWN, CreateTask("x", parent="1")),
    ("max_depth", DEEP_DOWN, UpdateTask("3", parent="1")),
    ("max_depth", DEEP_DOWN, DeleteTask("1", children="lift")),
    ("parent_complete", NESTED, to("2", "completed")),
    ("parent_complete", NESTED, to("1", "cancelled")),
    ("parent_complete", ENDED, Batch((to("1", ON), to("1", "completed")))),
    ("parent_complete", NESTED, Batch((to("1", "completed"), to("1", ON)))),
    ("parent_complete", NESTED, Batch(tuple(to(i, "completed") for i in "123"))),
    ("parent_complete", DEEP_DOWN, Batch(tuple(to(i, "completed") for i in "321"))),
    ("parent_complete", NESTED, Batch((to("1", "completed"), DeleteTask("1", "remove")))),
    ("parent_complete", IDLE, to("1", "completed")),
    ("child_of_closed", ENDED, CreateTask("x", status="failed", parent="1")),
    ("child_of_closed", ENDED, CreateTask("x", parent="3")),
    ("child_of_closed", ENDED, Batch((to("1", ON), to("2", ON)))),
    ("child_of_closed", ENDED, Batch((to("2", ON), DeleteTask("2")))),
    ("child_of_closed", IDLE, Batch((to("1", "completed"), to("1", WAIT)))),
    ("child_of_closed", NESTED, Batch((to("2", ON), to("1", "completed"), CreateTask("x")))),
    ("evidence_required", CHECKED, to("3", "completed")),
    ("evidence_required", CHECKED, Batch((RecordEvidence("1", passed=True), to("1", "completed")))),
    ("evidence_required", CHECKED, Batch((to("1", "completed"), to("1", WAIT)))),
    ("evidence_required", CHECKED, Batch((to("1", "completed"), DeleteTask("1")))),
    ("evidence_required", CHECKED, to("1", "failed")),
    ("evidence_required", CHECKED, UpdateTask("4", owner="x")),
    ("evidence_required", IDLE, to("1", "completed")),
    ("approval_required", AGREED, to("1", ON)),
    ("approval_required", IDLE, Batch((ApprovePlan("ann"), to("1", ON)))),
    ("approval_required", IDLE, to("1", "cancelled")),
    ("approval_required", IDLE, CreateTask("x")),
    ("approved_changed", IDLE, CreateTask("x")),
    ("approved_changed", AGREED, UpdateTask("1", subject="x")),
    ("approved_changed", AGREED, back(BUSY)),
    ("approved_changed", AGREED, Batch((CreateTask("x"), DeleteTask("3")))),
    ("approved_changed", IDLE, Batch((ApprovePlan("ann"), CreateTask("x")))),
]
"""What each rule lets pass."""
