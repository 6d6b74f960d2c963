"""
From a command to events, or to problems. Pure: no clock, no I/O; ids come from the plan's counter.

Theory. A command is run through in a transaction: each step happens at once, on a draft, so that
the next one sees it, and every mistake is noted and the run goes on. Some inputs can never form a
valid plan (a cycle, an unknown id, an empty text); every policy refuses them. Only what could form
one is shown to the policy, as one change from the plan before to the plan after: a batch is judged
by what comes of it, not by its steps.

Law: an accepted command's events replay to its plan, and the plan satisfies the policy; a rejected
command changes nothing, and names every problem found, not the first.
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
    The command holds. No events: there was nothing to change, and `plan` is the one given.
    """

    plan: Plan
    events: tuple[Event, ...]
    warnings: tuple[Problem, ...] = ()

    def unwrap(self) -> Plan:
        """
        Return the plan.
        """
        return self.plan


@attrs.frozen
class Rejected:
    """
    The command is refused, for these problems; the plan stays as it was.
    """

    problems: tuple[Problem, ...]

    @property
    def text(self) -> str:
        """
        All problems in words, for people: what was seen, and what to do.
        """
        return " ".join(explain_all(self.problems))

    def unwrap(self) -> NoReturn:
        """
        Raise the problems, for programs whose commands cannot be wrong.

        Raises:
            PlanError: always; `data["problems"]` holds the problems.
        """
        raise PlanError(self.text, problems=self.problems)


Decision = Accepted | Rejected
_accepted = fast_constructor(Accepted)
_NO_FENCES: Mapping[str, int] = MappingProxyType({})


def decide(  # noqa: PLR0913 - a command, and all that is known about it
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
    Say what a command makes of a plan under a policy. `at` is an aware time, or `None`: not known.

    Times are kept in UTC, whatever the zone of `at`; waits that end by then end first. `base` is
    what its session knows of the plan: a whole list then means the difference to it (law 15). A
    plan in its place is one that the session has listed as a whole. `actor` is whose command it is,
    for rules and for what names its author; `fences` are those of the claims that it holds, by task
    id (law 19).

    Raises:
        PlanError: `at` has no time zone, or what is given is no plan, no command or no policy.
    """
    return decide_with_change(plan, command, policy, at, base, actor, fences)[0]


def decide_with_change(  # noqa: PLR0913, PLR0917 - as of `decide`, on the road of every call
    plan: Plan,
    command: Command,
    policy: Policy,
    at: datetime | None,
    base: Base | Plan | None = None,
    actor: str | None = None,
    fences: Mapping[str, int] = _NO_FENCES,
) -> tuple[Decision, Change]:
    """
    Decide, and return the change that was judged as well: for whoever describes it.

    Raises:
        PlanError: as of `decide`.
    """
    # One comparison where all is well; what is odd is looked at with care.
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
    Return the base of a list; `None` where its session is alone and has seen the plan as it is, so
    that the list is the plan.
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
    # The most frequent command stands first; the last branch is for what is no command at all, and
    # a type checker holds that no command falls through to it.
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
