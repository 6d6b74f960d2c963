"""
The commands on a plan in a store: finding the plan, its rules, the edits, and the short views.

This module does not import typer or rich, because they are slow to import and status lines and
hooks call `todoplan next` often. `options` has the options; `views` has the history and the other
views.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

import attrs

from todoplan.cli.exits import exit_code_of
from todoplan.codec import entry_to_data, plan_to_data
from todoplan.core.commands import (
    AnswerTask,
    ApprovePlan,
    Batch,
    Command,
    CreateTask,
    DeleteTask,
    MoveTask,
    ReleaseClaim,
    StartNext,
    UpdateTask,
)
from todoplan.core.decide import Decision, Rejected
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import StatusChanged
from todoplan.core.plan.model import TASK_FIELDS, Status, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import (
    ancestors,
    next_task,
    open_tasks,
    ready,
    unresolved_blockers,
)
from todoplan.core.problems import Problem, explain, ids_text
from todoplan.core.rules import PRESETS, Limits, Policy
from todoplan.errors import REFUSED, PlanError, ReadError, TodoplanError
from todoplan.render.outline import clip, event_phrases, summary
from todoplan.render.terminal import Screen, line, plan_lines
from todoplan.stores.base import Store, follow, plan_after
from todoplan.stores.memory import MemoryStore
from todoplan.stores.urls import make_project_store, open_store, project_store, without_password
from todoplan.texts import one_line
from todoplan.typed import INPUTS, id_of

if TYPE_CHECKING:
    from todoplan.planner.planner import Planner

# -------- policies --------
# The policy of a command: a preset or a TOML file, and single rules that override it. All faults in
# a file are reported together.


_SECTIONS = ("preset", "rules", "limits")
_LARGEST = 1_000_000  # bytes; a file of rules has a few hundred
_DIGITS = 15


def policy_of(name: str, rules: Sequence[str] = ()) -> Policy:
    """
    Return the policy of a preset or a TOML file, overridden by single rules ("max_items=50").

    Raises:
        PlanError: the preset or a rule does not exist, or a rule has an invalid value.
        ReadError: the file cannot be read.

    An example of such a file:

        preset = "claude"          # the default is "default"

        [rules]
        single_in_progress = "warn"
        max_items = 50             # a rule with a limit takes a number

        [limits]
        open_items = 20
    """
    if name.endswith(".toml"):
        policy = _of_file(Path(name))
    elif name in PRESETS:
        policy = PRESETS[name]
    else:
        msg = f"--policy {name!r} is none of {', '.join(PRESETS)}, nor the name of a .toml file"
        raise PlanError(msg, seen=name)
    settings: dict[str, Any] = {}
    for rule in rules:
        key, equals, value = rule.partition("=")
        if not equals:
            msg = f"--rule {rule!r} has no value; write {key}=off, {key}=warn or {key}=error"
            raise PlanError(msg, seen=rule)
        # The length is limited, because `int` raises an error for thousands of digits.
        number = value.isascii() and value.isdecimal() and len(value) <= _DIGITS
        settings[key.strip()] = int(value) if number else value
    if faults := list(_wrong_rules(policy, settings, "--rule ")):
        msg = "; ".join(faults)
        raise PlanError(msg, faults=faults)
    return policy.but(**cast("Any", settings))


def _of_file(path: Path) -> Policy:
    import tomllib  # noqa: PLC0415 - only for files of rules

    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1).decode()
        if len(text) > _LARGEST:
            msg = f"{path} is larger than {_LARGEST} bytes, which no file of rules is"
            raise ReadError(msg, file=str(path))
        data = tomllib.loads(text)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise ReadError(msg, file=str(path)) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or nested too deeply
        msg = f"{path} is no TOML: {error}"
        raise ReadError(msg, file=str(path)) from error
    faults = [
        f"{key}: there is no such section; there are {', '.join(_SECTIONS)}"
        for key in data
        if key not in _SECTIONS
    ]
    preset = data.get("preset", "default")
    if not isinstance(preset, str) or preset not in PRESETS:
        faults.append(f"preset: {preset!r} is none of {', '.join(PRESETS)}")
        preset = "default"
    for key in ("rules", "limits"):
        if not isinstance(data.setdefault(key, {}), dict):
            faults.append(f"{key}: this is a table, [{key}]")
            data[key] = {}
    limits = Limits()
    known = [field.name for field in attrs.fields(Limits)]
    for name, number in data["limits"].items():
        if name not in known:
            faults.append(f"limits.{name}: there is no such limit; there are {', '.join(known)}")
            continue
        try:
            limits = attrs.evolve(limits, **{name: number})
        except PlanError as error:
            faults.append(f"limits.{name}: {error}")
    policy = PRESETS[preset].but(limits=limits)
    faults += _wrong_rules(policy, data["rules"], "rules.")
    if faults:
        msg = f"{path}: {'; '.join(faults)}"
        raise PlanError(msg, file=str(path), faults=faults)
    return policy.but(**cast("Any", data["rules"]))


def _wrong_rules(policy: Policy, rules: Mapping[str, Any], where: str) -> Iterator[str]:
    """
    Yield a message for each wrong setting of a rule; `where` is the beginning of the messages.

    Each setting is tried alone, because `Policy.but` stops at the first fault.
    """
    counting = [rule.name for rule, _ in policy.rules if rule.limit]
    known = {rule.name for rule, _ in policy.rules}
    for name, value in rules.items():
        # `Policy.but` also has a parameter `limits`, which takes an object, not a text.
        if name == "limits":
            yield f"{where}{name}: there is no such rule; limits are in a file's table [limits]"
            continue
        if type(value) is int and name in known and name not in counting:
            yield (
                f'{where}{name}: {value} is none of "off", "warn", "error"; only '
                f"{', '.join(counting)} take a number; other limits are in a file's table "
                "[limits]"
            )
            continue
        try:
            policy.but(**cast("Any", {name: value}))
        except PlanError as error:
            yield f"{where}{name}: {error}"


# -------- stored_plans --------
# Finding the plan of a command: the store by its address, and the plan in the store by its id.


STORE = "TODOPLAN_STORE"
"""The environment variable with the store's address, used if --store is not given."""

ACTOR = "TODOPLAN_ACTOR"
"""The environment variable with the actor's name, used if --actor is not given."""

PLAN = "TODOPLAN_PLAN"
"""The environment variable with the plan's id, used if --plan is not given."""

BOARD_TOKEN = "TODOPLAN_BOARD_TOKEN"  # noqa: S105 - the variable's name
"""
The environment variable with the board's bearer token. An argument would show in process lists.
"""

DEFAULT_PLAN = "plan"
"""The default plan id, also of `todoplan mcp`."""

_NAMED = 20


class PlanStore(Store, Protocol):
    """A store that can list its plan ids, as every store with an address can."""

    def plan_ids(self) -> tuple[str, ...]:
        """Return the ids of the plans in the store."""
        ...


def chosen_plan(store: PlanStore, plan_id: str | None, where: object) -> str:
    """
    Return the id of an existing plan in the store.

    If `plan_id` is `None` and the store has one plan only, return the id of this plan. `where` is
    the address of the store, for messages.

    Raises:
        ReadError: the store has no plan with this id; or `plan_id` is `None`, and the store does
            not have exactly one plan.
        TodoplanError: the store cannot be read.
    """
    kept = store.plan_ids()
    chosen = kept[0] if plan_id is None and len(kept) == 1 else plan_id
    if chosen in kept:
        return str(chosen)
    if not kept:
        msg = f"{where} has no plan yet; `todoplan add` creates one"
        raise ReadError(msg, file=str(where), plans=kept)
    seen = f"{len(kept)} plans" if plan_id is None else f"no plan {plan_id!r}"
    names = ", ".join(map(repr, kept[:_NAMED]))
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    msg = f"{where}: {seen}; choose by --plan: {names}{more}"
    raise ReadError(msg, file=str(where), plans=kept)


@attrs.frozen
class Place:
    """The options that name the store and the plan."""

    store: str | None = None
    plan_id: str | None = None

    @property
    def named(self) -> str | None:
        """The address of the store that the command line or the environment names, or `None`."""
        return os.environ.get(STORE) if self.store is None else self.store

    @property
    def wanted_plan(self) -> str | None:
        """The plan's id from the command line or the environment, or `None`."""
        return (os.environ.get(PLAN) if self.plan_id is None else self.plan_id) or None

    @property
    def address(self) -> str:
        """The address of the store, by default the project's own."""
        return self.named or str(project_store())

    @property
    def shown(self) -> str:
        """The address of the store without its password, for messages."""
        return without_password(self.address)

    def store_itself(self, tell: Callable[[str], None] | None = None) -> PlanStore:
        """
        Return the store.

        The project's own store may not exist yet. With `tell`, it is then created, and `tell` is
        called with a message. Without `tell`, an empty store in memory is returned, so that a
        command that only reads creates no file.

        Raises:
            TodoplanError: the address is invalid, or the folder cannot be made.
        """
        if not self.named and not (path := Path(self.address)).exists():
            if tell is None:
                return MemoryStore()
            make_project_store(path)
            tell(f"plans are stored in {path}")
        return open_store(self.address)

    def of_session(self, stream: TextIO) -> "Place":
        """
        Return this place with the plan of a coding agent's session, unless --plan names a plan.

        The session's id is in the JSON that Claude Code passes to its status line. If the stream
        has anything else, the place is returned unchanged.
        """
        try:
            session_id = json.load(stream)["session_id"]
        except (ValueError, KeyError, TypeError):
            return self
        return attrs.evolve(self, plan_id=self.plan_id or str(session_id))

    def loaded(self) -> tuple[str, Plan]:
        """Return the plan's id and the plan. Raises the errors of `opened`."""
        store, plan_id = self.opened()
        return plan_id, store.load(plan_id)

    def opened(self) -> tuple[PlanStore, str]:
        """
        Return the store and the id of the plan.

        Raises:
            TodoplanError: the store cannot be read, or has no such plan.
        """
        store = self.store_itself()
        return store, chosen_plan(store, self.wanted_plan, self.shown)

    def planner(self, tell: Callable[[str], None]) -> "tuple[Planner, str]":
        """
        Return a planner for the plan, which need not exist yet, and the plan's id.

        Raises:
            TodoplanError: see `store_itself`; or the store has several plans, and none is named.
        """
        from todoplan.planner.planner import Planner  # noqa: PLC0415 - views start without it

        store, plan_id = self.store_itself(tell), self.wanted_plan
        if plan_id is None:
            plan_id = chosen_plan(store, None, self.shown) if store.plan_ids() else DEFAULT_PLAN
        return Planner(store, plan_id), plan_id


@attrs.frozen
class Judge:
    """The options by which edits are judged: `--policy` and `--rule`."""

    policy: str = "default"
    rules: list[str] | None = None

    def chosen_policy(self) -> Policy:
        """
        Return the policy.

        Raises:
            TodoplanError: the preset, file or rule does not exist.
        """
        return policy_of(self.policy, self.rules or ())


@attrs.frozen
class Writer:
    """The option that names the actor of a change."""

    actor: str | None = None

    @property
    def name(self) -> str | None:
        """The actor's name for the journal, by default the login name; `None` for an empty name."""
        actor = (os.environ.get(ACTOR) or None) if self.actor is None else self.actor
        if actor is not None:
            return actor or None
        # In a container there may be no login, and the user id may have no name.
        with suppress(OSError, KeyError, ImportError):
            return getuser()
        return None


@attrs.frozen
class Edit:
    """The options of every edit: the output format, the plan, the actor and the policy."""

    as_json: bool = False
    place: Place = Place()
    writer: Writer = Writer()
    judge: Judge = Judge()


# -------- ids --------


_RANGE = re.compile(r"#?(\d{1,9})-#?(\d{1,9})")
_WIDEST = 1_000


def ids_of_arguments(given: Iterable[str]) -> tuple[str, ...]:
    """
    Return the ids of arguments such as "2", "#2", "2,3" and "2-4", each once.

    Raises:
        ReadError: a range is too wide, or begins with the larger id.
    """
    ids: dict[str, None] = {}
    for part in (part.strip() for one in given for part in one.split(",")):
        ends = _RANGE.fullmatch(part)
        if ends is None:
            ids[id_of(part)] = None
            continue
        first, last = int(ends[1]), int(ends[2])
        if not first <= last < first + _WIDEST:
            msg = f"{part!r} is no range of at most {_WIDEST} ids, the smaller first, such as 2-4"
            raise ReadError(msg)
        ids.update(dict.fromkeys(map(str, range(first, last + 1))))
    return tuple(ids)


# -------- edits --------
# Each edit carries out one command on a plan through a `Planner`, with the actor's name in the
# journal. The JSON output has `events` in the form of journal entries; `revision`, `counts` and
# `ready` describe the plan after the command.


_LONGEST_TASK_TEXT = 40
_QUESTION = 200


_OF_COMMANDS = attrs.fields_dict(CreateTask).keys() & attrs.fields_dict(UpdateTask).keys()
# In the order of the help: first these, then the others in the order of a task's fields.
_FIRST = ("description", "active_form", "priority", "owner", "estimate", "due", "parent", "check")


@attrs.frozen(
    these={
        name: attrs.field(default=None, type=cast("Any", str | None))
        for name in dict.fromkeys((*_FIRST, *TASK_FIELDS))
        if TASK_FIELDS[name].kind in INPUTS and name in _OF_COMMANDS - {"subject"}
    }
)
class Fields:
    """
    The fields of a new or existing task that options can set; `None` is not given.

    `options` has read the typed texts, so a value may also be a number or a date.
    """

    def given(self) -> dict[str, Any]:
        """Return the given fields. An empty text becomes `None` if the field may be `None`."""
        return {
            name: None if value == "" and TASK_FIELDS[name].default is None else value
            for name, value in attrs.asdict(self).items()
            if value is not None
        }


class _Editor:
    """
    One edit of a plan: `apply` carries out a command, and `report` prints the result.

    The plan must exist. With `creates`, a missing plan is created.
    """

    def __init__(self, edit: Edit, screen: Screen, *, creates: bool = False) -> None:
        from todoplan.planner.planner import Planner  # noqa: PLC0415 - views start without it

        self.edit, self.screen = edit, screen
        # Only `add` may create a plan. With the other commands, a misspelled plan id is an error.
        if creates:
            self.planner, self.plan_id = edit.place.planner(screen.complain)
            if not self.planner.plan.revision and len(edit.place.store_itself().plan_ids()):
                screen.complain(f"a new plan begins: {self.plan_id}")
        else:
            store, self.plan_id = edit.place.opened()
            self.planner = Planner(store, self.plan_id)

    def apply(self, command: Command) -> tuple[Decision, tuple[str, ...]]:
        """Carry out a command. Return the decision, and phrases about the changes."""
        rules = self.edit.judge.chosen_policy()
        before = self.planner.plan
        decision = self.planner.apply(command, actor=self.edit.writer.name, policy=rules)
        if isinstance(decision, Rejected):
            return decision, ()
        # Add a warning for each task that stopped waiting although its question was not answered.
        notes = []
        for event in decision.events:
            if not isinstance(event, StatusChanged) or event.new is Status.CANCELLED:
                continue
            was, now = before.get(event.task_id), decision.plan.get(event.task_id)
            question = was and was.waiting and was.waiting.question
            if question and now is not None and now.waiting is None:
                asked = clip(one_line(question), _QUESTION)
                note = f'#{now.id} asked "{asked}", and was not answered.'
                notes.append(Problem("not_answered", (now.id,), note=note))
        decision = attrs.evolve(decision, warnings=(*decision.warnings, *notes))
        return decision, event_phrases(decision.events, decision.plan)

    def report(self, decision: Decision, phrases: Sequence[str] = ()) -> int:
        """Print a decision, with the phrases if it was accepted, and return the exit code."""
        accepted = None if isinstance(decision, Rejected) else decision
        if self.edit.as_json:
            problems = decision.problems if isinstance(decision, Rejected) else ()
            plan = accepted.plan if accepted else self.planner.plan
            entry = Entry(plan.revision, accepted.events if accepted else ())
            write_document(
                self.screen,
                "edit",
                plan=self.plan_id,
                accepted=accepted is not None,
                revision=plan.revision,
                events=entry_to_data(entry)["events"],
                counts=plan.counts._asdict(),
                ready=[task.id for task in ready(plan)],
                warnings=problem_data(accepted.warnings if accepted else ()),
                problems=problem_data(problems),
            )
        elif isinstance(decision, Rejected):
            for problem in decision.problems:
                # The problem's path is replaced by the option that the person typed. Ids, the
                # subject and a wait have no option; for these, the message itself says what is
                # wrong.
                name = problem.path.rpartition(".")[2].partition("[")[0]
                flag = "after" if name.endswith("blocked_by") else name.replace("_", "-")
                path = "" if name in {"", "task_id", "subject", "waiting"} else f"--{flag}"
                self.screen.complain(f"refused: {explain(attrs.evolve(problem, path=path))}")
            if claimed := [one.seen for one in decision.problems if one.code == "claimed"]:
                # The problem's own message has advice for workers. This advice is for a person.
                release_them = f"todoplan release {' '.join(claimed)}"
                self.screen.complain(f"if the holder is gone, release it: {release_them}")
        else:
            ids = ids_text(task.id for task in ready(decision.plan))
            state = summary(decision.plan) + (f"; ready: {ids}" if ids else "")
            self.screen.show((*(phrases or ("no change",)), state))
            for warning in decision.warnings:
                self.screen.complain(f"warning: {explain(warning)}")
        return 0 if accepted else REFUSED


def add(
    subject: str,
    screen: Screen,
    *,
    after: list[str] | None = None,
    fields: Fields = Fields(),
    edit: Edit,
) -> int:
    """
    Add a task at the end of the plan.

    With --parent it comes after the other subtasks of its parent. The first task creates the plan.
    """
    blockers = ids_of_arguments(after or ())
    task = CreateTask(subject, blocked_by=blockers, **fields.given())
    return _apply(task, edit, screen, creates=True)


def start(screen: Screen, tasks: list[str] | None = None, *, edit: Edit) -> int:
    """Set tasks to in progress; without an id, start the next ready task."""
    if tasks:
        return _update(tasks, edit, screen, status="in_progress")

    editor = _Editor(edit, screen)
    decision, phrases = editor.apply(StartNext())
    if not phrases and not isinstance(decision, Rejected):
        phrases = ("no task is ready; todoplan ready --explain says why",)
        if active := next(decision.plan.active(), None):
            what = f"in progress already: #{active.id} {clip(one_line(active.subject), _QUESTION)}"
            phrases = (f"{what}; todoplan start ID starts another task too",)
    return editor.report(decision, phrases)


def done(tasks: list[str], screen: Screen, *, edit: Edit) -> int:
    """Set tasks to completed."""
    return _update(tasks, edit, screen, status="completed")


def fail(tasks: list[str], screen: Screen, *, edit: Edit) -> int:
    """Set tasks to failed; the tasks that depend on them stay blocked."""
    return _update(tasks, edit, screen, status="failed")


def wait(  # noqa: PLR0913 - an argument for each option
    task: str,
    screen: Screen,
    reason: str = "",
    *,
    question: str | None = None,
    until: datetime | None = None,
    over: bool = False,
    edit: Edit,
) -> int:
    """
    Pause a task until a person acts, a question is answered or a time comes.

    A task in progress becomes pending. With --over, the wait ends.
    """
    if over and (reason or question or until):
        msg = "--over ends the wait: leave the reason, --question and --until out"
        raise PlanError(msg)
    waiting = None if over else Waiting(reason, until, question or None)
    return _update([task], edit, screen, waiting=waiting)


def answer(task: str, text: str, screen: Screen, *, edit: Edit) -> int:
    """Answer what a task waits for, and end its wait; the task keeps the answer."""
    if not text.strip():
        over = f"todoplan wait {id_of(task)} --over"
        msg = f"the answer is empty; say something, or end the wait: {over}"
        raise PlanError(msg)
    answers = [AnswerTask(task_id, text) for task_id in ids_of_arguments([task])]
    return _apply(_batch(answers), edit, screen)


def change(  # noqa: PLR0913 - an argument for each option
    task: str,
    screen: Screen,
    *,
    subject: str | None = None,
    status: str | None = None,
    fields: Fields,
    edit: Edit,
) -> int:
    """
    Change the fields of a task.

    Use --status to cancel or reopen a task.
    """
    changes = fields.given()
    changes |= {} if subject is None else {"subject": subject}
    changes |= {} if status is None else {"status": status}
    if not changes:
        msg = "say what to change, such as --subject or --status"
        raise PlanError(msg)
    return _update([task], edit, screen, **changes)


def link(task: str, screen: Screen, *, after: list[str], remove: bool = False, edit: Edit) -> int:
    """
    Make a task depend on other tasks.

    With --remove, the task no longer depends on them.
    """
    name = "remove_blocked_by" if remove else "add_blocked_by"
    return _update([task], edit, screen, **{name: ids_of_arguments(after)})


def move(
    task: str,
    screen: Screen,
    *,
    before: str | None = None,
    after: str | None = None,
    edit: Edit,
) -> int:
    """
    Put a task before or after another one in the order of the plan.

    The task's subtasks move too, and the task gets the parent of the other one.
    """
    if bool(before) is bool(after):
        msg = "say where to put the task: --before ID or --after ID, one of them"
        raise PlanError(msg)
    neighbours = {"before": before and id_of(before), "after": after and id_of(after)}
    return _apply(MoveTask(id_of(task), **neighbours), edit, screen)


def remove(tasks: list[str], screen: Screen, *, edit: Edit) -> int:
    """
    Delete tasks from the plan.

    To keep a task that will not be done in the plan, cancel it instead: edit --status cancelled.
    """
    ids = ids_of_arguments(tasks)
    editor = _Editor(edit, screen)
    # Subtasks first: a task that still has subtasks is not deleted.
    plan = editor.planner.plan
    deepest = sorted(ids, key=lambda task_id: -sum(1 for _ in ancestors(plan, task_id)))
    return editor.report(*editor.apply(_batch(map(DeleteTask, deepest))))


def approve(screen: Screen, *, edit: Edit) -> int:
    """Approve the current plan; `todoplan drift` shows later changes."""
    return _apply(ApprovePlan(edit.writer.name), edit, screen)


def release(tasks: list[str], screen: Screen, *, edit: Edit) -> int:
    """
    Release claimed tasks and set them to pending.

    Later reports about these tasks from the workers that had claimed them are refused.
    """
    ids = ids_of_arguments(tasks)
    editor = _Editor(edit, screen)
    plan = editor.planner.plan
    claims = {task.id: task.claim for task in map(plan.get, ids) if task is not None}
    if unheld := [task_id for task_id, claim in claims.items() if claim is None]:
        problems = (Problem("not_claimed", (task_id,), seen=task_id) for task_id in unheld)
        return editor.report(Rejected(tuple(problems)))
    # The current fencing token is used, so a worker that claims the task at the same moment keeps
    # it. The decision reports tasks that do not exist.
    fences = {task_id: claim.fence for task_id, claim in claims.items() if claim is not None}
    releases = (ReleaseClaim(task_id, fences.get(task_id, 1)) for task_id in ids)
    return editor.report(*editor.apply(_batch(releases)))


def undo(screen: Screen, *, place: Place, writer: Writer, as_json: bool = False) -> int:
    """
    Undo the last change, whoever made it.

    Repeat the command to undo earlier changes.
    """
    from todoplan.dialogue.toolbox import last_change  # noqa: PLC0415 - slow to import

    editor = _Editor(Edit(as_json, place, writer), screen)
    plan, journal = editor.planner.plan, editor.planner.history()
    # With `seen`, the undo is refused if another actor changes the plan at this moment.
    decision = editor.planner.undo(actor=writer.name, seen=plan.revision)
    phrases = _reverted_phrases("undone", last_change(journal), journal, decision, plan)
    return editor.report(decision, phrases)


def redo(screen: Screen, *, place: Place, writer: Writer, as_json: bool = False) -> int:
    """
    Undo the last undo.

    The command is refused if the plan was changed after that undo.
    """
    from todoplan.dialogue.toolbox import REDO, last_undo  # noqa: PLC0415 - slow to import

    editor = _Editor(Edit(as_json, place, writer), screen)
    plan, journal = editor.planner.plan, editor.planner.history()
    last = last_undo(journal)
    if last is None:
        return editor.report(Rejected((Problem("nothing_to_redo"),)))
    before = follow(Plan(), journal[: journal.index(last)])
    decision = editor.planner.restore(before, actor=writer.name, seen=plan.revision, cause=REDO)
    change = next((entry for entry in journal if entry.revision == last.undoes), None)
    phrases = _reverted_phrases("redone", change, journal, decision, plan)
    return editor.report(decision, phrases)


def _update(tasks: Sequence[str], edit: Edit, screen: Screen, **changes: Any) -> int:
    """Change the fields of all the tasks. If one change is refused, no task is changed."""
    updates = (UpdateTask(task_id, **changes) for task_id in ids_of_arguments(tasks))
    return _apply(_batch(updates), edit, screen)


def _apply(command: Command, edit: Edit, screen: Screen, *, creates: bool = False) -> int:
    """Carry out a command. With `creates`, a missing plan is created."""
    editor = _Editor(edit, screen, creates=creates)
    return editor.report(*editor.apply(command))


def _batch(commands: Iterable[Command]) -> Command:
    every = tuple(commands)
    # The journal names a single command; for a batch it would only say "batch".
    return every[0] if len(every) == 1 else Batch(every)


def _reverted_phrases(
    done: str, change: Entry | None, journal: Sequence[Entry], decision: Decision, plan: Plan
) -> tuple[str, ...]:
    """
    Return the phrases about a change that was undone or redone; `done` is the word for this.

    `plan` is the plan before the undo or redo.
    """
    if change is None or isinstance(decision, Rejected):
        return ()
    before = follow(Plan(), journal[: journal.index(change)])
    phrases = "; ".join(entry_phrases(change, plan_after(before, change), before))
    by = f" (by {clip(one_line(change.actor), _LONGEST_TASK_TEXT)})" if change.actor else ""
    came = event_phrases(decision.events, decision.plan, plan)
    return (f"{done}: {phrases or 'no change'}{by}", *came)


def entry_phrases(entry: Entry, plan: Plan, before: Plan | None = None) -> tuple[str, ...]:
    """
    Return a cleaned phrase for each kind of change in an entry.

    `plan` is the plan after the entry, `before` the plan before it, or `None` if unknown.
    """
    undone = (f"took back {entry.undoes}",) if entry.undoes else ()
    return (*undone, *event_phrases(entry.events, plan, before))


def problem_data(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Return problems as plain data, each with its message."""
    return [
        {"code": problem.code, "task_ids": [*problem.task_ids], "text": explain(problem)}
        for problem in problems
    ]


# -------- short views --------
# `todoplan list`, `next`, `ready` and `where`. The other views are in `views`.


VIEWS_VERSION = 1


def write_document(screen: Screen, form: str, **data: Any) -> None:
    """Print a JSON document."""
    screen.write(f"{line({'format': f'todoplan/{form}', 'version': VIEWS_VERSION, **data})}\n")


def show_plan(
    place: Place, screen: Screen, *, only_ready: bool = False, as_json: bool = False
) -> None:
    """Show the plan; with --ready, show only its ready tasks."""
    plan_id, plan = place.loaded()
    ids = [task.id for task in ready(plan)]
    if as_json:
        write_document(screen, "list", plan=plan_id, document=plan_to_data(plan), ready=ids)
        return
    head, *rows = plan_lines(plan, screen.width)
    if only_ready:
        wanted = {*ids}
        rows = [row for row, task in zip(rows, plan, strict=True) if task.id in wanted]
    screen.show((head, *rows))


def show_where(place: Place, screen: Screen) -> None:
    """Show which store the commands use, and the plans in it."""
    stored = place.store_itself().plan_ids()
    source = f"named by {STORE}" if place.named else "the default of this directory"
    source = "named by --store" if place.store else source
    plans = f"plans: {', '.join(map(one_line, stored))}" if stored else "no plan yet"
    screen.write(f"{place.shown}\n{source}; {plans}\n")


def show_next(place: Place, screen: Screen, *, in_status_line: bool = False) -> None:
    """Show the current or next task in one line."""
    try:
        _, plan = (place.of_session(sys.stdin) if in_status_line else place).loaded()
    except TodoplanError:
        if in_status_line:
            return
        raise
    task = next_task(plan)
    if task is None:
        text = "nothing is ready" if plan.counts.open else "nothing is open"
    else:
        state = " (in progress)" if task.status is Status.IN_PROGRESS else ""
        text = f"#{task.id} {clip(one_line(task.subject), _QUESTION)}{state}"
    screen.write(f"{text}, {summary(plan)}\n")


def show_ready(place: Place, screen: Screen, *, explain: bool = False) -> None:
    """Show the ready tasks; with --explain, also say why the other open tasks are not ready."""
    _, plan = place.loaded()
    coming = ready(plan)
    rows = [f"#{task.id} {one_line(task.subject)}" for task in coming] or ["nothing is ready"]
    if explain:
        ids = {task.id for task in coming}
        rows += [
            f"not #{task.id} {clip(one_line(task.subject), _LONGEST_TASK_TEXT)}: "
            f"{'; '.join(_why_not(plan, task))}"
            for task in open_tasks(plan)
            if task.id not in ids
        ]
    screen.show(rows)


def _why_not(plan: Plan, task: Task) -> Iterator[str]:
    """Yield the reasons why an open task cannot be started."""
    from todoplan.dialogue.replies import waiting_text  # noqa: PLC0415 - slow to import

    if task.status is Status.IN_PROGRESS:
        holder = f" by {one_line(task.claim.owner)}" if task.claim else ""
        yield f"it is in progress{holder}"
    if task.waiting:
        yield f"it waits: {waiting_text(task.waiting) or 'no reason is given'}"
    if blockers := unresolved_blockers(plan, task):
        yield f"it comes after {ids_text(blockers)}"
    if plan.children(task.id):
        yield f"its subtasks are the work: {ids_text(plan.children(task.id))}"
    for outer in filter(None, map(plan.get, ancestors(plan, task.id))):
        if outer.waiting:
            yield f"#{outer.id} above it waits"
        if blockers := unresolved_blockers(plan, outer):
            yield f"#{outer.id} above it comes after {ids_text(blockers)}"


# -------- short calls --------


_OF_VIEWS = {"--store", "--plan"}
_OF_EDITS = {*_OF_VIEWS, "--actor", "--json"}
_OF_SERVERS = {*_OF_VIEWS, "--toolset", "--hooks", "--lenient"}


def run_short(arguments: Sequence[str]) -> int | None:
    """
    Carry out one of the most frequent command lines, and return its exit code.

    Return `None` for any other command line, including one with a mistake. Then the caller uses
    `app`, which handles every command line, but takes longer to import than these commands to run.
    """
    options: dict[str, str] = {}
    flags: set[str] = set()
    words: list[str] = []
    coming = iter(arguments[1:])
    for word in coming:
        name, equals, value = word.partition("=")
        if name in {"--store", "--plan", "--actor", "--toolset"}:
            following = value if equals else next(coming, None)
            if following is None:
                return None  # the value is missing
            options[name] = following
        elif word.startswith("-"):
            flags.add(word)
        else:
            words.append(word)
    given = {*options, *flags}
    place = Place(options.get("--store"), options.get("--plan"))
    edit = Edit("--json" in flags, place, Writer(options.get("--actor")))
    job: Callable[[Screen], int | None] | None = None
    match (*arguments[:1], *words):
        case ("list",) if given <= {*_OF_VIEWS, "--json", "--ready"}:
            job = partial(show_plan, place, only_ready="--ready" in flags, as_json=edit.as_json)
        case ("next",) if given <= {*_OF_VIEWS, "--line"}:
            job = partial(show_next, place, in_status_line="--line" in flags)
        case ("ready",) if given <= {*_OF_VIEWS, "--explain"}:
            job = partial(show_ready, place, explain="--explain" in flags)
        case ("where",) if given <= _OF_VIEWS:
            job = partial(show_where, place)
        case ("add", subject) if given <= _OF_EDITS:
            job = partial(add, subject, edit=edit)
        case ("start", *tasks) if given <= _OF_EDITS:
            job = partial(start, tasks=tasks, edit=edit)
        case ("done", _, *_) if given <= _OF_EDITS:
            job = partial(done, words, edit=edit)
        case ("mcp",) if given <= _OF_SERVERS:
            from todoplan.cli import servers  # noqa: PLC0415 - slow to import
            from todoplan.dialogue.tools import TOOLSETS  # noqa: PLC0415 - slow to import

            served = servers.Served(
                place=place,
                toolset=options.get("--toolset", "todos"),
                hooks="--hooks" in flags,
                lenient="--lenient" in flags,
            )
            if served.toolset in TOOLSETS:
                job = partial(servers.serve, served=served, address=servers.Address())
    return None if job is None else exit_code_of(job)
