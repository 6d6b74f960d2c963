"""
Commands near a rule: they vary the values that the rule reads, and leave other values at their
defaults.

The code of a check or a law shows what it reads: the task fields and statuses that it names, and
the texts and numbers in it. The user's functions that it calls are searched too. So a rule that
compares `task.metadata.get("risk")` with "high" is tested with and without this key and value, and
a rule with a limit of 3 is tested with plans of 3, 4 and 5 tasks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import pairwise
from types import CodeType, FunctionType, MethodType
from typing import Any

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.commands import (
    ApprovePlan,
    Batch,
    ClaimTask,
    Command,
    CreateTask,
    CreateTasks,
    RecordEvidence,
    UpdateTask,
)
from todoplan.core.plan.model import TASK_FIELDS, FieldKind, Status
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import Rule
from todoplan.testing.strategies.command import (
    CHANGES,
    containers,
    delete,
    fence_of,
    link,
    nest,
    one,
    rewritten,
    sensible_commands,
    unlink,
)

_PEOPLE = ("ann", "bob")
# Keys, words and names; not the sentences of notes and docstrings.
_WORD = re.compile(r"[\w.:/-]{1,24}")
_NOISE = frozenset(attrs.fields_dict(Problem))  # names in the rule's answers
_LARGEST = 10  # a larger number in a rule is not a number of tasks
_FEW = 4
_EDGES = frozenset({"blocked_by", "blocks", "unresolved_blockers", "ready", "is_ready"})
_TREE = frozenset({"parent", "children", "nested"})
_FOREVER = 10.0**9  # seconds

_Make = Callable[[DrawFn, Plan], Command]


@attrs.frozen
class Focus:
    """The task fields and statuses that functions read, and the texts and numbers in their code."""

    names: frozenset[str]
    texts: tuple[str, ...]
    numbers: tuple[float, ...]

    @property
    def most(self) -> int:
        """The number of tasks that a plan needs to exceed every number in the rule."""
        counts = [int(number) for number in self.numbers if 0 < number <= _LARGEST]
        return max([_FEW, *(count + 2 for count in counts)])


def focus_of(*subjects: Rule | Callable[..., Any]) -> Focus:
    """Return the focus of rules, laws and other functions."""
    names: set[str] = set()
    texts: dict[str, None] = {}
    numbers: dict[float, None] = {}
    left: list[Any] = [each.check if isinstance(each, Rule) else each for each in subjects]
    seen: set[int] = set()
    for value in left:  # the list grows during the loop
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, FunctionType):
            left += _of_function(value, names)
        elif isinstance(value, MethodType):
            left += [value.__func__, *getattr(value.__self__, "__dict__", {}).values()]
        elif isinstance(value, partial):
            left += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, tuple | list | set | frozenset):
            left += value
        elif isinstance(value, str):
            if _WORD.fullmatch(value):
                texts[value] = None
        elif type(value) in {int, float}:
            numbers[value] = None
    for each in _NOISE | {each.name for each in subjects if isinstance(each, Rule)}:
        texts.pop(each, None)
    return Focus(frozenset(names), tuple(texts), tuple(sorted(numbers)))


def _of_function(function: FunctionType, names: set[str]) -> Iterator[Any]:
    """
    Yield the constants of a function and what its names stand for, and add the names to `names`.
    """
    codes = [function.__code__]
    for code in codes:  # the list grows during the loop
        names.update(code.co_names)
        codes += [const for const in code.co_consts if isinstance(const, CodeType)]
        yield from (const for const in code.co_consts if not isinstance(const, CodeType))
        for name in code.co_names:
            value = function.__globals__.get(name)
            if not str(getattr(value, "__module__", "")).startswith("todoplan."):
                yield value
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from (cell.cell_contents for cell in function.__closure__ or ())


class Near:
    """
    Draws commands that vary the values in a focus. The names of actors are also drawn as owners, so
    that an actor is often the owner of a task.
    """

    def __init__(self, focus: Focus) -> None:
        names, self._most = focus.names, focus.most
        # Listed twice, so that they recur next to the texts.
        self.people = st.sampled_from([*_PEOPLE, *_PEOPLE, *focus.texts])
        self.actors = st.none() | self.people if "actor" in names else st.none()
        named = [status for status in Status if {status.name, status.value} & names]
        named += [Status(text) for text in focus.texts if text in {*Status}]
        self._statuses = st.sampled_from([Status.PENDING, *Status, *named, *named])
        self._values = {
            name: _values_of(name, focus, self.people) for name in CHANGES if name in names
        }
        self._linked, self._nested = bool(names & _EDGES), bool(names & _TREE)
        # Hypothesis shrinks towards the start.
        kinds: list[_Make] = [self._create, self._move, self._edit, self._create_several]
        kinds += [self._move, self._several, self._several, delete, rewritten]
        kinds += [lambda draw, plan: draw(sensible_commands(plan))]
        kinds += [link, link, unlink] if self._linked else []
        kinds += [nest, nest] if self._nested else []
        kinds += [self._claim, self._claim] if names & {"claim", "claims"} else []
        kinds += [self._find, self._find] if "evidence" in names else []
        kinds += [self._approve, self._approve] if "approved" in names else []
        self._kinds: SearchStrategy[_Make] = st.sampled_from(kinds)
        first: list[_Make] = [self._create, self._create_several]
        self._first: SearchStrategy[_Make] = st.sampled_from(first)

    def command(self, draw: DrawFn, plan: Plan) -> Command:
        """Draw a command of any kind."""
        make: _Make = draw(self._kinds if len(plan) else self._first)
        return make(draw, plan)

    def again(self, draw: DrawFn, plan: Plan, refused: Command) -> Command:
        """Draw a batch of a refused command and another command, before or after it."""
        other = self.command(draw, plan)
        pair = draw(st.permutations([refused, other]))
        return Batch(tuple(pair))

    def _fields(self, draw: DrawFn, least: int = 0) -> dict[str, Any]:
        """Draw values for some of the fields that the rule reads."""
        if not self._values:
            return {}
        many = draw(st.integers(least, 2))
        names = {draw(st.sampled_from([*self._values])): None for _ in range(many)}
        return {name: draw(self._values[name]) for name in names}

    def _task(self, draw: DrawFn, above: dict[str, set[str]], least: int = 0) -> CreateTask:
        """Draw a new task. `above` has the ids of all others, each with its ancestors."""
        given = {"subject": "a", **self._fields(draw, least)}
        parent = draw(st.sampled_from([None, *above])) if self._nested else None
        inside = {parent, *above[parent]} if parent else set()
        free = [end for end in above if end not in inside]
        linked = self._linked and free and draw(st.booleans())
        given["blocked_by"] = (draw(st.sampled_from(free)),) if linked else ()
        return CreateTask(**given, status=draw(self._statuses), parent=parent)

    def _create(self, draw: DrawFn, plan: Plan) -> CreateTask:
        return self._task(draw, {task.id: containers(plan, task.parent) for task in plan})

    def _create_several(self, draw: DrawFn, plan: Plan) -> CreateTasks:
        above = {task.id: containers(plan, task.parent) for task in plan}
        if draw(st.booleans()):  # a limit counts tasks that are alike
            alike = self._task(draw, above, 1)
            return CreateTasks((alike,) * draw(st.integers(1, self._most)))
        items: list[CreateTask] = []
        for place in range(draw(st.integers(1, 3))):
            item = self._task(draw, above)
            above[f"#{place}"] = {item.parent, *above[item.parent]} if item.parent else set()
            items.append(item)
        return CreateTasks(tuple(items))

    def _move(self, draw: DrawFn, plan: Plan) -> UpdateTask:
        task, status = one(draw, plan), draw(self._statuses)
        fields = self._fields(draw) if draw(_SELDOM) else {}
        return UpdateTask(task.id, status=status, fence=fence_of(task), **fields)

    def _edit(self, draw: DrawFn, plan: Plan) -> UpdateTask:
        task = one(draw, plan)
        return UpdateTask(task.id, fence=fence_of(task), **self._fields(draw, 1))

    def _several(self, draw: DrawFn, plan: Plan) -> Batch:
        kinds: SearchStrategy[_Make] = st.sampled_from([self._move, self._edit, self._create])
        many = draw(st.integers(2, 3))
        return Batch(tuple(draw(kinds)(draw, plan) for _ in range(many)))

    def _claim(self, draw: DrawFn, plan: Plan) -> ClaimTask:
        ids = st.sampled_from([None, *(task.id for task in plan.ready())])
        return ClaimTask(draw(self.people), _FOREVER, draw(ids))

    def _find(self, draw: DrawFn, plan: Plan) -> RecordEvidence:
        by = draw(st.none() | self.people)
        return RecordEvidence(one(draw, plan).id, passed=draw(st.booleans()), by=by)

    def _approve(self, draw: DrawFn, _: Plan) -> ApprovePlan:
        return ApprovePlan(draw(st.none() | self.people))


_SELDOM = st.sampled_from([False, False, True])


def _values_of(name: str, focus: Focus, people: SearchStrategy[str]) -> SearchStrategy[Any]:
    """Return a strategy for a field, with values near those that the rule reads."""
    kind = TASK_FIELDS[name].kind
    numbers = [near for number in focus.numbers for near in (number, number - 1, number + 1)]
    if kind is FieldKind.METADATA:
        # In code like `metadata.get("risk") == "high"` the value follows its key.
        texts = focus.texts or ("k",)
        pairs = [*pairwise((*texts, True)), *((text, True) for text in texts)]
        likely = st.sampled_from(pairs)
        # `None` deletes a key.
        value = st.sampled_from([None, False, None, False, *texts, *numbers])
        items = likely | st.tuples(st.sampled_from(texts), value)
        return st.lists(items, min_size=1, max_size=2).map(dict)
    if kind is FieldKind.NUMBER:
        return st.sampled_from([None, 1.0, *map(float, numbers)])
    if name == "owner":
        return st.none() | people
    if kind in {FieldKind.TEXT, FieldKind.TEXT_OR_NONE} and focus.texts:
        return CHANGES[name] | st.sampled_from(focus.texts)
    return CHANGES[name]


@lru_cache(maxsize=32)
def near(*subjects: Rule | Callable[..., Any]) -> Near:
    """Return a `Near`, which draws commands near these rules, laws and other functions."""
    return Near(focus_of(*subjects))


@st.composite
def commands_near(draw: DrawFn, plan: Plan, *subjects: Rule | Callable[..., Any]) -> Command:
    """
    Draw commands on a plan that vary the values that these rules and laws read, and little else.

    The code of the rules and laws, and of functions that they call, is searched for task fields,
    statuses, texts and numbers. Only a rule can refuse most of these commands; some are invalid.
    """
    return near(*subjects).command(draw, plan)
