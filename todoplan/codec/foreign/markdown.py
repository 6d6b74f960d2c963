"""
Plans as Markdown files that people edit: checklists, spec-kit's `tasks.md` and `TASKS.md`.

A task is a line with a box, `- [ ] Write it`, and the indented lines below it. The rest of the file
belongs to its authors: headings, prose and the spelling of unchanged tasks stay as they are.

In every form an indented task is a subtask, and indented text is the description. In addition:

| form | what is read |
| --- | --- |
| `checklist` | nothing else |
| `spec-kit` | `T001 [P] [US1]` before the text; a second-level heading is the parent of its tasks |
| `tasks.md` | the priority from `## P0` to `## P3`; `- **ID**: x`, **Blocked by**, **Details** |

A box normally has two states: `[ ]` for open and failed tasks, and `[x]` for completed tasks. A
cancelled task is written as a completed task whose text is struck through. But if the file already
has a box `[/]` or `[-]`, tasks in progress are written with `[/]` and cancelled tasks with `[-]`.
`not_held` returns the fields of a plan that a form cannot express.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any, Literal, get_args

import attrs

from todoplan.core.decide import mirrored, plan_of
from todoplan.core.plan.model import TASK_FIELDS, FieldKind, FrozenDict, Priority, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, PlanError
from todoplan.texts import one_line, printable

Form = Literal["checklist", "spec-kit", "tasks.md"]
FORMS: tuple[Form, ...] = get_args(Form)
ORIGINAL_ID = "original_id"
MOST = 4_000_000
"""The largest file that is read, in characters."""

_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?P<marker>(?:[-*+]|\d{1,9}[.)])[ \t]+)"
    r"\[(?P<box>[ xX/~-])\](?P<space>[ \t]+)(?P<text>\S.*)"
)
_UNKNOWN_BOX = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]*\[.{0,3}\][ \t]*(\S.*?)[ \t]*")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t]*#*[ \t]*")
_STRUCK = re.compile(r"~~(.+)~~")
_LABELS = re.compile(
    r"(?P<name>T\d{3,})(?P<parallel>[ \t]+\[P\])?(?:[ \t]+\[(?P<story>US\d+)\])?[ \t]+"
)
_SECTION = re.compile(r"[Pp]([0-3])\b.*")
_FIELD = re.compile(r"[ \t]*[-*+][ \t]+\*\*([A-Za-z][\w -]*?):?\*\*:?[ \t]*(.*)")
_MARK = re.compile(r"<!-- todoplan (\{.*\}) -->")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# An underscore within a word needs no escape, and file names often contain underscores.
_MARKUP = re.compile(r"[\\`*\[\]<>~&$|]|(?<!\w)_|_(?!\w)")
_SECOND = 2  # the level of spec-kit's phases, and of the sections of TASKS.md
_STATUSES = {
    " ": Status.PENDING,
    "x": Status.COMPLETED,
    "X": Status.COMPLETED,
    "/": Status.IN_PROGRESS,
    "~": Status.IN_PROGRESS,
    "-": Status.CANCELLED,
}
_BOXES = {Status.IN_PROGRESS: "/", Status.COMPLETED: "x", Status.CANCELLED: "-"}
_PRIORITIES = (Priority.HIGH, Priority.HIGH, Priority.MEDIUM, Priority.LOW)
_ALIKE = 0.5  # if this share of the text is equal, a line counts as the same task, reworded


@attrs.define(eq=False)
class Node:
    """
    A task in a Markdown file.

    `before` are the lines between the previous task and this one; `lines` are the task's own lines.
    `item` has the parts of the first line, or is `None` if that line is a heading.
    `name` is the task's id in the file, or "" if it has none. `level` is its depth in the tree.
    `section` is the number of its section P0 to P3 in TASKS.md, or -1 if it is in none of these.
    `labels` and `raw` are texts as they are in the file: `labels` has the name and the labels, and
    `raw` the subject.
    """

    before: list[str]
    lines: list[str]
    item: re.Match[str] | None
    subject: str
    level: int = 0
    status: Status = Status.PENDING
    name: str = ""
    section: int = -1
    description: str = ""
    blockers: tuple[str, ...] = ()
    extras: Mapping[str, Any] = attrs.Factory(dict)
    labels: str = ""
    raw: str = ""

    @property
    def is_heading(self) -> bool:
        """Whether the task is a heading, and not an item of a list."""
        return self.item is None

    @property
    def priority(self) -> Priority | None:
        """The priority of the section that contains the task."""
        return None if self.section < 0 or self.level else _PRIORITIES[self.section]


@attrs.define(eq=False)
class Document:
    """
    A file with tasks.

    `sections` maps the number of each heading P0 to P3 to its line and the lines above it. `tail`
    are the lines below the last task. `plan_id` and `revision` identify the plan that was last
    written to the file, if any; `had_states` says whether its boxes had more than two states.
    """

    form: Form
    nodes: list[Node] = attrs.Factory(list)
    sections: dict[int, list[str]] = attrs.Factory(dict)
    tail: list[str] = attrs.Factory(list)
    newline: str = "\n"
    plan_id: str | None = None
    revision: int | None = None
    had_states: bool = False

    @cached_property  # asked for each task that is written
    def has_states(self) -> bool:
        """Whether the file uses boxes for tasks in progress or cancelled tasks."""
        boxes = (node.item["box"] for node in self.nodes if node.item is not None)
        return self.had_states or any(box in "/~-" for box in boxes)

    def prose(self) -> list[list[str]]:
        """Return the lines that belong to no task: those above tasks and sections, and the tail."""
        return [*(node.before for node in self.nodes), *self.sections.values(), self.tail]

    def unknown_box(self, subjects: Collection[str]) -> str | None:
        """Return a line that would be a task with one of these subjects if its box were known."""
        # An indented line with an unknown box is among the lines of the task above it.
        parts = [*self.prose(), *(node.lines[1:] for node in self.nodes)]
        lines = (line for part in parts for line in part)
        items = filter(None, map(_UNKNOWN_BOX.fullmatch, lines))
        return next((item[0].strip() for item in items if _unescaped(item[1]) in subjects), None)


def read_document(text: str, form: Form | None = None) -> Document:
    """
    Parse a file and its tasks. If `form` is not given, the form is recognised from the text.

    Raises:
        CodecError: the text is too long, two tasks have the same id, or `form` is unknown.
    """
    if len(text) > MOST:
        msg = f"this file has {len(text)} characters, and at most {MOST} are read"
        raise CodecError(msg, problem="too_large")
    if form is not None and form not in FORMS:
        msg = f"{form!r} is no form of a Markdown file; there are {', '.join(FORMS)}"
        raise CodecError(msg, problem="unknown_form", seen=form)
    document = Document(form or _form_of(text), newline="\r\n" if "\r\n" in text else "\n")
    above: list[str] = []  # the lines since the last task
    columns: list[int] = []  # the indentation of the items that contain the next line
    heading: Node | None = None  # the task that contains the next line
    unused: Node | None = None  # the same heading, as long as no task follows it
    section, fence = -1, ""
    for line in text.replace("\r\n", "\n").split("\n"):
        wide = line.expandtabs(4)
        indent = len(wide) - len(wide.lstrip())
        item = None if fence else _ITEM.fullmatch(line)
        title = None if fence else _HEADING.fullmatch(line)
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        if item:
            while columns and indent <= columns[-1]:
                columns.pop()
            if unused is not None:
                document.nodes.append(unused)
                unused = None
            level = len(columns) + (heading is not None)
            node = Node(above, [line], item, item["text"], level, section=section)
            document.nodes.append(node)
            columns.append(indent)
            above = []
        elif columns and line.strip() and indent > columns[-1] and not any(map(str.strip, above)):
            document.nodes[-1].lines += [*above, line]
            above = []
        elif title and document.form == "spec-kit" and len(title[1]) <= _SECOND:
            above, heading, unused = _as_prose(unused, above), None, None
            if len(title[1]) == _SECOND:
                heading = unused = Node(above, [line], None, _unescaped(title[2]))
                above = []
            else:
                above.append(line)
            columns = []
        elif (
            title
            and document.form == "tasks.md"
            and (match := _SECTION.fullmatch(title[2]))
            and int(match[1]) not in document.sections
        ):
            section = int(match[1])
            document.sections[section] = [*above, line]
            above, columns = [], []
        else:
            columns = [] if line.strip() else columns
            above.append(line)
    document.tail = _as_prose(unused, above)
    _read_mark(document)
    for node in document.nodes:
        _read_node(node, document.form)
    names = Counter(node.name for node in document.nodes if node.name)
    if twice := sorted(name for name, count in names.items() if count > 1):
        msg = f"two tasks of this file have the id {', '.join(twice)}; give each its own"
        raise CodecError(msg, problem="duplicate_id", ids=twice)
    return document


def _form_of(text: str) -> Form:
    items = [match["text"] for match in map(_ITEM.fullmatch, text.splitlines()) if match]
    if any(map(_LABELS.match, items)):
        return "spec-kit"
    titles = [match[2] for match in map(_HEADING.fullmatch, text.splitlines()) if match]
    return "tasks.md" if any(map(_SECTION.fullmatch, titles)) else "checklist"


def _as_prose(heading: Node | None, above: list[str]) -> list[str]:
    """Return the lines since the last task, after those of a heading that has no tasks, if any."""
    return above if heading is None else [*heading.before, *heading.lines, *above]


def _read_mark(document: Document) -> None:
    """Read the last comment that todoplan has written, and remove all such comments."""
    marks: list[re.Match[str]] = []
    for prose in document.prose():
        found = [_MARK.fullmatch(line.strip()) for line in prose]
        marks += filter(None, found)
        prose[:] = [line for line, mark in zip(prose, found, strict=True) if mark is None]
    if not marks:
        return
    last = marks[-1]
    try:
        mark = json.loads(last[1])
        document.plan_id, document.revision = str(mark["plan"]), int(mark["revision"])
        document.had_states = mark.get("states") is True
    except (ValueError, KeyError, TypeError, RecursionError):
        msg = (
            f"the comment {last[0]!r} is damaged; if you remove it, the file and the plan are "
            "joined anew, and no task is removed"
        )
        raise CodecError(msg, problem="damaged_mark", seen=last[0]) from None


def _read_node(node: Node, form: Form) -> None:
    """Read the fields of a task from its lines."""
    item = node.item
    if item is None:
        return
    body, node.status = item["text"].rstrip(), _STATUSES[item["box"]]
    if form == "spec-kit" and (labels := _LABELS.match(body)):
        node.name, node.labels, body = labels["name"], labels[0], body[labels.end() :]
        node.extras = {
            **({"parallel": True} if labels["parallel"] else {}),
            **({"story": labels["story"]} if labels["story"] else {}),
        }
    if node.status is Status.COMPLETED and (struck := _STRUCK.fullmatch(body)):
        node.status, body = Status.CANCELLED, struck[1]
    node.raw, node.subject = body, _unescaped(body)
    pad = " " * (len(item["indent"].expandtabs(4)) + len(item["marker"]))
    fields: dict[str, list[str]] = {}
    key = "Details"
    for line in node.lines[1:]:
        plain = line.expandtabs(4)
        if form == "tasks.md" and (match := _FIELD.fullmatch(line)) and match[1] not in fields:
            key, plain = match[1], match[2]
        else:
            inner = f"{pad}  " if form == "tasks.md" and fields.get(key) else pad
            plain = plain.removeprefix(inner) if plain.startswith(pad) else plain.lstrip()
        fields.setdefault(key, []).append(_unescaped(plain))
    texts = {key: shown_description("\n".join(lines)) for key, lines in fields.items()}
    node.description = texts.pop("Details", "")
    node.name = node.name or texts.pop("ID", "").strip()
    blockers = texts.pop("Blocked by", "").split(",")
    node.blockers = tuple(dict.fromkeys(filter(None, map(str.strip, blockers))))
    node.extras = {**node.extras, **texts}


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)


# -------- plans --------


def from_markdown(text: str, form: Form | None = None) -> Plan:
    """
    Return a new plan with the tasks of a Markdown file. Without `form`, the form is recognised.

    Ids in the file are kept in the metadata under "original_id". A heading that is read as a task
    is completed if all tasks below it are completed or cancelled.

    Raises:
        CodecError: two tasks have the same id, a blocker is not a task of the file, or tasks wait
            for each other.
    """
    nodes = read_document(text, form).nodes
    ids = {node.name: str(place) for place, node in enumerate(nodes, 1) if node.name}
    lost = [
        f"{node.name or node.subject}: {one}"
        for node in nodes
        for one in node.blockers
        if one not in ids
    ]
    if lost:
        msg = f"these blockers are no tasks of the file: {'; '.join(lost)}; name ids of the file"
        raise CodecError(msg, problem="unknown_ids", ids=lost)
    above: list[str] = []
    tasks: list[Task] = []
    for place, node in enumerate(nodes, 1):
        del above[node.level :]
        # The tasks below a heading, which is itself at level 0.
        below = takewhile(lambda one: one.level > 0, nodes[place:])
        is_done = node.is_heading and all(
            one.status in {Status.COMPLETED, Status.CANCELLED} for one in below
        )
        tasks.append(
            Task(
                str(place),
                node.subject,
                description=node.description,
                status=Status.COMPLETED if is_done else node.status,
                priority=node.priority,
                parent=above[-1] if above else None,
                blocked_by=tuple(ids[one] for one in node.blockers),
                metadata=FrozenDict(metadata_of(node)),
            )
        )
        above.append(str(place))
    try:
        return plan_of(mirrored(tasks))
    except PlanError as error:
        msg = f"the tasks of this file are not a valid plan: {error}"
        raise CodecError(msg, problem="no_plan") from error


def metadata_of(node: Node) -> dict[str, Any]:
    """Return the metadata for a task that was read from a file: its id in the file, and extras."""
    return {**({ORIGINAL_ID: node.name} if node.name else {}), **node.extras}


def to_markdown(plan: Plan, form: Form = "checklist") -> str:
    """Return a plan as a Markdown file. `not_held` returns what the file cannot express."""
    return write_document(Document(form, tail=[""]), plan, {})


def not_held(plan: Plan, form: Form = "checklist") -> dict[str, tuple[str, ...]]:
    """Return a dict: for each field that a file of this form would lose, the ids of tasks."""
    order = [task.id for _, task in arranged(Document(form), plan, {})]
    again = dict(zip(order, from_markdown(to_markdown(plan, form), form), strict=True))
    numbers = {task.id: own for own, task in again.items()}
    lost: dict[str, list[str]] = {}
    for task in plan:
        other = again[task.id]
        for name in _COMPARED:
            was, now = getattr(task, name), getattr(other, name)
            if name == "parent":
                now = now and numbers[now]
            elif name == "blocked_by":
                was, now = {*was}, {numbers[one] for one in now}
            elif name == "metadata":
                now = {key: now[key] for key in now if key in was or key != ORIGINAL_ID}
            if was != now:
                lost.setdefault(name, []).append(task.id)
    if order != [task.id for task in plan]:
        lost["order"] = order
    return {name: tuple(ids) for name, ids in lost.items()}


# No form has times and counts. `blocks` mirrors `blocked_by`.
_COMPARED = tuple(
    name
    for name, field in TASK_FIELDS.items()
    if field.kind not in {FieldKind.ID, FieldKind.TIME, FieldKind.COUNT} and name != "blocks"
)


def names_for(document: Document, plan: Plan) -> dict[str, str]:
    """
    Return new ids for the tasks that need an id in the file and have none.

    In the form "spec-kit" every task except a heading needs an id, in "tasks.md" every task that
    blocks another one.
    """
    taken = {task.metadata.get(ORIGINAL_ID) for task in plan}
    taken |= {node.name for node in document.nodes}
    given: dict[str, str] = {}
    parents = _parents(document, plan)
    for _, task in arranged(document, plan, {}):
        if _name(task) or not (
            (document.form == "spec-kit" and not _is_heading(task, parents, None))
            or (document.form == "tasks.md" and task.blocks)
        ):
            continue
        number = int(task.id)
        while (
            name := f"T{number:03}" if document.form == "spec-kit" else f"task-{number}"
        ) in taken:
            number += 1
        given[task.id] = name
        taken.add(name)
    return given


def write_document(
    document: Document, plan: Plan, nodes: Mapping[str, Node], mark: str | None = None
) -> str:
    """
    Return the file with the tasks of a plan.

    `nodes` maps ids of the plan's tasks to tasks of the file. A task of the plan that is not in
    `nodes` gets new lines; a task of the file that is not in `nodes` is removed. `mark` is the
    plan's id. If it is given, a comment with the id and the revision is written at the file's end.
    """
    names = {**{task.id: _name(task) for task in plan}, **names_for(document, plan)}
    kept = {id(node) for task_id, node in nodes.items() if task_id in plan}
    # Lines above the first task stay at the top. Other prose stays above the task that follows it.
    # If that task is removed, the prose comes above the next task.
    before: dict[int, list[str]] = {}
    prose: list[str] = []
    out: list[str] = []
    for node in document.nodes:
        if node is document.nodes[0] and node.section < 0:
            out += node.before
        else:
            prose += node.before
        if id(node) in kept:
            before[id(node)], prose = prose, []
        elif not any(map(str.strip, prose)):
            prose = []
    parents = _parents(document, plan)
    late: list[str] = []
    columns: list[int] = []  # as in `read_document`
    written = -1
    for section, task in arranged(document, plan, nodes):
        own = nodes.get(task.id)
        while written < section:
            written, columns = written + 1, []
            if written in document.sections:
                out += document.sections[written]
            elif written == section:
                out += [*([""] if out and out[-1].strip() else []), f"## P{section}", ""]
        is_heading = _is_heading(task, parents, own)
        late += before[id(own)] if own is not None else []
        depth = _list_depth(plan, task, parents, nodes)
        # Prose ends a list: a task below it is not read as a subtask. So prose above a subtask is
        # moved down, above the next task that is not a subtask.
        if not any(map(str.strip, late)) or depth <= 0:
            columns = [] if any(map(str.strip, late)) else columns
            out += late
            late = []
        if own is None and is_heading and out and out[-1].strip():
            out.append("")
        indent = _indent(own, depth, columns)
        columns = [] if is_heading else [*columns[:depth], len(indent.expandtabs(4))]
        own = None if own is not None and own.is_heading and not is_heading else own
        out += _lines(document, task, own, names, indent, is_heading=is_heading)
    for section in sorted(document.sections):
        out += document.sections[section] if section > written else []
    out += [*late, *prose, *document.tail]
    if mark is not None:
        while out and not out[-1].strip():
            out.pop()
        state = {"plan": mark, "revision": plan.revision}
        data = json.dumps({**state, **({"states": True} if document.has_states else {})})
        safe = data.replace("<", "\\u003c").replace(">", "\\u003e")
        out += [*([""] if out else []), f"<!-- todoplan {safe} -->", ""]
    return document.newline.join(out)


def arranged(
    document: Document, plan: Plan, nodes: Mapping[str, Node]
) -> Iterator[tuple[int, Task]]:
    """Yield the tasks in the order of the file, each with its section in TASKS.md (-1: none)."""
    parents = _parents(document, plan)
    trees: list[tuple[int, list[Task]]] = []
    for task in plan:
        if task.parent is not None:
            trees[-1][1].append(task)
            continue
        node, place = nodes.get(task.id), -1
        if document.form == "tasks.md":
            if node is not None and node.priority is task.priority:
                place = node.section
            elif task.priority is not None:
                place = max(1, _PRIORITIES.index(task.priority))
        elif document.form == "spec-kit":
            # Tasks without a heading come first: after a heading, they would become its subtasks.
            place = _is_heading(task, parents, node)
        trees.append((place, [task]))
    for place, tree in sorted(trees, key=lambda tree: tree[0]):
        yield from ((place if document.form == "tasks.md" else -1, task) for task in tree)


def _is_heading(task: Task, parents: Container[str | None], node: Node | None) -> bool:
    """Return whether a task is written as a heading. A heading without tasks would be prose."""
    is_one = task.parent is None if node is None else node.is_heading
    return is_one and task.id in parents


def _parents(document: Document, plan: Plan) -> Container[str | None]:
    """Return the ids of the tasks with subtasks if the form is spec-kit; otherwise ()."""
    return {task.parent for task in plan} if document.form == "spec-kit" else ()


def _name(task: Task) -> str:
    name = task.metadata.get(ORIGINAL_ID)
    return name if isinstance(name, str) else ""


def _lines(  # noqa: PLR0913 - a task, as the plan and as the file has it
    document: Document,
    task: Task,
    node: Node | None,
    names: Mapping[str, str],
    indent: str,
    *,
    is_heading: bool,
) -> list[str]:
    """Return the lines of a task. Lines of the file that still describe the task are kept."""
    subject = one_line(task.subject)
    if is_heading:
        if node is not None and node.subject == task.subject:
            return node.lines
        return [f"## {_escaped(subject)}", *(node.lines[1:] if node else [""])]
    item = None if node is None else node.item
    marker, space = (item["marker"], item["space"]) if item is not None else ("- ", " ")
    shown = shown_status(task.status, states=document.has_states)
    box = item["box"] if item and node and node.status is shown else _BOXES.get(shown, " ")
    text = node.raw if node is not None and node.subject == task.subject else _escaped(subject)
    if shown is Status.CANCELLED and not document.has_states:
        box, text = "x", f"~~{text}~~"
    labels = ""
    if document.form == "spec-kit":
        kept = {key: task.metadata[key] for key in ("parallel", "story") if key in task.metadata}
        name = names[task.id]
        if node is not None and node.name == name and node.extras == kept:
            labels = node.labels
        else:
            story = kept.get("story")
            is_story = isinstance(story, str) and re.fullmatch(r"US\d+", story)
            parallel = "[P] " if kept.get("parallel") is True else ""
            labels = f"{name} {parallel}{f'[{story}] ' if is_story else ''}"
    fields = _fields_of_task(document.form, task, names)
    if (
        item is not None
        and node is not None
        and fields
        == _fields(document.form, node.name, node.description, node.blockers, node.extras)
    ):
        body = node.lines[1:]
        if indent != item["indent"]:
            body = [
                indent + line.removeprefix(item["indent"]) if line.strip() else "" for line in body
            ]
    else:
        body = list(_body(document.form, fields, indent + " " * len(marker)))
    return [f"{indent}{marker}[{box}]{space}{labels}{text}", *body]


def _depth(plan: Plan, task: Task) -> int:
    level = 0
    while task.parent is not None:
        task, level = plan[task.parent], level + 1
    return level


def _indent(node: Node | None, depth: int, columns: Sequence[int]) -> str:
    """Return the indentation of a task: that in the file if it fits the depth, else a new one."""
    item = None if node is None else node.item
    if item is not None:
        column = len(item["indent"].expandtabs(4))
        if sum(one < column for one in columns) == max(depth, 0):
            return item["indent"]
    if depth <= 0:
        return ""
    return " " * (columns[depth] if len(columns) > depth else columns[depth - 1] + 2)


def _list_depth(
    plan: Plan, task: Task, parents: Container[str | None], nodes: Mapping[str, Node]
) -> int:
    """Return the depth of a task in its list: -1 for a heading, 0 for the tasks below it."""
    depth = _depth(plan, task)
    while task.parent is not None:
        task = plan[task.parent]
    return depth - _is_heading(task, parents, nodes.get(task.id))


def shown_status(status: Status, *, states: bool) -> Status:
    """Return the status that is read back from a file for a task with this status."""
    if status is Status.FAILED or (status is Status.IN_PROGRESS and not states):
        return Status.PENDING
    return status


def shown_description(text: str) -> str:
    """Return the description that is read back from a file for a task with this description."""
    return "\n".join(map(str.rstrip, printable(text).strip().split("\n")))


def _fields_of_task(form: Form, task: Task, names: Mapping[str, str]) -> dict[str, str]:
    extras = {
        key: shown_description(value)
        for key, value in task.metadata.items()
        if key not in {ORIGINAL_ID, "ID", "Details", "Blocked by"}
        and isinstance(value, str)
        and _FIELD.fullmatch(f"- **{key}**: x")
    }
    blockers = [names[one] for one in task.blocked_by]
    return _fields(form, names[task.id], shown_description(task.description), blockers, extras)


def _fields(
    form: Form, name: str, details: str, blockers: Collection[str], extras: Mapping[str, str]
) -> dict[str, str]:
    """Return the texts that stand below a task, by key. "Details" is the description."""
    fields = {"Details": details}
    if form == "tasks.md":
        fields = {"ID": name, **fields, "Blocked by": ", ".join(sorted(blockers)), **extras}
    return {key: value for key, value in fields.items() if value}


def _body(form: Form, fields: Mapping[str, str], pad: str) -> Iterator[str]:
    for key, value in fields.items():
        first, *rest = map(_escaped, value.split("\n"))
        label, inner = (f"- **{key}**: ", f"{pad}  ") if form == "tasks.md" else ("", pad)
        yield f"{pad}{label}{first}"
        yield from (f"{inner}{line}" if line else "" for line in rest)


# -------- merging --------


def match_nodes(document: Document, plan: Plan, *, reworded: bool = True) -> dict[str, Node]:
    """
    Match the plan's tasks with the tasks of a file. Return the file's tasks by the plan's task ids.

    Tasks are matched by their ids in the file, and then by equal texts. If `reworded` is true, the
    other tasks are matched by place and similarity: a task of the plan and a task of the file match
    if they are between the same matched tasks, and if they are the only ones there or at least half
    of their text is equal.
    """
    found: dict[str, Node] = {}
    by_name = {_name(task): task.id for task in plan if _name(task)}
    for node in document.nodes:
        if node.name in by_name:
            found[by_name[node.name]] = node
    taken = {id(node) for node in found.values()}
    names = {task.id: _name(task) for task in plan}
    for key in (lambda subject, level: (subject, level), lambda subject, level: subject):  # noqa: ARG005
        free: dict[Any, list[str]] = {}
        for task in reversed(list(plan)):
            if task.id not in found:
                free.setdefault(key(one_line(task.subject), _depth(plan, task)), []).append(task.id)
        for node in document.nodes:
            # A line with an id does not match a task with a different id.
            same = free.get(key(one_line(node.subject), node.level), [])
            if id(node) not in taken and same and not (node.name and names[same[-1]]):
                found[same.pop()] = node
                taken.add(id(node))
    if not reworded:
        return found
    ours = list(plan)
    place = {id(node): number for number, node in enumerate(document.nodes)}
    order = {task.id: number for number, task in enumerate(ours)}
    # Between two matched neighbours, the unmatched lines are compared with the unmatched tasks.
    anchors = [(-1, -1), *sorted((order[key], place[id(node)]) for key, node in found.items())]
    anchors.append((len(ours), len(document.nodes)))
    for (left, above), (right, below) in pairwise(anchors):
        tasks = [task for task in ours[left + 1 : right] if task.id not in found]
        lines = [node for node in document.nodes[above + 1 : below] if id(node) not in taken]
        for task, node in zip(tasks, lines, strict=False):
            alike = SequenceMatcher(None, task.subject, node.subject, autojunk=False).quick_ratio()
            is_replaced = len(tasks) == len(lines) == 1
            if (is_replaced or alike >= _ALIKE) and not (node.name and _name(task)):
                found[task.id] = node
    return found
