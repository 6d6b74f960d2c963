"""
Replays recorded planning calls: todoplan's core carries them out, which gives plans and findings.

Sections of this module, in reading order, from the end of the file to its beginning:

- `together`: several recordings as one.
- `recording`: a whole file with its steps, lanes (plans) and findings.
- `call_replay`: one call, and the principles of the replay.
- `lanes`: the plans of a recording.
- `recorded_tools`: converts the arguments of other systems' tools to our commands.
- `shown_state`: the state of the plan as the results of tool calls show it.
- `rewording`: matches the lines of a list to tasks.
- `findings`: the observations about calls.
"""

import ast
import json
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import attrs

from todoplan.core.commands import (
    UNSET,
    Batch,
    ClaimTask,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RenewClaim,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Decision, Rejected, decide_with_change
from todoplan.core.events.apply import Entry, apply, replay
from todoplan.core.events.base import NOTHING_LISTED, Base, Note
from todoplan.core.events.types import (
    Event,
    PlanCleared,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import CLOSED, Status, Task, Todo
from todoplan.core.plan.plan import LARGEST_GIVEN, Plan
from todoplan.core.plan.questions import open_tasks
from todoplan.core.problems import Problem, explain, ids_text
from todoplan.core.rules import PRESETS, Change, Policy, RuleSettings, Severity, judge, normalised
from todoplan.dialogue.intake import Field, InputLimits, Kind, meant_by, parts_of, read
from todoplan.dialogue.replies import one_line, repairs_text
from todoplan.dialogue.toolbox import Fences, Toolbox, fences_after, named_by
from todoplan.dialogue.tools import (
    CLAIM,
    PLAN,
    Ignoring,
    Query,
    Request,
    Tool,
    not_started,
    write_tool,
)
from todoplan.errors import ReadError
from todoplan.texts import fill, say, wording
from todoplan.transcripts.calls import (
    BY_ID_TOOLS,
    MAIN_LANE,
    OWN_TOOL,
    PLANNING_TOOLS,
    TEAM_TOOLS,
    BadLine,
    CallResult,
    Compaction,
    Item,
    OtherCall,
    PersonSpoke,
    PlanningCall,
    RecordedEntry,
    ShownPlan,
    canonical_tool,
    checklist,
)
from todoplan.transcripts.reading import recognise

# -------- findings --------
# Findings of a replay: the rule, the place, the tasks, and the message.


_LENIENT = PRESETS["agentscope"]
# The recorded system accepted the calls, so nothing is an error. This includes sizes: a system
# without our limits accepts a task of a thousand characters.
_NO_ERRORS = {rule.name: "warn" for rule, level in _LENIENT.rules if level is Severity.ERROR}
_WARNED = (
    "single_in_progress",
    "some_in_progress",
    "completed_is_final",
    "linear_status",
    "dropped_open_items",
    "empty_write",
    "duplicate_content",
    "batch_completion",
    "no_op_write",
)
AUDIT = _LENIENT.but(**cast("RuleSettings", _NO_ERRORS | dict.fromkeys(_WARNED, "warn")))
"""The default policy of a replay: all rules are warnings."""

_CLIP = 120
_REMOVED = ("completed_is_final", "removed")

POLICIES: dict[str, Policy] = {"audit": AUDIT, **PRESETS}
"""Policies by name: `audit` and the presets."""


@attrs.frozen
class Finding:
    """
    An observation about a recording.

    `line` counts from 1. `text` describes the observation in one line. `detail` has the full text
    of values that `text` shortens, such as the message of a refusal.
    """

    code: str
    severity: Severity
    line: int
    lane: str
    task_ids: tuple[str, ...]
    text: str
    detail: str = ""


def rule_findings(
    problems: Iterable[Problem], severity: Severity, line: int, lane: str, before: Plan
) -> Iterator[Finding]:
    """
    Yield the findings about the rules that a call broke, or about an invalid result of the call.

    `before` is the plan before the call. The subjects of tasks are taken from it, because the call
    may have removed them.
    """
    # If a new list leaves out completed tasks, this is one finding, however many tasks it removes.
    removed: list[str] = []
    for problem in problems:
        code, ids = problem.code, problem.task_ids
        if (code, problem.seen) == _REMOVED:
            removed += ids
            continue
        # The problem's own message tells a model what to send instead, which does not help the
        # reader of a recording.
        template = wording("findings", f"rule.{code}", "")
        values = {"ids": ids_text(ids), "seen": problem.seen, "legal": problem.legal}
        values["first"] = _first(ids, before)
        text = fill(template, values) if template and not problem.note else explain(problem)
        yield Finding(code, severity, line, lane, ids, text)
    if removed:
        first = _first(removed, before)
        text = say("findings", "rule.completed_removed", ids=ids_text(removed), first=first)
        yield Finding(_REMOVED[0], severity, line, lane, tuple(removed), text)


def _first(task_ids: Sequence[str], before: Plan) -> str:
    task = before.get(task_ids[0]) if task_ids else None
    return one_line(task.subject, _CLIP) if task else ""


def recording_finding(code: str, line: int, lane: str, *task_ids: str, **values: object) -> Finding:
    """
    Return a finding about the recording itself, with its message from `texts/findings.txt`.

    `values` are inserted into the message. A value `detail` is also kept as the finding's `detail`.
    """
    detail = str(values.pop("detail", ""))
    text = say("findings", code, **values, at_line=line)
    return Finding(code, Severity.WARN, line, lane, task_ids, text, detail)


# -------- recorded_tools --------
# Converting the calls of other systems' planning tools to our commands. The arguments of each tool
# are described by a `Tool` with a `Field` for each argument, as for our own tools.


FOREIGN_STATUS_WORDS = frozenset({"todo", "done", "not-started", "in-progress", "open"})
"""Status words of other systems. Converting them does not count as repairing a model's mistake."""

# Claude Code says "Task #1 created", AgentScope "Task (id=1) created".
_CREATED = re.compile(r"(?:#|\(id=)\s*(\d{1,15})")
# The line of our own answers that says what changed. News about the work of others come before it.
_CHANGED = re.compile(r"^(?:no change, )?\d+/\d+\b.*", re.MULTILINE)
_ALL_CREATED = re.compile(r"[:;] #(\d{1,15})(?:-#(\d{1,15}))? created")
_STARTED = re.compile(r"[:;] #\d+ started")
_CLAIMED = re.compile(r"[:;] #(\d{1,15}) claimed \(")


def _list_tool() -> Tool:
    """
    Return one tool that parses the whole-list calls of all systems.

    A call is a read if an argument says so or if it has no list. With `merge`, the items are merged
    into the plan and do not replace it.
    """
    merge = Field("merge", "merge", Kind.FLAG, hidden=True)
    reads = (Field(key, key, Kind.LINE, hidden=True) for key in ("command", "operation"))
    base = write_tool("write_todos", "todos", "content", merge, *reads)
    todos = attrs.evolve(
        base.fields[0], lenient=True, aliases=(*base.fields[0].aliases, "task_list")
    )

    def request(values: Mapping[str, Any]) -> Request:
        # OpenHands has `command`, and VS Code `operation`. In Kimi and Hermes, a call without the
        # list is a read.
        if (
            values.get("command") == "view"
            or values.get("operation") == "read"
            or "todos" not in values
        ):
            return Query()
        return base.request(values)

    return attrs.evolve(base, fields=(todos, *base.fields[1:]), request=request)


_LIST_TOOL = _list_tool()
_ITEM_FIELDS = _LIST_TOOL.fields[0].items
_PARENT, _ = meant_by("parent", _ITEM_FIELDS)

RECORDED: dict[str, Tool] = {**dict.fromkeys(PLANNING_TOOLS, _LIST_TOOL), **BY_ID_TOOLS}
"""The tools that parse recorded calls, by their names in `todoplan.transcripts.calls`."""


def listed(arguments: Mapping[str, Any] | str) -> Mapping[str, Any] | str:
    """Return the arguments of a whole-list tool. If the list was sent as text, it is parsed."""
    if isinstance(arguments, str):
        return arguments
    for key in ("todos", "content"):  # Goose's list is the content of a note
        text = arguments.get(key)
        if isinstance(text, str) and (rows := checklist(text)) is not None:
            return {"todos": rows}
    return arguments


def merging(
    arguments: Mapping[str, Any], plan: Plan, shown: Mapping[str, str]
) -> Mapping[str, Any]:
    """
    Return the arguments of a write that merges its items into the plan, with complete items.

    An item that names a task by its id may have only the fields that change. Such an item gets the
    task's id in `plan`, and the fields that it leaves out are copied from the task. `shown` maps
    recorded ids to ids of `plan` where they differ.
    """

    def whole(item: Any) -> Any:
        if not isinstance(item, Mapping):
            return item
        named = item_id(item)
        task = plan.get(shown.get(named, named))
        # The parent is left out, because it may be in the plan but not in the merged items. So a
        # merge does not move subtasks.
        fields = {
            key: value
            for key, value in item.items()
            if key != "id" and meant_by(key, _ITEM_FIELDS)[0] is not _PARENT
        }
        if task:
            return {"content": task.subject, "status": task.status.value} | fields | {"id": task.id}
        # If a task was created before the recording began, its id may be all that is known of it.
        return {"content": named} | fields if named else fields

    todos = arguments.get("todos")
    return {**arguments, "todos": list(map(whole, todos))} if isinstance(todos, list) else arguments


def item_id(item: Any) -> str:
    """Return the id that the writer of a list gave to this item, or ""."""
    value = item.get("id") if isinstance(item, Mapping) else None
    return str(value) if isinstance(value, str | int) else ""


def _listed_items(arguments: Mapping[str, Any] | str) -> list[Any]:
    todos = arguments.get("todos") if isinstance(arguments, Mapping) else None
    return todos if isinstance(todos, list) else []


def created_id(answer: CallResult) -> tuple[str, ...]:
    """Return the id of a new task from a TaskCreate's answer. The call does not contain it."""
    task = answer.data.get("task")
    recorded = task.get("id") if isinstance(task, Mapping) else None
    # The length is limited because int() refuses thousands of digits.
    if isinstance(recorded, str) and re.fullmatch(r"\d{1,18}", recorded):
        return (recorded,)
    if _changed(answer):
        return created_ids(answer, 1)
    spelled = _CREATED.search(answer.text)
    return (spelled[1],) if spelled else ()


def created_ids(answer: CallResult, most: int) -> tuple[str, ...]:
    """Return the ids of the new tasks, at most `most`, from an answer of our tool sets."""
    answered = _ALL_CREATED.search(_changed(answer))
    if answered is None:
        return ()
    first = int(answered[1])
    # A range in an answer is not trusted: there are at most as many ids as tasks in the call.
    last = min(int(answered[2] or answered[1]), first + most - 1)
    return tuple(map(str, range(first, last + 1)))


def claimed_ids(answer: CallResult) -> list[str]:
    """Return the ids of the tasks that a call has claimed, from an answer of a set for a team."""
    return _CLAIMED.findall(_changed(answer))


def _changed(answer: CallResult) -> str:
    line = _CHANGED.search(answer.text)
    return line[0] if line else ""


# -------- rewording --------
# Matching the lines of a recorded list to tasks. Neither texts nor ids can be trusted.
#
# In a live plan, a line with another text is another task, because todoplan must not guess there.
# An audit reads past calls, and models reword tasks that they keep. Of 38 tasks that were reported
# as dropped, a person who read the raw files agreed with 14; 13 were still in the list in other
# words. So a line may match a task with a similar text. At the same place, less similarity is
# enough. Equal ids do not make two texts one task, because models number the lines of every list
# 1, 2, 3.


# Tuned on recordings of agents that reword. With a value below 0.5, two tasks about one subject
# ("Test the parser", "Write the parser") become one. Between the same neighbours, a lower value is
# enough.
_LIKELY = 0.5
_LIKELY_IN_PLACE = 0.25
# Of two tasks that are almost equally similar, the closer one is chosen: "Implement the agent with
# its tools" matches the line about the agent, and not the line about the tools five lines above.
_PER_LINE, _FAR = 0.03, 5
# Each pair is compared, up to 200 lines against 200. Beyond that, only equal texts are matched.
_MOST_PAIRS = 40_000
_SMALL = frozenset(("a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on"))
_SMALL |= {"or", "the", "to", "up", "with"}


def meaning(plan: Plan, command: WriteTodos) -> tuple[WriteTodos, bool]:
    """
    Match the lines of a whole list to the plan's tasks.

    Return the list with the ids of the matched tasks, and whether it begins a new plan.
    """
    tasks, todos = list(plan), command.todos
    matches: list[Task | None] = [None] * len(todos)
    # Equal texts are matched first, as in a live plan (law 8 in the guide `architecture`).
    for key in (str, normalised):
        same: defaultdict[str, deque[Task]] = defaultdict(deque)
        taken = {task.id for task in matches if task}
        for task in tasks:
            if task.id not in taken:
                same[key(task.subject)].append(task)
        for index, todo in enumerate(todos):
            if matches[index] is None and (alike := same.get(key(todo.content))):
                # Lines with the same text are matched in order.
                matches[index] = alike.popleft()
    same_texts = any(matches)
    _reworded(tasks, todos, matches)
    kept = sum(task is not None for task in matches)
    # A few matches do not show that the plan is the same: a finished list and a new one often share
    # a line, such as "Run the tests", and two unrelated lists may have similar lines.
    most = min(len(tasks), len(todos))
    may_begin = not same_texts or not open_tasks(plan)
    begins = most > 0 and may_begin and 2 * kept < most
    if begins:
        matches = [None] * len(todos)
    written = tuple(
        attrs.evolve(todo, id=task.id if task else None)
        for todo, task in zip(todos, matches, strict=True)
    )
    return attrs.evolve(command, todos=written), begins


def _reworded(tasks: Sequence[Task], todos: Sequence[Todo], matches: list[Task | None]) -> None:
    """
    Match lines to tasks with similar texts, and store the matches in `matches`.

    Only lines that have no task in `matches` are matched, and only tasks that are not in it.
    """
    taken = {task.id for task in matches if task}
    left = [(place, task) for place, task in enumerate(tasks) if task.id not in taken]
    new = [(index, todo) for index, todo in enumerate(todos) if matches[index] is None]
    if not left or not new or len(left) * len(new) > _MOST_PAIRS:
        return
    places = {task.id: place for place, task in enumerate(tasks)}
    anchors = [-1 if task is None else places[task.id] for task in matches]
    before_task = [*_neighbours(places[one.id] if one.id in taken else -1 for one in tasks)]
    before_todo = [*_neighbours(anchors)]
    pairs: list[tuple[float, int, int, int]] = []
    for index, todo in new:
        for place, task in left:
            if task.status.resolved and todo.status is not task.status:
                continue  # an open line is never a rewording of a completed task
            # Places can only be compared if some lines were matched before.
            in_place = bool(taken) and before_task[place] == before_todo[index]
            score = likeness(task.subject, todo.content)
            if score >= (_LIKELY_IN_PLACE if in_place else _LIKELY):
                away = min(abs(index - place), _FAR)
                pairs.append((_PER_LINE * away - score, away, index, place))
    used: set[int] = set()
    for _, _, index, place in sorted(pairs):
        if matches[index] is None and place not in used:
            used.add(place)
            matches[index] = tasks[place]


def _neighbours(anchors: Iterable[int]) -> Iterator[int]:
    """
    Yield for each anchor the latest one up to it that is not -1, or -1 if there is none.

    An anchor is the place of a matched task in the plan, or -1 for a line or task without a match.
    """
    last = -1
    for anchor in anchors:
        last = last if anchor < 0 else anchor
        yield last


_ENDS = " .,;:!?\u2026\"'`(){}[]<>\u2018\u2019\u201c\u201d"
_QUOTES = str.maketrans("", "", "\\\"'`\u2018\u2019\u201c\u201d")
_SHORTENED = 20


def says_the_same(one: str, other: str) -> bool:
    """
    Return whether two texts differ only in quotes and in punctuation at their ends, or one is a
    shortened form of the other.
    """
    plain, more = sorted((text.translate(_QUOTES).strip(_ENDS) for text in (one, other)), key=len)
    return plain == more or (len(plain) >= _SHORTENED and more.startswith(plain))


def likeness(one: str, other: str) -> float:
    """Return the share of common words of two texts, from 0 to 1, ignoring small words."""
    words, others = _words(one), _words(other)
    common = len(words & others)
    return 2 * common / (len(words) + len(others)) if common else 0.0


def _words(text: str) -> frozenset[str]:
    words = normalised(text).split()
    # Chinese has no spaces, so pairs of characters are compared. Only the beginning of a word
    # counts, so that "testing" equals "test".
    pairs = (w[i : i + 2] for w in words if not w.isascii() for i in range(max(1, len(w) - 1)))
    stems = (word[:5] for word in words if word.isascii() and word not in _SMALL)
    return frozenset((*stems, *pairs))


def merged(plan: Plan, command: WriteTodos) -> WriteTodos:
    """Merge the items of a write into the plan, and return the result as a whole list."""
    by_id = {todo.id: todo for todo in command.todos if todo.id in plan}
    by_text = {todo.content: todo for todo in command.todos if todo.id not in plan}
    kept: list[Todo] = []
    for task in plan:
        todo = by_id.get(task.id) or by_text.pop(task.subject, None)
        kept.append(
            attrs.evolve(todo, id=task.id, level=None) if todo else Todo(task.subject, id=task.id)
        )
    return WriteTodos((*kept, *(attrs.evolve(todo, id=None) for todo in by_text.values())))


# -------- shown_state --------
# The state of the plan as answers show it. An answer is the recorded result of a tool call.
#
# A recording often does not have everything that changed the plan: it may be one teammate's file or
# a truncated part of a session, or the program itself may have cleared a finished list. Then the
# plan computed from the calls differs from the real plan, but answers show the real plan. In Claude
# Code, the answers of TaskList and TaskGet list tasks, the answer of TaskUpdate has the previous
# status, and the answer of TodoWrite has the replaced list and the new one. OpenCode, OpenHands,
# LangChain and Gemini repeat the list. The shown state takes precedence over the computed one. A
# text answer may be truncated, so only a structured answer shows that a task was removed.


LIMITS = InputLimits(chars=16_777_216, items=10_000)
"""Wider limits than for a live model, because the recorded calls were accepted already."""

_LINE = re.compile(r"^#(\d{1,15}) \[(\w+)\] (.+?)(?: \[blocked by [^\]]*\])?$", re.MULTILINE)
_NO_TASKS = ("No tasks found", "No task list found", "No tasks available")
_STATUSES = {status.value: status for status in Status}
# The keys of Claude Code, of OpenCode's metadata, and of OpenHands' observation.
_LISTS = ("newTodos", "todos", "task_list")
_PYTHON_LIST = "Updated todo list to "
# The beginnings of Gemini's answer, and of Roo's after the person has edited the list.
_HEADS = ("The current list is now:\n", "User edits todo:\n")


@attrs.frozen
class ShownTask:
    """A task as an answer shows it. `exact` is false if its subject may be incomplete."""

    id: str
    status: Status
    subject: str = ""
    exact: bool = False


def shown_tasks(result: CallResult) -> tuple[ShownTask, ...]:
    """Return the tasks that the answer of TaskList or TaskGet shows."""
    structured = []
    for one in result.data["tasks"] if shows_all(result) else [result.data.get("task")]:
        fields: Mapping[str, Any] = one if isinstance(one, Mapping) else {}
        task_id, subject = fields.get("id"), fields.get("subject")
        status = _STATUSES.get(str(fields.get("status")))
        # str.isdigit() also accepts "²", and int() refuses thousands of digits.
        usable = isinstance(task_id, str) and re.fullmatch(r"[0-9]{1,15}", task_id)
        if usable and status and isinstance(subject, str):
            structured.append(ShownTask(str(task_id), status, subject, exact=True))
    if structured:
        return tuple(structured)
    # In text answers, the subject may be followed by an owner in parentheses, which cannot be told
    # from a subject that ends in parentheses.
    return tuple(
        ShownTask(task_id, _STATUSES[status], subject)
        for task_id, status, subject in _LINE.findall(result.text)
        if status in _STATUSES
    )


def shows_all(result: CallResult) -> bool:
    """Return whether the answer lists all tasks, which means that a missing task was removed."""
    listed = result.data.get("tasks")
    return isinstance(listed, list) and bool(listed)


def shows_none(result: CallResult) -> bool:
    """
    Return whether the answer says that there are no tasks.

    Such an answer does not remove the plan's tasks, because some programs clear finished lists.
    """
    empty = any(result.data.get(key) == [] for key in ("tasks", *_LISTS))
    return empty or result.text.startswith(_NO_TASKS) or result.text.strip() == "[]"


def shown_list(result: CallResult) -> WriteTodos | None:
    """
    Return the whole list that the answer shows, or `None` if it shows no list or an empty one.
    """
    shown = (result.data[key] for key in _LISTS if isinstance(result.data.get(key), list))
    rows = next(shown, None)
    return _as_write(_in_words(result.text) if rows is None else rows)


def _in_words(text: str) -> Any:
    if text.startswith("["):  # OpenCode answers with the list as JSON
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None
    if text.startswith(_PYTHON_LIST):  # LangChain answers with a Python literal
        try:
            # `literal_eval` raises MemoryError for 100,000 minus signs (measured).
            return ast.literal_eval(text.removeprefix(_PYTHON_LIST))
        # A dict with a list as its key raises TypeError.
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
    for head in _HEADS:
        # A line that is not an item may be the rest of a text with a line break, or a hint.
        if head in text:
            return checklist(text.partition(head)[2])
    return None


def _as_write(rows: Any) -> WriteTodos | None:
    if not isinstance(rows, list) or not rows:
        return None
    intake = read({"todos": rows}, _LIST_TOOL.fields, LIMITS)
    request = None if intake.problems else _LIST_TOOL.request(intake.values)
    return request if isinstance(request, WriteTodos) else None


def is_new_list(result: CallResult, plan: Plan) -> bool:
    """
    Return whether the list of a TodoWrite's answer begins a new plan, after the program cleared the
    finished old plan.

    If the list has a task of the old plan with the same finished status, it is the same plan.
    """
    new = result.data.get("newTodos")
    if result.data.get("oldTodos") != [] or not new or not len(plan) or open_tasks(plan):
        return False
    write = _as_write(new)
    old = {(normalised(task.subject), task.status) for task in plan}
    return write is None or all((normalised(t.content), t.status) not in old for t in write.todos)


# -------- lanes --------
# The plans of a recording.


_SEVERAL = 2


@attrs.define
class Lane:
    """
    One plan of a recording, such as a subagent's, and the counts of its calls.

    `shown` maps recorded ids to ids of `plan` where they differ. `used` are the ids that tasks of
    the plan have or had, and `next_id` is above all of them.

    A later list may replace the plan by a new one. `longest` is the largest number of tasks of the
    current plan, and `sizes` has this number for each replaced plan.

    A turn is one message of the model. `written_in` is the latest turn that wrote the whole list.
    `completed_in` has the latest turn that updated single tasks, the ids of the tasks that this
    turn completed, and the line of the turn's last update.

    `last_at` is the time of the last call, or of a later message of the person. `shown_between` has
    the changes that the recording has shown outside of calls since the last call. `started_by` maps
    tasks to the agents that started them. `marks_begun` is true once a list in text form had a
    status other than pending and completed.

    `is_team` is true once a call or an answer was of one of our tool sets for a team. `fences` has
    the fencing tokens of each agent's claims, and `bases` what each agent knows of the plan.
    """

    name: str
    plan: Plan = attrs.field(factory=Plan)
    calls: int = 0
    refused: int = 0
    unreadable: int = 0
    sizes: list[int] = attrs.Factory(list)
    longest: int = 0
    last_line: int = 0
    last_at: datetime | None = None
    shown: dict[str, str] = attrs.Factory(dict)
    written_in: str = ""
    completed_in: tuple[str, tuple[str, ...], int] = ("", (), 0)
    shown_between: list[Event] = attrs.Factory(list)
    used: set[str] = attrs.Factory(set)
    next_id: int = 1
    started_by: dict[str, str] = attrs.Factory(dict)
    marks_begun: bool = False
    is_team: bool = False
    fences: dict[str, Fences] = attrs.Factory(dict)
    bases: dict[str, Base] = attrs.Factory(dict)

    def take(self, plan: Plan, events: Iterable[Event]) -> None:
        """Store `plan` as the lane's plan. `events` are the changes that led to it."""
        self.used.update(event.task.id for event in events if isinstance(event, TaskCreated))
        # `claim_ids` may have set the plan's next id to a lower number.
        self.next_id = max(self.next_id, plan.next_id)
        is_above = plan.next_id == self.next_id
        self.plan = plan if is_above else attrs.evolve(plan, next_id=self.next_id)
        self.longest = max(self.longest, len(plan))

    def completions(self) -> Iterator[Finding]:
        """
        Yield a finding if the calls of the latest turn completed several tasks. Forget this turn.
        """
        _, ids, line = self.completed_in
        self.completed_in = ("", (), 0)
        if len(ids) >= _SEVERAL:
            code = "parallel_completion"
            yield recording_finding(code, line, self.name, *ids, tasks=ids_text(ids))

    def note_starts(self, events: Iterable[Event], actor: str) -> None:
        """Store in `started_by` which tasks the actor has started."""
        for event in events:
            if isinstance(event, StatusChanged) and event.new is Status.IN_PROGRESS:
                self.started_by[event.task_id] = actor
            elif isinstance(event, TaskCreated) and event.task.status is Status.IN_PROGRESS:
                self.started_by[event.task.id] = actor

    @property
    def plans(self) -> tuple[int, ...]:
        """The largest number of tasks of each plan that the lane had, in order."""
        return (*self.sizes, self.longest)

    @property
    def largest(self) -> int:
        """The largest number of tasks that a plan of the lane had."""
        return max(self.plans)


# -------- call_replay --------
# Replaying one recorded call on its lane's plan.
#
# A call that was accepted when it was recorded is carried out without a policy, and checked against
# the policy afterwards. If the policy could refuse the call here, its changes would be missing, and
# later findings would be about a plan that never existed. A call that was refused when it was
# recorded changes nothing. So there are five outcomes: `applied`, `read`, `refused` (when
# recorded), `unreadable` (the arguments are not understood) and `impossible` (the result would not
# be a valid plan).
#
# A recording may begin in the middle of a session, be only one of a team's files, or use an id
# twice. Then our ids differ from the recorded ones, and commands name tasks whose creation was not
# recorded. So the ids are translated, and missing tasks are created. Another agent, a person or the
# program may change the plan too. These changes are added to the step's events before those of the
# call, and no rule is applied to them.


SILENCE = timedelta(minutes=30)
"""The time without a planning call after which a task in progress is reported."""


ConversationEvent = Compaction | PersonSpoke
Outcome = Literal["applied", "read", "refused", "unreadable", "impossible"]

# A call with one of these answers is not a planning mistake: Claude Code and Gemini cancel a call
# if a parallel call failed or if the person stopped it.
_CANCELLED = re.compile(
    r"Sibling tool call errored|Cancelled: parallel tool call|Request interrupted by user"
    r"|user doesn't want to proceed|Operation Cancelled"
)
_SHOWN = 3


@attrs.frozen
class Step:
    """
    The effect of one planning call.

    `plan` is the lane's plan after the call. `chars` is the number of characters of the arguments
    and the answer. `before` has the compactions and the person's messages since the previous step.
    `was` is the plan before all events of the step, if known.
    """

    line: int
    lane: str
    actor: str
    tool: str
    at: datetime | None
    outcome: Outcome
    plan: Plan
    events: tuple[Event, ...]
    findings: tuple[Finding, ...]
    chars: int
    before: tuple[ConversationEvent, ...] = ()
    was: Plan | None = None


_ELSEWHERE = "(made elsewhere)"
# The fields that name tasks, in the order in which missing tasks are created.
_NAMING = {
    CreateTask: ("blocks", "blocked_by", "parent"),
    UpdateTask: (
        "task_id",
        "parent",
        "add_blocks",
        "add_blocked_by",
        "remove_blocks",
        "remove_blocked_by",
    ),
    DeleteTask: ("task_id",),
    ClaimTask: ("task_id",),
}
_Naming = TypeVar("_Naming", bound=CreateTask | UpdateTask | DeleteTask | ClaimTask)


ANYTHING_GOES = Policy()
# Recordings do not show how long claims last, so this is what a toolbox does by default.
_LEASE = Toolbox().lease
_TEAM_KEYS = {"next", "claim"}
_MOVES = {Status.PENDING: "put back", Status.IN_PROGRESS: "started"}


def _change(event: Event) -> tuple[tuple[str, str], ...]:
    match event:
        case StatusChanged(task_id, _, new):
            return ((_MOVES.get(new, new.value), task_id),)
        case TaskCreated(task):
            return (("added", task.id),)
        case TaskDeleted(task_id):
            return (("removed", task_id),)
        case PlanCleared(task_ids):
            return tuple(("removed", task_id) for task_id in task_ids)
        case TaskEdited(task_id):
            return (("reworded", task_id),)
        case _:
            return ()


@attrs.define
class CallReplay:
    """
    The replay of one call, which brings the lane's plan to the state that the recording shows.

    `events` are the changes by the call, and the changes by others that its answer shows.
    `findings` are about these events. `before` is what happened in the conversation before the
    call; the resulting step has it as well. `_coming` are the ids of the tasks that the call
    creates, and `_is_checklist` says that its list has no mark for tasks in progress. `_next` is
    the recorded id of the task that the call claimed without naming it.
    """

    lane: Lane
    call: PlanningCall
    findings: list[Finding] = attrs.Factory(list)
    events: list[Event] = attrs.Factory(list)
    policy: Policy = AUDIT
    before: tuple[ConversationEvent, ...] = ()
    _coming: frozenset[str] = attrs.field(default=frozenset(), init=False)
    _is_checklist: bool = attrs.field(default=False, init=False)
    _next: str = attrs.field(default="", init=False)

    def translated(self, command: Command) -> Command:
        """
        Return a recorded command with the ids that its tasks have in the lane's plan.

        A task that is missing in the plan is added to it.
        """
        # The named tasks come first, because missing ones are created and get numbers.
        match command:
            case CreateTask():
                item = self._in_our_ids(command)
                self.claim_ids(created_id(self.call.answer))
                return item
            case CreateTasks(items):
                new = tuple(map(self._in_our_ids, items))
                if not self._coming:  # for a batch, the ids are claimed all together
                    self.claim_ids(created_ids(self.call.answer, len(items)))
                return CreateTasks(new)
            case UpdateTask() | DeleteTask() | ClaimTask():
                return self._in_our_ids(command)
            case Batch(commands):
                return self._translated_batch(commands)
            case _:
                return command

    def _in_our_ids(self, command: _Naming) -> _Naming:
        """Return the command with the ids of the lane's plan in the fields that name tasks."""
        ours: dict[str, Any] = {}
        for field in _NAMING[type(command)]:
            value = getattr(command, field)
            if isinstance(value, str):
                ours[field] = self._id(value)
            elif isinstance(value, tuple):
                ours[field] = tuple(map(self._id, value))
        return attrs.evolve(command, **ours)

    def _translated_batch(self, commands: Sequence[Command]) -> Batch:
        """
        Return the commands with the ids of the lane's plan.

        A command may name tasks that an earlier command of the batch creates.
        """
        most = sum(
            len(one.todos if isinstance(one, WriteTodos) else one.items)
            for one in commands
            if isinstance(one, WriteTodos | CreateTasks)
        )
        start = self.lane.plan.next_id
        guessed = tuple(map(str, range(start, start + most)))
        # For a call without an answer, the ids are most likely the next numbers of our plan.
        created = created_ids(self.call.answer, most) or guessed
        self._coming = frozenset(created)
        # The first translation creates the missing tasks, before numbers are claimed for the new
        # ones.
        for command in commands:
            self.translated(command)
        self.claim_ids(created)
        return Batch(tuple(map(self.translated, commands)))

    def _id(self, recorded: str) -> str:
        """Return the id in the lane's plan for a recorded id. A missing task is created."""
        if recorded.startswith("#"):  # a task of the same call
            return recorded
        task_id = self.lane.shown.get(recorded, recorded)
        if task_id in self.lane.plan or recorded in self._coming:
            return task_id
        self.note("made_elsewhere", recorded, task=recorded)
        self.claim_ids((recorded,))
        task_id = self.lane.shown[recorded] = str(self.lane.plan.next_id)
        created = TaskCreated(Task(task_id, _ELSEWHERE, created_at=self.call.at))
        self.lane.take(apply(self.lane.plan, created), (created,))
        self.events.append(created)
        return task_id

    def claim_ids(self, recorded: Sequence[str]) -> None:
        """
        Let the next new tasks of the plan have the recorded ids.

        If one of the ids was used before, the tasks get new numbers, and `shown` maps the ids to
        them.
        """
        plan = self.lane.plan
        if not recorded or int(recorded[0]) == plan.next_id:
            return
        # An id below the next one is possible too, because a teammate's file may begin with a list
        # in any order. A number beyond `LARGEST_GIVEN` is treated as a name, so that it does not
        # use up the numbers.
        is_free = not any(one in self.lane.used or one in self.lane.shown for one in recorded)
        if is_free and 0 < int(recorded[0]) <= LARGEST_GIVEN:
            self.lane.plan = attrs.evolve(plan, next_id=int(recorded[0]))
            return
        # AgentScope reuses the id of a deleted task, as Claude Code did before 2.1.21. Our plan
        # never uses an id twice (law 6).
        for number, task_id in enumerate(recorded, plan.next_id):
            if task_id in plan or task_id in self.lane.shown:
                self.note("reused_id", task_id, task=task_id, shown=str(number))
            self.lane.shown[task_id] = str(number)

    def note(self, code: str, *task_ids: str, **values: object) -> None:
        """Add a finding about the recording."""
        line, lane = self.call.line, self.lane.name
        self.findings.append(recording_finding(code, line, lane, *task_ids, **values))

    def read(self, result: CallResult) -> None:
        """Bring the plan to the state that the answer to a reading call shows."""
        plan = self.lane.plan
        if shows_none(result):
            # Only open tasks are reported: a finished plan was cleared by the program, as Claude
            # Code does.
            if left := open_tasks(plan):
                ids = (task.id for task in left)
                self.note("lost_plan", *ids, open=len(left), total=len(plan))
            return
        if shown := shown_list(result):
            self.whole(shown)
            return
        start, tasks = len(self.events), shown_tasks(result)
        for one in tasks:
            self._task(one)
        # A text answer may be truncated, so only a structured one shows that a task was removed.
        if tasks and shows_all(result):
            known = {self.lane.shown.get(one.id, one.id) for one in tasks}
            for task in plan:
                if task.id not in known:
                    self.carry_out(DeleteTask(task.id))
        self._tell(self.events[start:], plan)

    def before_update(self) -> None:
        """Set the updated task to its status before the call, which Claude Code's answer shows."""
        start, sent = len(self.events), self.call.arguments
        data = self.call.answer.data
        change, task_id = data.get("statusChange"), data.get("taskId")
        before = change.get("from") if isinstance(change, Mapping) else None
        # If the answer names no changed fields, the task already had the new status.
        if data.get("updatedFields") == [] and isinstance(sent, Mapping):
            before = sent.get("status")
        if (status := _STATUSES.get(str(before))) and isinstance(task_id, str):
            self._task(ShownTask(task_id, status))
        self._tell(self.events[start:])

    def before_write(self) -> None:
        """Set the plan to the list before the write, which Claude Code's answer shows."""
        if old := _as_write(self.call.answer.data.get("oldTodos")):
            self.whole(old)

    def whole(self, shown: WriteTodos) -> None:
        """Change the plan to the whole list that an answer shows."""
        start, plan = len(self.events), self.lane.plan
        # Only texts and statuses are used. An answer without active forms does not show that the
        # tasks have none.
        rows = tuple(Todo(todo.content, todo.status) for todo in shown.todos)
        command, _ = meaning(plan, WriteTodos(rows))
        # An answer may shorten a text. This is not a change.
        todos = tuple(
            attrs.evolve(todo, content=task.subject)
            if (task := plan.get(todo.id or "")) and says_the_same(task.subject, todo.content)
            else todo
            for todo in command.todos
        )
        self.carry_out(attrs.evolve(command, todos=todos))
        self._tell(self.events[start:], None if open_tasks(plan) else plan)

    def begin(self) -> None:
        """Clear the plan for a new one, and report the open tasks of the old one."""
        plan = self.lane.plan
        if left := open_tasks(plan):
            first = one_line(left[0].subject, _CLIP)
            ids = (task.id for task in left)
            self.note("plan_replaced", *ids, open=len(left), total=len(plan), first=first)
        else:
            self.note("new_plan", total=len(plan))
        self.lane.sizes.append(self.lane.longest)
        self.lane.longest = 0
        self.carry_out(ClearPlan())

    def carry_out(self, command: Command) -> None:
        """Carry out a command without a policy. If the result would be invalid, nothing changes."""
        decision, _ = self._decided(command)
        if not isinstance(decision, Rejected):
            self.lane.take(decision.plan, decision.events)
            self.events += decision.events

    def _task(self, shown: ShownTask) -> None:
        task = self.lane.plan.get(self.lane.shown.get(shown.id, shown.id))
        if task is None:
            # The answer of an update shows no subject. The translation of the update creates the
            # task.
            if shown.subject:
                self.claim_ids((shown.id,))
                self.carry_out(CreateTask(shown.subject, status=shown.status))
            return
        status = UNSET if task.status is shown.status else shown.status
        is_reworded = shown.exact and not says_the_same(task.subject, shown.subject)
        subject = shown.subject if is_reworded else UNSET
        if status is not UNSET or subject is not UNSET:
            self.carry_out(UpdateTask(task.id, status=status, subject=subject))

    def _tell(self, events: Iterable[Event], clearable: Plan | None = None) -> None:
        groups: dict[str, dict[str, None]] = {}
        for event in events:
            for verb, task_id in _change(event):
                groups.setdefault(verb, {})[task_id] = None
        # For some lists, the program clears finished tasks itself. This is not reported.
        if clearable and all(clearable[one].status in CLOSED for one in groups.get("removed", ())):
            groups.pop("removed", None)
        if groups:
            ids = dict.fromkeys(task_id for group in groups.values() for task_id in group)
            changes = ", ".join(f"{verb} {ids_text(tuple(one))}" for verb, one in groups.items())
            self.note("changed_elsewhere", *ids, changes=changes)

    def step(self) -> Step:
        """
        Apply the call to the lane's plan, and return the step with its findings.

        A call that was refused when it was recorded is not applied.
        """
        result = self.call.result
        self.events += self.lane.shown_between
        self.lane.shown_between.clear()
        self._describe_silence()
        if result is not None and result.is_error:
            code = "cancelled_call" if _CANCELLED.search(result.text) else "refused_call"
            self.note(code, answer=one_line(result.text, _CLIP), detail=result.text)
            return self._step("refused")
        if result is None:
            self.note("no_result")
        tool, arguments = self._tool(), self.call.arguments
        if tool is _LIST_TOOL:
            arguments = listed(arguments)
            if arguments is not self.call.arguments:
                statuses = {one["status"] for one in _listed_items(arguments)}
                self.lane.marks_begun |= not statuses <= {"pending", "completed"}
                self._is_checklist = not self.lane.marks_begun
        ids = tuple(map(item_id, _listed_items(arguments)))
        if isinstance(arguments, Mapping) and arguments.get("merge"):
            arguments = merging(arguments, self.lane.plan, self.lane.shown)
        intake = read(arguments, tool.fields, LIMITS)
        values = intake.values
        if tool.with_claim:
            values = {**values, CLAIM: ClaimTask(self.call.actor, _LEASE)}
        if tool.with_plan:
            values = {**values, PLAN: self._plan_in_recorded_ids()}
        request = None if intake.problems else tool.request(values)
        if isinstance(request, Ignoring):  # a deletion with other arguments, which are ignored
            request = request.command
        if request is None or isinstance(request, Problem):
            problems = intake.problems or (request,)
            reasons = " ".join(explain(one) for one in problems[:_SHOWN] if one)
            self.note("unreadable_arguments", problems=reasons)
            return self._step("unreadable")
        # Additional keys, ids and wrappers belong to the recorded system's format, as do its words
        # for statuses. The model made no mistake.
        repairs = tuple(
            one
            for one in intake.repairs
            if one.code not in {"ignored_key", "id", "wrapper"}
            and not (one.code == "word" and one.seen in FOREIGN_STATUS_WORDS)
        )
        if repairs:
            self.note("repaired_arguments", repairs=repairs_text(repairs))
        if isinstance(request, Query):
            before = self.lane.plan
            if result is not None:
                self.read(result)
            self._keep_claims()
            if base := self._base:
                note = Note(read=request.task_id or "")
                self.lane.bases[self.call.actor] = base.advanced(before, self.lane.plan, [note])
            return self._step("read")
        if isinstance(request, WriteTodos):
            merges = bool(intake.values.get("merge"))
            return self._written(request, ids, merges=merges)
        self.before_update()
        # Without a team, the next task starts in the same call, but only once the plan is approved.
        changed = _changed(self.call.answer)
        if changed and not _STARTED.search(changed):
            request = not_started(request)
        return self._step(self._decide(self.translated(self._naming_claimed(request))))

    def _tool(self) -> Tool:
        """
        Return the tool that parses the call.

        The sets for a team have tools of the same names as the sets without one. They are told
        apart by arguments and answers that only a team has, in this call or in an earlier one.
        """
        name = canonical_tool(self.call.tool) or self.call.tool
        tool = RECORDED[name]
        if name not in TEAM_TOOLS:
            return tool
        sent = self.call.arguments
        self.lane.is_team |= tool.with_claim or (
            not tool.read_only
            and bool(
                (isinstance(sent, Mapping) and not _TEAM_KEYS.isdisjoint(sent))
                or claimed_ids(self.call.answer)
            )
        )
        # In a team, a task that is started is claimed. So this caller has a set without a team.
        is_alone = _STARTED.search(_changed(self.call.answer)) is not None
        return TEAM_TOOLS[name] if self.lane.is_team and not is_alone else tool

    def _naming_claimed(self, command: Command) -> Command:
        """Return the command with the task that the answer names, if it claims the next task."""
        parts = tuple(parts_of(command))
        named = {part.task_id for part in parts if isinstance(part, ClaimTask)}
        claimed = [one for one in claimed_ids(self.call.answer) if one not in named]
        if None not in named or not claimed:
            return command
        self._next = claimed[0]
        following = attrs.evolve(cast("ClaimTask", parts[-1]), task_id=self._next)
        return Batch((*parts[:-1], following))

    def _plan_in_recorded_ids(self) -> Mapping[str, Task] | Plan:
        """Return the lane's tasks by their recorded ids, and their blockers as recorded."""
        plan, shown = self.lane.plan, self.lane.shown
        if not shown:
            return plan
        recorded = {ours: one for one, ours in shown.items()}
        return {
            recorded.get(task.id, task.id): task.but(
                blocked_by=tuple(recorded.get(one, one) for one in task.blocked_by)
            )
            for task in plan
        }

    def _written(self, request: WriteTodos, ids: Sequence[str], *, merges: bool) -> Step:
        # If one message has two writes, the host carries out both, and the later one replaces the
        # earlier one. Agents rarely intend this.
        if self.call.turn and self.lane.written_in == self.call.turn:
            self.note("parallel_write")
        self.lane.written_in = self.call.turn
        # Changes by others come first. Otherwise they would be attributed to this call.
        self.before_write()
        if merges:
            command = merged(self.lane.plan, request)
        else:
            command, begins = meaning(self.lane.plan, request)
            if begins or is_new_list(self.call.answer, self.lane.plan):
                self.begin()
        outcome = self._decide(command)
        # The writer of a list chooses the ids in it, and later merges name tasks by these ids.
        if merges:
            by_text = {task.subject: task.id for task in self.lane.plan}
            ours = [by_text.get(todo.content) for todo in request.todos]
        else:
            ours = [task.id for task in self.lane.plan]
        if len(ids) == len(request.todos) and outcome == "applied":
            pairs = zip(ids, ours, strict=False)
            self.lane.shown |= {given: one for given, one in pairs if given and one}
        # The state shown by the answer takes precedence.
        if shown := shown_list(self.call.answer):
            self.whole(shown)
        return self._step(outcome)

    def _step(self, outcome: Outcome, was: Plan | None = None) -> Step:
        call, sent = self.call, self.call.arguments
        if not isinstance(sent, str):
            sent = json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
        return Step(
            call.line,
            call.lane,
            call.actor,
            call.tool,
            call.at,
            outcome,
            self.lane.plan,
            tuple(self.events),
            tuple(self.findings),
            len(sent) + len(call.answer.text),
            self.before,
            was,
        )

    def _decided(self, command: Command, base: Base | None = None) -> tuple[Decision, Change]:
        plan = self.lane.plan
        fences: Fences = {}
        if self.lane.is_team:
            # What was accepted did not break a claim, so the caller gets the fencing tokens of all.
            fences = {task.id: task.claim.fence for task in plan.active() if task.claim}
        return decide_with_change(
            plan, command, ANYTHING_GOES, self.call.at, base, self.call.actor, fences
        )

    @property
    def _base(self) -> Base | None:
        """
        What the caller knew of the plan, if the tool is our `plan`.

        With this tool, several agents write lists to one plan. A list drops no task of the others.
        """
        if canonical_tool(self.call.tool) != OWN_TOOL:
            return None
        return self.lane.bases.get(self.call.actor, Base(Plan(), listed=NOTHING_LISTED))

    def _decide(self, command: Command) -> Outcome:
        """Carry out the call's command, and report the rules that it breaks."""
        before = self.lane.plan
        base = self._base
        decision, decided = self._decided(command, base)
        if isinstance(decision, Rejected):
            # The result would not be a valid plan (it has a cycle or an empty text), but the
            # recorded system accepted it. So the audit reports it as a warning.
            severity = Severity.WARN if self.policy == AUDIT else Severity.ERROR
            self._report(decision.problems, severity, before)
            self.lane.take(before, ())
            return "impossible"
        events = decision.events
        # A list that differs only in active forms counts as no change.
        if isinstance(command, WriteTodos) and all(
            isinstance(event, TaskEdited) and {*event.changes} == {"active_form"}
            for event in events
        ):
            events = ()
        change = Change(before, decision.plan, command, events, self.policy.limits)
        self.lane.note_starts(decision.events, self.call.actor)
        self._judge(change, lambda problem: self._is_fair(problem, decision.plan))
        self.lane.take(decision.plan, decision.events)
        self.events += decision.events
        self._describe(change)
        self._keep_claims(decision.events)
        if base:
            following = self.lane.shown.get(self._next, self._next)
            named = (task_id for task_id in named_by(command) if task_id != following)
            created = (event.task.id for event in decision.events if isinstance(event, TaskCreated))
            note = Note(decided.lines, (*named, *created))
            self.lane.bases[self.call.actor] = base.advanced(before, self.lane.plan, [note])
        return "applied"

    def _keep_claims(self, events: Sequence[Event] = ()) -> None:
        """
        Extend the claims from the caller's earlier calls, as a toolbox does in each call.

        The claims are then those after `events`, which the call caused.
        """
        lane, actor = self.lane, self.call.actor
        if not lane.is_team:
            return
        held = lane.fences.get(actor, {})
        for task_id, fence in held.items():
            self.carry_out(RenewClaim(task_id, fence, _LEASE))
        lane.fences[actor] = fences_after(held, events)

    # Findings about legal calls, which break no rule but show how carefully the plan was kept.

    def _describe(self, change: Change) -> None:
        """
        Report updates without effect, and tasks that were created as completed.

        The tasks that the turn has completed are stored, to be reported together after the turn.
        """
        command, events, note = change.command, change.events, self.note
        elsewhere = [one for one in self.findings if one.code == "changed_elsewhere"]
        # If someone else changed the task before this update, `changed_elsewhere` is reported.
        followed = {task_id for one in elsewhere for task_id in one.task_ids}
        if isinstance(command, UpdateTask) and not events and command.task_id not in followed:
            note("no_effect", command.task_id, tasks=ids_text((command.task_id,)))
        made = [event.task for event in events if isinstance(event, TaskCreated)]
        born = [task.id for task in made if task.status is Status.COMPLETED]
        if born and len(born) == len(made) == len(change.after):
            note("written_after", *born, tasks=ids_text(born))
        # If tasks were deleted too, the completed task may be one of these with a new text. Then it
        # was planned, so nothing is reported.
        elif born and not any(isinstance(event, TaskDeleted) for event in events):
            note("born_completed", *born, tasks=ids_text(born))
        if isinstance(command, UpdateTask) and self.call.turn:
            # Claude Code writes each call of a message on its own line. The turn identifies the
            # message. Its completions are reported together, once the next turn begins.
            latest, ids, _ = self.lane.completed_in
            done = tuple(
                event.task_id
                for event in events
                if isinstance(event, StatusChanged) and event.new is Status.COMPLETED
            )
            ids = ids if latest == self.call.turn else ()
            self.lane.completed_in = (self.call.turn, (*ids, *done), self.call.line)

    def _describe_silence(self) -> None:
        """
        Report tasks that were in progress for 30 minutes or more without a planning call.

        A message of the person resets `last_at`, because the agent may have waited for this
        message, perhaps overnight.
        """
        last, at = self.lane.last_at, self.call.at
        self.lane.last_at = at
        if last is None or at is None or at - last < SILENCE:
            return
        if active := [task.id for task in self.lane.plan.active()]:
            minutes = int((at - last).total_seconds() // 60)
            self.note("long_silence", *active, tasks=ids_text(active), minutes=minutes)

    def _is_fair(self, problem: Problem, after: Plan) -> bool:
        """
        Return whether to report a problem.

        It is not reported if the recording's form or the work of other agents explains it.
        """
        active = after.active()
        agents = {task.owner or self.lane.started_by.get(task.id) for task in active} - {None}
        tasks = [after[task_id] for task_id in problem.task_ids if task_id in after]
        is_explained = {
            # A list format without a mark for "in progress" cannot show that a task was begun.
            "linear_status": self._is_checklist,
            "some_in_progress": self._is_checklist,
            # `changed_elsewhere` already reports why this call changes nothing.
            "no_op_write": any(one.code == "changed_elsewhere" for one in self.findings),
            # Several agents work at the same time.
            "single_in_progress": len(agents) > 1,
            # The texts were in an unknown encoding. The characters that were replaced may have been
            # different.
            "duplicate_content": any("\ufffd" in task.subject for task in tasks),
        }
        return not is_explained.get(problem.code, False)

    def _judge(self, change: Change, is_fair: Callable[[Problem], bool]) -> None:
        errors, warnings = judge(self.policy, change)
        self._report(filter(is_fair, errors), Severity.ERROR, change.before)
        self._report(filter(is_fair, warnings), Severity.WARN, change.before)

    def _report(self, problems: Iterable[Problem], severity: Severity, before: Plan) -> None:
        self.findings += rule_findings(problems, severity, self.call.line, self.lane.name, before)

    # An entry of one of our own journals.

    def entry(self, entry: Entry) -> Step:
        """Apply an entry to the lane's plan. An entry that does not fit the plan has no effect."""
        before = self.lane.plan
        after = replay(before, entry.events)
        # `apply` accepts any events on any plan. Only the revision shows that entries are missing.
        if after.revision != entry.revision:
            reason = f"the entry does not lead to revision {entry.revision}; others are missing"
            self.note("bad_line", reason=reason)
            return self._step("unreadable", before)
        # A journal does not have the command, so rules about lists do not apply.
        change = Change(before, after, UpdateTask("0"), entry.events, self.policy.limits)
        self._judge(change, lambda _: True)
        self.lane.take(after, entry.events)
        self.events += entry.events
        return self._step("applied", before)


# -------- recording --------
# Reading and replaying a whole recording. Steps are streamed, and only counts of them are kept.
#
# Only the plans and one step are in memory at a time.


KEPT_BAD_LINES = 100
"""The number of bad lines that are kept as findings for a recording. All of them are counted."""

_KEPT_EVENTS = 100


class Fold:
    """
    Replays the items of one recording, and keeps its lanes.

    `others` has the names of a few called tools that are not known planning tools. They are only
    read before the first planning call.
    """

    def __init__(self, policy: Policy = AUDIT) -> None:
        self.policy = policy
        self.lanes: dict[str, Lane] = {}
        self.others: dict[str, None] = {}
        # The events of the conversation since the last planning call. Only the latest are kept,
        # because a recording of a million messages may have no planning call.
        self._between: deque[ConversationEvent] = deque(maxlen=_KEPT_EVENTS)

    def steps(self, items: Iterable[Item]) -> Iterator[Step | Finding]:
        """
        Yield a step for each call, and a finding for each line that could not be read.

        The findings about the final plans come last.
        """
        for item in items:
            if isinstance(item, PlanningCall | RecordedEntry):
                yield self.feed(item)
            elif isinstance(item, BadLine):
                code = "unfinished_line" if item.unfinished else "bad_line"
                code = "long_line" if item.too_long else code
                yield recording_finding(code, item.line, "", reason=item.reason)
            elif isinstance(item, OtherCall):
                self.others[item.tool] = None
            elif isinstance(item, ShownPlan):
                if lane := self.lanes.get(item.lane):
                    # A state at the end of a document has no line.
                    line = item.line or lane.last_line
                    shown = PlanningCall("", {}, line, item.lane, at=item.at)
                    replaying = CallReplay(lane, shown, events=lane.shown_between)
                    replaying.read(item.result)
                    yield from replaying.findings
            else:
                self._between.append(item)
                # Waiting for a person does not count as silence.
                for lane in self.lanes.values() if isinstance(item, PersonSpoke) else ():
                    lane.last_at = item.at
        for lane in self.lanes.values():
            yield from lane.completions()
            if left := open_tasks(lane.plan):
                yield recording_finding(
                    "ended_unfinished",
                    lane.last_line,
                    lane.name,
                    *(task.id for task in left),
                    first=one_line(left[0].subject, _CLIP),
                    open=len(left),
                    total=len(lane.plan),
                )

    def feed(self, item: PlanningCall | RecordedEntry) -> Step:
        """Replay one call or entry on its lane."""
        lane = self.lanes.setdefault(item.lane, Lane(item.lane))
        lane.calls += 1
        lane.last_line = item.line
        before = tuple(self._between)
        self._between.clear()
        if isinstance(item, RecordedEntry):
            tool, actor = item.entry.cause or "entry", item.entry.actor or MAIN_LANE
            call = PlanningCall(tool, "", item.line, item.lane, actor, at=item.entry.at)
            step = CallReplay(lane, call, policy=self.policy, before=before).entry(item.entry)
        else:
            is_next = not item.turn or item.turn != lane.completed_in[0]
            findings = list(lane.completions()) if is_next else []
            step = CallReplay(lane, item, findings, policy=self.policy, before=before).step()
        lane.refused += step.outcome == "refused"
        lane.unreadable += step.outcome == "unreadable"
        return step


@attrs.define(eq=False)
class Replay:
    """
    A replay, which can be consumed once: iterate over `steps()`, then use the other attributes.

    `findings` includes the findings of the steps. `trouble` is the reason why the reading ended
    early, if it did.
    """

    file: str
    dialect: str
    fold: Fold
    _coming: Iterator[Step | Finding]
    findings: list[Finding] = attrs.Factory(list)
    bad_lines: int = 0
    trouble: str = ""
    _steps: Iterator[Step] = attrs.field(
        init=False, default=attrs.Factory(lambda self: self._read(), takes_self=True)
    )

    def _read(self) -> Iterator[Step]:
        """Yield the steps, and store the findings between them."""
        try:
            for one in self._coming:
                if isinstance(one, Step):
                    yield one
                    continue
                # In a binary file every line is bad, so only some bad lines are kept.
                self.bad_lines += one.code == "bad_line"
                if one.code != "bad_line" or self.bad_lines <= KEPT_BAD_LINES:
                    self.findings.append(one)
        except ReadError as error:
            # The disk failed while reading. The part that was read is still shown.
            self.trouble = str(error)

    def steps(self) -> Iterator[Step]:
        """Yield the steps one by one. They are not kept."""
        for step in self._steps:
            self.findings += step.findings
            yield step

    def is_unreadable(self) -> bool:
        """Return whether there are bad lines but no step. This reads up to the first step."""
        first = next(self._steps, None)
        self._steps = chain(() if first is None else (first,), self._steps)
        return first is None and self.bad_lines > 0

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes of the part of the recording that was read."""
        return tuple(self.fold.lanes.values())

    @property
    def calls(self) -> int:
        """The number of planning calls that were replayed, even if refused or unreadable."""
        return sum(lane.calls for lane in self.lanes)

    @property
    def refused(self) -> int:
        """The number of calls that were refused when they were recorded."""
        return sum(lane.refused for lane in self.lanes)

    @property
    def unreadable(self) -> int:
        """The number of calls whose arguments were not understood."""
        return sum(lane.unreadable for lane in self.lanes)

    @property
    def other_tools(self) -> tuple[str, ...]:
        """
        The names of the first tools called, if the recording contains no planning call; otherwise
        empty.
        """
        return () if self.fold.lanes else tuple(self.fold.others)

    @property
    def has_errors(self) -> bool:
        """Whether a finding has severity error."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)


def replay_file(
    path: str | Path,
    *,
    policy: Policy = AUDIT,
    dialect: str | None = None,
    on_bytes: Callable[[int], None] | None = None,
) -> Replay:
    """
    Return the replay of a file under a policy. Without `dialect`, the dialect is detected.

    Nothing is replayed until its `steps()` are consumed.

    Raises:
        ReadError: the file is not a recording.
        MissingExtraError: the file is a single JSON document, and ijson is not installed.
    """
    reader, source = recognise(path, dialect, on_bytes)
    return replay_items(str(path), reader.name, reader.read(source), policy)


def replay_items(label: str, dialect: str, items: Iterable[Item], policy: Policy) -> Replay:
    """Return the replay of items under a policy. `label` names the replay in the output."""
    fold = Fold(policy)
    return Replay(label, dialect, fold, fold.steps(items))


# -------- together --------
# Several recordings of one session, a leader's and its teammates', read as one.
#
# Each member of an agent team has its own file, and updates tasks that were created in another
# file. Read alone, such a file is full of unknown tasks. Read in the order of time, the files are
# one plan.


_EPOCH = datetime.min.replace(tzinfo=UTC)


def replay_together(
    label: str, paths: Sequence[Path], *, policy: Policy = AUDIT, dialect: str | None = None
) -> Replay:
    """
    Return the replay of several recordings as one, in the order of their times.

    Tools that name tasks by id act on one plan that all recordings share. A whole list belongs to
    the agent that writes it, and has its own lane (plan). `label` names the replay in the output.
    All calls are in memory at once. The line number of a finding counts in the file that has the
    call.

    Raises:
        ReadError: one of the files is not a recording.
        MissingExtraError: one of them is a single JSON document, and ijson is not installed.
    """
    dialects: dict[str, None] = {}
    timed: list[tuple[datetime, int, Item]] = []
    for path in paths:
        reader, source = recognise(path, dialect)
        dialects[reader.name] = None
        # An item without a time stays after the previous item.
        latest = _EPOCH
        for item in reader.read(source):
            if isinstance(item, PlanningCall):
                actor = path.stem if item.actor == MAIN_LANE else item.actor
                shared = canonical_tool(item.tool) in BY_ID_TOOLS
                lane = item.lane if shared or item.lane != MAIN_LANE else path.stem
                item = attrs.evolve(item, actor=actor, lane=lane)  # noqa: PLW2901 - named anew
            latest = max(latest, getattr(item, "at", None) or latest)
            timed.append((latest, len(timed), item))
    # Items cannot be compared. Items with the same time stay in reading order.
    ordered = (item for _, _, item in sorted(timed, key=lambda one: one[:2]))
    return replay_items(label, ", ".join(dialects), ordered, policy)
