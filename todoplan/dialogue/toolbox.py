"""
The toolbox turns a tool call into a reply. It is pure: it does no I/O and has no state.

A call passes through these steps: the tool set finds the tool, intake reads the arguments into
values, the tool makes a command or a query of the values, the core decides, and `replies` words
the result. No other code combines these steps, so every framework gives equal replies to equal
calls (law 12). A framework that stores the plan passes it to the toolbox; in all other cases,
`Planner` stores the plan and calls the toolbox.

The class `Toolbox` contains only the order of the steps and the code that connects them. A mistake
of the model never raises an exception: the result is a `Reply` with `is_error` and the unchanged
plan. A mistake of the developer raises a `PlanError` at once, for example a wrong type, or a policy
that no call of the tool set could satisfy.

The calls of one turn are carried out in order, each on the plan after the one before it (law 13).
There is one exception: if a turn has several whole-list writes, none of them is carried out. The
model wrote each of them without the result of the others, so the last would undo the others.

The sections after `Toolbox` are for the code that calls it: `application` and `undoing` change a
plan that a framework stores, `last_seen` finds the changes that a session has not seen, `observed`
notifies an observer, `parallel_calls` is for frameworks that pass the calls of a turn one at a
time, and `verifying` lets the program verify a task before the model may complete it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from time import time_ns
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

import attrs

from todoplan.core.commands import (
    Batch,
    ClaimTask,
    Command,
    CreateTasks,
    RecordEvidence,
    RestorePlan,
    UpdateTask,
    as_seconds,
)
from todoplan.core.decide import Accepted, Decision, Rejected, decide, decide_with_change
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.base import Base, Note, changed_by
from todoplan.core.events.types import (
    ClaimRenewed,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import (
    Status,
    Task,
    fast_constructor,
    in_utc,
    instance_of,
    short_repr,
    tuple_of,
)
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem, ids_text
from todoplan.core.rules import DEFAULT, Policy, Severity
from todoplan.dialogue.calls import Call, Reply, Turn, checked_plan
from todoplan.dialogue.guidance import Advice, Guidance, Settings, awaits_approval
from todoplan.dialogue.intake import (
    InputLimits,
    Repair,
    is_reference,
    loss_by_guess,
    loss_by_list,
    parts_of,
    quoted,
    read,
    shown_path,
)
from todoplan.dialogue.replies import (
    all_done_text,
    change_text,
    claims_in_vain,
    error_text,
    list_text,
    news_text,
    repairs_text,
    task_text,
    warnings_text,
    whole_list_text,
)
from todoplan.dialogue.tools import (
    CLAIM,
    PLAN,
    TODOS,
    Ignoring,
    Query,
    Tool,
    ToolSet,
    not_started,
    plain_name,
    require_met,
)
from todoplan.errors import PlanError
from todoplan.texts import clipped, one_line, say

# -------- held_claims --------
# The claims of a session: its fencing tokens, and the renewal of claims by each call (law 19).
#
# A fencing token belongs to a claim and not to an actor's name. So the tokens that a session's own
# calls received are stored for the session: a planner stores them by actor, and an adapter stores
# them in the framework's state. The model never has to repeat a token. A planning call shows that
# its author is still working, so it extends the lease of the session's claims.


Fences = Mapping[str, int]
"""The fencing tokens of a session's claims, by task id."""

NO_FENCES: Fences = MappingProxyType({})


def fences_after(fences: Fences, events: Iterable[Event]) -> Fences:
    """
    Return the fencing tokens of a session's claims, by task id, after the events of its own calls.
    """
    known = dict(fences)
    for event in events:
        if isinstance(event, TaskClaimed):
            known[event.task_id] = event.claim.fence
        elif isinstance(event, PlanCleared | PlanRestored):
            known.clear()
        elif isinstance(event, TaskDeleted) or (
            isinstance(event, StatusChanged) and event.new is not Status.IN_PROGRESS
        ):
            known.pop(event.task_id, None)
    return known


def claimed_by_others(plan: Plan, fences: Fences, at: datetime | None) -> frozenset[str]:
    """
    Return the ids of the tasks that other sessions work on.

    Such a task has a live claim, and this session does not have the fencing token of the claim.
    Guidance does not remind a model to finish these tasks.
    """
    return frozenset(
        task.id
        for task in plan.active()
        if task.claim is not None
        and task.claim.is_live(at)
        and fences.get(task.id) != task.claim.fence
    )


# Called with positional arguments: keyword arguments would take twice as long, about 3 % of a call.
_reply = fast_constructor(Reply)
_fields_before_id = attrgetter(*(field.name for field in attrs.fields(Reply)[:8]))
_FINE, _ERROR = False, True
_NOTHING = Note()
_NOBODY = "an agent"  # the owner of a claim if the caller passes no actor
_AS_BASE = "Base(plan), the plan as it was last seen"


class _Context(NamedTuple):
    """The session and the time of a call: see the arguments of `Toolbox.call`."""

    at: datetime | None
    base: Base | None
    actor: str | None
    fences: Fences


@attrs.frozen
class Toolbox:
    """
    A tool set with a policy.

    `limits` are the maximum sizes of the arguments of one call. Two options cost tokens and are off
    by default: `show_list` adds the whole list to the reply to each change, and `say_done` adds a
    note when no task is open any more. Each planning call extends the claims of its session: they
    then expire `lease` seconds after that call.

    Raises:
        PlanError: an argument has the wrong type, or no call of the tool set could satisfy the
            policy.
    """

    toolset: ToolSet = TODOS
    policy: Policy = DEFAULT
    limits: InputLimits = InputLimits()
    show_list: bool = False
    say_done: bool = False
    # Longer than a worker's lease: a model that runs a test suite makes no planning call meanwhile.
    lease: float = attrs.field(default=900.0, converter=as_seconds)

    def __attrs_post_init__(self) -> None:
        instance_of(self.toolset, ToolSet, "a tool set: Toolbox(TASKS)")
        require(self.policy, Policy)
        instance_of(self.limits, InputLimits, "limits, such as InputLimits(items=100)")
        require_met(self.toolset, self.policy)

    def __repr__(self) -> str:
        options = [
            f", {field.name}={getattr(self, field.name)!r}"
            for field in attrs.fields(Toolbox)[2:]
            if getattr(self, field.name) != field.default
        ]
        return f"Toolbox({self.toolset!r}, {self.policy!r}{''.join(options)})"

    def call(  # noqa: PLR0913 - a call and its context
        self,
        plan: Plan,
        name: str,
        arguments: object = None,
        *,
        at: datetime | None = None,
        base: Base | None = None,
        actor: str | None = None,
        fences: Fences = NO_FENCES,
    ) -> Reply:
        """
        Answer one call.

        `arguments` is a JSON text or a mapping. `at` is an aware time, or `None`. `actor` is the
        author of the call, for claims and for rules that depend on the author. `fences` are the
        fencing tokens of the claims from the session's earlier calls (see `fences_after`); this
        call extends those claims.

        `base` is the merge base of the caller's session: the plan as its own calls last wrote or
        read it. With `base`, changes by others are kept, and the reply reports them. After a
        successful reply, the new merge base is `base.advanced(plan, reply.plan, [reply.note])`.
        Without `base`, the toolbox assumes that there is no other session, and that this one has
        listed all tasks, so that its next list may drop any of them.

        Raises:
            PlanError: `plan` is not a plan, or `base` is not a merge base. No input from a model
            raises an error.
        """
        if type(plan) is not Plan:
            checked_plan(plan)
        if base is not None:
            instance_of(base, Base, _AS_BASE)
        # The same as `_Context(...)`, but in C: the generated constructor costs a twentieth of a
        # short call.
        context = tuple.__new__(_Context, (at, base, actor, fences))
        reply = self._answer(plan, name, arguments, context)
        return reply if base is None else _with_unseen(reply, plan, base)

    def _answer(self, plan: Plan, name: str, arguments: object, context: _Context) -> Reply:
        tool = self.toolset.find(name)
        if tool is None:
            name = plain_name(name)
            legal = ", ".join(self.toolset.tool_names)
            problem = Problem("unknown_tool", seen=quoted(name), legal=legal)
            return _refusal(plan, name, (problem,))
        intake = read(arguments, tool.fields, self.limits)
        repairs = intake.repairs
        if intake.problems:
            return _refusal(plan, name, intake.problems, repairs, self._example(plan, tool))
        # If a call is only a list of titles, these may also be tasks to add, or tasks that are
        # done.
        if (
            repairs
            and tool.drops_by_id
            and len(plan)
            and any(repair.code == "bare_list" for repair in repairs)
        ):
            problem = Problem("wrong_type", seen="a list", legal="an object", path="arguments")
            return _refusal(plan, name, (problem,), (), self._example(plan, tool))
        values = intake.values
        if tool.with_plan:
            values = {**values, PLAN: plan}
        if tool.with_claim:
            values = {**values, CLAIM: ClaimTask(context.actor or _NOBODY, self.lease)}
        request = tool.request(values)
        if isinstance(request, Problem):
            problems = _with_shown_paths((request,), tool)
            return _refusal(plan, name, problems, repairs, self._example(plan, tool))
        if isinstance(request, Ignoring):
            repairs += tuple(
                Repair("ignored_key", field.name, quoted(values[field.target]))
                for field in tool.fields
                if field.target in request.ignored
            )
            request = request.command
        if isinstance(request, Query):
            reply = self._show(plan, name, request, repairs, context)
        else:
            if type(request) is CreateTasks and len(plan):
                repairs += tuple(_read_as_index(values, plan))
            reply = self._carry_out(plan, tool, name, request, repairs, context)
        return self._keeping_claims(reply, context) if context.fences else reply

    def _carry_out(  # noqa: PLR0913, PLR0917 - a call and its context
        self,
        plan: Plan,
        tool: Tool,
        name: str,
        command: Command,
        repairs: tuple[Repair, ...],
        context: _Context,
    ) -> Reply:
        """Return the reply to a call that makes a command."""
        if type(command) is Batch and awaits_approval(plan, self.policy):
            command = not_started(command)
        decision, change = decide_with_change(plan, command, self.policy, *context)
        if isinstance(decision, Rejected):
            # An example would not help: the arguments are well formed and only violate a rule.
            return _refusal(plan, name, _with_shown_paths(decision.problems, tool), repairs)
        # Law 17 is checked after the decision: only the change shows whether a task would be lost.
        if repairs and (loss := loss_by_guess(repairs, change)):
            return _refusal(plan, name, (loss,), repairs, self._example(plan, tool))
        if tool.drops_by_id and (left_out := loss_by_list(change)):
            return _refusal(plan, name, (left_out,), repairs)
        text = whole_list_text(change) if tool.whole_list else change_text(change)
        if tool.with_claim and (vain := claims_in_vain(change)):
            text = f"{text}; {vain}"
        after, events, warnings = decision.plan, decision.events, decision.warnings
        if warnings or repairs or self.say_done or self.show_list:
            notes = [*warnings_text(warnings), repairs_text(repairs)]
            if events and self.say_done and not after.counts.open:
                notes.append(all_done_text(change))
            if events and self.show_list:
                notes.append(list_text(after))
            text = _lines(text, *notes)
        note = _NOTHING
        if context.base is not None:
            created = (event.task.id for event in events if type(event) is TaskCreated)
            note = Note(change.lines, (*named_by(command), *created))
        return _reply(after, text, events, _FINE, (), warnings, repairs, name, "", None, note)

    def _keeping_claims(self, reply: Reply, context: _Context) -> Reply:
        """
        Return the reply with the session's claims extended by the lease.

        Only claims that the session still has are extended. No claim gets an earlier end.
        """
        # A refused call changes nothing, and without a time claims do not expire.
        if reply.is_error or context.at is None:
            return reply
        at = in_utc(context.at)
        until = at + timedelta(seconds=self.lease)
        events = tuple(
            ClaimRenewed(task_id, until, at)
            for task_id, fence in context.fences.items()
            if (task := reply.plan.get(task_id)) is not None
            and task.claim is not None
            and task.claim.fence == fence
            and task.claim.until is not None
            and task.claim.until < until
        )
        if not events:
            return reply
        plan = replay(reply.plan, events)
        return attrs.evolve(reply, plan=plan, events=(*reply.events, *events))

    def _show(
        self, plan: Plan, name: str, query: Query, repairs: tuple[Repair, ...], context: _Context
    ) -> Reply:
        """Return the reply to a call that only reads."""
        if query.task_id is None:
            text = _lines(list_text(plan), repairs_text(repairs))
        elif task := plan.get(query.task_id):
            # The text of a task ends with its description, which may contain any text. So notes
            # precede the task.
            text = _lines(repairs_text(repairs), task_text(plan, task))
        else:
            legal = ids_text(task.id for task in plan)
            problem = Problem("unknown_task", (), query.task_id, legal)
            return _refusal(plan, name, (problem,), repairs)
        note = _NOTHING if context.base is None else Note(read=query.task_id or "")
        return _reply(plan, text, (), _FINE, (), (), repairs, name, "", None, note)

    def _example(self, plan: Plan, tool: Tool) -> str:
        """
        Return example arguments for a tool.

        Some tools have another example for a plan that already has tasks.
        """
        # Only `lean` has another example for later calls: its first example writes a new plan.
        key = f"{tool.key}.example"
        later = self.toolset.text(f"{key}.later") if len(plan) else ""
        return later or self.toolset.text(key)

    def turn(  # noqa: PLR0913 - as `call`
        self,
        plan: Plan,
        calls: Sequence[Call],
        *,
        at: datetime | None = None,
        base: Base | None = None,
        actor: str | None = None,
        fences: Fences = NO_FENCES,
    ) -> Turn:
        """
        Answer all planning calls of one model turn, in order (law 13).

        Each call works on the plan after the previous one. If there are several whole-list writes,
        none of them is carried out and each gets an error; the other calls are carried out. `base`
        is the session's merge base, `actor` is the author of the calls, and `fences` are the
        session's fencing tokens (see `call`). Pass their values from before the turn, because the
        model wrote all calls before it read any reply.

        Raises:
            PlanError: `plan` is not a plan, `base` is not a merge base, or `calls` contains
                something other than calls.
        """
        checked_plan(plan)
        calls = tuple_of(calls, Call, 'the calls of a turn, such as [Call("TaskList", {})]')
        seen = None if base is None else instance_of(base, Base, _AS_BASE)
        clashing = self.clashing([call.name for call in calls])
        replies: list[Reply] = []
        for index, call in enumerate(calls):
            if index in clashing:
                problem = Problem("parallel_write", seen=str(len(clashing)))
                reply = _refusal(plan, call.name, (problem,))
            else:
                context = _Context(at, seen, actor, fences)
                reply = self._answer(plan, call.name, call.arguments, context)
                if self.toolset.team:
                    fences = fences_after(fences, reply.events)
                if seen is not None:
                    reply = _with_unseen(reply, plan, seen)
                if seen is not None and index + 1 < len(calls):
                    seen = seen.with_own(reply.events)  # own changes are no news to a session
                    # The first reply has reported the changes by others. Later replies do not
                    # report them again.
                    if not reply.is_error or seen.heard is not None:
                        seen = attrs.evolve(seen, heard=reply.plan)
            plan = reply.plan
            if call.call_id != reply.call_id:
                # `attrs.evolve` would take a fifth of the time of a call here.
                fields = _fields_before_id(reply)
                reply = _reply(*fields, call.call_id, reply.repeat_of, reply.note)
            replies.append(reply)
        return Turn(plan, tuple(replies))

    def clashing(self, names: Sequence[str]) -> frozenset[int]:
        """Return the positions of the whole-list writes in a turn, if there is more than one."""
        if len(names) == 1:
            return frozenset()
        tools = map(self.toolset.find, names)
        whole = [index for index, tool in enumerate(tools) if tool is not None and tool.whole_list]
        return frozenset(whole) if len(whole) > 1 else frozenset()


def named_by(command: Command) -> Iterator[str]:
    """Yield the ids of the tasks that a command names, but not of one that starts by itself."""
    for part in parts_of(command):
        if isinstance(part, UpdateTask | ClaimTask) and part.task_id is not None:
            yield part.task_id


def _with_unseen(reply: Reply, plan: Plan, base: Base) -> Reply:
    # The news come first: a reply may end with a description, which may contain any text.
    if reply.is_error:
        return reply
    news = news_text(base, plan, reply)
    return attrs.evolve(reply, text=_lines(news, reply.text)) if news else reply


def _refusal(
    plan: Plan,
    name: str,
    problems: tuple[Problem, ...],
    repairs: tuple[Repair, ...] = (),
    example: str = "",
) -> Reply:
    text = error_text(problems, example)
    return _reply(plan, text, (), _ERROR, problems, (), repairs, name)


def _with_shown_paths(problems: tuple[Problem, ...], tool: Tool) -> tuple[Problem, ...]:
    """Return the core's problems, with paths in the argument names that the model sees."""
    return tuple(
        attrs.evolve(problem, path=shown_path(problem.path, tool.fields)) for problem in problems
    )


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


# -------- application --------
# Changes made by the application to a plan that a framework stores, shared by all adapters.
#
# Law: a wrong argument from a developer raises at once, before anything is read or changed. Every
# change adds a journal entry with its actor and time.


T = TypeVar("T")

_REMEDIES: dict[type, str] = {
    Plan: "a plan, such as plan_of([...]) or plan_of_state(...)",
    Policy: "a policy, such as STRICT or DEFAULT.but(max_items='off')",
    Settings: "settings, such as Settings(unfinished=0)",
    Toolbox: "a toolbox, such as Toolbox(TASKS, STRICT)",
}


def require(value: object, kind: type[T], remedy: str = "") -> T:
    """
    Return the value if it is an instance of `kind`.

    Raises:
        PlanError: the value is of another type. The message shows the value and says what to pass.
    """
    return instance_of(value, kind, remedy or _REMEDIES.get(kind, f"a {kind.__name__}"))


def require_clock(value: Any) -> Any:
    """
    Return the value if it is a clock, that is any callable without arguments.

    Raises:
        PlanError: the value is not callable.
    """
    if callable(value):
        return value
    msg = f"{short_repr(value)} was given; give a clock: a function that returns an aware datetime"
    raise PlanError(msg, seen=value)


def require_actor(value: object) -> str | None:
    """
    Return the value if it is an actor's name or `None`.

    Raises:
        PlanError: the value is neither a non-blank string nor `None`.
    """
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    msg = f'{short_repr(value)} was given; give a name, actor="writer"'
    raise PlanError(msg, seen=value)


def edited(  # noqa: PLR0913 - the rest are options, by name
    plan: Plan,
    command: Command,
    policy: Policy,
    *,
    at: datetime,
    actor: str | None,
    fences: Fences = NO_FENCES,
) -> tuple[Decision, Entry | None]:
    """
    Return the decision on a command, and the journal entry, or `None` if the plan is unchanged.

    Raises:
        PlanError: `policy` is not a policy, or `command` is not a command.
    """
    decision = decide(plan, command, require(policy, Policy), at=at, actor=actor, fences=fences)
    if not isinstance(decision, Accepted) or not decision.events:
        return decision, None
    cause = type(command).__name__
    return decision, Entry(decision.plan.revision, decision.events, at, actor, cause)


def seeded(
    before: Plan, plan: Plan, *, at: datetime, actor: str | None
) -> tuple[Plan, Entry | None]:
    """
    Replace the tasks of `before` by those of `plan`. Return the new plan and the journal entry.

    Ids are never reused: new tasks get higher ids than all tasks of the two plans. No rule is
    checked, because an application may resume a plan that its policy would not let a model write.

    Raises:
        PlanError: the replacement would end a live claim on a task.
    """
    # The next id is copied too: an id that was deleted in `plan` must not be reused (law 6).
    command = RestorePlan(tuple(require(plan, Plan)), plan.next_id, plan.approved)
    decision, entry = edited(before, command, Policy(), at=at, actor=actor)
    return decision.unwrap(), entry


def unseen_by_model(base: Base | None, before: Plan, entry: Entry) -> Base:
    """
    Return the model's merge base after a change by the application, which the model has not seen.

    `base` is the merge base so far; `None` means that the model has seen the plan `before` the
    change. The caller keeps the result until a successful tool reply has reported the change.
    """
    seen = Base(before) if base is None else base
    return seen.after(entry.events, entry.actor)


def whole_entry(plan: Plan, cause: str, *, at: datetime, actor: str | None = None) -> Entry:
    """Return a journal entry that restores the whole plan and has the plan's own revision."""
    restored = PlanRestored(tuple(plan), plan.next_id, approved=plan.approved)
    return Entry(plan.revision, (restored,), at, actor, cause)


# -------- last_seen --------
# The journal entries that a session has not seen (law 15).


# The causes of entries with evidence that the application itself recorded. A model does not know
# such evidence.
_BY_PROGRAM = frozenset({RecordEvidence.__name__, Batch.__name__})


def is_refused_check(entry: Entry, actor: str | None = None) -> bool:
    """
    Return whether an entry is the evidence that a verifier recorded for a refused call of `actor`.

    The reply to this call has reported the evidence, so the actor knows it. The actor does not know
    other changes, because the reply to a refused call does not report them.
    """
    # A model's tools cannot set evidence (law 20), so a verifier recorded it during the call.
    only_evidence = all(
        isinstance(event, TaskEdited) and {*event.changes} == {"evidence"} for event in entry.events
    )
    return only_evidence and entry.actor == actor and entry.cause not in _BY_PROGRAM


def base_at(
    journal: Iterable[Entry], revision: int, own: Collection[int] = (), *, actor: str | None = None
) -> Base:
    """
    Return the merge base of a session that last saw the plan at `revision`.

    `journal` is the whole journal of the plan. `own` are the revisions of the entries that the
    session itself has added since then. `actor` is the name under which the session acts.
    """
    known: list[Event] = []
    unseen: list[Entry] = []
    for entry in journal:
        is_own = entry.revision in own or is_refused_check(entry, actor)
        if entry.revision <= revision or is_own:
            known += entry.events
        else:
            unseen.append(entry)
    was = replay(Plan(), known)
    return Base(was, changed_by(was, unseen))


# -------- observed --------
# Observers: callbacks for the calls, decisions and reminders of a toolbox.
#
# The code that commits a call notifies the observer: a planner notifies it after the append, and an
# adapter that keeps the plan in a framework's state notifies it after the reply. The toolbox itself
# does not notify, because a reply that it computes may never be committed: after a conflicting
# write, a call is computed again. To answer one of several parallel calls, the earlier calls of the
# turn are computed again too.
#
# Without an observer, a call costs two checks of the toolbox's class. An observer cannot change
# anything, and its exceptions are logged.


_logger = logging.getLogger("todoplan")


class Observer(Protocol):
    """Callbacks that are told what a toolbox did. They run in the thread or task of the caller."""

    def called(self, replies: Sequence[Reply], actor: str | None, began: int) -> None:
        """Handle the finished calls of a turn. The turn began at `began`, in ns since the epoch."""
        ...

    def decided(self, decision: Decision, actor: str | None) -> None:
        """Handle a command that did not come from a model's tool call."""
        ...

    def advised(self, advice: Advice, plan: Plan) -> None:
        """Handle a reminder that guidance gives to the model."""
        ...


@attrs.frozen(repr=False)
class ObservedToolbox(Toolbox):
    """A toolbox with an observer."""

    observer: Observer = attrs.field(kw_only=True, eq=False)


def start(toolbox: Toolbox) -> int:
    """
    Return the present time as the beginning of a turn, for `tell_called`.

    It is in nanoseconds since the epoch, or 0 if the toolbox has no observer.
    """
    return time_ns() if isinstance(toolbox, ObservedToolbox) else 0


def tell_called(toolbox: Toolbox, replies: Sequence[Reply], actor: str | None, began: int) -> None:
    """
    Notify the observer of the replies to calls, also to refused ones.

    `began` is the result of `start`. A retry with a known idempotency key is left out, because
    the call was not carried out again.
    """
    if isinstance(toolbox, ObservedToolbox):
        anew = tuple(reply for reply in replies if reply.repeat_of is None)
        _tell(toolbox.observer.called, anew, actor, began)


def tell_decided(toolbox: Toolbox, decision: Decision, actor: str | None) -> None:
    """
    Notify the observer of the decision on a command that did not come from a model's tool call.
    """
    if isinstance(toolbox, ObservedToolbox):
        _tell(toolbox.observer.decided, decision, actor)


def guidance_of(toolbox: Toolbox, settings: Settings) -> Guidance:
    """
    Return guidance for a toolbox, with the toolbox's observer if it has one.

    Raises:
        PlanError: `settings` is not an instance of `Settings`.
    """
    advised = None
    if isinstance(toolbox, ObservedToolbox):
        advised = partial(_tell, toolbox.observer.advised)
    return Guidance(toolbox.toolset, settings, toolbox.policy, advised)


def _tell(hear: Callable[..., None], *happened: Any) -> None:
    try:
        hear(*happened)
    except Exception:
        _logger.exception("an observer failed")


# -------- parallel_calls --------
# Functions for frameworks that pass the calls of one turn one at a time.
#
# Law: the replies together equal those of `Toolbox.turn` (law 13).
#
# A single call does not show whether another call of the turn replaces the list too. LangChain's
# own guard checks one message only, so two branches of a graph can both write, and the step fails.
# For this reason, the two functions below have an argument for the whole turn: all its calls, or at
# least the names of their tools.


def answered_beside(  # noqa: PLR0913 - as `Toolbox.turn`, and the place
    toolbox: Toolbox,
    plan: Plan,
    calls: Sequence[Call],
    place: int,
    *,
    at: datetime | None = None,
    base: Base | None = None,
    actor: str | None = None,
) -> tuple[Reply, ...]:
    """
    Return the replies to the calls of a turn up to and including the call at index `place`.

    This is for frameworks in which all calls of a turn see the same state, as it was before the
    turn. So to compute the plan before the last of these calls, the earlier calls are carried out
    again. Pass `plan` and `base` as they were before the turn. `base` is the session's merge base,
    and `actor` is the author of the calls (see `Toolbox.call`).

    Raises:
        PlanError: `place` is not an index of `calls`.
    """
    if not 0 <= place < len(calls):
        msg = f"place {place!r} is none of {len(calls)} calls; they are counted from 0"
        raise PlanError(msg, seen=place)
    # A lock would not help: LangGraph runs each call as a separate task, on the same snapshot of
    # the state.
    if len(calls) == 1:  # the usual turn: there are no other calls to check
        call = calls[0]
        return (toolbox.call(plan, call.name, call.arguments, at=at, base=base, actor=actor),)
    # Later calls are passed too: a whole-list write is also refused because of a later one.
    return toolbox.turn(plan, calls, at=at, base=base, actor=actor).replies[: place + 1]


def answered_after(  # noqa: PLR0913 - as `Toolbox.call`, and the turn
    toolbox: Toolbox,
    plan: Plan,
    call: Call,
    turn: Sequence[str] = (),
    *,
    at: datetime | None = None,
    base: Base | None = None,
    actor: str | None = None,
) -> Reply:
    """
    Return the reply to one call of a turn whose earlier calls are already carried out in `plan`.

    `turn` has the tool names of all calls of the turn, including those already answered. `base` is
    the session's merge base, and `actor` is the author of the call (see `Toolbox.call`).
    """
    turn = tuple_of(turn, str, 'the names of the tools of a turn, such as ["write_todos"]')
    clashing = [turn[place] for place in toolbox.clashing(turn)] if len(turn) > 1 else []
    if call.name in clashing:
        # The error message states the number of clashing calls, so as many are passed.
        return toolbox.turn(plan, [Call(call.name, None) for _ in clashing]).replies[0]
    return toolbox.call(plan, call.name, call.arguments, at=at, base=base, actor=actor)


# -------- undoing --------
# Undo of the last change, for frameworks that store the plan and only the latest journal entries.
#
# The plan before a change is computed by replaying the earlier entries. But the journal in a
# framework's state may lack the first entries, and somebody may have changed the list without an
# entry. Law: the entries are used only if replaying all of them on an earlier plan gives the
# current plan. Otherwise an undo would also undo changes that have no entry (law 15).


@attrs.frozen
class Start:
    """A plan from which a replay can start, and the number of journal entries that led to it."""

    plan: Plan
    entries: int


def last_change(journal: Sequence[Entry]) -> Entry | None:
    """Return the last entry that is no undo, was not undone, and does more than renew claims."""
    undone = {entry.undoes for entry in journal}
    standing = (
        entry
        for entry in reversed(journal)
        if entry.undoes is None and entry.revision not in undone and not _is_heartbeat(entry)
    )
    return next(standing, None)


REDO = "redo"
"""The cause of an entry that undoes an undo. It is an ordinary change, which can be undone."""


def last_undo(journal: Sequence[Entry]) -> Entry | None:
    """Return the last undo that is not redone, or `None` if a change came after it."""
    redone = 0
    for entry in reversed(journal):
        if entry.undoes:
            if not redone:
                return entry
            redone -= 1
        elif entry.cause == REDO:
            redone += 1
        elif not _is_heartbeat(entry):
            return None
    return None


def _is_heartbeat(entry: Entry) -> bool:
    # A worker renews its claim every few seconds. If an undo could undo a renewal, a person could
    # never undo an earlier change. The restored plan keeps the present end of each claim.
    return all(type(event) is ClaimRenewed for event in entry.events)


def starts(journal: Sequence[Entry]) -> tuple[Start, ...]:
    """
    Return the plans from which a replay of the journal can start.

    These are the empty plan, if the journal is complete, and each plan that was restored whole.
    """
    # A revision counts events: the first entry of a plan has as many events as its revision.
    is_whole = bool(journal) and journal[0].revision == len(journal[0].events)
    restored = [
        Start(replay(Plan(), entry.events), place + 1)
        for place, entry in enumerate(journal)
        if any(isinstance(event, PlanRestored) for event in entry.events)
    ]
    return (*([Start(Plan(), 0)] if is_whole else ()), *restored)


def plan_before(
    change: Entry, plan: Plan, journal: Sequence[Entry], known: Iterable[Start]
) -> Plan | None:
    """
    Return the plan before a change, replayed from one of the `known` starts (see `starts`).

    Return `None` if the journal leads from none of them to the current `plan`.
    """
    place = journal.index(change)
    for start in known:
        since = journal[start.entries :]
        if start.entries <= place and tuple(replay(start.plan, _events(since))) == tuple(plan):
            # Every later entry is an undo, was undone, or only renews claims. So it is enough to
            # replay the entries before the change.
            return replay(start.plan, _events(journal[start.entries : place]))
    return None


def _events(entries: Iterable[Entry]) -> list[Event]:
    return [event for entry in entries for event in entry.events]


def undone(  # noqa: PLR0913 - the rest are options, by name
    plan: Plan,
    change: Entry | None,
    before: Plan | None,
    *,
    at: datetime,
    actor: str | None,
    fences: Fences = NO_FENCES,
) -> tuple[Decision, Entry | None]:
    """
    Return the decision that undoes a change, and the journal entry of the undo.

    The undo is refused if it would end a live claim whose fencing token is not among `fences`, even
    if the owner of the claim has the same name as the actor who undoes the change (law 19).

    Raises:
        PlanError: there is a `change`, but `before`, the plan before the change, is `None`.
    """
    if change is None:
        return Rejected((Problem("nothing_to_undo"),)), None
    if before is None:
        msg = (
            f"the last change ({change.cause}) cannot be undone: the journal that is kept here does"
            " not say what the plan was before it; with store= it always can"
        )
        raise PlanError(msg, revision=change.revision)
    # The policy is empty: an earlier plan must be restored even if it breaks a rule of the present
    # policy.
    command = RestorePlan(tuple(before), before.next_id, before.approved)
    decision, entry = edited(plan, command, Policy(), at=at, actor=actor, fences=fences)
    return decision, entry and attrs.evolve(entry, cause="undo", undoes=change.revision)


# -------- verifying --------
# Verification of a task's check by the program, before a model may complete the task.
#
# A call that completes a task with a check is decided twice. The first decision ignores the rule
# `evidence_required`, to learn which tasks the call would complete. The second decision applies
# the full policy, with the verifier's findings recorded as evidence. The evidence events precede
# the call's own events. The core enforces law 20 with its rule `evidence_required`; this section
# only supplies the evidence that the rule needs.
#
# A verifier may take long and does I/O, so it does not run in this pure package. The toolbox
# collects the tasks without a finding in `missing`; the reply is then discarded. The code that
# carries out the calls runs the verifier, and passes the calls to the toolbox again (see
# `todoplan.planner.verifying`). A finding is valid only for the version of the task that was
# verified: if others have changed the task since, it is verified again.


_ANYTHING_GOES = Policy()


class Finding(NamedTuple):
    """The result of a verifier: whether the check passed, and a short summary of what was seen."""

    passed: bool
    summary: str = ""


Found = Finding | str | None
"""A finding, or a text that says why there is none, or `None` if the verifier ignores the check."""


@attrs.define(eq=False)
class Findings:
    """
    A verifier's findings about the tasks that the calls of a turn complete.

    `by` is the verifier's name. `upon` is the plan before the turn. `missing` are the tasks that
    must still be verified, each with the plan before the call that completes the task.
    """

    by: str
    upon: Plan = attrs.field(factory=Plan)
    missing: list[tuple[Task, Plan]] = attrs.field(factory=list)
    _found: dict[str, tuple[Task | None, Found]] = attrs.field(factory=dict, alias="found")

    def beside(self) -> Findings:
        """
        Return `Findings` for another call of this turn. Both objects share the recorded findings.
        """
        return Findings(self.by, found=self._found)

    def begin(self, plan: Plan) -> None:
        """
        Prepare to answer calls on a plan: forget the missing tasks, but keep the recorded findings.
        """
        self.upon, self.missing = plan, []

    def put(self, task_id: str, found: Found) -> None:
        """Record a finding about the version of a task before the turn."""
        self._found[task_id] = self.upon.get(task_id), found

    def knows(self, task_id: str) -> bool:
        """Return whether there is a finding about the version of a task before the turn."""
        return task_id in self._found and self._found[task_id][0] == self.upon.get(task_id)

    def of(self, task_id: str) -> Found:
        """Return the finding about a task that was verified."""
        return self._found[task_id][1]


@attrs.frozen
class CheckedToolbox(Toolbox):
    """
    A toolbox that completes a task with a check only after a verifier has found it done.

    `strict` is the original toolbox; its policy is used for the final decision. The checked
    toolbox's own policy is the same without the rule `evidence_required`, and is used only to learn
    which tasks a call would complete.
    """

    strict: Toolbox = attrs.field(kw_only=True)
    findings: Findings = attrs.field(kw_only=True, eq=False)

    @classmethod
    def of(cls, toolbox: Toolbox, findings: Findings) -> CheckedToolbox:
        """Return a checked version of a toolbox, which uses these findings."""
        # Only the fields of `Toolbox`: an observed toolbox has more, and is notified elsewhere.
        named = [field.name for field in attrs.fields(Toolbox)]
        fields, policy = {name: getattr(toolbox, name) for name in named}, toolbox.policy
        if policy.severity("evidence_required") is not Severity.OFF:
            fields["policy"] = policy.but(evidence_required="off")
        return cls(**fields, strict=toolbox, findings=findings)

    def upon(self, findings: Findings) -> CheckedToolbox:
        """Return this toolbox with the findings of another turn."""
        return attrs.evolve(self, findings=findings)

    # The replies are valid only if `findings.missing` is empty afterwards.

    def call(self, plan: Plan, *arguments: Any, **options: Any) -> Reply:
        """
        Answer one call; the arguments are those of `Toolbox.call`.

        Afterwards, `findings.missing` has the tasks that must still be verified.
        """
        self.findings.begin(plan)
        return super().call(plan, *arguments, **options)

    def turn(self, plan: Plan, *arguments: Any, **options: Any) -> Turn:
        """
        Answer all planning calls of one model turn; the arguments are those of `Toolbox.turn`.

        Afterwards, `findings.missing` has the tasks that must still be verified.
        """
        self.findings.begin(plan)
        return super().turn(plan, *arguments, **options)

    def _answer(self, plan: Plan, name: str, arguments: object, context: _Context) -> Reply:
        trial = super()._answer(plan, name, arguments, context)
        tasks = [] if trial.is_error else [*_completed_with_check(plan, trial)]
        strict = self.strict._answer  # noqa: SLF001 - another toolbox
        if not tasks:
            return strict(plan, name, arguments, context)
        unknown = [(task, plan) for task in tasks if not self.findings.knows(task.id)]
        if unknown:
            # The rest of the turn is computed as if the checks had passed. So one round collects
            # all tasks that must be verified.
            self.findings.missing += unknown
            return trial
        results = {task.id: self.findings.of(task.id) for task in tasks}
        not_made = tuple(
            Problem("check_not_made", (task.id,), seen=why, legal=task.check or "")
            for task in tasks
            if isinstance(why := results[task.id], str)
        )
        made = {
            task_id: finding for task_id, finding in results.items() if isinstance(finding, Finding)
        }
        before = plan
        events: tuple[Event, ...] = ()
        by = self.findings.by
        # Evidence is recorded even if the call is refused, and no rule is checked.
        for task_id, finding in made.items():
            command = RecordEvidence(task_id, finding.passed, finding.summary, by)
            _, change = decide_with_change(before, command, _ANYTHING_GOES, context.at, None, by)
            before, events = change.after, (*events, *change.events)
        if not_made:
            reply = _refused(trial, before, not_made)
        else:
            reply = strict(before, name, arguments, context)
            if reply.is_error and events:
                reply = _refused(reply, before, _explained(reply.problems, made))
        lines = [reply.text]
        if passed := [task_id for task_id, finding in made.items() if finding.passed]:
            lines.append(say("replies", "check_passed", ids=ids_text(passed)))
        for task_id, finding in made.items():
            # A refusal names the failed checks itself.
            if not finding.passed and not reply.is_error:
                lines.append(say("replies", "check_failed", id=task_id, summary=_summary(finding)))
        return attrs.evolve(reply, text="\n".join(lines), events=(*events, *reply.events))


def _read_as_index(values: Mapping[str, Any], plan: Plan) -> Iterator[Repair]:
    """
    Yield a note for each reference that was read as an entry of the call, but may mean a task of
    the plan.

    "#1" is the second entry of the call. But replies write ids as "#1" too, so a model may mean the
    open task 1 of the plan.
    """
    lists = (value for value in values.values() if isinstance(value, list | tuple))
    entries = (entry for listed in lists for entry in listed if isinstance(entry, Mapping))
    seen: set[str] = set()
    for entry in entries:
        for name in ("blocked_by", "blocks", "parent"):
            references = entry.get(name) or ()
            for word in (references,) if isinstance(references, str) else references:
                task = plan.get(word[1:]) if is_reference(word) else None
                if task is not None and not task.status.closed and word not in seen:
                    seen.add(word)
                    yield Repair("index_read", "", word, word[1:])


def _completed_with_check(plan: Plan, trial: Reply) -> Iterator[Task]:
    """Yield the tasks with a check that a call completes, in their version before the call."""
    completed = dict.fromkeys(
        event.task_id
        for event in trial.events
        if isinstance(event, StatusChanged) and event.new is Status.COMPLETED
    )
    for task_id in completed:
        task, after = plan.get(task_id), trial.plan.get(task_id)
        # A check that the call itself sets or changes is not verified. A task that was closed is
        # not verified either, because reopening it drops the evidence (law 20).
        stays = task and after and task.check and after.check == task.check
        if task and after and stays and not task.status.closed and after.status is Status.COMPLETED:
            yield task


def _refused(reply: Reply, plan: Plan, problems: tuple[Problem, ...]) -> Reply:
    text = error_text(problems)
    return attrs.evolve(
        reply, plan=plan, text=text, is_error=True, problems=problems, events=(), warnings=()
    )


def _explained(problems: tuple[Problem, ...], made: dict[str, Finding]) -> tuple[Problem, ...]:
    """For each failed check, replace the problem "evidence required" by what the verifier saw."""
    return tuple(
        attrs.evolve(
            problem,
            code="check_failed",
            legal=problem.seen,
            seen=_summary(made[problem.task_ids[0]]),
        )
        if problem.code == "evidence_required" and problem.task_ids[0] in made
        else problem
        for problem in problems
    )


def _summary(finding: Finding) -> str:
    return clipped(one_line(finding.summary)) or say("replies", "check_nothing_seen")
