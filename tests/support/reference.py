"""
A naive reference model of the plan, written from the design and not from the code.

Plain dicts and lists; a step copies everything, and every question is answered by looking at
everything. Of the package it knows only the value classes.
"""

import copy
import re
from collections import Counter

from support.reference_plan import PLAIN, Model, as_dict
from support.reference_rules import RULES, plain

from todoplan.core.commands import (
    UNSET,
    Batch,
    ClearPlan,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.frozen import thaw


class Step:
    """
    One command on a copy of the model, with what a rule may ask about it.
    """

    def __init__(self, before, command, at=None):
        self.before, self.command, self.at = before, command, at
        self.after = copy.deepcopy(before)
        self.commands = list(_flat(command))
        self.faults = Counter()
        self.moves, self.written, self.linked, self.removed = [], [], [], []
        self.changed = False
        for part in self.commands:
            self._do(part)

    def _do(self, part):  # noqa: C901 - one branch a command
        match part:
            case CreateTask():
                self._create([part])
            case CreateTasks(items):
                self._create(items)
            case UpdateTask():
                self._update(part)
            case DeleteTask(task_id):
                if self._known(task_id):
                    self._delete(task_id)
            case WriteTodos(todos):
                self._write(todos)
            case StartNext():
                if self.after.ready() and not self.after.active():
                    self._set(self.after.ready()[0], "in_progress")
            case ClearPlan():
                for task_id in self.after.ids():
                    self._delete(task_id)
            case RestorePlan(tasks, next_id):
                self._restore(tasks, next_id)

    def _known(self, task_id):
        known = task_id in self.after.ids()
        self.faults["unknown_task"] += not known
        return known

    def _touch(self, task_id):
        self.changed = True
        task = self.after.task(task_id)
        task["updated_at"] = self.at or task["updated_at"]

    def _new(self, subject, status, **fields):
        task = dict.fromkeys(PLAIN) | {"id": str(self.after.next_id), "subject": subject}
        task |= {"description": "", "metadata": {}, "status": str(status)} | fields
        task |= {"created_at": self.at, "updated_at": self.at}
        task["started_at"] = self.at if status == "in_progress" else None
        task["completed_at"] = self.at if status == "completed" else None
        self.after.tasks.append(task)
        self.after.next_id += 1
        self.written.append(task["id"])
        self.changed = True
        return task["id"]

    def _create(self, items):
        ids = []
        for item in items:
            self.faults["empty_text"] += not item.subject.strip()
            fields = {name: getattr(item, name) for name in PLAIN[1:]}
            ids.append(self._new(item.subject, item.status, metadata=thaw(item.metadata), **fields))
        for mine, item in zip(ids, items, strict=True):
            for end in item.blocked_by:
                self._edge(self._named(end, ids), mine)
            for end in item.blocks:
                self._edge(mine, self._named(end, ids))

    def _named(self, end, ids):
        if not end.startswith("#"):
            return end
        local = {f"#{place}": task_id for place, task_id in enumerate(ids)}
        self.faults["unknown_reference"] += end not in local
        return local.get(end)

    def _edge(self, blocker, blocked):
        if blocker is None or blocked is None:
            return
        if blocker == blocked:
            self.faults["self_edge"] += 1
        elif self._known(blocker) & self._known(blocked):
            if (blocker, blocked) in self.after.edges:
                return
            if self.after.reaches(blocked, blocker):
                self.faults["cycle"] += 1
                return
            self.after.edges.append((blocker, blocked))
            self.linked.append(blocked)
            self._touch(blocker)
            self._touch(blocked)

    def _unedge(self, blocker, blocked):
        if self._known(blocker) & self._known(blocked) and (blocker, blocked) in self.after.edges:
            self.after.edges.remove((blocker, blocked))
            self._touch(blocker)
            self._touch(blocked)

    def _edit(self, task_id, **changes):
        task = self.after.task(task_id)
        if any(task[name] != value for name, value in changes.items()):
            task.update(changes)
            self.written.append(task_id)
            self._touch(task_id)

    def _set(self, task_id, status):
        task = self.after.task(task_id)
        if task["status"] == status:
            return
        self.moves.append((task_id, task["status"], str(status)))
        task["status"] = str(status)
        if status == "in_progress":
            task["started_at"] = task["started_at"] or self.at
        task["completed_at"] = self.at if status == "completed" else None
        self._touch(task_id)

    def _update(self, part):
        me = part.task_id
        if not self._known(me):
            return
        given = {n: getattr(part, n) for n in PLAIN if getattr(part, n) is not UNSET}
        self.faults["empty_text"] += not given.get("subject", "x").strip()
        metadata = dict(self.after.task(me)["metadata"])
        for key, value in thaw(part.metadata).items():
            metadata[key] = value
            if value is None:
                del metadata[key]
        self._edit(me, metadata=metadata, **given)
        for ends, act, forward in (
            (part.remove_blocks, self._unedge, True),
            (part.remove_blocked_by, self._unedge, False),
            (part.add_blocks, self._edge, True),
            (part.add_blocked_by, self._edge, False),
        ):
            for end in ends:
                act(*((me, end) if forward else (end, me)))
        if part.status is not UNSET:
            self._set(me, part.status)

    def _delete(self, task_id):
        for blocker, blocked in list(self.after.edges):
            if task_id in (blocker, blocked):
                self.after.edges.remove((blocker, blocked))
                self._touch(blocked if blocker == task_id else blocker)
        self.after.tasks.remove(self.after.task(task_id))
        self.removed.append(task_id)
        self.changed = True

    def _write(self, todos):
        ids = [todo.id for todo in todos if todo.id is not None]
        self.faults["duplicate_id"] += len(ids) - len(set(ids))
        self.faults["empty_text"] += sum(not todo.content.strip() for todo in todos)
        meant = self._meant(todos)
        if not any(meant):  # all at once: nobody is left whose edges could be touched
            self.changed |= bool(self.after.tasks)
            self.removed += self.after.ids()
            self.after.tasks, self.after.edges = [], []
        for task_id in self.after.ids():
            if task_id not in meant:
                self._delete(task_id)
        for todo, old in zip(todos, meant, strict=True):
            if old is not None:
                self._put(todo, old)
        order = [*meant]
        for task_id, place in sorted(self._numbers(todos, meant)):
            self.after.next_id = task_id
            order[place] = self._put(todos[place], None)
        self.changed |= order != self.after.ids()
        self.after.tasks.sort(key=lambda task: order.index(task["id"]))

    def _meant(self, todos):
        left, meant = self.after.ids(), [None] * len(todos)
        for same in (
            lambda todo, task: todo.id == task["id"],
            lambda todo, task: todo.content == task["subject"],
            lambda todo, task: plain(todo.content) == plain(task["subject"]),
        ):
            for place, todo in enumerate(todos):
                alike = [i for i in left if same(todo, self.after.task(i))]
                if meant[place] is None and alike:
                    meant[place] = alike[0]
                    left.remove(alike[0])
        return meant

    def _numbers(self, todos, meant):
        """
        Yield new ids with their places: a line's own number if unused and near, else the next.
        """
        start = self.after.next_id
        near = [str(number) for number in range(start, start + len(todos))]
        new = [place for place, old in enumerate(meant) if old is None]
        taken = [int(todos[place].id) for place in new if todos[place].id in near]
        number = max([start - 1, *taken])
        for place in new:
            if todos[place].id in near:
                yield int(todos[place].id), place
            else:
                number += 1
                while str(number) in [todo.id for todo in todos]:
                    number += 1
                yield number, place

    def _put(self, todo, old):
        if old is None:
            fields = {"active_form": todo.active_form, "priority": todo.priority}
            return self._new(todo.content, todo.status, **fields)
        given = {"active_form": todo.active_form, "priority": todo.priority}
        given = {name: value for name, value in given.items() if value is not None}
        self._edit(old, subject=todo.content, **given)
        self._set(old, todo.status)
        return old

    def _restore(self, tasks, next_id):
        ids = [task.id for task in tasks]
        pairs = [(a, task.id) for task in tasks for a in task.blocked_by]
        mirror = [(task.id, b) for task in tasks for b in task.blocks]
        broken = sorted(pairs) != sorted(mirror) or len(set(pairs)) < len(pairs)
        broken |= any(a == b or a not in ids or b not in ids for a, b in pairs)
        broken |= len(set(ids)) < len(ids) or not all(
            re.fullmatch("[1-9][0-9]{0,17}", i) for i in ids
        )
        broken |= not all(task.subject.strip() for task in tasks)
        restored = Model()
        restored.tasks = [as_dict(task) for task in tasks]
        restored.edges = pairs
        restored.next_id = max(
            [self.after.next_id, next_id, *(int(i) + 1 for i in ids if i.isdecimal())]
        )
        if broken or restored.has_cycle():
            self.faults["no_plan"] += 1
        else:
            self.after, self.changed = restored, True

    def writes(self):
        return [part for part in self.commands if isinstance(part, WriteTodos)]

    def problems(self, severities, limits):
        """
        Return what is wrong: structural faults, or else the names of the rules broken at `error`.
        """
        faults = {code for code, times in self.faults.items() if times}
        return faults or {
            name
            for name, level in severities.items()
            if level == "error" and self.breaks(name, limits)
        }

    def breaks(self, name, limits):
        return RULES[name](self, limits)


def _flat(command):
    for part in command.commands if isinstance(command, Batch) else ():
        yield from _flat(part)
    if not isinstance(command, Batch):
        yield command
