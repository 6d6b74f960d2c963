"""
Decide a command: accept it with events, or refuse it with problems.

There is a section for each family of commands. Read the last section, `decide`, first. It runs a
command in a `Transaction`, where each event takes effect at once. Then the policy judges the
resulting change. The section `tasks` changes one task at a time, `whole_list` applies a complete
list, and `assembly` builds a plan from existing tasks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, count, islice
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Never, NoReturn

import attrs

from todoplan.core import commands
from todoplan.core.commands import UNSET, Command
from todoplan.core.events import types as events
from todoplan.core.events.base import Base
from todoplan.core.events.types import Event
from todoplan.core.plan.model import (
    EDITABLE,
    EMPTY,
    LEVELS,
    TASK_FIELDS,
    Approval,
    Claim,
    Evidence,
    FrozenDict,
    Status,
    Task,
    Todo,
    Waiting,
    as_metadata,
    as_whole_number,
    fast_constructor,
    freeze,
    in_utc,
    instance_of,
    mutable_variant,
    short_repr,
    tuple_of,
)
from todoplan.core.plan.plan import (
    LARGEST_GIVEN,
    Draft,
    Plan,
    Tasks,
    ancestors,
    edges_from_above,
    number_of,
    path_between,
    topological_order,
    tree_order,
    ways,
)
from todoplan.core.problems import MOST_NAMED, Problem, explain_all
from todoplan.core.rules import (
    DEFAULT,
    PRESETS,
    Change,
    Policy,
    judge,
    match,
    normalised,
)
from todoplan.errors import PlanError

# -------- cycles --------
# Find the cycles that new edges close, once for each command, however many edges it adds.
#
# Theory. A plan has no cycle, so a cycle after a command contains an edge that the command added.
# The whole cycle can be reached forwards from that edge's blocked task, and backwards from that
# edge's blocker. One walk goes forwards and one goes backwards, in alternate steps. The walk that
# ends first has visited every possible cycle, so a new task at the end of a long chain costs one
# step. Within the visited region one depth-first walk visits each edge once, and an edge back to a
# task on the current trail closes a cycle. So the work is linear in the tasks and edges visited,
# for any input. An earlier version searched separately for each edge, and took 15 seconds for
# 95,000 edges among 1,000 tasks.


Edge = tuple[str, str]
"""A pair of ids: (blocker, blocked) or, by law 18, (parent, subtask)."""

_SHORTENED = 20


def closing_edges(tasks: Tasks, added: Mapping[Edge, object]) -> dict[Edge, tuple[str, ...]]:
    """
    Return the added edges that close a cycle, each with the cycle that it closes.

    A cycle is a tuple of ids: the path from the edge's blocked task to its blocker, and then the
    blocked task again. The edges `added` are already in `tasks`. If a cycle contains several added
    edges, only the last of these edges is returned. Once the cycles together have more ids
    than there are tasks and edges to search, further cycles are left out.
    """
    if len(added) == 1:
        ((blocker, blocked),) = added
        way = path_between(tasks, blocked, blocker)
        return {(blocker, blocked): (*way, blocked)} if way else {}
    # All edges are checked together. Eino checks each edge of a call against the plan before the
    # call, and so accepts two edges that form a cycle only together.
    region = _region(tasks, added)
    number = {edge: place for place, edge in enumerate(added)}
    room = len(region) + len(added)
    found: dict[Edge, tuple[str, ...]] = {}
    for loop in _loops(tasks, region):
        edges = zip(loop, (*loop[1:], loop[0]), strict=True)
        last = max((edge for edge in edges if edge in number), key=number.__getitem__, default=None)
        # A cycle without added edges was reported by an earlier check of the same command.
        if last is None or last in found:
            continue
        blocker, blocked = last
        if len(found) < _SHORTENED:  # the shortest cycle is clearest, but needs a search
            found[last] = (*path_between(tasks, blocked, blocker), blocked)
        else:
            start = loop.index(blocked)
            found[last] = (*loop[start:], *loop[:start], blocked)
        room -= len(loop)
        if room < 0:
            break
    return found


def _region(tasks: Tasks, added: Collection[Edge]) -> dict[str, None]:
    """
    Return a set of tasks that contains every cycle through an added edge.

    One walk goes forwards from the added edges, another one backwards, in alternate steps. The set
    has the tasks of the walk that ends first.
    """
    ahead = dict.fromkeys(blocked for _, blocked in added)
    back = dict.fromkeys(blocker for blocker, _ in added)
    following, behind = ways(tasks)
    walks = (ahead, _walk(tasks, ahead, following)), (back, _walk(tasks, back, behind))
    while True:
        for seen, walk in walks:
            if next(walk, None) is None:
                return seen


def _walk(
    tasks: Tasks, seen: dict[str, None], neighbours: Callable[[Task], tuple[str, ...]]
) -> Iterator[bool]:
    queue = deque(seen)
    while queue:
        task = tasks.get(queue.popleft())
        for near in neighbours(task) if task else ():
            if near not in seen:
                seen[near] = None
                queue.append(near)
        yield True


def _loops(tasks: Tasks, region: Collection[str]) -> Iterator[list[str]]:
    """
    Walk depth first; yield a cycle for each edge that leads back to a task on the current path.

    The walk is iterative, because a chain may have 100,000 tasks.
    """
    following, _ = ways(tasks)

    def ahead(task_id: str) -> Iterator[str]:
        task = tasks.get(task_id)
        return iter(following(task) if task else ())

    done: set[str] = set()
    for start in region:
        if start in done:
            continue
        trail, place, left = [start], {start: 0}, [ahead(start)]
        while trail:
            for near in left[-1]:
                if near in place:
                    yield trail[place[near] :]
                elif near in region and near not in done:
                    place[near] = len(trail)
                    trail.append(near)
                    left.append(ahead(near))
                    break
            else:
                left.pop()
                walked = trail.pop()
                del place[walked]
                done.add(walked)


# -------- transaction --------
# The state while a command is decided: a draft that each event changes at once, and the problems
# found.
#
# Law: an edge takes effect as soon as it is added, and no intermediate plan has a cycle. New edges
# are checked together, at the end of the command and before any edge or task is removed. Removing
# can open an existing cycle, adding never does, so checking the last plan before a removal also
# covers all plans before it. A new parent is checked like a new edge (law 18).


_REMOVING = frozenset(
    {events.EdgeRemoved, events.TaskDeleted, events.PlanCleared, events.PlanRestored}
)
_created = fast_constructor(events.TaskCreated)
_NO_FENCES: Mapping[str, int] = MappingProxyType({})


class Transaction:
    """
    A command that is being decided. Each change that the command makes sees the effects of its
    earlier changes. If a change fails, the whole command is refused.
    """

    def __init__(
        self,
        draft: Draft,
        at: datetime | None,
        base: Base | None = None,
        actor: str | None = None,
        fences: Mapping[str, int] = _NO_FENCES,
    ) -> None:
        self.draft = draft
        self.at = at
        self.base = base
        self.actor = actor
        self.fences = fences
        self.events: list[Event] = []
        # The lines of a whole-list write that had a merge base, each with the id of its task.
        self.lines: tuple[tuple[str, Todo], ...] | None = None
        self.problems: list[Problem] = []
        # For each unknown task so far, the ids of existing tasks that `find` has suggested.
        self.suggestions: list[str] = []
        # The edges added since the last check, each with its place in the command.
        self.unchecked: dict[Edge, str] = {}

    def emit(self, event: Event) -> None:
        """Record the event and apply it to the draft."""
        if self.unchecked:
            moved = self.draft.get(event.task_id) if type(event) is events.ParentChanged else None
            if type(event) in _REMOVING or (moved is not None and moved.parent is not None):
                self.check_edges()
        self.draft.revision += 1
        event.apply_to(self.draft)
        self.events.append(event)

    def create(self, tasks: Sequence[Task]) -> None:
        """Create these tasks, whose ids ascend and are not below the draft's next id."""
        # This has the same effect as `emit` for each event, but is faster for a long first list.
        self.draft.add_all(tasks)
        self.draft.revision += len(tasks)
        self.events.extend(map(_created, tasks))

    def link(self, blocker_id: str, blocked_id: str, path: str) -> None:
        """
        Make one task block another, unless it already does.

        `path` is the place of the edge in the command, for problems.
        """
        # An unknown id is refused (by `find`): AgentScope silently drops such an edge, and in
        # Gemini's tracker the task can then never be closed.
        if blocker_id == blocked_id:
            self.refuse("self_edge", blocker_id, seen=blocker_id, path=path)
            return
        blocker, blocked = self.find(blocker_id, path), self.find(blocked_id, path)
        if blocker is None or blocked is None:
            return
        # Both ends store the edge. The shorter list is searched, because one task may block
        # thousands.
        if len(blocker.blocks) < len(blocked.blocked_by):
            known = blocked_id in blocker.blocks
        else:
            known = blocker_id in blocked.blocked_by
        if not known:
            self.emit(events.EdgeAdded(blocker_id, blocked_id, self.at))
            self.unchecked[blocker_id, blocked_id] = path

    def unlink(self, blocker_id: str, blocked_id: str, path: str) -> None:
        """Make one task no longer block another."""
        blocker, blocked = self.find(blocker_id, path), self.find(blocked_id, path)
        if blocker is not None and blocked is not None and blocked_id in blocker.blocks:
            self.emit(events.EdgeRemoved(blocker_id, blocked_id, self.at))

    def nest(self, task: Task, parent: str | None, path: str) -> None:
        """Put a task below another one, or at the top level (`None`)."""
        if parent is None or parent == task.id:
            if parent is not None:
                self.refuse("self_edge", task.id, seen=task.id, path=path)
            elif task.parent is not None:
                self.emit(events.ParentChanged(task.id, None, self.at))
            return
        if self.find(parent, path) is None or task.parent == parent:
            return
        # A cycle of parents is refused at once, because the tree of a draft must never contain one.
        # A task without subtasks cannot close a cycle.
        inner = self.draft.children(task.id)
        above = (parent, *ancestors(self.draft, parent)) if inner else ()
        if task.id in above:
            way = (*reversed(above[: above.index(task.id) + 1]), task.id)
            self.refuse("cycle", *way, seen=" -> ".join(way), path=path)
            return
        self.emit(events.ParentChanged(task.id, parent, self.at))
        self.unchecked[parent, task.id] = path

    def check_edges(self) -> None:
        """
        Note a problem for each invalid edge among those added since the last check.

        An edge is invalid if it closes a cycle, or joins a task with its ancestor.
        """
        closing = closing_edges(self.draft, self.unchecked)
        for edge, way in closing.items():
            self.refuse("cycle", *way, seen=" -> ".join(way), path=self.unchecked[edge])
        if self.draft.nested:
            self._refuse_within(closing)
        self.unchecked = {}

    def _refuse_within(self, closing: Collection[Edge]) -> None:
        """
        Note a problem for each edge between a task and its ancestor.

        Only edges that are new, or whose tasks have a new parent or ancestor, are checked.
        """
        found: dict[Edge, str] = {}
        looked: set[str] = set()
        for (start, end), path in self.unchecked.items():
            if (start, end) in closing:
                continue
            task = self.draft.get(end)
            if task is not None and task.parent == start:
                # The task has a new parent, and all its descendants moved with it. Each of them is
                # visited once, however many moves affected it.
                if end not in looked:
                    edges = edges_from_above(self.draft, end, ancestors(self.draft, end), looked)
                    found.update(dict.fromkeys(edges, path))
                continue
            for inner, outer in ((end, start), (start, end)):
                if self.draft.children(outer) and outer in ancestors(self.draft, inner):
                    found[inner, outer] = path
        for (inner, outer), path in found.items():
            self.refuse("edge_within", inner, outer, seen=inner, legal=outer, path=path)

    def refuse(
        self, code: str, *task_ids: str, seen: str = "", legal: str = "", path: str = ""
    ) -> None:
        """Add a problem to `problems`; a command with problems is refused."""
        self.problems.append(Problem(code, task_ids, seen, legal, path))

    def may_change(self, task: Task, path: str = "") -> bool:
        """
        Return True if the actor may change the status of a task; otherwise note a problem.

        While a task has a live claim, only an actor that has the claim's fencing token may do so.
        """
        claim = task.claim
        if claim is None or self.fences.get(task.id) == claim.fence or not claim.is_live(self.at):
            return True
        self.problems.append(claimed(task.id, claim, path))
        return False

    def find(self, task_id: str, path: str) -> Task | None:
        """Return the task; if there is none, note a problem and return `None`."""
        task = self.draft.get(task_id)
        if task is None:
            # The problem suggests ids of existing tasks. Tasks created by this command are not
            # suggested, because they will not exist once the command is refused. But if the command
            # has removed tasks, its later parts refer to the new tasks, and these are suggested.
            # No more problems than this are shown, so later ones repeat the last suggestion.
            if len(self.suggestions) < MOST_NAMED:
                new = {event.task.id for event in self.events if type(event) is events.TaskCreated}
                anew = any(type(event) in _REMOVING for event in self.events)
                ids = [task.id for task in self.draft if anew or task.id not in new]
                known, more = ", ".join(ids[:MOST_NAMED]), len(ids) - MOST_NAMED
                self.suggestions.append(f"{known} and {more} more" if more > 0 else known)
            legal = self.suggestions[-1]
            self.refuse("unknown_task", task_id, seen=task_id, legal=legal, path=path)
        return task


def claimed(task_id: str, claim: Claim, path: str = "") -> Problem:
    """
    Return the problem for a task that another actor has claimed.

    The problem names the owner of the claim and, if there is one, the time of its end.
    """
    until = "" if claim.until is None else f" until {claim.until.isoformat(timespec='seconds')}"
    return Problem("claimed", (task_id,), task_id, f"{claim.owner}{until}", path)


# -------- changes --------
# The small changes that commands consist of. Each does nothing if there is nothing to change.


_moved = fast_constructor(events.StatusChanged)


def edit(transaction: Transaction, task: Task, changes: dict[str, Any]) -> None:
    """Set these fields of the task, if there are any."""
    if changes:
        transaction.emit(events.TaskEdited(task.id, FrozenDict(changes), transaction.at))


def move(transaction: Transaction, task: Task, status: Status) -> None:
    """Change the status of the task, unless it has that status already."""
    if task.status is not status and (task.claim is None or transaction.may_change(task)):
        transaction.emit(_moved(task.id, task.status, status, transaction.at))


def remove(transaction: Transaction, task_id: str, path: str = "") -> None:
    """Delete a task, unless another actor has claimed it."""
    task = transaction.draft.get(task_id)
    if task is not None and (task.claim is None or transaction.may_change(task, path)):
        transaction.emit(events.TaskDeleted(task_id, transaction.at))


def still_to_come(waiting: Waiting | None, at: datetime | None) -> Waiting | None:
    """
    Return `None` if the wait ends at or before this time; otherwise return the wait.

    A wait that is over is not set. The next command would end it, and then writing the same list
    once more would set it again, although the same list must change nothing the second time.
    """
    over = waiting is not None and at is not None and waiting.until and waiting.until <= at
    return None if over else waiting


def wait(transaction: Transaction, task_id: str, waiting: Waiting | None) -> None:
    """
    Make a task wait for something outside the plan; `None` ends the wait of the task.

    A task in progress becomes pending. A closed task is refused.
    """
    task = transaction.draft.get(task_id)
    waiting = still_to_come(waiting, transaction.at)
    if task is None or task.waiting == waiting:
        return
    if task.status is Status.IN_PROGRESS:
        move(transaction, task, Status.PENDING)
    elif task.status is not Status.PENDING:
        transaction.refuse("cannot_wait", task_id, seen=task.status, path="waiting")
        return
    edit(transaction, task, {"waiting": waiting})


def reorder(transaction: Transaction, order: list[str]) -> None:
    """Put all tasks into this order, as far as the tree allows. Without a change, emit no event."""
    draft = transaction.draft
    now = [task.id for task in draft]
    if order == now:
        return
    if draft.nested:
        tasks = filter(None, map(draft.get, order))
        # The final order: writing the same list again must change nothing (law 8).
        order = [task.id for task in tree_order(tasks)]
    if order != now:
        transaction.emit(events.TasksReordered(tuple(order), transaction.at))


# -------- claims --------
# Claims: who may work on a task at present (law 19).
#
# Theory. A claim is a command that is decided like any other, and a store serializes the decisions
# about a plan. So a task has at most one claim, and there is only one definition of a ready task.
# The fencing token identifies an owner: it is a number that grows with every claim of the task. If
# a worker is paused beyond the end of its lease and then resumes, it has an old token, even if the
# present owner has the same name. No process watches leases: an expired claim is taken over by the
# next actor that claims the task, and the event names the actor who lost it. The time is that of
# the command, which a store takes from its clock.
#
# Known failures elsewhere: pgmq, Oban, River and Procrastinate let a late worker complete a task
# that another one is working on by then; Beads treated two processes of one name as one owner; in
# hermes-agent more than 100 workers claimed one task, one after the other, because nothing counted
# the attempts.


_claimed = fast_constructor(Claim)


def claim(transaction: Transaction, command: commands.ClaimTask) -> None:
    """
    Claim a task for the owner that the command names, and start the task.

    The task is the one that the command names, or else the next available one.
    """
    draft, at = transaction.draft, transaction.at
    if command.task_id is None:
        # Tasks with expired claims come first. All of them are found before one is given up, which
        # changes the task. The ready tasks are read one by one, because a plan may have many.
        lost = [task for task in draft.active() if task.claim and not task.claim.is_live(at)]
        lost = [task for task in lost if _is_free(draft, task)]
        for task in chain(lost, draft.ready()):
            if _fits(task, command) and _take(transaction, task, command):
                return
        return
    named = transaction.find(command.task_id, "task_id")
    if named is None or not transaction.may_change(named, "task_id"):
        return
    if _is_free(draft, named):
        _take(transaction, named, command)
        return
    # The task is closed, waiting or blocked, or has subtasks: the problem lists the ready tasks.
    ready = ", ".join(each.id for each in islice(draft.ready(), MOST_NAMED))
    transaction.refuse("not_claimable", named.id, seen=named.id, legal=ready, path="task_id")


def _is_free(draft: Draft, task: Task) -> bool:
    """
    Return True if a task can be worked on.

    It must be open and have no subtasks (law 18), and neither the task nor an ancestor may be
    blocked or waiting. A claimed task may have got subtasks since it was claimed.
    """
    return not (task.status.closed or draft.children(task.id) or draft.is_held(task.id))


def _fits(task: Task, command: commands.ClaimTask) -> bool:
    if task.owner is not None and task.owner != command.owner:
        return False  # an assignment never expires; Beads reassigned people's work 36 times a day
    if command.priority is not None and task.priority is not command.priority:
        return False
    tags = task.metadata.get("tags")
    return command.tag is None or (isinstance(tags, tuple) and command.tag in tags)


def _take(transaction: Transaction, task: Task, command: commands.ClaimTask) -> bool:
    """Claim a task, or give it up if no attempts are left; return whether it was claimed."""
    # A claim that is taken over counts as a failed attempt too.
    failed = task.failed_attempts + (task.claim is not None)
    if command.attempts is not None and failed >= command.attempts:
        _give_up(transaction, task, command)
        return False
    if task.status is not Status.IN_PROGRESS:
        move(transaction, task, Status.IN_PROGRESS)
    lost_by = None if task.claim is None else task.claim.owner
    taken = _claimed(command.owner, task.claims + 1, _end(transaction.at, command.lease))
    transaction.emit(events.TaskClaimed(task.id, taken, lost_by, transaction.at))
    return True


def _give_up(transaction: Transaction, task: Task, command: commands.ClaimTask) -> None:
    """Set a task that has no attempts left to failed, or assign it to `command.give_to`."""
    if command.give_to is None:
        if task.claim is not None:
            # Its worker has recorded nothing, because the process ended or was cut off.
            why = f"gave up after {task.failed_attempts + 1} attempts: {task.claim.owner} was lost"
            found = Evidence(passed=False, summary=why, by=command.owner, at=transaction.at)
            edit(transaction, task, {"evidence": found})
        move(transaction, task, Status.FAILED)
    else:
        if task.owner != command.give_to:
            edit(transaction, task, {"owner": command.give_to})
        if task.claim is not None:
            _release(transaction, task, task.claim)
        else:
            move(transaction, task, Status.PENDING)


def _end(at: datetime | None, lease: float) -> datetime | None:
    # If the time is unknown, the claim cannot expire: it ends when its owner releases it.
    if at is None:
        return None
    try:
        return at + timedelta(seconds=lease)
    except OverflowError:  # later than datetime.max: the claim does not expire
        return None


def renew(transaction: Transaction, command: commands.RenewClaim) -> None:
    """Extend a claim. A renewal that would end before the claim ends changes nothing."""
    task = transaction.find(command.task_id, "task_id")
    held = None if task is None else under(transaction, task, command.fence)
    until = _end(transaction.at, command.lease)
    if held is not None and until is not None and (held.until is None or held.until < until):
        transaction.emit(events.ClaimRenewed(command.task_id, until, transaction.at))


def release(transaction: Transaction, command: commands.ReleaseClaim) -> None:
    """
    Set a claimed task back to pending, which ends the claim.

    The event names the former owner, because the actor may be a person who takes the task from a
    worker that died.
    """
    task = transaction.find(command.task_id, "task_id")
    if task is not None and (held := under(transaction, task, command.fence)) is not None:
        _release(transaction, task, held)


def _release(transaction: Transaction, task: Task, claim: Claim) -> None:
    at = transaction.at
    transaction.emit(events.StatusChanged(task.id, task.status, Status.PENDING, at, claim.owner))


def under(transaction: Transaction, task: Task, fence: int) -> Claim | None:
    """
    Return the task's claim if `fence` is the claim's fencing token; otherwise note a problem.

    With the right token, the rest of the command may change the status of the task.
    """
    if task.claim is None or task.claim.fence != fence:
        owner = "nobody" if task.claim is None else task.claim.owner
        transaction.refuse("stale_fence", task.id, seen=str(fence), legal=owner, path="fence")
        return None
    transaction.fences = {**transaction.fences, task.id: fence}
    return task.claim


def restore(transaction: Transaction, command: commands.RestorePlan) -> None:
    """
    Restore the tasks of an earlier plan, with the claims adjusted to the present plan.

    No fencing token is given out twice, and no claim that has ended comes back. To restore a plan
    or undo a change, the actor needs the fencing token of each live claim that would end (law 19).
    Where the token is missing, a problem is noted.
    """
    if found := tuple(plan_problems(command.tasks, command.next_id)):
        transaction.problems += found
        return
    draft = transaction.draft
    tasks = tuple(_as_claimed(task, draft.get(task.id)) for task in command.tasks)
    claims = {task.id: task.claim for task in tasks}
    for task in draft.active():
        if task.claim is not None and claims.get(task.id) != task.claim:
            transaction.may_change(task)
    at, approved = transaction.at, command.approved
    transaction.emit(events.PlanRestored(tasks, command.next_id, at, approved))


def _as_claimed(task: Task, now: Task | None) -> Task:
    claims = max(task.claims, 0 if now is None else now.claims)
    if task.claim is None:
        return task if task.claims == claims else task.but(claims=claims)
    if now is not None and now.claim is not None and now.claims == task.claims:
        return task.but(claim=now.claim)
    return task.but(status=Status.PENDING, claim=None, claims=claims)


# -------- tasks --------
# Decide commands about single tasks: create, update, delete, move, start.


# Metadata is merged, and waiting depends on the status, so both are handled separately. Every other
# field of the command is set as given.
_SETTABLE = tuple(
    name
    for name in TASK_FIELDS
    if name in EDITABLE - {"metadata", "waiting"} and name in attrs.fields_dict(commands.UpdateTask)
)
_EDGES = ("remove_blocks", "remove_blocked_by", "add_blocks", "add_blocked_by")
_beside_status = attrgetter(*_SETTABLE, "parent", "metadata", *_EDGES)
_NOTHING = (*(UNSET for _ in _SETTABLE), UNSET, EMPTY, *(() for _ in _EDGES))
# After the id, the first fields of a task are those of CreateTask, in the same order.
_given_by = attrgetter(
    *(name for name in TASK_FIELDS if name in attrs.fields_dict(commands.CreateTask))
)
_Task = mutable_variant(Task)  # its class is set to Task once it is filled: see `fast_constructor`


def create(
    transaction: Transaction, items: Sequence[commands.CreateTask], *, single: bool = False
) -> None:
    """Add the tasks, then their edges. In an edge "#0" means the first of these tasks."""
    tasks: list[Task] = []
    ids: dict[str, str] = {}
    for index, item in enumerate(items):
        where = "" if single else f"tasks[{index}]."
        if not item.subject.strip():
            transaction.refuse("empty_text", path=where + "subject")
        # Law 6: ids come from the plan's counter, so the id of a deleted task is never used again.
        # AgentScope uses such ids again.
        made = _Task(str(transaction.draft.next_id), *_given_by(item))
        if item.blocks or item.blocked_by:
            # Each edge is a separate event, which sets both of its ends (law 4).
            made.blocks = made.blocked_by = ()
        if item.metadata is not EMPTY:
            made.metadata = _frozen(transaction, item.metadata, where + "metadata")
        if transaction.at is not None:
            _set_times(made, transaction.at)
        if item.parent is not None:
            made.parent = _parent(transaction, item.parent, ids, where + "parent")
        if item.waiting is not None and item.status is not Status.PENDING:
            transaction.refuse("cannot_wait", made.id, seen=item.status, path=where + "waiting")
            made.waiting = None
        elif item.waiting is not None:
            made.waiting = still_to_come(item.waiting, transaction.at)
        made.__class__ = Task
        tasks.append(made)
        ids[f"#{index}"] = made.id
        transaction.emit(_created(made))
    # Edges come last, so that an item can refer to a later one of the same command.
    for index, (item, task) in enumerate(zip(items, tasks, strict=True)):
        if not (item.blocks or item.blocked_by):
            continue
        for name, ends in (("blocked_by", item.blocked_by), ("blocks", item.blocks)):
            path = name if single else f"tasks[{index}].{name}"
            for end in dict.fromkeys(ends):
                other = ids.get(end) if end.startswith("#") else end
                if other is None:
                    legal = f"#0 to #{len(ids) - 1}"
                    transaction.refuse("unknown_reference", seen=end, legal=legal, path=path)
                elif name == "blocks":
                    transaction.link(task.id, other, path)
                else:
                    transaction.link(other, task.id, path)


def _parent(transaction: Transaction, named: str, ids: Mapping[str, str], path: str) -> str | None:
    """Return the id of the parent of a new task; `None` if there is no such task."""
    if not named.startswith("#"):
        return named if transaction.find(named, path) else None
    # A task that is created later in the same command cannot be the parent.
    if named not in ids:
        legal = f"#0 to #{len(ids) - 1}, or the id of a task" if ids else "the id of a task"
        transaction.refuse("unknown_reference", seen=named, legal=legal, path=path)
    return ids.get(named)


def _set_times(made: Any, at: datetime) -> None:
    """Set the times of a new task, which depend on its status."""
    made.created_at = made.updated_at = at
    if made.status is Status.IN_PROGRESS:
        made.started_at = at
    elif made.status is Status.COMPLETED:
        made.completed_at = at


def _frozen(transaction: Transaction, metadata: Mapping[str, Any], path: str) -> FrozenDict:
    try:
        return as_metadata(freeze(metadata))
    except PlanError:
        seen = f"over {LEVELS} levels"
        transaction.refuse("too_deep", seen=seen, legal=str(LEVELS), path=path)
        return EMPTY


def update(transaction: Transaction, command: commands.UpdateTask) -> None:
    """Change one task: its fields, removed edges, its parent, added edges, and its status."""
    task_id = command.task_id
    task = transaction.find(task_id, "task_id")
    if task is None:
        return
    if command.fence is not None and under(transaction, task, command.fence) is None:
        return
    # Most commands set only a status; one comparison detects this.
    given = _beside_status(command)
    if given != _NOTHING:
        if command.subject is not UNSET and not command.subject.strip():
            transaction.refuse("empty_text", task_id, path="subject")
        changes = {
            name: value
            for name, value in zip(_SETTABLE, given, strict=False)
            if value is not UNSET and value != getattr(task, name)
        }
        if command.metadata:
            # `None` in the command deletes its key; a `None` already in the task's metadata stays.
            merged = {**task.metadata, **_frozen(transaction, command.metadata, "metadata")}
            gone = {key for key, value in command.metadata.items() if value is None}
            kept = FrozenDict({key: value for key, value in merged.items() if key not in gone})
            if kept != task.metadata:
                changes["metadata"] = kept
        edit(transaction, task, changes)
        # Edges are removed first, so that one command can reverse an edge.
        for end in command.remove_blocks:
            transaction.unlink(task_id, end, "remove_blocks")
        for end in command.remove_blocked_by:
            transaction.unlink(end, task_id, "remove_blocked_by")
        if command.parent is not UNSET:
            transaction.nest(task, command.parent, "parent")
        for end in command.add_blocks:
            transaction.link(task_id, end, "add_blocks")
        for end in command.add_blocked_by:
            transaction.link(end, task_id, "add_blocked_by")
    if command.status is not UNSET:
        move(transaction, task, command.status)
    if command.waiting is not UNSET:
        wait(transaction, task_id, command.waiting)


def delete(transaction: Transaction, command: commands.DeleteTask) -> None:
    """
    Delete one task.

    For a task with subtasks, `children` says whether the command is refused, the subtasks move up,
    or the subtasks are deleted too.
    """
    task_id = command.task_id
    if transaction.find(task_id, "task_id") is None:
        return
    below = transaction.draft.children(task_id)
    if below and command.children == "refuse":
        transaction.refuse("has_children", task_id, *below, seen=str(len(below)), path="task_id")
        return
    gone = [task_id]
    if command.children == "remove":
        for inner in gone:  # the list grows during the loop
            gone += transaction.draft.children(inner)
    # The deepest tasks are deleted first, so that no task is moved up only to be deleted.
    for inner in reversed(gone):
        remove(transaction, inner, "task_id")


def place(transaction: Transaction, command: commands.MoveTask) -> None:
    """Put a task, with its subtasks, before or after another one, below the same parent."""
    task = transaction.find(command.task_id, "task_id")
    path = "after" if command.before is None else "before"
    beside = transaction.find(command.before or command.after or "", path)
    if task is None or beside is None or task is beside:
        return
    transaction.nest(task, beside.parent, path)
    order = [each.id for each in transaction.draft]
    order.remove(task.id)
    # "After a task" means after its subtasks too; the tree order ensures this.
    order.insert(order.index(beside.id) + (command.before is None), task.id)
    reorder(transaction, order)


def start_next(transaction: Transaction) -> None:
    """
    Start the first ready task, unless a task is in progress.

    If other sessions work on the plan too, a ready task that this session has listed or just
    created is preferred.
    """
    if transaction.draft.counts.in_progress:
        return
    # AgentScope 1.x does not look for a ready task: it starts the next one by index, even if that
    # one is completed.
    ready = transaction.draft.ready()
    base = transaction.base
    if base is None:
        task = next(ready, None)
    else:
        own = {task_id for task_id, _ in transaction.lines or ()}
        own |= {one.task.id for one in transaction.events if isinstance(one, events.TaskCreated)}
        task = min(
            ready, key=lambda one: one.id not in own and not base.has_listed(one.id), default=None
        )
    if task is not None:
        move(transaction, task, Status.IN_PROGRESS)


# -------- outside --------
# Commands about things outside the plan: answers, the end of waits, evidence, approval.


def answer(transaction: Transaction, command: commands.AnswerTask) -> None:
    """Store the answer in a waiting task, and end its wait."""
    task = transaction.find(command.task_id, "task_id")
    if task is None:
        return
    if task.waiting is None:
        asking = ", ".join(each.id for each in islice(transaction.draft.waiting(), MOST_NAMED))
        transaction.refuse("not_waiting", task.id, seen=task.id, legal=asking, path="task_id")
        return
    edit(transaction, task, {"waiting": None, "answer": command.answer})


def end_waits(transaction: Transaction) -> None:
    """End the waits whose end time is reached. `decide` does this for each command with a time."""
    for task in tuple(transaction.draft.waiting()):
        if still_to_come(task.waiting, transaction.at) is None:
            edit(transaction, task, {"waiting": None})


def record_evidence(transaction: Transaction, command: commands.RecordEvidence) -> None:
    """Store the result of a check in a task."""
    task = transaction.find(command.task_id, "task_id")
    if task is not None:
        by = transaction.actor if command.by is None else command.by
        found = Evidence(command.passed, command.summary, by, transaction.at)
        edit(transaction, task, {"evidence": found} if found != task.evidence else {})


def approve(transaction: Transaction, command: commands.ApprovePlan) -> None:
    """Record that an actor approves the plan as it is."""
    by = transaction.actor if command.by is None else command.by
    transaction.emit(events.PlanApproved(by, transaction.at))


# -------- whole_list --------
# Whole-list writes: apply a complete list to a plan, keeping the identity of unchanged tasks.
#
# Law 8: writing the same list twice gives no events the second time.
#
# Law 15: a model writes a list from memory. So the list is compared with the merge base, which is
# the plan as the session knows it (`Base`), and only the differences are applied to the present
# plan:
#
# - Each line is matched with a task of the merge base, by the text that the session last wrote or
#   read. A line without such a match is matched by text with the tasks of the present plan: tasks
#   that others created, or tasks of the session that others reworded. A line that matches none of
#   these is a new task.
# - A field is set if the line differs both from what the session knew and from the present plan.
#   The later write wins, and the reply names what was overwritten.
# - A task without a line is removed only if this session has listed it and nobody else has changed
#   it since.
# - A task that others removed stays removed, whatever its line says.
# - Tasks that others added stay, each after the task that it followed. The list's order counts
#   only if it differs from that of the base.
#
# If a session works alone, all of this has a simple result: the list becomes the plan.
#
# Comparable libraries treat every list as the complete truth: a task that a person added between
# two turns was removed by the next write of a model that had never seen it.


_SHARED = tuple(field.name for field in attrs.fields(Todo) if field.name in EDITABLE - {"waiting"})
_ROUNDS = 2  # two rounds were enough for every generated test case


def write(transaction: Transaction, command: commands.WriteTodos) -> None:
    """
    Make the plan equal to the list. If there is a merge base, compare the list with the base, and
    apply only the differences to the current plan.
    """
    ids: set[str] = set()
    for index, todo in enumerate(command.todos):
        if not todo.content.strip():
            transaction.refuse("empty_text", path=f"todos[{index}].content")
        if todo.waiting is not None and todo.status not in {None, Status.PENDING}:
            path = f"todos[{index}].status"
            transaction.refuse("cannot_wait", seen=todo.status or "", path=path)
        if todo.id is not None:
            if todo.id in ids:
                transaction.refuse("duplicate_id", todo.id, seen=todo.id, path=f"todos[{index}].id")
            ids.add(todo.id)
    if transaction.base is None:
        _write_whole(transaction, command.todos)
    else:
        _write_from(transaction.base, transaction, command.todos)


def _write_whole(transaction: Transaction, todos: Sequence[Todo]) -> None:
    """
    Make the plan equal to the list: remove missing tasks, then edit, add and reorder the others.
    """
    meant = match(transaction.draft, todos)
    # An indented list defines its own tree, and the plan gets the list's order.
    if transaction.draft.nested and all(todo.level is None for todo in todos):
        meant = _in_tree(transaction.draft, todos, meant)
    kept = {task.id for task in meant if task is not None}
    gone = [task.id for task in transaction.draft if task.id not in kept]
    # If no task stays, one event clears the plan, instead of an event for each task.
    if gone and not kept:
        _clear(transaction)
    else:
        for task_id in gone:
            remove(transaction, task_id)
    for todo, task in zip(todos, meant, strict=True):
        if task is None:
            continue
        # The fields of `_SHARED`, spelled out for speed because most lines change nothing. A new
        # field must be added here too.
        if todo.content != task.subject or todo.active_form is not None or todo.priority:
            edit(transaction, task, _line_changes(todo, task))
        if todo.status is not None and todo.status is not task.status:
            move(transaction, task, todo.status)
        if todo.waiting is not None and task.waiting is None:
            wait(transaction, task.id, todo.waiting)
    order = [task.id if task else "" for task in meant]
    _create(transaction, todos, order)
    _nest(transaction, todos, order)
    reorder(transaction, order)


def _in_tree(draft: Draft, todos: Sequence[Todo], meant: list[Task | None]) -> list[Task | None]:
    """
    Return the task for each line, so that writing the same list again changes nothing (law 8).

    `meant` are the tasks that `match` found. Equal lines are matched with equal tasks in plan
    order. In a plan with subtasks, the plan order may differ from the order of the list. So the
    first of two equal lines could match a different task the next time.
    """
    if len({normalised(todo.content) for todo in todos}) == len(todos):
        return meant
    for _ in range(_ROUNDS):
        # The tasks as they will be, with the texts of their lines. A new line has a placeholder.
        lines = [
            (task or Task(f"+{place}", "")).but(subject=todo.content)
            for place, (todo, task) in enumerate(zip(todos, meant, strict=True))
        ]
        kept = {task.id: task for task in lines}
        # The parents of the tasks as they will be: the subtasks of a deleted task move up.
        lifted = [
            task.but(parent=next((a for a in ancestors(draft, task.id) if a in kept), None))
            for task in lines
        ]
        again = match([kept[task.id] for task in tree_order(lifted)], todos)
        meant = [draft.get(task.id) if task is not None else None for task in again]
    return meant


def _nest(
    transaction: Transaction, todos: Sequence[Todo], ids: Sequence[str], base: Base | None = None
) -> None:
    """
    Put the task of each indented line below the task of the nearest line above with less indent.

    A task is not moved if its line gives it the parent that it has in `base`: others may have moved
    the task since.
    """
    # If any line has a level, lines without a level are at the top level.
    if [todo.level for todo in todos].count(None) == len(todos):
        return
    above: list[tuple[int, str]] = []
    for index, (todo, task_id) in enumerate(zip(todos, ids, strict=True)):
        level = todo.level or 0
        while above and above[-1][0] >= level:
            above.pop()
        parent = above[-1][1] if above else None
        above.append((level, task_id))
        task = transaction.draft.get(task_id)
        if base is not None and (known := base.get(task_id)) is not None and known.parent == parent:
            continue
        if task is not None and task.parent != parent:
            transaction.nest(task, parent, f"todos[{index}]")


def _line_changes(todo: Todo, task: Task) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if todo.content != task.subject:
        changes["subject"] = todo.content
    for name in _SHARED:
        given = getattr(todo, name)
        if given is not None and given != getattr(task, name):  # None means not given
            changes[name] = given
    return changes


def _create(transaction: Transaction, todos: Sequence[Todo], order: list[str]) -> None:
    """Create the tasks of the new lines, and put their ids into `order` in place of ""."""
    if "" not in order:
        return
    numbers = _new_ids(transaction.draft.next_id, todos, order)
    tasks: list[Task] = []
    for index in sorted(numbers, key=numbers.__getitem__):
        order[index] = str(numbers[index])
        todo = todos[index]
        made = _Task(
            id=order[index],
            subject=todo.content,
            status=todo.status or Status.PENDING,
            active_form=todo.active_form,
            priority=todo.priority,
            waiting=still_to_come(todo.waiting, transaction.at) if todo.waiting else None,
        )
        if transaction.at is not None:
            _set_times(made, transaction.at)
        made.__class__ = Task
        tasks.append(made)
    transaction.create(tasks)


def _new_ids(start: int, todos: Sequence[Todo], order: Sequence[str]) -> dict[int, int]:
    """
    Return the number for each new line's task, by the index of the line.

    Some models number their lines. A line keeps its number if no task has ever had this number, and
    if the number is less than the next id plus the length of the list. So the numbers mean the same
    tasks when the model writes the list again.
    """
    fresh = [index for index, task_id in enumerate(order) if not task_id]
    if not any(todo.id for todo in todos):
        return dict(zip(fresh, count(start), strict=False))
    own = [number_of(todo.id or "") for todo in todos]
    kept = {index: own[index] for index in fresh if start <= own[index] < start + len(todos)}
    # A number that a line names is not given to another task. Otherwise that line would match the
    # other task when the list is written again.
    written = set(own)
    last = max(kept.values(), default=start - 1)
    after = (number for number in count(last + 1) if number not in written)
    return {index: kept[index] if index in kept else next(after) for index in fresh}


def _write_from(base: Base, transaction: Transaction, todos: Sequence[Todo]) -> None:
    draft = transaction.draft
    before = [task.id for task in draft]
    lines = _lines(base, draft, todos)
    named = {known.id for _, known in lines if known is not None}
    for task in [task for task in draft if task.id not in named and base.may_drop(task)]:
        remove(transaction, task.id)
    dead: list[tuple[str, Todo]] = []
    written: list[Todo] = []
    order: list[str] = []
    for todo, known in lines:
        now = None if known is None else draft.get(known.id)
        if known is not None and now is None:
            dead.append((known.id, todo))
            continue
        written.append(todo)
        order.append("" if known is None else known.id)
        if known is not None and now is not None:
            changes = _line_changes(todo, known)
            edit(transaction, now, {n: v for n, v in changes.items() if v != getattr(now, n)})
            status = todo.status
            if status is not None and status is not known.status and base.may_reopen(now):
                move(transaction, now, status)
            if todo.waiting is not None and known.waiting is None:
                wait(transaction, now.id, todo.waiting)
    old = [task_id for task_id in order if task_id]
    _create(transaction, written, order)
    _nest(transaction, written, order, base)
    kept = [task_id for task_id in before if draft.get(task_id) is not None]
    lines_before = [task.id for task in base.tasks()]
    if base.order:
        lines_before = _woven(base.order, lines_before)
    mentioned = {*old}
    if old == [task_id for task_id in lines_before if task_id in mentioned]:
        final = _woven(kept, order)
    else:
        final = _woven(order, kept)
    reorder(transaction, final)
    transaction.lines = (*zip(order, written, strict=True), *dead)


def _lines(base: Base, draft: Draft, todos: Sequence[Todo]) -> list[tuple[Todo, Task | None]]:
    """
    Return each todo with the task that the todo means, as the session knows that task.

    For a new task, the todo is returned with `None`.
    """
    meant = match(base.tasks(), [_as_meant(base, todo) for todo in todos])
    fresh = [todo for todo, task in zip(todos, meant, strict=True) if task is None]
    if not fresh:
        return list(zip(todos, meant, strict=True))
    taken = {task.id for task in meant if task is not None}
    rest = [task for task in draft if task.id not in taken]
    # Ids are ignored here: the session's numbers refer to its own list or to the base.
    others = iter(match(rest, [attrs.evolve(todo, id=None) for todo in fresh]))
    lines: list[tuple[Todo, Task | None]] = []
    for todo, task in zip(todos, meant, strict=True):
        known = task
        if known is None and (found := next(others)) is not None:
            own = base.get(found.id)
            # If the session has not seen the task, everything in the line is a change. If others
            # reworded a task of the session, the line shows that the session has accepted the new
            # words.
            known = Task(found.id, todo.content) if own is None else own.but(subject=found.subject)
        lines.append((todo, known))
    return lines


def _as_meant(base: Base, todo: Todo) -> Todo:
    """
    Return the line, without its id if the id is probably the model's own numbering.

    This is so if the session has not listed this id, and knows no task with both this id and this
    text.
    """
    if todo.id is None or base.has_listed(todo.id):
        return todo
    task = base.get(todo.id)
    is_same = task is not None and normalised(task.subject) == normalised(todo.content)
    return todo if is_same else attrs.evolve(todo, id=None)


def _woven(order: Sequence[str], rest: Sequence[str]) -> list[str]:
    """
    Return `order` with the other ids of `rest` inserted.

    Each of them is inserted after the id of `order` that precedes it in `rest`.
    """
    placed = set(order)
    following: dict[str, list[str]] = {}
    last = ""
    for task_id in rest:
        if task_id in placed:
            last = task_id
        else:
            following.setdefault(last, []).append(task_id)
    woven = following.get("", [])
    for task_id in order:
        woven += (task_id, *following.get(task_id, ()))
    return woven


def clear(transaction: Transaction) -> None:
    """
    Remove every task except those that others have added or changed since the merge base.

    An empty plan is left unchanged.
    """
    if transaction.base is not None:
        _write_from(transaction.base, transaction, ())
    elif len(transaction.draft):
        _clear(transaction)


def _clear(transaction: Transaction) -> None:
    tasks = tuple(transaction.draft)
    # A list instead of any(), so that every claimed task is reported.
    refused = [task for task in tasks if not transaction.may_change(task)]
    if not refused:
        transaction.emit(events.PlanCleared(tuple(task.id for task in tasks), transaction.at))


# -------- assembly --------
# Build a plan from existing tasks, for codecs, imports and seeds. Invalid tasks are refused as a
# whole.


def plan_of(
    tasks: Iterable[Task],
    *,
    next_id: int = 1,
    revision: int = 0,
    approved: Approval | None = None,
) -> Plan:
    """
    Return the plan with these tasks in this order. Subtasks are moved directly after their parent.

    `next_id` is raised above every id in use; no id may exceed 10**15.

    Raises:
        PlanError: the tasks do not form a plan; `data["problems"]` holds every problem.
    """
    kept = tuple_of(tasks, Task, "tasks, such as [Task('1', 'Write it')]")
    next_id, revision = as_whole_number(next_id), as_whole_number(revision, 0)
    problems = tuple(plan_problems(kept, next_id))
    if problems:
        named = [
            f"{p.code} {', '.join(p.task_ids[:MOST_NAMED])} ({p.seen})"
            for p in problems[:MOST_NAMED]
        ]
        more = f" and {len(problems) - MOST_NAMED} more" if len(problems) > MOST_NAMED else ""
        listed = "; ".join(named) + more
        msg = f"these tasks are not a valid plan: {listed}. Repair them, or create them by commands"
        raise PlanError(msg, problems=problems)
    draft = Draft(Plan())
    draft.next_id, draft.revision, draft.approved = next_id, revision, approved
    draft.replace(kept)
    return draft.freeze()


def mirrored(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks with each edge at both of its ends, where other systems have only one."""
    # Dicts keep the order of edges, and have no duplicates.
    blocks = {task.id: dict.fromkeys(task.blocks) for task in tasks}
    blocked_by = {task.id: dict.fromkeys(task.blocked_by) for task in tasks}
    for task in tasks:
        for end in task.blocks:
            blocked_by.get(end, {})[task.id] = None
        for end in task.blocked_by:
            blocks.get(end, {})[task.id] = None
    return tuple(
        task.but(blocks=tuple(blocks[task.id]), blocked_by=tuple(blocked_by[task.id]))
        for task in tasks
    )


def plan_problems(tasks: tuple[Task, ...], next_id: int = 1) -> Iterator[Problem]:
    """
    Yield each problem that prevents these tasks and this next id from forming a plan.

    The ids, texts, waits, claims, parents, edges and cycles are checked.
    """
    if next_id > LARGEST_GIVEN:
        yield Problem("bad_id", seen=f"the next id is over {LARGEST_GIVEN}")
    known: dict[str, Task] = {}
    for task in tasks:
        if not 0 < number_of(task.id) <= LARGEST_GIVEN:
            yield Problem("bad_id", (task.id,), seen="an id is a number like 7, as a string")
        # pydantic-ai-todo accepts two tasks with one id; an update then reaches only the first.
        if task.id in known:
            yield Problem("duplicate_id", (task.id,), seen="the id stands twice")
        if not task.subject.strip():
            yield Problem("empty_text", (task.id,), seen="no subject")
        if task.waiting is not None and task.status is not Status.PENDING:
            yield Problem("cannot_wait", (task.id,), seen=task.status)
        # Law 19: the count of claims is the highest fencing token given out so far.
        if task.claim is not None and (
            task.status is not Status.IN_PROGRESS or task.claim.fence > task.claims
        ):
            yield Problem("not_claimable", (task.id,), seen=task.id)
        known[task.id] = task
    nested = [task for task in tasks if task.parent is not None]
    yield from _edge_problems(tasks, known, nested)


def _edge_problems(
    tasks: tuple[Task, ...], known: dict[str, Task], nested: list[Task]
) -> Iterator[Problem]:
    blocking = {(task.id, end) for task in tasks for end in task.blocks}
    waiting = {(end, task.id) for task in tasks for end in task.blocked_by}
    # In most documents all edges are mirrored and lead from a task to a later one; then no walk is
    # needed.
    if blocking == waiting and not nested and _lead_onwards(blocking, tasks):
        return
    broken: list[Problem] = []
    for task in tasks:
        for name, ends in (("blocks", task.blocks), ("blocked_by", task.blocked_by)):
            if len(set(ends)) != len(ends):
                seen = f"an id stands twice in {name}"
                broken.append(Problem("duplicate_edge", (task.id,), seen=seen))
            if task.id in ends:
                broken.append(
                    Problem("self_edge", (task.id,), seen=f"{name} names the task itself")
                )
            broken += [
                Problem("unknown_task", (task.id, end), seen=f"{name} names no task")
                for end in ends
                if end not in known
            ]
    broken += _one_sided(blocking - waiting, known, "blocked_by")
    turned = {(blocked, blocker) for blocker, blocked in waiting - blocking}
    broken += _one_sided(turned, known, "blocks")
    broken += [
        Problem("unknown_task", (task.id, task.parent or ""), seen="the parent is no task")
        for task in nested
        if task.parent not in known
    ]
    yield from broken
    if not broken:
        # Checked last, because the sort requires mirrored edges.
        in_order = set(topological_order(known.values()))
        rest = tuple(task_id for task_id in known if task_id not in in_order)
        if rest:
            yield Problem("cycle", rest, seen="these tasks wait for each other")
        elif nested:
            draft = Draft(Plan())
            draft.replace(tasks)
            looked: set[str] = set()
            # An edge in the other direction, from descendant to ancestor, would be a cycle.
            for task in tasks:
                if task.parent is None:
                    for inner, outer in edges_from_above(draft, task.id, (), looked):
                        yield Problem("edge_within", (inner, outer), seen=inner, legal=outer)


def _lead_onwards(edges: set[tuple[str, str]], tasks: tuple[Task, ...]) -> bool:
    """
    Return True if these mirrored edges are seen to be valid without a walk through the graph.

    This is so if each edge occurs once and leads from a task to a later one.
    """
    # An end that is no task has position -1: the full check then reports it.
    place = {task.id: number for number, task in enumerate(tasks)}
    return len(edges) == sum(len(task.blocks) for task in tasks) == sum(
        len(task.blocked_by) for task in tasks
    ) and all(place[start] < place.get(end, -1) for start, end in edges)


def _one_sided(
    edges: set[tuple[str, str]], known: dict[str, Task], mirror: str
) -> Iterator[Problem]:
    # Sorted, because the order of a set of strings differs between processes.
    for task_id, end in sorted(edges):
        if end in known and end != task_id:
            yield Problem("one_sided_edge", (task_id, end), seen=f"{mirror} does not mirror it")


# -------- decide --------
# Decide a command: return events, or problems. Pure: no clock, no I/O; ids come from the plan's
# counter.
#
# Theory. A command runs in a transaction: each step takes effect at once, on a draft, so that the
# next step sees it. Every mistake is noted and the run continues. Some inputs can never form a
# valid plan (a cycle, an unknown id, an empty text); they are refused under every policy. Any other
# result is shown to the policy as one change from the old plan to the new one: a batch is judged by
# its result, not by its steps.
#
# Law: replaying the events of an accepted command gives the new plan, and this plan satisfies the
# policy. A rejected command changes nothing, and all its problems are reported, not only the first.


@attrs.frozen(weakref_slot=False)
class Accepted:
    """The command is accepted; `plan` is the new plan, or the old one if there are no events."""

    plan: Plan
    events: tuple[Event, ...]
    warnings: tuple[Problem, ...] = ()

    def unwrap(self) -> Plan:
        """Return the plan."""
        return self.plan


@attrs.frozen
class Rejected:
    """The command is refused because of these problems; the plan is unchanged."""

    problems: tuple[Problem, ...]

    @property
    def text(self) -> str:
        """All problems as sentences for people: what was seen, and what to do."""
        return " ".join(explain_all(self.problems))

    def unwrap(self) -> NoReturn:
        """
        Raise the problems as an exception, for programs that expect no mistakes in their commands.

        Raises:
            PlanError: always; `data["problems"]` holds the problems.
        """
        raise PlanError(self.text, problems=self.problems)


Decision = Accepted | Rejected
_accepted = fast_constructor(Accepted)


def decide(  # noqa: PLR0913 - a command and its context
    plan: Plan,
    command: Command,
    policy: Policy = DEFAULT,
    *,
    at: datetime | None = None,
    base: Base | Plan | None = None,
    actor: str | None = None,
    fences: Mapping[str, int] = _NO_FENCES,
) -> Decision:
    """
    Return the decision on a command for a plan under a policy.

    `at` is the time of the command: an aware time, or `None` if unknown. Times are stored in UTC,
    whatever the time zone of `at`. Waits that end at or before `at` are ended first. `base` is the
    merge base, which is the session's knowledge of the plan: of a whole list, only the differences
    from it are applied (law 15). If a plan is passed as `base`, the session counts as having listed
    all tasks of that plan. `actor` is the author of the command, for rules and for fields that name
    an author. `fences` maps task ids to the fencing tokens that the actor has (law 19).

    Raises:
        PlanError: `at` has no time zone, or an argument is not a plan, command or policy.
    """
    return decide_with_change(plan, command, policy, at, base, actor, fences)[0]


def decide_with_change(  # noqa: PLR0913, PLR0917 - as `decide`; every call passes here
    plan: Plan,
    command: Command,
    policy: Policy,
    at: datetime | None,
    base: Base | Plan | None = None,
    actor: str | None = None,
    fences: Mapping[str, int] = _NO_FENCES,
) -> tuple[Decision, Change]:
    """
    Return the decision, and the change that was judged, for callers that describe the change.

    Raises:
        PlanError: see `decide`.
    """
    # Exact types take one comparison; anything else is checked in detail.
    if type(plan) is not Plan or type(policy) is not Policy:
        _check_arguments(plan, policy)
    if at is not None and at.tzinfo is not UTC:
        at = in_utc(at)
    if base is not None:
        if not isinstance(base, Base):
            base = Base(instance_of(base, Plan, "a Base or a plan as base=, such as base=plan"))
        # If the session works alone and has seen the plan as it is, the list replaces the plan.
        if base.is_alone and (base.plan is plan or base.plan == plan):
            base = None
    transaction = Transaction(Draft(plan), at, base, actor, fences)
    if transaction.draft.has_waiting:
        end_waits(transaction)
    _run(transaction, command)
    if transaction.unchecked:
        transaction.check_edges()
    if transaction.problems:
        return Rejected(tuple(transaction.problems)), Change(plan, plan, command, ())
    done = tuple(transaction.events)
    after = transaction.draft.freeze() if done else plan
    change = Change(plan, after, command, done, policy.limits, actor, transaction.lines)
    refused, warnings = judge(policy, change)
    if refused:
        return Rejected(refused), change
    return _accepted(after, done, warnings), change


def _check_arguments(plan: object, policy: object) -> None:
    instance_of(plan, Plan, "a plan: decide(plan, command, policy)")
    if not isinstance(policy, Policy):
        name = policy.lower().replace("_", "-") if isinstance(policy, str) else ""
        preset = repr(PRESETS.get(name, DEFAULT))
        msg = f"{short_repr(policy)} is no policy; give one, such as todoplan.{preset}"
        raise PlanError(msg, seen=policy)


def _run(transaction: Transaction, command: Command) -> None:
    # The most frequent command comes first. The last branch is for values that are not commands; a
    # type checker verifies that no command reaches it.
    match command:
        case commands.UpdateTask():
            update(transaction, command)
        case commands.CreateTask():
            create(transaction, (command,), single=True)
        case commands.CreateTasks(items):
            create(transaction, items)
        case commands.DeleteTask():
            delete(transaction, command)
        case commands.MoveTask():
            place(transaction, command)
        case commands.WriteTodos():
            write(transaction, command)
        case commands.StartNext():
            start_next(transaction)
        case commands.ClearPlan():
            clear(transaction)
        case commands.ClaimTask():
            claim(transaction, command)
        case commands.RenewClaim():
            renew(transaction, command)
        case commands.ReleaseClaim():
            release(transaction, command)
        case commands.AnswerTask():
            answer(transaction, command)
        case commands.RecordEvidence():
            record_evidence(transaction, command)
        case commands.ApprovePlan():
            approve(transaction, command)
        case commands.RestorePlan():
            restore(transaction, command)
        case commands.Batch(parts):
            for part in parts:
                _run(transaction, part)
        case _ as unreachable:
            _refuse(unreachable)


def _refuse(command: Never) -> NoReturn:
    msg = f"{short_repr(command)} is no command; give one, such as commands.CreateTask('a')"
    raise PlanError(msg, seen=command)
