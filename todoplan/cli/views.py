"""
The commands that show a plan: `show`, `log`, `diff`, `drift`, `check`, `watch`; and `store copy`.

`tests/support/json_documents.py` describes their JSON output. Plans, tasks and journal entries have
the form in which `todoplan.codec` writes them.
"""

import json
import re
from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from todoplan.cli.plans import (
    Judge,
    Place,
    PlanStore,
    chosen_plan,
    entry_phrases,
    problem_data,
    write_document,
)
from todoplan.codec import dump_plan, entry_to_data, load_plan
from todoplan.codec.documents import write_task
from todoplan.codec.engine import LIMIT, parse, to_unicode, write_fields
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.base import Difference, differences
from todoplan.core.events.drift import Drift, drift
from todoplan.core.plan.model import (
    TASK_FIELDS,
    Claim,
    Evidence,
    FieldKind,
    Status,
    Task,
    Waiting,
    thaw,
)
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import ready
from todoplan.core.problems import Problem, explain
from todoplan.core.rules import Severity, inspect
from todoplan.errors import REFUSED, UNREADABLE, CodecError, ReadError, StoreError
from todoplan.planner.planner import Planner
from todoplan.render.markup import to_dot, to_html, to_markdown, to_mermaid
from todoplan.render.outline import aside, clip, drift_to_text, lines, summary
from todoplan.render.terminal import (
    COLOURS,
    Screen,
    cut,
    hanging,
    plan_lines,
    room,
    today,
    wrapped,
)
from todoplan.stores.base import follow, is_beginning
from todoplan.stores.copying import copy_plan
from todoplan.stores.file import FORMAT as FILE_FORMAT
from todoplan.stores.file import FileStore
from todoplan.stores.sqlite import SqliteStore
from todoplan.stores.urls import open_store
from todoplan.texts import one_line, plural
from todoplan.transcripts.files import unreadable

# -------- store copy --------


def copy(source: str, target: str, screen: Screen, *, plans: list[str] | None = None) -> int:
    """Copy plans with their journals; plans that the target store already has are skipped."""
    here, there = open_store(source), open_store(target)
    stored = here.plan_ids()
    missing = [plan_id for plan_id in plans or () if plan_id not in stored]
    if missing or not stored:
        screen.complain(f"{source} has no plan {', '.join(map(repr, missing)) or 'at all'}")
        return UNREADABLE
    for plan_id in plans or stored:
        is_new = copy_plan(here, there, plan_id)
        entries = len(there.entries(plan_id))
        done = plural(entries, "entry", "entries") if is_new else "there already, as it is"
        screen.write(f"{plan_id!r}: {done}\n")
    return 0


# -------- show --------
# `todoplan show`: print a plan document, or a plan in a store, for people.


PRINTERS = {
    "markdown": to_markdown,
    "mermaid": to_mermaid,
    "dot": to_dot,
    "html": to_html,
    "json": dump_plan,
}
"""
The output formats other than text. `html` is a fragment of a page; `json` is a plan document, which
`todoplan import` reads.
"""

_IN_FIRST_LINE = frozenset({"id", "subject", "status"})
_SQLITE = b"SQLite format 3\0"


_TASK_ID = re.compile(r"#?(\d{1,9})")


def show(screen: Screen, document: Path | None = None, *, form: str = "text", place: Place) -> None:
    """
    Show a plan from a JSON document or a store.

    With a task's id instead of a document, show all fields of that task.
    """
    asked = None if document is None else _TASK_ID.fullmatch(str(document))
    if asked and document is not None and not document.exists():
        _, plan = place.loaded()
        _show_task(plan, asked[1], form, screen)
        return
    if document is None:
        plan = _kept(place.shown, place.store_itself(), place.wanted_plan)
    elif place.store:
        msg = f"give a file or --store {place.store}, not both"
        raise ReadError(msg)
    else:
        plan = _load(document, place.plan_id)
    if form == "text":
        screen.show(plan_lines(plan, screen.width))
    else:
        screen.write(f"{PRINTERS[form](plan)}\n")


def _show_task(plan: Plan, task_id: str, form: str, screen: Screen) -> None:
    task = plan.get(task_id)
    if task is None:
        msg = f"the plan has no task {task_id}; todoplan list shows its tasks"
        raise ReadError(msg)
    data = write_task(task)
    if form == "json":
        screen.write(f"{json.dumps(data, ensure_ascii=False, indent=2)}\n")
        return
    if form != "text":
        msg = f"one task is shown as text or json, not as {form}"
        raise ReadError(msg)
    row = next(row for row in lines(plan, today()) if row.id == task_id)
    screen.write(f"{row.mark} {row.id} {row.text}{aside(row.notes)}\n")
    for name, value in data.items():
        if name not in _IN_FIRST_LINE:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if TASK_FIELDS[name].kind is FieldKind.IDS:
                shown = ", ".join(f"#{other}" for other in value)
            screen.write(f"  {name.replace('_', ' ')}: {one_line(shown)}\n")


def _load(path: Path, plan_id: str | None) -> Plan:
    try:
        with path.open("rb") as file:
            document = file.read(len(_SQLITE))
            if document == _SQLITE:
                return _kept(path, SqliteStore(path), plan_id)
            # One byte more than the limit is enough to detect a file that is too large.
            document += file.read(LIMIT + 1)
        if len(document) > LIMIT:
            msg = f"{path} is larger than {LIMIT} bytes, the most for a plan document"
            raise ReadError(msg, file=str(path))
        # For invalid JSON, `load_plan` raises an error that gives the position.
        with suppress(CodecError):
            data = parse(to_unicode(document, LIMIT))
            if isinstance(data, dict) and data.get("format") == FILE_FORMAT:
                return _kept(path, FileStore(path), plan_id)
        if plan_id is not None:
            msg = f"{path} has one plan, which has no id: leave out --plan {plan_id}"
            raise ReadError(msg, file=str(path))
        return load_plan(document)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    except CodecError as error:
        msg = f"{path}: {error}"
        raise ReadError(msg, file=str(path)) from error


def _kept(named: Path | str, store: PlanStore, plan_id: str | None) -> Plan:
    try:
        return store.load(chosen_plan(store, plan_id, named))
    except (StoreError, CodecError) as error:
        raise ReadError(str(error), file=str(named)) from error


# -------- changes --------
# Changes of a plan as lines for people: journal entries, and the differences between two revisions.


_NAME = 24
_VALUE = 60
_MOST = 12  # fields of an entry; a replaced list may set thousands
_IN_PHRASES = frozenset({"status", "blocks", "claim", "claims", "failed_attempts"})


def log_lines(journal: Sequence[Entry], last: int, width: int | None) -> Iterator[Text]:
    """
    Yield lines for the last entries of a journal. `last` is the number of entries to show.

    Each entry has its revision, time, actor, command, a phrase for each change, and the fields
    that it set with their old and new values.
    """
    earlier = len(journal) - last
    plan = follow(Plan(), journal[:earlier])
    heads, phrases = [], []
    for entry in journal[earlier:]:
        before, plan = plan, follow(plan, (entry,))
        heads.append(_head(entry))
        phrases.append((*entry_phrases(entry, plan, before), *_set_fields(entry, before, plan)))
    widths = [max(map(cell_len, column)) for column in zip(*heads, strict=True)]
    for cells, notes in zip(heads, phrases, strict=True):
        yield from _row(cells, widths, notes, width)


def _set_fields(entry: Entry, before: Plan, after: Plan) -> Iterator[str]:
    """Yield the fields that an entry changed in existing tasks, each with its old and new value."""
    ids = dict.fromkeys(task_id for event in entry.events for task_id in event.task_ids)
    both = [(was, now) for one in ids if (was := before.get(one)) and (now := after.get(one))]
    # Fields in `_IN_PHRASES` are already in the phrases. A dependency is shown only for the blocked
    # task.
    rows = [f"  #{now.id} {note}" for was, now in both for note in _fields(was, now, _IN_PHRASES)]
    yield from rows[:_MOST]
    if len(rows) > _MOST:
        yield f"  and {len(rows) - _MOST} more"


def _head(entry: Entry) -> tuple[str, ...]:
    at = f"{entry.at:%Y-%m-%d %H:%M:%S}" if entry.at else ""
    names = (clip(one_line(text or ""), _NAME) for text in (entry.actor, entry.cause))
    return (str(entry.revision), at, *names)


def _row(
    cells: Sequence[str], widths: Sequence[int], phrases: Iterable[str], width: int | None
) -> Iterator[Text]:
    sized = zip(cells, widths, strict=True)
    padded = (f"  {cell}{' ' * (column - cell_len(cell))}" for cell, column in sized if column)
    head = Text("".join(padded) + "  ", "dim")
    left = room(head.cell_len, width)
    yield from hanging(head, (cut(phrase, left) for phrase in phrases))


def difference_lines(changed: Iterable[Difference]) -> Iterator[Text]:
    """Yield a line for each task that was added, removed or changed, with its changed fields."""
    empty = True
    for change in changed:
        empty = False
        sign = "+" if change.was is None else "-" if change.now is None else "~"
        notes = _fields(change.was, change.now) if change.was and change.now else ()
        fields = f": {'; '.join(notes)}" if notes else ""
        subject = clip(one_line(change.task.subject), _VALUE)
        yield Text(f"  {sign} #{change.task.id} {subject}{fields}", _COLOURS[sign])
    if empty:
        yield Text("  no difference")


_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


def _fields(was: Task, now: Task, without: Container[str] = ()) -> tuple[str, ...]:
    """
    Return the changed fields, each as "status pending -> completed".

    Times and the fields in `without` are left out.
    """
    return tuple(
        f"{name.replace('_', ' ')} {_shown(old)} -> {_shown(new)}"
        for name, field in TASK_FIELDS.items()
        if field.kind is not FieldKind.TIME
        and name not in without
        and (old := getattr(was, name)) != (new := getattr(now, name))
    )


def _shown(value: Any) -> str:
    if isinstance(value, Waiting):
        value = ": ".join(filter(None, (value.reason, value.question))) or "waiting"
    elif isinstance(value, Evidence):
        value = f"{'passed' if value.passed else 'failed'} {value.summary}".rstrip()
    elif isinstance(value, Claim):
        value = value.owner
    elif isinstance(value, tuple):
        value = ", ".join(f"#{task_id}" for task_id in value)
    elif isinstance(value, Mapping):
        value = json.dumps(thaw(value), ensure_ascii=False)
    return clip(one_line("" if value is None else str(value)), _VALUE) or "nothing"


# -------- history --------


def log(place: Place, screen: Screen, *, last: int = 20, as_json: bool = False) -> None:
    """Show who changed the plan, when and how."""
    store, plan_id = place.opened()
    journal = store.entries(plan_id)
    shown = journal[-last:]
    if as_json:
        write_document(
            screen, "log", plan=plan_id, entries=[entry_to_data(entry) for entry in shown]
        )
        return
    if more := len(journal) - len(shown):
        screen.show([Text(f"  {more} earlier; --last 0 shows all", "dim")])
    screen.show(log_lines(journal, len(shown), screen.width))


def diff(
    place: Place,
    screen: Screen,
    since: int | None = None,
    until: int | None = None,
    *,
    as_json: bool = False,
) -> None:
    """Show the tasks that differ between two revisions."""
    store, plan_id = place.opened()
    journal = store.entries(plan_id)
    last = journal[-1].revision if journal else 0
    # The journal may begin with a snapshot of the plan (`compact`).
    oldest = journal[0].revision if journal and is_beginning(journal[0]) else 0
    before = max(oldest, last - len(journal[-1].events)) if journal else 0
    first, end = before if since is None else since, last if until is None else until
    if not oldest <= first <= end <= last:
        msg = f"revisions {first} to {end} were given; the journal has {oldest} to {last}"
        raise ReadError(msg)
    changes = differences(_at(journal, first), _at(journal, end))
    if as_json:
        tasks = list(map(_difference_data, changes))
        write_document(screen, "diff", plan=plan_id, since=first, until=end, tasks=tasks)
        return
    screen.show((Text(f"revision {first} to {end}", "bold"), *difference_lines(changes)))


def show_drift(place: Place, screen: Screen, *, as_json: bool = False) -> None:
    """Show what changed since the plan was approved."""
    store, plan_id = place.opened()
    journal = store.entries(plan_id)
    plan = follow(Plan(), journal)
    if plan.approved is None:
        msg = "nobody has approved this plan yet: `todoplan approve` approves its current state"
        raise ReadError(msg, plan=plan_id)
    changes = drift(plan, journal)
    if as_json:
        write_document(
            screen,
            "drift",
            plan=plan_id,
            revision=plan.revision,
            approved=write_fields(changes.approval),
            tasks=[
                {**_difference_data(one), "fields": list(Drift.fields(one)), "actor": one.actor}
                for one in (*changes.came, *changes.went, *changes.changed)
            ],
        )
        return
    screen.show(drift_to_text(changes).split("\n"))


def _difference_data(change: Any) -> dict[str, Any]:
    was, now = change.was, change.now
    return {"was": was and write_task(was), "now": now and write_task(now)}


def _at(journal: Sequence[Entry], revision: int) -> Plan:
    whole = [entry for entry in journal if entry.revision <= revision]
    plan = follow(Plan(), whole)
    # Each event makes one revision, so a revision may also lie between two events of one entry.
    rest = journal[len(whole)].events if plan.revision < revision else ()
    return replay(plan, rest[: revision - plan.revision])


# -------- check --------
# `todoplan check`: validate a file of rules, and check a stored plan against the rules.


def check(place: Place, judge: Judge, screen: Screen, *, as_json: bool = False) -> int:
    """
    Validate and show a policy, and check the stored plan.

    The exit code is 1 if the plan breaks a rule of the policy.
    """
    policy = judge.chosen_policy()
    plan_id: str | None = None
    plan = Plan()
    problems: tuple[Problem, ...] = ()
    if place.named or Path(place.address).exists():
        store, plan_id = place.opened()
        plan = store.load(plan_id)
        replayed = follow(Plan(), store.entries(plan_id))
        # A store may keep the plan and the journal separately, and either can be damaged. If they
        # differ, the plan is loaded again, because another process may have written between the
        # two reads.
        if replayed != plan and store.load(plan_id) == plan:
            msg = f"{place.shown}: the journal of {plan_id!r} does not lead to the stored plan"
            raise CodecError(msg, plan_id=plan_id)
        problems = inspect(plan, policy)
    if as_json:
        write_document(
            screen,
            "check",
            rules={rule.name: level.value for rule, level in policy.rules},
            limits=attrs.asdict(policy.limits),
            plan=plan_id,
            revision=None if plan_id is None else plan.revision,
            problems=problem_data(problems),
        )
    else:
        on = [(rule.name, level) for rule, level in policy.rules if level is not Severity.OFF]
        errors = sum(level is Severity.ERROR for _, level in on)
        rows = [f"rules of {judge.policy}: {errors} at error, {len(on) - errors} at warn"]
        rows += [f"  {name}: {level.value}" for name, level in on]
        if plan_id is not None:
            rows.append(f"plan {plan_id!r}, revision {plan.revision}: {summary(plan)}")
            rows += [f"  {one.code}: {explain(one)}" for one in problems] or ["  keeps them"]
        screen.show(rows)
    return REFUSED if problems else 0


# -------- live_plan --------
# A plan on a terminal, redrawn at each change: the tasks and the last changes. If the plan does not
# fit on the terminal, closed tasks are left out first and tasks in progress last, and a line counts
# the tasks that are not shown, by status.


_INDENT = 2
_LEAST = 20  # columns for a task's text, even if it is deeply nested
_LEAST_ROWS = 3  # rows of tasks, even on a terminal with fewer rows


class LivePlan:
    """
    The rich renderable of a plan. Rich renders it again when the terminal is resized.

    `changes` has a pair for each of the last changes: a text with the time and the actor, and the
    phrases that describe the change. All texts are cleaned of control sequences.
    """

    def __init__(
        self, title: str, plan: Plan, changes: Iterable[tuple[str, Sequence[str]]] = ()
    ) -> None:
        self._title, self._plan, self._changes = title, plan, tuple(changes)
        # Computed here, once for each plan, because the plan is drawn twice a second.
        self._lines = lines(plan, today())
        # Closed tasks are left out first, those in progress last.
        self._order = sorted(
            range(len(self._lines)),
            key=lambda place: (
                self._lines[place].status.closed,
                self._lines[place].status is not Status.IN_PROGRESS,
                bool(self._lines[place].waits_for),
            ),
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the rows that fit on the terminal."""
        width, height = options.max_width, options.size.height
        news = [
            Text(clip(row.plain, width), "dim")
            for head, phrases in self._changes
            for row in hanging(Text(head), phrases)
        ][-max(height // 3, 1) :]
        yield Text(clip(f"{self._title}, revision {self._plan.revision}", width), "bold")
        yield Text(clip(f"{' ' * _INDENT}{summary(self._plan)}", width))
        # Four rows are reserved: the title, the counts, an empty row before the changes, and the
        # last row of the terminal for the cursor.
        room = max(height - 4 - len(news), _LEAST_ROWS)
        shown: dict[int, list[Text]] = {}
        for place in self._order:
            line = self._lines[place]
            head = Text(" " * min(_INDENT * (1 + line.level), max(width - 2 * _LEAST, 0)))
            head.append(line.mark, COLOURS[line.status]).append(f" {line.id} ")
            text = f"{line.text}{aside(line.notes)}"
            rows = list(hanging(head, wrapped(text, max(width - head.cell_len, _LEAST))))
            # One row is reserved for the line that counts the tasks not shown.
            if len(rows) > room - (len(shown) + 1 < len(self._lines)):
                break
            shown[place] = rows
            room -= len(rows)
        for place in sorted(shown):
            yield from shown[place]
        left = Counter(line.words for place, line in enumerate(self._lines) if place not in shown)
        if left:
            counts = ", ".join(f"{count} {words}" for words, count in left.items())
            yield Text(clip(f"{' ' * _INDENT}not shown: {counts}", width), "dim")
        if news:
            yield from (Text(), *news)


# -------- watch --------
# `todoplan watch`: show a plan and each change to it, by any actor and process.
#
# On a terminal the plan is redrawn. In a pipe it is printed once, followed by a line for each
# change. With `--json`, each line is a document, and the first one describes the current plan;
# `tests/support/json_documents.py` describes these documents.


_CHANGES = 5
_WATCH_NAME = 16
_TIMES_A_SECOND = 2

_Moves = Iterator[tuple[Entry | None, Plan, Plan]]


def watch(
    place: Place, screen: Screen, *, timeout: float | None = None, as_json: bool = False
) -> None:
    """Show the plan and each change to it until Ctrl-C."""
    store, plan_id = place.opened()
    steps = moves(Planner(store, plan_id), timeout)
    # A terminal that cannot move its cursor is treated as a pipe.
    if not as_json and screen.out.is_terminal and not screen.out.is_dumb_terminal:
        draw(plan_id, steps, screen)
        return
    widths: list[int] = []
    for entry, plan, before in steps:
        if as_json:
            write_document(
                screen,
                "watch",
                plan=plan_id,
                revision=plan.revision,
                entry=None if entry is None else entry_to_data(entry),
                counts=plan.counts._asdict(),
                ready=[task.id for task in ready(plan)],
            )
        elif entry is None:
            screen.show(plan_lines(plan, screen.width))
        else:
            # The columns are as wide as the widest cells so far.
            cells = _head(entry)
            widths[:] = map(max, map(cell_len, cells), widths or (0,) * len(cells))
            phrases = entry_phrases(entry, plan, before)
            screen.show(_row(cells, widths, phrases, screen.width))


def moves(planner: Planner, timeout: float | None) -> _Moves:
    """Yield the current plan, then each new entry with the plans after and before it."""
    plan = planner.plan
    yield None, plan, plan
    for entry in planner.watch(plan.revision, timeout=timeout):
        before, plan = plan, follow(plan, (entry,))
        yield entry, plan, before


def draw(plan_id: str, steps: _Moves, screen: Screen) -> None:
    """Draw the plan on the terminal with its last changes, and again at each change."""
    title = one_line(plan_id)
    changes = deque[tuple[str, Sequence[str]]](maxlen=_CHANGES)
    with Live(console=screen.out, refresh_per_second=_TIMES_A_SECOND) as live:
        for entry, plan, before in steps:
            if entry is not None:
                at = f"{entry.at.astimezone():%H:%M:%S}" if entry.at else ""
                actor = clip(one_line(entry.actor or ""), _WATCH_NAME)
                changes.append((f"  {at}  {actor}  ", entry_phrases(entry, plan, before)))
            live.update(LivePlan(title, plan, changes), refresh=True)
