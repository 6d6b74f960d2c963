"""
Decide a command: return events, or problems. Pure: no clock, no I/O; ids come from the plan's
counter.

Theory. A command runs in a transaction: each step takes effect at once, on a draft, so that the
next step sees it. Every mistake is noted and the run continues. Some inputs can never form a valid
plan (a cycle, an unknown id, an empty text); they are refused under every policy. All others are
shown to the policy as one change from the old plan to the new one: a batch is judged by its result,
not by its steps.

Law: an accepted command's events replay to its plan, and the plan satisfies the policy. A rejected
command changes nothing, and all its problems are reported, not only the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Never, NoReturn

import attrs

from todoplan.core.commands import (
    AnswerTask,
    ApprovePlan,
    Batch,
    ClaimTask,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    MoveTask,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide.assembly import plan_problems
from todoplan.core.decide.claims import claim, release, renew, restore
from todoplan.core.decide.outside import answer, approve, end_waits, record_evidence
from todoplan.core.decide.tasks import create, delete, place, start_next, update
from todoplan.core.decide.transaction import Transaction
from todoplan.core.decide.whole_list import clear, write
from todoplan.core.events.base import Base
from todoplan.core.events.types import Event, PlanRestored
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import in_utc, short_repr
from todoplan.core.problems import Problem, explain_all
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy, judge
from todoplan.core.rules.presets import DEFAULT, PRESETS
from todoplan.errors import PlanError

__all__ = ["Accepted", "Decision", "Rejected", "decide", "decide_with_change"]


@attrs.frozen(weakref_slot=False)
class Accepted:
    """
    The command is accepted. Without events nothing had to change, and `plan` is the given one.
    """

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
_NO_FENCES: Mapping[str, int] = MappingProxyType({})


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
    merge base of the session, for whole lists: a list then means the difference to it (law 15). A
    plan given as the base counts as one that the session has listed completely. `actor` is the
    author of the command, for rules and for fields that name an author. `fences` maps task ids to
    the fencing tokens that the actor has (law 19).

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
    Return the decision, and the change that was judged, for callers that describe it.

    Raises:
        PlanError: as in `decide`.
    """
    # Exact types take one comparison; anything else is checked in detail.
    if type(plan) is not Plan or type(policy) is not Policy:
        _check_arguments(plan, policy)
    if at is not None and at.tzinfo is not UTC:
        at = in_utc(at)
    merged = None if base is None else _merge_base(base, plan)
    transaction = Transaction(Draft(plan), at, merged, actor, fences)
    if transaction.draft.has_waiting:
        end_waits(transaction)
    _run(transaction, command)
    if transaction.unchecked:
        transaction.check_edges()
    if transaction.problems:
        return Rejected(tuple(transaction.problems)), Change(plan, plan, command, ())
    events = tuple(transaction.events)
    after = transaction.draft.freeze() if events else plan
    change = Change(plan, after, command, events, policy.limits, actor, transaction.lines)
    refused, warnings = judge(policy, change)
    if refused:
        return Rejected(refused), change
    return _accepted(change.after, events, warnings), change


def _merge_base(base: object, plan: Plan) -> Base | None:
    """
    Return the merge base of a list, or `None` if the list simply replaces the plan.

    The latter is so if the session is alone and has seen the plan as it is.
    """
    if not isinstance(base, Base):
        _check_arguments(base, DEFAULT)
        base = Base(base)  # type: ignore[arg-type]  # checked: it is a plan
    return None if base.is_alone and (base.plan is plan or base.plan == plan) else base


def _check_arguments(plan: object, policy: object) -> None:
    if not isinstance(plan, Plan):
        msg = f"{short_repr(plan)} was given as the plan; write decide(plan, command, policy)"
        raise PlanError(msg, seen=plan)
    if not isinstance(policy, Policy):
        name = policy.lower().replace("_", "-") if isinstance(policy, str) else ""
        preset = repr(PRESETS.get(name, DEFAULT))
        msg = f"{short_repr(policy)} is no policy; give one, such as todoplan.{preset}"
        raise PlanError(msg, seen=policy)


def _run(transaction: Transaction, command: Command) -> None:
    # The most frequent command comes first. The last branch is for values that are not commands; a
    # type checker verifies that no command reaches it.
    match command:
        case UpdateTask():
            update(transaction, command)
        case CreateTask():
            create(transaction, (command,), single=True)
        case CreateTasks(items):
            create(transaction, items)
        case DeleteTask():
            delete(transaction, command)
        case MoveTask():
            place(transaction, command)
        case WriteTodos():
            write(transaction, command)
        case StartNext():
            start_next(transaction)
        case ClearPlan():
            clear(transaction)
        case ClaimTask():
            claim(transaction, command)
        case RenewClaim():
            renew(transaction, command)
        case ReleaseClaim():
            release(transaction, command)
        case AnswerTask():
            answer(transaction, command)
        case RecordEvidence():
            record_evidence(transaction, command)
        case ApprovePlan():
            approve(transaction, command)
        case RestorePlan(tasks, next_id, approved):
            found = tuple(plan_problems(tasks, next_id))
            transaction.problems.extend(found)
            if not found:
                kept = restore(transaction, tasks)
                transaction.emit(PlanRestored(kept, next_id, transaction.at, approved))
        case Batch(commands):
            for part in commands:
                _run(transaction, part)
        case _ as unreachable:
            _refuse(unreachable)


def _refuse(command: Never) -> NoReturn:
    msg = f"{short_repr(command)} is no command; give one, such as commands.CreateTask('a')"
    raise PlanError(msg, seen=command)
