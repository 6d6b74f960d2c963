"""
Synchronises a Markdown file and a plan. Each of them may be edited at any time.

A comment at the end of the file names the revision of the plan that was last written to it. The
plan at that revision is the merge base: where the file differs from it, somebody has edited the
file; where the current plan differs from it, others have changed the plan. Both kinds of changes
are kept: the file is merged like a whole list from a session that has listed the tasks that the
file showed, so a missing line removes only a task that the file showed. If both sides changed the
same field, the file's edit is kept, and the conflict is reported.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import attrs

from todoplan.codec.foreign.markdown import (
    MOST,
    ORIGINAL_ID,
    Document,
    Form,
    Node,
    arranged,
    match_nodes,
    metadata_of,
    names_for,
    read_document,
    shown_description,
    shown_status,
    write_document,
)
from todoplan.core.commands import Batch, Command, UpdateTask, WriteTodos
from todoplan.core.decide import Accepted, Rejected, decide, decide_with_change
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base, Difference, changed_by, differences
from todoplan.core.events.types import Event
from todoplan.core.plan.model import Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.errors import PlanError, ReadError
from todoplan.planner.planner import Append, Outcome, Planner, plan_of_revision
from todoplan.planner.watching import Journal
from todoplan.texts import one_line

CAUSE = "sync"
_TREE = "file and plan moved tasks below each other: the plan's tree is kept"
_SUFFIXES = (".md", ".markdown", ".mdx", ".mdc", ".txt", "")  # not files of code or data
_TRIES = 20  # a person does not edit the file so often while it is synchronised


@attrs.frozen
class Synced:
    """
    The result of a synchronisation.

    `events` are the file's edits as the plan has accepted them, and `changed` are the changes that
    others had made to the plan since the last synchronisation. `conflicts` has a sentence for each
    edit of the file that conflicts with another change. `text` is the new text of the file.
    `is_first` means that the file and the plan were joined for the first time, so nothing was
    removed on either side.
    """

    plan: Plan
    text: str
    events: tuple[Event, ...] = ()
    changed: tuple[Difference, ...] = ()
    conflicts: tuple[str, ...] = ()
    is_first: bool = False


def sync_file(
    planner: Planner,
    path: Path,
    *,
    form: Form | None = None,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Synced | Rejected:
    """
    Synchronise a Markdown file and the planner's plan. If there is no such file, it is created.

    The file is replaced as a whole, and only if it was not edited meanwhile. In the journal,
    `actor` is the author of the file's edits.

    Raises:
        ReadError: the suffix of the file is not one of Markdown, the file cannot be read or
            written, or the file was edited during every attempt.
        PlanError: the file belongs to another plan, or all tasks were removed from the file.
        CodecError: the file is damaged (see `read_document`).
    """
    if path.suffix.lower() not in _SUFFIXES:
        names = ", ".join(filter(None, _SUFFIXES))
        msg = f"{path} is no Markdown file by its name: a checklist is written only to {names}"
        raise ReadError(msg, file=str(path))
    for _ in range(_TRIES):
        was = text_of(path)
        done = sync_text(planner, was or "", form=form, actor=actor, policy=policy)
        if isinstance(done, Rejected):
            return done
        if text_of(path) == was:
            if done.text != was:
                _replace(path, done.text)
            return done
    msg = f"{path} was edited during {_TRIES} attempts: nothing was written to it; try again"
    raise ReadError(msg, file=str(path))


def text_of(path: Path) -> str | None:
    """
    Return the text of a file, or `None` if there is no such file.

    Raises:
        ReadError: the file cannot be read, or is not UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            data = file.read(4 * MOST + 1)
        return data.decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        msg = f"{path} is no UTF-8 text: {error}"
        raise ReadError(msg, file=str(path)) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise ReadError(msg, file=str(path)) from error


def _replace(path: Path, text: str) -> None:
    # If the path is a link, its target is replaced, and not the link.
    path = path.resolve()
    try:
        with NamedTemporaryFile("wb", dir=path.parent, prefix=".todoplan-", delete=False) as file:
            file.write(text.encode("utf-8", "replace"))
        name = Path(file.name)
        try:
            with suppress(FileNotFoundError):
                name.chmod(path.stat().st_mode)
            os.replace(name, path)  # noqa: PTH105 - atomic, and the same on each system
        except OSError:
            name.unlink(missing_ok=True)
            raise
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror}"
        raise ReadError(msg, file=str(path)) from error


def sync_text(
    planner: Planner,
    text: str,
    *,
    form: Form | None = None,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Synced | Rejected:
    """
    Merge the text of a Markdown file and the planner's plan, and return the file's new text.

    A refusal changes nothing. Raises the same errors as `sync_file`.
    """
    document = read_document(text, form)
    plan_id = planner._plan_id  # noqa: SLF001 - a planner of the same package
    if document.plan_id not in {None, plan_id}:
        msg = (
            f"this file belongs to the plan {document.plan_id!r}, and not to {plan_id!r}; name "
            "that plan, or remove the comment of todoplan in the file to join the two"
        )
        raise PlanError(msg, seen=document.plan_id)
    then, shown = None, dict[str, Node]()
    if document.revision is not None:
        then = plan_of_revision(planner.history(), document.revision)
    if then is not None:
        # What a file of that plan shows. Headings that have no tasks are not shown.
        written = write_document(Document(document.form), then, {})
        shown = match_nodes(read_document(written, document.form), then, reworded=False)
    if not document.nodes and shown:
        msg = (
            f"the file has no task any more, and had {len(shown)}; nothing was changed. Restore "
            "the file, or remove the tasks by their ids"
        )
        raise PlanError(msg, seen=0)
    chosen = planner.toolbox.policy if policy is None else policy

    def since(plan: Plan, _: Entry | None) -> int | None:
        return None if then is None or then.revision == plan.revision else then.revision

    def attempt(plan: Plan, journal: Journal, at: datetime) -> Outcome:
        known = plan if then is None else then
        nodes = {
            task_id: node
            for task_id, node in match_nodes(document, known, reworded=then is not None).items()
            # If the file rewords a task that others removed, the new text is kept as a new task.
            if task_id in plan or node.subject == one_line(known[task_id].subject)
        }
        missing = {one_line(known[task_id].subject) for task_id in shown if task_id not in nodes}
        if missing and (unknown := document.unknown_box(missing)):
            msg = (
                f"{unknown!r} is no task, because of its box; nothing was changed. Write [ ], [x],"
                " [/] (in progress) or [-] (cancelled), or remove the line"
            )
            raise PlanError(msg, seen=unknown)
        actors = {} if then is None else changed_by(then, journal)
        base = Base(known, actors, listed=frozenset(shown), overflow=then is None)
        rows = _rows(document, known, nodes)
        events: tuple[Event, ...] = ()
        after, meant = plan, nodes
        conflicts: tuple[str, ...] = ()
        while rows:
            write = WriteTodos(tuple(todo for todo, _ in rows))
            decision, change = decide_with_change(plan, write, chosen, at, base, actor)
            if isinstance(decision, Accepted):
                lines = {id(todo): node for todo, node in rows}
                events, after = decision.events, decision.plan
                meant = {task_id: lines[id(todo)] for task_id, todo in change.lines or ()}
                break
            if conflicts or {one.code for one in decision.problems} != {"cycle"}:
                return Outcome(decision, plan)
            # The file has moved one task below another, and the plan has moved the second one below
            # the first. The plan's tree is kept.
            rows = [(attrs.evolve(todo, level=None), node) for todo, node in rows]
            conflicts = (_TREE,)
        updates = list(_updates(document, known, after, nodes, meant))
        if updates:
            decision = decide(after, Batch(tuple(updates)), chosen, at=at, actor=actor)
            if isinstance(decision, Rejected):
                return Outcome(decision, plan)
            events, after = (*events, *decision.events), decision.plan
        if then is not None:
            conflicts += tuple(_conflicts(known, plan, after, nodes, shown, base))
        entries = (Entry(after.revision, events, at, actor, CAUSE),)
        appends = (Append(entries, after),) if events else ()
        text = write_document(document, after, meant, mark=plan_id)
        changed = () if then is None else differences(then, plan, actors)
        done = Synced(after, text, events, changed, conflicts, then is None)
        return Outcome(done, after, appends)

    result: Synced | Rejected = planner._run(planner._commit(attempt, since))  # noqa: SLF001
    return result


def _rows(document: Document, known: Plan, nodes: Mapping[str, Node]) -> list[tuple[Todo, Node]]:
    """
    Return the lines of the file as a list, each with its node in the file.

    A line has only the fields that were changed in the file since it was last written. A form may
    show tasks in an order of its own, so the lines are in the plan's order unless somebody has
    moved them in the file.
    """
    ids = {id(node): task_id for task_id, node in nodes.items()}
    has_levels = any(node.level for node in document.nodes) or any(task.parent for task in known)
    rows: list[tuple[Todo, Node]] = []
    for node in document.nodes:
        task = known.get(ids.get(id(node), ""))
        is_same = task is not None and one_line(task.subject) == node.subject
        status = None if node.is_heading else node.status
        priority = node.priority if document.form == "tasks.md" else None
        if task is not None:
            shown = shown_status(task.status, states=document.had_states)
            status = None if status is shown else status
            priority = None if priority is task.priority else priority
        text = task.subject if task is not None and is_same else node.subject
        level = node.level if has_levels else None
        task_id = None if task is None else task.id
        rows.append((Todo(text, status, priority=priority, id=task_id, level=level), node))
    written = [todo.id for todo, _ in rows if todo.id]
    if written != [task.id for _, task in arranged(document, known, nodes) if task.id in nodes]:
        return rows
    # A new line follows the line above it.
    groups: dict[str, list[tuple[Todo, Node]]] = {"": []}
    last = ""
    for todo, node in rows:
        last = todo.id or last
        groups.setdefault(last, []).append((todo, node))
    return [*groups[""], *(row for task in known for row in groups.get(task.id, ()))]


def _updates(
    document: Document,
    known: Plan,
    after: Plan,
    nodes: Mapping[str, Node],
    meant: Mapping[str, Node],
) -> Iterator[Command]:
    """
    Yield commands for what the file changes and a whole-list write cannot: descriptions, metadata
    and edges. If the form of the file has ids of its own, they are kept in the metadata.

    `known` is the plan that the file showed before it was edited, `after` the plan after the
    whole-list write. `nodes` and `meant` have the line of the file for each task of these plans.
    """
    names = names_for(document, after)
    ids = {node.name: task_id for task_id, node in meant.items() if node.name}
    for task_id, node in meant.items():
        task, was = after.get(task_id), known.get(task_id) if task_id in nodes else None
        if task is None:
            continue
        update: dict[str, Any] = {}
        described = "" if was is None else shown_description(was.description)
        if node.description not in {described, shown_description(task.description)}:
            update["description"] = node.description
        metadata = {
            key: value
            for key, value in metadata_of(node).items()
            if task.metadata.get(key) != value and (was is None or was.metadata.get(key) != value)
        }
        if task_id in names:
            metadata[ORIGINAL_ID] = node.name or names[task_id]
        if metadata:
            update["metadata"] = metadata
        if document.form == "tasks.md":
            wanted = {ids[name] for name in node.blockers if name in ids}
            had = {*was.blocked_by} if was is not None else set()
            add = tuple(sorted(wanted - had - {*task.blocked_by}))
            gone = tuple(sorted((had - wanted) & {*task.blocked_by} & {*meant}))
            update |= {"add_blocked_by": add} if add else {}
            update |= {"remove_blocked_by": gone} if gone else {}
        if update:
            yield UpdateTask(task_id, **update)
    yield from (
        UpdateTask(task_id, metadata={ORIGINAL_ID: name})
        for task_id, name in names.items()
        if task_id not in meant
    )


def _conflicts(  # noqa: PLR0913, PLR0917 - both sides, and what came of them
    known: Plan,
    plan: Plan,
    after: Plan,
    nodes: Mapping[str, Node],
    shown: Mapping[str, Node],
    base: Base,
) -> Iterator[str]:
    """
    Yield a sentence for each edit of the file that conflicts with a change by others.

    `known` is the plan that was last written to the file. `plan` also has the changes by others,
    and `after` also has the file's edits.
    """
    for task in known:
        now, end, node = plan.get(task.id), after.get(task.id), nodes.get(task.id)
        actor = base.actors.get(task.id)
        by = f" by {actor}" if actor else ""
        name = f'#{task.id} "{one_line(task.subject)}"'
        if now is None:
            shown_before = (one_line(task.subject), shown_status(task.status, states=False))
            if node is not None and (node.subject, node.status) != shown_before:
                yield f"{name} was removed{by}: your edit of it is dropped"
        elif node is None:
            if task.id in shown and end is not None:
                yield f"{name} was changed{by} since: it stays, though the file left it out"
        elif now is not task and end is not None:
            for field in ("subject", "status", "priority", "description"):
                was, theirs, mine = (getattr(one, field) for one in (task, now, end))
                if was != theirs != mine:
                    new = f"{_text(theirs)}{by}; the file's {_text(mine)} is kept"
                    yield f"{name}: {field} was set to {new}"


def _text(value: object) -> str:
    return f'"{one_line(str(getattr(value, "value", value)))}"'
