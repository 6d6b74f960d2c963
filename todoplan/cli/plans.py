"""The commands on a plan in a store. `app` registers the commands in `PLAN_COMMANDS`."""

import json
import os
import re
import tomllib
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from getpass import getuser
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Protocol, cast

import attrs
import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from todoplan.cli import REFUSED, UNREADABLE
from todoplan.cli.screen import (
    COLOURS,
    Screen,
    cut,
    exit_with,
    hanging,
    line,
    one_of,
    plan_lines,
    room,
    with_groups,
    wrapped,
)
from todoplan.codec import entry_to_data, load_plan, plan_to_data
from todoplan.codec.documents import write_task
from todoplan.codec.engine import LIMIT, parse, to_unicode, write_fields
from todoplan.core.commands import (
    AnswerTask,
    ApprovePlan,
    Batch,
    Command,
    CreateTask,
    DeleteTask,
    ReleaseClaim,
    StartNext,
    UpdateTask,
)
from todoplan.core.decide import Accepted, Decision, Rejected
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.base import Difference, differences
from todoplan.core.events.drift import Drift, drift
from todoplan.core.events.types import StatusChanged
from todoplan.core.plan.model import (
    TASK_FIELDS,
    Claim,
    Evidence,
    FieldKind,
    Priority,
    PriorityWord,
    Status,
    StatusWord,
    Task,
    Waiting,
    thaw,
)
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import (
    ancestors,
    next_task,
    open_tasks,
    ready,
    unresolved_blockers,
)
from todoplan.core.problems import Problem, explain, ids_text
from todoplan.core.rules import PRESETS, Limits, Policy, Severity, inspect
from todoplan.dialogue.replies import waiting_text
from todoplan.dialogue.toolbox import last_change
from todoplan.errors import (
    CodecError,
    MissingExtraError,
    PlanError,
    ReadError,
    StoreError,
    TodoplanError,
)
from todoplan.planner.planner import Planner
from todoplan.render.markup import to_dot, to_html, to_markdown, to_mermaid
from todoplan.render.outline import Line, aside, clip, drift_to_text, event_phrases, lines, summary
from todoplan.stores.base import Store, follow, plan_after
from todoplan.stores.copying import copy_plan
from todoplan.stores.file import FORMAT as FILE_FORMAT
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore
from todoplan.stores.sqlite import SqliteStore
from todoplan.stores.urls import (
    make_project_store,
    open_store,
    project_store,
    without_password,
)
from todoplan.texts import one_line
from todoplan.transcripts.files import unreadable

# -------- policies --------
# The policy of a command: a preset by its name or a TOML file, and single rules that override it.
#
# All faults in a file are reported together.


_SECTIONS = ("preset", "rules", "limits")
_LARGEST = 1_000_000  # bytes: a file of rules has a few hundred
_DIGITS = 15


def policy_of(name: str, rules: Sequence[str] = ()) -> Policy:
    """
    Return the policy of a preset or a TOML file, overridden by single rules ("max_items=50").

    Raises:
        PlanError: the preset or a rule does not exist, or a rule has a value that it cannot take.
        ReadError: the file cannot be read.

    An example of such a file:

        preset = "claude"          # what to begin with; "default" if it is left out

        [rules]
        single_in_progress = "warn"
        max_items = 50             # a rule that counts takes its number

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
    return _with(policy, dict(map(_setting, rules)), "--rule ")


def _setting(rule: str) -> tuple[str, Any]:
    name, equals, value = rule.partition("=")
    if not equals:
        msg = f"--rule {rule!r} has no value; write {name}=off, {name}=warn or {name}=error"
        raise PlanError(msg, seen=rule)
    # The length is limited because `int` raises its own error for thousands of digits.
    number = value.isascii() and value.isdecimal() and len(value) <= _DIGITS
    return name.strip(), int(value) if number else value


def _of_file(path: Path) -> Policy:
    data = _parsed(path)
    faults = [
        f"{key}: there is no such section; there are {', '.join(_SECTIONS)}"
        for key in data
        if key not in _SECTIONS
    ]
    preset, tables = data.get("preset", "default"), {}
    if not isinstance(preset, str) or preset not in PRESETS:
        faults.append(f"preset: {preset!r} is none of {', '.join(PRESETS)}")
        preset = "default"
    for key in ("rules", "limits"):
        tables[key] = data.get(key, {})
        if not isinstance(tables[key], dict):
            faults.append(f"{key}: this is a table, [{key}]")
            tables[key] = {}
    limits, wrong = _limits(tables["limits"])
    policy = PRESETS[preset].but(limits=limits)
    faults += [*wrong, *_wrong_rules(policy, tables["rules"])]
    if faults:
        msg = f"{path}: {'; '.join(faults)}"
        raise PlanError(msg, file=str(path), faults=faults)
    return policy.but(**cast("Any", tables["rules"]))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1).decode()
        if len(text) > _LARGEST:
            msg = f"{path} is larger than {_LARGEST} bytes, which no file of rules is"
            raise ReadError(msg, file=str(path))
        return tomllib.loads(text)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise ReadError(msg, file=str(path)) from error
    except (ValueError, RecursionError) as error:  # neither UTF-8 nor TOML, or nested too deeply
        msg = f"{path} is no TOML: {error}"
        raise ReadError(msg, file=str(path)) from error


def _limits(given: Mapping[str, Any]) -> tuple[Limits, list[str]]:
    limits, faults = Limits(), []
    known = [field.name for field in attrs.fields(Limits)]
    for name, number in given.items():
        if name not in known:
            faults.append(f"limits.{name}: there is no such limit; there are {', '.join(known)}")
            continue
        try:
            limits = attrs.evolve(limits, **{name: number})
        except PlanError as error:
            faults.append(f"limits.{name}: {error}")
    return limits, faults


def _with(policy: Policy, rules: Mapping[str, Any], where: str) -> Policy:
    if faults := list(_wrong_rules(policy, rules, where)):
        msg = "; ".join(faults)
        raise PlanError(msg, faults=faults)
    return policy.but(**cast("Any", rules))


def _wrong_rules(policy: Policy, rules: Mapping[str, Any], where: str = "rules.") -> Iterator[str]:
    """Yield the faults of the settings. Each is tried alone, because `but` stops at the first."""
    counting = [rule.name for rule, _ in policy.rules if rule.limit]
    known = {rule.name for rule, _ in policy.rules}
    for name, value in rules.items():
        # `but` has a parameter `limits` too, but its value cannot be written as text.
        if name == "limits":
            yield f"{where}{name}: no rule is called so; limits have a table of their own, [limits]"
            continue
        if type(value) is int and name in known and name not in counting:
            yield (
                f'{where}{name}: {value} is none of "off", "warn", "error"; a number is for '
                f"{', '.join(counting)}, and all other limits for the table [limits] of a file"
            )
            continue
        try:
            policy.but(**cast("Any", {name: value}))
        except PlanError as error:
            yield f"{where}{name}: {error}"


# -------- stored_plans --------
# Finding the plan of a command: the store by its address, and the plan in it by its id.


DEFAULT_PLAN = "plan"
"""The default plan id, as in `todoplan mcp`."""

_NAMED = 20


class PlanStore(Store, Protocol):
    """A store that can list its plan ids, as all stores that have an address can."""

    def plan_ids(self) -> tuple[str, ...]:
        """Return the ids of the plans in the store."""
        ...


def chosen_plan(store: PlanStore, plan_id: str | None, where: object) -> str:
    """
    Return the id of an existing plan in the store.

    If `plan_id` is `None` and the store has one plan only, its id is returned. `where` is the
    address of the store, for messages.

    Raises:
        ReadError: the store has no plan with this id, or `plan_id` is `None` and it does not have
            exactly one plan.
        TodoplanError: as the store's `load`.
    """
    kept = store.plan_ids()
    chosen = kept[0] if plan_id is None and len(kept) == 1 else plan_id
    if chosen in kept:
        return str(chosen)
    if not kept:
        msg = f"{where} keeps no plan yet; `todoplan add` begins one"
        raise ReadError(msg, file=str(where), plans=kept)
    seen = f"{len(kept)} plans" if plan_id is None else f"no plan {plan_id!r}"
    names = ", ".join(map(repr, kept[:_NAMED]))
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    msg = f"{where}: {seen}; choose by --plan: {names}{more}"
    raise ReadError(msg, file=str(where), plans=kept)


def plan_to_write(store: PlanStore, plan_id: str | None, where: object) -> str:
    """
    Return the id of the plan to write, which may be a new plan.

    If `plan_id` is `None`, it is the only plan of the store, or `DEFAULT_PLAN` in an empty store.

    Raises:
        ReadError: `plan_id` is `None`, and the store has several plans.
        TodoplanError: as the store's `load`.
    """
    if plan_id is not None:
        return plan_id
    return chosen_plan(store, None, where) if store.plan_ids() else DEFAULT_PLAN


# -------- plan_options --------
# The options that the commands on a plan share: the plan, the actor and the policy.


_HINT = 60


def known_tasks(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """
    Return the task ids that begin with `incomplete`, each with its subject, for completion.

    The list is empty if the plan cannot be read.
    """
    place = Place(context.params.get("store"), context.params.get("plan_id"))
    with suppress(TodoplanError):
        store, plan_id = place.opened()
        return [
            (task.id, clip(one_line(task.subject), _HINT))
            for task in store.load(plan_id)
            if task.id.startswith(incomplete.removeprefix("#"))
        ]
    return []


def _known_plans(context: typer.Context, incomplete: str) -> list[str]:
    with suppress(TodoplanError):
        ids = Place(context.params.get("store")).store_itself().plan_ids()
        return [plan_id for plan_id in ids if plan_id.startswith(incomplete)]
    return []


def _policies(incomplete: str) -> list[str]:
    return [name for name in PRESETS if name.startswith(incomplete)]


StoreAddress = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        help="Where the plan is kept: a .json or .db file, or an address such as postgresql://...; "
        "else the project's .todoplan/plans.db.",
        envvar="TODOPLAN_STORE",
        show_default=False,
    ),
]
StoredPlan = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="ID",
        help="Which plan, if the store keeps several.",
        show_default=False,
        autocompletion=_known_plans,
    ),
]
Actor = Annotated[
    str | None,
    typer.Option(
        "--actor",
        metavar="NAME",
        help="Who makes the change, for the plan's history; else your login name.",
        envvar="TODOPLAN_ACTOR",
        show_default=False,
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="PRESET|FILE",
        help=f"The rules: {', '.join(PRESETS)}, or a TOML file.",
        autocompletion=_policies,
    ),
]
RuleOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="RULE=HOW",
        help="A single rule: off, warn, error, or the number it counts by; repeatable.",
        show_default=False,
    ),
]
AsData = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
AsLines = Annotated[
    bool, typer.Option("--json", help="Print a JSON document a line, one for each change.")
]


@attrs.frozen
class Place:
    """The options that name the store and the plan."""

    store: StoreAddress = None
    plan_id: StoredPlan = None

    @property
    def address(self) -> str:
        """The address of the store, by default the project's own."""
        return self.store or str(project_store())

    @property
    def shown(self) -> str:
        """The address of the store for messages: without a password."""
        return without_password(self.address)

    def store_itself(self, tell: Callable[[str], None] | None = None) -> PlanStore:
        """
        Return the store.

        The project's own is made if `tell` is given, which is then called with a message. Without
        `tell` it is an empty store in memory until it exists, so that reading creates nothing.

        Raises:
            TodoplanError: the address is invalid, or the folder cannot be made.
        """
        if not self.store and not (path := Path(self.address)).exists():
            if tell is None:
                return MemoryStore()
            make_project_store(path)
            tell(f"plans are kept in {path}")
        return open_store(self.address)

    def opened(self) -> tuple[PlanStore, str]:
        """
        Return the store and the id of the plan.

        Raises:
            TodoplanError: the store cannot be read, or has no such plan.
        """
        store = self.store_itself()
        return store, chosen_plan(store, self.plan_id, self.shown)

    def planner(self, tell: Callable[[str], None]) -> tuple[Planner, str]:
        """
        Return a planner of the plan, which may be a new one, and its id.

        Raises:
            TodoplanError: as `store_itself`; or the store has several plans, and none is named.
        """
        store = self.store_itself(tell)
        plan_id = plan_to_write(store, self.plan_id, self.shown)
        return Planner(store, plan_id), plan_id


@attrs.frozen
class Judge:
    """The options that set the policy."""

    policy: PolicyName = "default"
    rules: RuleOptions = None

    def rules_that_hold(self) -> Policy:
        """
        Return the policy.

        Raises:
            TodoplanError: the preset, file or rule does not exist.
        """
        return policy_of(self.policy, self.rules or ())


@attrs.frozen
class Writer:
    """The option that names the actor of a change."""

    actor: Actor = None

    @property
    def name(self) -> str | None:
        """The actor's name for the journal: by default the login name, or `None` for ""."""
        if self.actor is not None:
            return self.actor or None
        # In a container there may be no login, and the user id may have no name.
        with suppress(OSError, KeyError, ImportError):
            return getuser()
        return None


@attrs.frozen
class Edit:
    """The options of every edit: the form of the answer, the plan, the actor and the policy."""

    as_json: AsData = False
    place: Place = Place()
    writer: Writer = Writer()
    judge: Judge = Judge()


# -------- task_options --------
# The arguments and options that name tasks and set their fields.


_ID = {"metavar": "ID", "autocompletion": known_tasks}
Subject = Annotated[str, typer.Argument(metavar="TEXT", help="What is to be done.")]
TaskId = Annotated[str, typer.Argument(help="The task, by its id.", **_ID)]
TaskIds = Annotated[
    list[str], typer.Argument(help="The tasks, by their ids: 2 3, 2,3 or 2-4.", **_ID)
]
MaybeTaskIds = Annotated[
    list[str] | None,
    typer.Argument(
        help="The tasks, by their ids: 2 3, 2,3 or 2-4; without one, the next that is ready.",
        show_default=False,
        **_ID,
    ),
]
After = Annotated[
    list[str] | None,
    typer.Option(
        "--after",
        help="A task that has to be completed first; repeatable.",
        show_default=False,
        **_ID,
    ),
]


def _text(option: str, words: str) -> Any:
    return typer.Option(option, metavar="TEXT", help=words, show_default=False)


NewText = Annotated[str | None, _text("--subject", "What is to be done.")]
Description = Annotated[str | None, _text("--description", "More about it.")]
ActiveForm = Annotated[
    str | None, _text("--active-form", 'What is shown while it is worked on: "Sowing beans".')
]
Owner = Annotated[str | None, _text("--owner", 'Who should do it; "" for nobody.')]
Check = Annotated[str | None, _text("--check", 'What shows that it is done; "" for nothing.')]
PriorityName = Annotated[
    str | None,
    typer.Option(
        "--priority",
        metavar="PRIORITY",
        help=f"{', '.join(Priority)}.",
        show_default=False,
        **one_of(Priority),
    ),
]
Parent = Annotated[
    str | None,
    typer.Option(
        "--parent",
        help='The task that it is a part of; "" for none.',
        show_default=False,
        **_ID,
    ),
]
StatusName = Annotated[
    str | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help=f"{', '.join(Status)}.",
        show_default=False,
        **one_of(Status),
    ),
]
_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(m|min|h|d|w)?")
# A day and a week of work are shorter than those of the calendar.
_OF_WORK = {"m": 1, "min": 1, "h": 60, "d": 8 * 60, "w": 5 * 8 * 60}
_OF_THE_CALENDAR = {**_OF_WORK, "d": 24 * 60, "w": 7 * 24 * 60}


def _minutes(given: str, units: Mapping[str, int]) -> float | None:
    found = _DURATION.fullmatch(given.strip().lower())
    return None if found is None else float(found[1]) * units[found[2] or "m"]


def _effort(given: str) -> float:
    minutes = _minutes(given, _OF_WORK)
    if minutes is None:
        known = "90m, 2h, 1.5d (of 8 hours), 1w (of 5 days) or 90, which is in minutes"
        msg = f"{given!r} is no length of work; write {known}"
        raise typer.BadParameter(msg)
    return minutes


Estimate = Annotated[
    float | None,
    typer.Option(
        "--estimate",
        metavar="TIME",
        help="How long the work takes: 90m, 2h, 1.5d (of 8 hours), 1w (of 5 days), or minutes.",
        parser=_effort,
        show_default=False,
    ),
]


@attrs.frozen
class Fields:
    """The options that set the fields of a task, new or not."""

    description: Description = None
    active_form: ActiveForm = None
    priority: PriorityName = None
    owner: Owner = None
    estimate: Estimate = None
    parent: Parent = None
    check: Check = None


Reason = Annotated[
    str,
    typer.Argument(metavar="REASON", help="For whom or what, in a few words.", show_default=False),
]
Question = Annotated[
    str | None, _text("--question", "What somebody is asked, for `todoplan answer`.")
]
Answer = Annotated[str, typer.Argument(metavar="TEXT", help="The answer; the task keeps it.")]
IsOver = Annotated[bool, typer.Option("--over", help="It waits no longer.")]


def _time(given: str) -> datetime:
    if not given.isdecimal() and (minutes := _minutes(given, _OF_THE_CALENDAR)) is not None:
        return datetime.now(UTC) + timedelta(minutes=minutes)
    try:
        # A time without a zone is local time.
        at = datetime.fromisoformat(given).astimezone()
    except (ValueError, OverflowError) as error:
        msg = (
            f"{given!r} is no time such as 2026-12-24, 2026-12-24T18:00, 2026-12-24T18:00+01:00, or"
            " 2h or 1.5d from now"
        )
        raise typer.BadParameter(msg) from error
    # A wait until a past time would end at once.
    if at <= datetime.now(UTC):
        msg = f"{given!r} is past: give a later time, or leave --until out"
        raise typer.BadParameter(msg)
    return at


UntilTime = Annotated[
    datetime | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="From when on it can be started: 2026-12-24T18:00, local unless it has a zone; or 2h, "
        "1.5d from now.",
        parser=_time,
        show_default=False,
    ),
]
Remove = Annotated[bool, typer.Option("--remove", help="It need not wait for them any longer.")]
Ready = Annotated[bool, typer.Option("--ready", help="Only what could be started now.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Say of each other open task why it is not ready.")
]
Last = Annotated[
    int, typer.Option("--last", metavar="N", min=0, help="So many of the last changes; 0 for all.")
]
Since = Annotated[
    int | None,
    typer.Argument(
        metavar="SINCE",
        min=0,
        help="A revision, as `todoplan log` shows them; without one, the last change is shown.",
        show_default=False,
    ),
]
Until = Annotated[
    int | None,
    typer.Argument(
        metavar="UNTIL", min=0, help="Another; without one, the plan as it is.", show_default=False
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0,
        help="End when nothing has come for so long.",
        show_default=False,
    ),
]


# -------- store --------
# `todoplan store copy`, and the choice of the store that a command uses.


STORE = "TODOPLAN_STORE"
"""The environment variable with the store's address, used without a file and without --store."""


def chosen_store(url: str | None, *, has_file: bool) -> str | None:
    """
    Return the address of the store, `None` for the project's own, or `None` if a file was given.

    Raises:
        StoreError: both a file and `url` were given.
    """
    if url is not None and has_file:
        msg = f"give a file or --store {url}, not both"
        raise StoreError(msg, problem="two_stores")
    # The command line takes precedence over the environment.
    return url if url is not None or has_file else os.environ.get(STORE)


def copy(source: str, target: str, plans: Sequence[str], screen: Screen) -> int:
    """Copy the named plans, or all, with their journals, and return the exit code."""
    try:
        here, there = open_store(source), open_store(target)
        kept = here.plan_ids()
        missing = [plan_id for plan_id in plans if plan_id not in kept]
        if missing or not kept:
            screen.complain(f"{source} has no plan {', '.join(map(repr, missing)) or 'at all'}")
            return UNREADABLE
        for plan_id in plans or kept:
            is_new = copy_plan(here, there, plan_id)
            entries = len(there.entries(plan_id))
            done = f"{entries} entries" if is_new else "there already, as it is"
            screen.write(f"{plan_id!r}: {done}\n")
    except (TodoplanError, OSError) as error:
        screen.complain(str(error))
        return UNREADABLE
    return 0


# -------- show --------
# `todoplan show`: print a plan document, or a plan in a store, for people.


PRINTERS = {"markdown": to_markdown, "mermaid": to_mermaid, "dot": to_dot, "html": to_html}
"""The output formats other than text; `html` is a fragment of a page."""

_SQLITE = b"SQLite format 3\0"


def show(where: Path | Place, form: str, screen: Screen, plan_id: str | None = None) -> int:
    """
    Print a plan, and return the exit code.

    `where` is a file or a place, and `plan_id` names one plan of a file with several. `form` is
    "text" or a name in `PRINTERS`.
    """
    try:
        if isinstance(where, Place):
            plan = _kept(where.shown, where.store_itself(), where.plan_id)
        else:
            plan = _load(where, plan_id)
    except (ReadError, StoreError, MissingExtraError) as error:
        screen.complain(str(error))
        return UNREADABLE
    if form == "text":
        screen.show(plan_lines(plan, screen.out))
    else:
        screen.write(f"{PRINTERS[form](plan)}\n")
    return 0


def _load(path: Path, plan_id: str | None) -> Plan:
    try:
        document = _read(path)
        if document.startswith(_SQLITE):
            return _kept(path, SqliteStore(path), plan_id)
        if _format(document) == FILE_FORMAT:
            return _kept(path, FileStore(path), plan_id)
        if plan_id is not None:
            msg = f"{path} holds one plan, which has no name: leave out --plan {plan_id}"
            raise ReadError(msg, file=str(path))
        return load_plan(document)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    except CodecError as error:
        msg = f"{path}: {error}"
        raise ReadError(msg, file=str(path)) from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(len(_SQLITE))
        if head == _SQLITE:
            return head
        # One byte more than the limit is enough to detect a file that is too large.
        document = head + file.read(LIMIT + 1)
    if len(document) > LIMIT:
        msg = f"{path} is larger than {LIMIT} bytes, which no plan document is"
        raise ReadError(msg, file=str(path))
    return document


def _format(document: bytes) -> object:
    # For invalid JSON, `load_plan` raises an error that gives the position.
    try:
        data = parse(to_unicode(document, LIMIT))
    except CodecError:
        return None
    return data.get("format") if isinstance(data, dict) else None


def _kept(named: Path | str, store: PlanStore, plan_id: str | None) -> Plan:
    try:
        return store.load(chosen_plan(store, plan_id, named))
    except (StoreError, CodecError) as error:
        raise ReadError(str(error), file=str(named)) from error


# -------- changes --------
# Changes of a plan as lines for people: journal entries, and the difference of two revisions.


_NAME = 24
_VALUE = 60
_MOST = 12  # an import that replaces a list may set thousands
_IN_PHRASES = frozenset({"status", "blocks", "claim", "claims", "failed_attempts"})


def log_lines(journal: Sequence[Entry], last: int, console: Console) -> Iterator[Text]:
    """
    Yield the lines of the last entries of a complete journal.

    Each entry has its revision, time, actor, command, a phrase for each change, and the fields
    that it set with their old and new values.
    """
    earlier = len(journal) - last
    plan = replay(Plan(), (event for entry in journal[:earlier] for event in entry.events))
    heads, phrases = [], []
    for entry in journal[earlier:]:
        before, plan = plan, replay(plan, entry.events)
        heads.append(_head(entry))
        phrases.append((*entry_phrases(entry, plan, before), *_set_fields(entry, before, plan)))
    widths = [max(map(cell_len, column)) for column in zip(*heads, strict=True)]
    for cells, told in zip(heads, phrases, strict=True):
        yield from _row(cells, widths, told, console)


def entry_lines(
    entry: Entry, phrases: Iterable[str], widths: list[int], console: Console
) -> Iterator[Text]:
    """
    Yield the lines of one entry with the given phrases.

    `widths` are the column widths so far, at first an empty list. They are updated in place.
    """
    cells = _head(entry)
    widths[:] = map(max, map(cell_len, cells), widths or (0,) * len(cells))
    yield from _row(cells, widths, phrases, console)


def entry_phrases(entry: Entry, plan: Plan, before: Plan | None = None) -> tuple[str, ...]:
    """
    Return a cleaned phrase for each kind of change in an entry.

    `plan` is the plan after the entry, `before` the plan before it, or `None` if unknown.
    """
    undone = (f"took back {entry.undoes}",) if entry.undoes else ()
    return (*undone, *event_phrases(entry.events, plan, before))


def _set_fields(entry: Entry, before: Plan, after: Plan) -> Iterator[str]:
    """Yield the fields that an entry changed in existing tasks, each with its old and new value."""
    ids = dict.fromkeys(task_id for event in entry.events for task_id in event.task_ids)
    both = [(was, now) for each in ids if (was := before.get(each)) and (now := after.get(each))]
    # Fields in `_IN_PHRASES` are already in the phrases. An edge is reported at the blocked task.
    told = [f"  #{now.id} {note}" for was, now in both for note in _fields(was, now, _IN_PHRASES)]
    yield from told[:_MOST]
    if len(told) > _MOST:
        yield f"  and {len(told) - _MOST} more"


def _head(entry: Entry) -> tuple[str, ...]:
    at = f"{entry.at:%Y-%m-%d %H:%M:%S}" if entry.at else ""
    names = (clip(one_line(text or ""), _NAME) for text in (entry.actor, entry.cause))
    return (str(entry.revision), at, *names)


def _row(
    cells: Sequence[str], widths: Sequence[int], told: Iterable[str], console: Console
) -> Iterator[Text]:
    sized = zip(cells, widths, strict=True)
    padded = (f"  {cell}{' ' * (width - cell_len(cell))}" for cell, width in sized if width)
    head = Text("".join(padded) + "  ", "dim")
    left = room(head.cell_len, console)
    yield from hanging(head, (cut(phrase, left) for phrase in told))


def difference_lines(found: Iterable[Difference]) -> Iterator[Text]:
    """Yield a line for each task that was added, removed or changed, with its changed fields."""
    empty = True
    for each in found:
        empty = False
        sign = "+" if each.was is None else "-" if each.now is None else "~"
        notes = _fields(each.was, each.now) if each.was and each.now else ()
        told = f": {'; '.join(notes)}" if notes else ""
        subject = clip(one_line(each.task.subject), _VALUE)
        yield Text(f"  {sign} #{each.task.id} {subject}{told}", _COLOURS[sign])
    if empty:
        yield Text("  no difference")


_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


def _fields(was: Task, now: Task, without: Container[str] = ()) -> tuple[str, ...]:
    """Return the changed fields, each as "status pending -> completed". Times are left out."""
    return tuple(
        f"{name.replace('_', ' ')} {_shown(old)} -> {_shown(new)}"
        for name, field in TASK_FIELDS.items()
        if field.kind is not FieldKind.TIME
        and name not in without
        and (old := getattr(was, name)) != (new := getattr(now, name))
    )


def _shown(value: Any) -> str:
    if isinstance(value, Waiting):
        value = " ".join(filter(None, (value.reason, value.question))) or "waiting"
    elif isinstance(value, Evidence):
        value = f"{'passed' if value.passed else 'failed'} {value.summary}".rstrip()
    elif isinstance(value, Claim):
        value = value.owner
    elif isinstance(value, tuple):
        value = ", ".join(f"#{each}" for each in value)
    elif isinstance(value, Mapping):
        value = json.dumps(thaw(value), ensure_ascii=False)
    return clip(one_line("" if value is None else str(value)), _VALUE) or "nothing"


# -------- edits --------
# `todoplan add`, `start`, `done`, `fail`, `wait`, `answer`, `edit`, `link`, `release`, `remove`,
# `undo`, `approve`: each carries out one command on a plan through a `Planner`, with the actor's
# name in the journal.
#
# `todoplan.cli.json_schemas` describes the JSON output. Its `events` have the form of journal
# entries; `revision`, `counts` and `ready` describe the plan after the command.


EDIT_FORMAT = "todoplan/edit"
EDIT_VERSION = 1

_LONGEST_TASK_TEXT = 40
_QUESTION = 200
_TYPED = {"blocked_by": "--after", "add_blocked_by": "--after", "remove_blocked_by": "--after"}


def carry_out(make: Callable[[], Command], edit: Edit, *, creates: bool = False) -> int:
    """
    Carry out the command that `make` returns, print the result, and return the exit code.

    `creates` allows the edit to create the plan.
    """
    return _done(lambda planner: _applied(planner, make(), edit), edit, creates=creates)


def take_back(edit: Edit) -> int:
    """
    Undo the last accepted command that is not undone yet, by any actor, and return the exit code.

    An undo that would end a valid claim is refused.
    """
    return _done(lambda planner: _undone(planner, edit.writer.name), edit)


def free(task_ids: Sequence[str], edit: Edit) -> int:
    """Release the claims of tasks, whoever holds them, and return the exit code."""
    return _done(lambda planner: _freed(planner, task_ids, edit), edit)


@attrs.frozen
class _Came:
    """The result of an edit: the decision, and the phrases to print if it was accepted."""

    decision: Decision
    said: tuple[str, ...] = ()


def _applied(planner: Planner, command: Command, edit: Edit) -> _Came:
    rules = edit.judge.rules_that_hold()
    before = planner.plan
    decision = planner.apply(command, actor=edit.writer.name, policy=rules)
    if isinstance(decision, Rejected):
        return _Came(decision)
    notes = tuple(_unanswered(before, decision))
    decision = attrs.evolve(decision, warnings=(*decision.warnings, *notes))
    return _Came(decision, event_phrases(decision.events, decision.plan))


def _unanswered(before: Plan, decision: Accepted) -> Iterator[Problem]:
    """Yield a note for each task that stopped waiting although its question was not answered."""
    for event in decision.events:
        if not isinstance(event, StatusChanged) or event.new is Status.CANCELLED:
            continue
        was, now = before.get(event.task_id), decision.plan.get(event.task_id)
        question = was and was.waiting and was.waiting.question
        if question and now is not None and now.waiting is None and now.answer is None:
            asked = clip(one_line(question), _QUESTION)
            note = f'#{now.id} asked "{asked}", and was not answered.'
            yield Problem("not_answered", (now.id,), note=note)


def _undone(planner: Planner, actor: str | None) -> _Came:
    plan, journal = planner.plan, planner.history()
    target = last_change(journal)
    # With `seen`, a change that another actor makes at this moment is not undone.
    decision = planner.undo(actor=actor, seen=plan.revision)
    if target is None or isinstance(decision, Rejected):
        return _Came(decision)
    before = follow(Plan(), journal[: journal.index(target)])
    phrases = "; ".join(entry_phrases(target, plan_after(before, target), before))
    by = f" (by {clip(one_line(target.actor), _LONGEST_TASK_TEXT)})" if target.actor else ""
    came = event_phrases(decision.events, decision.plan, plan)
    return _Came(decision, (f"undone: {phrases or 'no change'}{by}", *came))


def _freed(planner: Planner, task_ids: Sequence[str], edit: Edit) -> _Came:
    plan = planner.plan
    claims = {task.id: task.claim for task in map(plan.get, task_ids) if task is not None}
    if unheld := [task_id for task_id, claim in claims.items() if claim is None]:
        return _Came(Rejected(tuple(Problem("not_claimed", (each,), seen=each) for each in unheld)))
    # The current fencing token is used, so a worker that claims the task at the same moment keeps
    # it. The decision reports tasks that do not exist.
    given = {task_id: claim.fence for task_id, claim in claims.items() if claim is not None}
    releases = tuple(ReleaseClaim(task_id, given.get(task_id, 1)) for task_id in task_ids)
    return _applied(planner, releases[0] if len(releases) == 1 else Batch(releases), edit)


def _done(act: Callable[[Planner], _Came], edit: Edit, *, creates: bool = False) -> int:
    screen = Screen()
    try:
        # Only `add` may create a plan, so that a misspelled name is an error elsewhere.
        store = edit.place.store_itself(screen.complain if creates else None)
        find = plan_to_write if creates else chosen_plan
        plan_id = find(store, edit.place.plan_id, edit.place.shown)
        planner = Planner(store, plan_id)
        came = act(planner)
        decision = came.decision
        plan = planner.plan if isinstance(decision, Rejected) else decision.plan
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    if edit.as_json:
        screen.write(f"{line(_data(plan_id, decision, plan))}\n")
    else:
        _tell(decision, came.said, screen)
    return REFUSED if isinstance(decision, Rejected) else 0


def _tell(decision: Decision, said: Iterable[str], screen: Screen) -> None:
    if isinstance(decision, Rejected):
        for problem in decision.problems:
            screen.complain(f"refused: {explain(_as_typed(problem))}")
        if held := [each.seen for each in decision.problems if each.code == "claimed"]:
            # The advice in a problem is for workers. This one is for the person in charge.
            screen.complain(f"if its holder is gone, free it: todoplan release {' '.join(held)}")
        return
    phrases = tuple(said) or ("no change",)
    coming = ids_text(task.id for task in ready(decision.plan))
    state = f"{summary(decision.plan)}; ready: {coming}" if coming else summary(decision.plan)
    screen.write("".join(f"{text}\n" for text in (*phrases, state)))
    for warning in decision.warnings:
        screen.complain(f"warning: {explain(warning)}")


def _as_typed(problem: Problem) -> Problem:
    """Return a problem whose path is the command-line option instead of the command's argument."""
    name = problem.path.rpartition(".")[2].partition("[")[0]
    option = _TYPED.get(name, f"--{name.replace('_', '-')}")
    # Ids and the subject are positional arguments, and the message itself says which is meant.
    return attrs.evolve(problem, path="" if name in {"", "task_id", "subject"} else option)


def _data(plan_id: str, decision: Decision, plan: Plan) -> dict[str, Any]:
    refused = isinstance(decision, Rejected)
    events = () if isinstance(decision, Rejected) else decision.events
    return {
        "format": EDIT_FORMAT,
        "version": EDIT_VERSION,
        "plan": plan_id,
        "accepted": not refused,
        "revision": plan.revision,
        "events": entry_to_data(Entry(plan.revision, events))["events"],
        "counts": plan.counts._asdict(),
        "ready": [task.id for task in ready(plan)],
        "warnings": [] if isinstance(decision, Rejected) else problem_data(decision.warnings),
        "problems": problem_data(decision.problems) if isinstance(decision, Rejected) else [],
    }


def problem_data(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Return problems as plain data, each with its message."""
    return [
        {"code": each.code, "task_ids": [*each.task_ids], "text": explain(each)}
        for each in problems
    ]


# -------- plan_edits --------
# The command functions for the edits. Their docstrings are the help texts.


def add(subject: Subject, *, after: After = None, fields: Fields, how: Edit) -> None:
    """
    Add a task at the end of the plan, or after the other subtasks of its parent.

    The first task creates the plan.
    """
    make = partial(
        CreateTask,
        subject,
        description=fields.description or "",
        active_form=fields.active_form or None,
        priority=cast("PriorityWord | None", fields.priority),
        owner=fields.owner or None,
        estimate=fields.estimate,
        blocked_by=_ids(after),
        parent=_id(fields.parent) if fields.parent else None,
        check=fields.check or None,
    )
    exit_with(lambda: carry_out(make, how, creates=True))


def start(
    tasks: MaybeTaskIds = None,
    *,
    how: Edit,
) -> None:
    """Set tasks to in progress; without an id, the next ready task."""
    make = partial(_each, tasks, status="in_progress") if tasks else StartNext
    exit_with(lambda: carry_out(make, how))


def complete(tasks: TaskIds, *, how: Edit) -> None:
    """Set tasks to completed."""
    make = partial(_each, tasks, status="completed")
    exit_with(lambda: carry_out(make, how))


def fail(tasks: TaskIds, *, how: Edit) -> None:
    """Set tasks to failed; they are closed, and their dependents stay blocked."""
    make = partial(_each, tasks, status="failed")
    exit_with(lambda: carry_out(make, how))


def wait(  # noqa: PLR0913 - an argument for each option
    task: TaskId,
    reason: Reason = "",
    *,
    question: Question = None,
    until: UntilTime = None,
    over: IsOver = False,
    how: Edit,
) -> None:
    """
    Pause a task until a person, an answer or a time, or end its wait with --over.

    A task in progress becomes pending again.
    """
    if over and (reason or question or until):
        msg = "--over ends the wait: leave the reason, --question and --until out"
        raise typer.BadParameter(msg)
    waiting = None if over else Waiting(reason, until, question or None)
    make = partial(UpdateTask, _id(task), waiting=waiting)
    exit_with(lambda: carry_out(make, how))


def answer(
    task: TaskId,
    text: Answer,
    *,
    how: Edit,
) -> None:
    """Answer the question of a waiting task and end its wait."""
    if not text.strip():
        msg = (
            f"the answer is empty; say something, or end the wait: todoplan wait {_id(task)} --over"
        )
        raise typer.BadParameter(msg)
    make = partial(AnswerTask, _id(task), text)
    exit_with(lambda: carry_out(make, how))


def edit(
    task: TaskId,
    *,
    subject: NewText = None,
    status: StatusName = None,
    fields: Fields,
    how: Edit,
) -> None:
    """
    Change the fields of a task: texts, priority, owner, estimate, parent, check or status.

    Use --status to cancel or reopen a task.
    """
    given = {
        "subject": subject,
        "description": fields.description,
        "priority": fields.priority,
        "estimate": fields.estimate,
        "status": status,
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    # An empty text removes the value of these fields.
    changes |= {
        name: value or None
        for name, value in (
            ("active_form", fields.active_form),
            ("owner", fields.owner),
            ("parent", fields.parent and _id(fields.parent)),
            ("check", fields.check),
        )
        if value is not None
    }
    if not changes:
        msg = "say what to change, such as --subject or --status"
        raise typer.BadParameter(msg)
    make = partial(UpdateTask, _id(task), **changes)
    exit_with(lambda: carry_out(make, how))


def link(
    task: TaskId,
    *,
    after: After,
    remove: Remove = False,
    how: Edit,
) -> None:
    """Make a task depend on other tasks, or remove the dependency with --remove."""
    edges = "remove_blocked_by" if remove else "add_blocked_by"
    changes: dict[str, Any] = {edges: _ids(after)}
    make = partial(UpdateTask, _id(task), **changes)
    exit_with(lambda: carry_out(make, how))


def release(tasks: TaskIds, *, how: Edit) -> None:
    """
    Release claimed tasks from their workers and set them to pending.

    Later reports of such a worker are refused.
    """
    exit_with(lambda: free(_ids(tasks), how))


def remove(tasks: TaskIds, *, how: Edit) -> None:
    """
    Delete tasks from the plan.

    To keep a task that will not be done, cancel it: edit --status cancelled.
    """
    make = partial(_batch, [DeleteTask(task) for task in _ids(tasks)])
    exit_with(lambda: carry_out(make, how))


def undo(*, place: Place, writer: Writer, as_json: AsData = False) -> None:
    """
    Undo the last change that is not undone yet, by any actor.

    Repeat the command to undo earlier changes.
    """
    exit_with(lambda: take_back(Edit(as_json, place, writer)))


def _id(given: str) -> str:
    # Accept "#3", the form in which ids are printed. An unquoted "#3" is a comment to a shell.
    return given.removeprefix("#")


_RANGE = re.compile(r"#?(\d{1,9})-#?(\d{1,9})")
_WIDEST = 1_000


def _ids(given: Iterable[str] | None) -> tuple[str, ...]:
    """Return the ids of arguments such as "2", "#2", "2,3" and "2-4", each once."""
    found: dict[str, None] = {}
    for part in (part for one in given or () for part in one.split(",")):
        ends = _RANGE.fullmatch(part.strip())
        if ends is None:
            found[_id(part.strip())] = None
            continue
        first, last = int(ends[1]), int(ends[2])
        if not first <= last < first + _WIDEST:
            msg = f"{part!r} is no range of at most {_WIDEST} ids, the smaller first, such as 2-4"
            raise typer.BadParameter(msg)
        found.update(dict.fromkeys(map(str, range(first, last + 1))))
    return tuple(found)


def _each(tasks: Iterable[str], status: StatusWord) -> Command:
    return _batch([UpdateTask(task, status=status) for task in _ids(tasks)])


def _batch(commands: list[Command]) -> Command:
    # A single command is named in the journal; a batch would hide its name.
    return commands[0] if len(commands) == 1 else Batch(tuple(commands))


# -------- views --------
# `todoplan list`, `log`, `diff` and `drift`: the current plan, its journal, and its changes
# between two revisions or since it was approved.
#
# `todoplan.cli.json_schemas` describes the JSON output. `document` is a plan document, `entries`
# are journal entries, and tasks have the form of a plan document, all as `todoplan.codec` writes
# them.


VIEWS_VERSION = 1


def show_plan(place: Place, screen: Screen, *, only_ready: bool, as_json: bool) -> int:
    """Print the plan, or only its ready tasks, and return the exit code."""

    def view() -> None:
        store, plan_id = place.opened()
        plan = store.load(plan_id)
        wanted = {task.id for task in ready(plan)}
        if as_json:
            ids = [task.id for task in ready(plan)]
            _write(screen, "list", plan_id, document=plan_to_data(plan), ready=ids)
            return
        head, *rows = plan_lines(plan, screen.out)
        shown = [
            row for row, task in zip(rows, plan, strict=True) if not only_ready or task.id in wanted
        ]
        screen.show((head, *shown))

    return _seen(view, screen)


def show_where(place: Place, screen: Screen) -> int:
    """Print the address of the store and what it keeps, and return the exit code."""

    def view() -> None:
        kept = place.store_itself().plan_ids()
        named = "named by --store" if place.store else "the default of this directory"
        if place.store and place.store == os.environ.get(STORE):
            named = f"named by {STORE}"
        plans = f"plans: {', '.join(map(one_line, kept))}" if kept else "no plan yet"
        screen.write(f"{place.shown}\n{named}; {plans}\n")

    return _seen(view, screen)


def show_next(place: Place, screen: Screen) -> int:
    """Print the task to work on in one line, for status lines and hooks; return the exit code."""

    def view() -> None:
        store, plan_id = place.opened()
        plan = store.load(plan_id)
        task = next_task(plan)
        if task is None:
            open_count = plan.counts.open
            none = "nothing is ready" if open_count else "nothing is open"
            screen.write(f"{none}, {summary(plan)}\n")
            return
        state = " (in progress)" if task.status is Status.IN_PROGRESS else ""
        text = clip(one_line(task.subject), _QUESTION)
        screen.write(f"#{task.id} {text}{state}, {summary(plan)}\n")

    return _seen(view, screen)


def show_ready(place: Place, screen: Screen, *, explain: bool) -> int:
    """Print the ready tasks, with `explain` why others are not, and return the exit code."""

    def view() -> None:
        store, plan_id = place.opened()
        plan = store.load(plan_id)
        coming = ready(plan)
        rows = [f"#{task.id} {one_line(task.subject)}" for task in coming]
        screen.write("".join(f"{row}\n" for row in rows or ["nothing is ready"]))
        if explain:
            ids = {task.id for task in coming}
            for task in open_tasks(plan):
                if task.id not in ids:
                    text = clip(one_line(task.subject), _LONGEST_TASK_TEXT)
                    screen.write(f"not #{task.id} {text}: {'; '.join(_why_not(plan, task))}\n")

    return _seen(view, screen)


def _why_not(plan: Plan, task: Task) -> Iterator[str]:
    """Yield the reasons why an open task cannot be started."""
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


def show_log(place: Place, screen: Screen, *, last: int, as_json: bool) -> int:
    """Print the `last` entries of the journal (0: all), oldest first, and return the exit code."""

    def view() -> None:
        store, plan_id = place.opened()
        journal = store.entries(plan_id)
        shown = journal[-last:]
        if as_json:
            _write(screen, "log", plan_id, entries=[entry_to_data(entry) for entry in shown])
            return
        if more := len(journal) - len(shown):
            screen.show([Text(f"  {more} earlier; --last 0 shows all", "dim")])
        screen.show(log_lines(journal, len(shown), screen.out))

    return _seen(view, screen)


def show_differences(
    place: Place, screen: Screen, since: int | None, until: int | None, *, as_json: bool
) -> int:
    """
    Print the tasks that differ between two revisions of the plan, and return the exit code.

    Without `since`, the comparison begins before the last entry; without `until`, it ends with
    the current plan.
    """

    def view() -> None:
        store, plan_id = place.opened()
        journal = store.entries(plan_id)
        last = journal[-1].revision if journal else 0
        before = last - len(journal[-1].events) if journal else 0
        first, end = before if since is None else since, last if until is None else until
        if not first <= end <= last:
            msg = f"revisions {first} to {end} were asked for; the plan has those from 0 to {last}"
            raise ReadError(msg)
        was, now = _at(journal, first), _at(journal, end)
        found = differences(was, now)
        if as_json:
            tasks = [
                {"was": each.was and write_task(each.was), "now": each.now and write_task(each.now)}
                for each in found
            ]
            _write(screen, "diff", plan_id, since=first, until=end, tasks=tasks)
            return
        screen.show((Text(f"revision {first} to {end}", "bold"), *difference_lines(found)))

    return _seen(view, screen)


def show_drift(place: Place, screen: Screen, *, as_json: bool) -> int:
    """Print the tasks added, removed and changed since the approval, and return the exit code."""

    def view() -> None:
        store, plan_id = place.opened()
        journal = store.entries(plan_id)
        plan = follow(Plan(), journal)
        if plan.approved is None:
            msg = "nobody has approved this plan yet: `todoplan approve` agrees to it as it stands"
            raise ReadError(msg, plan=plan_id)
        found = drift(plan, journal)
        if as_json:
            tasks = [
                {
                    "was": each.was and write_task(each.was),
                    "now": each.now and write_task(each.now),
                    "fields": list(Drift.fields(each)),
                    "actor": each.actor,
                }
                for each in (*found.came, *found.went, *found.changed)
            ]
            approved = write_fields(found.approval)
            _write(screen, "drift", plan_id, revision=plan.revision, approved=approved, tasks=tasks)
            return
        screen.show(map(Text, drift_to_text(found).split("\n")))

    return _seen(view, screen)


def _at(journal: Iterable[Entry], revision: int) -> Plan:
    # Each event is one revision, so a revision within an entry is a plan too.
    events = (event for entry in journal for event in entry.events)
    return replay(Plan(), islice(events, revision))


def _write(screen: Screen, form: str, plan_id: str, **data: Any) -> None:
    head = {"format": f"todoplan/{form}", "version": VIEWS_VERSION, "plan": plan_id}
    screen.write(f"{line({**head, **data})}\n")


def _seen(view: Callable[[], None], screen: Screen) -> int:
    try:
        view()
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    return 0


# -------- check --------
# `todoplan check`: validate a file of rules, and check a stored plan against the rules.
#
# `todoplan.cli.json_schemas` describes the JSON output.


CHECK_FORMAT = "todoplan/check"
CHECK_VERSION = 1


@attrs.frozen
class _Stored:
    """The plan that was checked, and its violations of the plan rules at level error."""

    plan_id: str
    plan: Plan
    problems: tuple[Problem, ...]


def check(place: Place, judge: Judge, screen: Screen, *, as_json: bool) -> int:
    """
    Check the policy, and the plan if a store is given or the project has one.

    Returns the exit code, which is 1 if the plan breaks a rule.
    """
    try:
        policy = judge.rules_that_hold()
        has_plan = place.store or Path(place.address).exists()
        stored = _stored(place, policy) if has_plan else None
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    if as_json:
        screen.write(f"{line(_check_data(policy, stored))}\n")
    else:
        screen.write(_check_text(judge, policy, stored))
    return REFUSED if stored and stored.problems else 0


def _stored(place: Place, policy: Policy) -> _Stored:
    store, plan_id = place.opened()
    plan, journal = store.load(plan_id), store.entries(plan_id)
    folded = replay(Plan(), (event for entry in journal for event in entry.events))
    # A store may keep the plan and the journal separately, and either can be damaged. The plan is
    # loaded again because another process may have written between the two reads.
    if folded != plan and store.load(plan_id) == plan:
        msg = f"{place.shown}: the journal of {plan_id!r} does not lead to the plan that is kept"
        raise CodecError(msg, plan_id=plan_id)
    return _Stored(plan_id, plan, inspect(plan, policy))


def _check_text(judge: Judge, policy: Policy, stored: _Stored | None) -> str:
    on = [(rule.name, level) for rule, level in policy.rules if level is not Severity.OFF]
    errors = sum(level is Severity.ERROR for _, level in on)
    rows = [f"rules of {judge.policy}: {errors} at error, {len(on) - errors} at warn"]
    rows += [f"  {name}: {level.value}" for name, level in on]
    if stored:
        plan = stored.plan
        rows.append(f"plan {stored.plan_id!r}, revision {plan.revision}: {summary(plan)}")
        rows += [f"  {each.code}: {explain(each)}" for each in stored.problems] or ["  keeps them"]
    return "".join(f"{row}\n" for row in rows)


def _check_data(policy: Policy, stored: _Stored | None) -> dict[str, Any]:
    return {
        "format": CHECK_FORMAT,
        "version": CHECK_VERSION,
        "rules": {rule.name: level.value for rule, level in policy.rules},
        "limits": attrs.asdict(policy.limits),
        "plan": stored.plan_id if stored else None,
        "revision": stored.plan.revision if stored else None,
        "problems": problem_data(stored.problems) if stored else [],
    }


# -------- live_plan --------
# A plan on a terminal, redrawn at each change: the tasks and the last changes.
#
# If the plan does not fit on the terminal, closed tasks are left out first and tasks in progress
# last, and a line counts the tasks that are not shown, by status.


_INDENT = 2
_LEAST = 20  # columns for a task's text, however deep it is nested
_LEAST_ROWS = 3  # rows of tasks, however low the terminal is


@attrs.frozen
class Change:
    """A summary of an accepted change, cleaned: its time, actor and phrases."""

    at: str
    actor: str
    phrases: tuple[str, ...]


class LivePlan:
    """The rich renderable of a plan. Rich renders it again when the terminal is resized."""

    def __init__(self, title: str, plan: Plan, changes: Sequence[Change] = ()) -> None:
        self._title, self._plan, self._changes = title, plan, changes
        # Computed once for each plan, because it is drawn twice a second.
        self._lines = lines(plan)
        self._order = sorted(range(len(self._lines)), key=self._weight)

    def _weight(self, place: int) -> tuple[bool, bool, bool]:
        line = self._lines[place]
        return line.status.closed, line.status is not Status.IN_PROGRESS, bool(line.waits_for)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the rows that fit on the terminal."""
        width, height = options.max_width, options.size.height
        news = [row for change in self._changes for row in _told(change, width)]
        news = news[-max(height // 3, 1) :]
        # Four rows are reserved: the title, the counts, an empty row before the changes, and the
        # last row of the terminal for the cursor.
        room = max(height - 4 - len(news), _LEAST_ROWS)
        yield Text(clip(f"{self._title}, revision {self._plan.revision}", width), "bold")
        yield Text(clip(f"{' ' * _INDENT}{summary(self._plan)}", width))
        yield from self._tasks(room, width, console)
        if news:
            yield Text()
            yield from news

    def _tasks(self, room: int, width: int, console: Console) -> Iterator[Text]:
        shown: dict[int, list[Text]] = {}
        used = 0
        for place in self._order:
            rows = list(_task(self._lines[place], width, console))
            # One row is reserved for the line that counts the tasks not shown.
            if used + len(rows) > room - (len(shown) + 1 < len(self._lines)):
                break
            shown[place] = rows
            used += len(rows)
        for place in sorted(shown):
            yield from shown[place]
        left = Counter(line.words for place, line in enumerate(self._lines) if place not in shown)
        if left:
            told = ", ".join(f"{count} {words}" for words, count in left.items())
            yield Text(clip(f"{' ' * _INDENT}not shown: {told}", width), "dim")


def _task(line: Line, width: int, console: Console) -> Iterator[Text]:
    head = Text(" " * min(_INDENT * (1 + line.level), max(width - 2 * _LEAST, 0)))
    head.append(line.mark, COLOURS[line.status]).append(f" {line.id} ")
    text = f"{line.text}{aside(line.notes)}"
    yield from hanging(head, wrapped(text, max(width - head.cell_len, _LEAST), console))


def _told(change: Change, width: int) -> Iterator[Text]:
    head = Text(f"  {change.at}  {change.actor}  ", "dim")
    for row in hanging(head, change.phrases):
        yield Text(clip(row.plain, width), "dim")


# -------- watch --------
# `todoplan watch`: show a plan and each change to it, by any actor and process.
#
# On a terminal the plan is redrawn. In a pipe it is printed once, followed by a line for each
# change. With `--json`, each line is a document, and the first one describes the current plan;
# `todoplan.cli.json_schemas` describes these documents.


WATCH_FORMAT = "todoplan/watch"
WATCH_VERSION = 1

_CHANGES = 5
_WATCH_NAME = 16
_TIMES_A_SECOND = 2

_Moves = Iterator[tuple[Entry | None, Plan, Plan]]


def watch(place: Place, screen: Screen, *, timeout: float | None, as_json: bool) -> int:
    """
    Show the plan and its changes, and return the exit code.

    It ends when there was no change for `timeout` seconds; if `timeout` is `None`, at Ctrl-C.
    """
    try:
        store, plan_id = place.opened()
        steps = moves(Planner(store, plan_id), timeout)
        # A terminal that cannot move its cursor is treated as a pipe.
        if as_json:
            _print_documents(plan_id, steps, screen)
        elif screen.out.is_terminal and not screen.out.is_dumb_terminal:
            draw(plan_id, steps, screen)
        else:
            _print_lines(steps, screen)
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    return 0


def moves(planner: Planner, timeout: float | None) -> _Moves:
    """Yield the current plan, then each new entry with the plans after and before it."""
    plan = planner.plan
    yield None, plan, plan
    for entry in planner.watch(plan.revision, timeout=timeout):
        before, plan = plan, follow(plan, (entry,))
        yield entry, plan, before


def _print_documents(plan_id: str, moves: _Moves, screen: Screen) -> None:
    for entry, plan, _ in moves:
        data: dict[str, Any] = {
            "format": WATCH_FORMAT,
            "version": WATCH_VERSION,
            "plan": plan_id,
            "revision": plan.revision,
            "entry": None if entry is None else entry_to_data(entry),
            "counts": plan.counts._asdict(),
            "ready": [task.id for task in ready(plan)],
        }
        screen.write(f"{line(data)}\n")


def _print_lines(moves: _Moves, screen: Screen) -> None:
    widths: list[int] = []
    for entry, plan, before in moves:
        if entry is None:
            screen.show(plan_lines(plan, screen.out))
        else:
            told = entry_phrases(entry, plan, before)
            screen.show(entry_lines(entry, told, widths, screen.out))


def draw(plan_id: str, steps: _Moves, screen: Screen) -> None:
    """Draw the plan on the terminal with its last changes, and again at each change."""
    title, changes = one_line(plan_id), deque[Change](maxlen=_CHANGES)
    with Live(console=screen.out, refresh_per_second=_TIMES_A_SECOND) as live:
        for entry, plan, before in steps:
            if entry is not None:
                at = f"{entry.at.astimezone():%H:%M:%S}" if entry.at else ""
                actor = clip(one_line(entry.actor or ""), _WATCH_NAME)
                changes.append(Change(at, actor, entry_phrases(entry, plan, before)))
            live.update(LivePlan(title, plan, tuple(changes)), refresh=True)


def _list(*, ready: Ready = False, place: Place, as_json: AsData = False) -> None:
    """Show the plan, or with --ready only the tasks that can be started now."""
    exit_with(lambda: show_plan(place, Screen(), only_ready=ready, as_json=as_json))


def _next(*, place: Place) -> None:
    """Show the task in progress, or the next one that is ready, in one line."""
    exit_with(lambda: show_next(place, Screen()))


def _where(*, place: Place) -> None:
    """Show which store the commands use, and the plans in it."""
    exit_with(lambda: show_where(place, Screen()))


def _ready(*, explain: Explain = False, place: Place) -> None:
    """Show the tasks that can be started now, and with --explain why the others cannot."""
    exit_with(lambda: show_ready(place, Screen(), explain=explain))


def _log(*, last: Last = 20, place: Place, as_json: AsData = False) -> None:
    """Show the history of the plan: when it was changed, by whom and how."""
    exit_with(lambda: show_log(place, Screen(), last=last, as_json=as_json))


def _diff(
    since: Since = None, until: Until = None, *, place: Place, as_json: AsData = False
) -> None:
    """Show the tasks that differ between two revisions of the plan."""
    exit_with(lambda: show_differences(place, Screen(), since, until, as_json=as_json))


def _approve(*, how: Edit) -> None:
    """Approve the current plan; `todoplan drift` shows later changes."""
    make = partial(ApprovePlan, how.writer.name)
    exit_with(lambda: carry_out(make, how))


def _drift(*, place: Place, as_json: AsData = False) -> None:
    """Show the tasks added, removed and changed since the plan was approved."""
    exit_with(lambda: show_drift(place, Screen(), as_json=as_json))


def _check(*, place: Place, judge: Judge, as_json: AsData = False) -> None:
    """Check a policy, and a stored plan against it; exit code 1 if the plan breaks a rule."""
    exit_with(lambda: check(place, judge, Screen(), as_json=as_json))


def _watch(*, timeout: Timeout = None, place: Place, as_json: AsLines = False) -> None:
    """Show the plan and each change to it until Ctrl-C."""
    exit_with(lambda: watch(place, Screen(), timeout=timeout, as_json=as_json))


_COMMANDS: dict[str, Callable[..., None]] = {
    "list": _list,
    "next": _next,
    "ready": _ready,
    "add": add,
    "start": start,
    "done": complete,
    "fail": fail,
    "wait": wait,
    "answer": answer,
    "edit": edit,
    "link": link,
    "release": release,
    "remove": remove,
    "rm": remove,
    "undo": undo,
    "approve": _approve,
    "drift": _drift,
    "log": _log,
    "diff": _diff,
    "watch": _watch,
    "check": _check,
    "where": _where,
}

PLAN_COMMANDS = {name: with_groups(command) for name, command in _COMMANDS.items()}
"""The commands by name."""
