"""
Pure decisions on when to remind the model, and when to accept its final answer.

A reminder costs the model's attention. Sending a final answer back costs a whole request, and one
wrong reminder makes users switch all of them off. So these rules apply: each reminder has a switch;
giving a reminder updates the memory so that its own condition ends, which makes every cap finite;
if several reminders are due, only the first is given. All reminders are in one table, `REMINDERS`,
in order of precedence.

The state between decisions is `Memory`, a small frozen value that an adapter keeps in the
framework's per-thread state. The same inputs give the same decision.
"""

from __future__ import annotations  # help() shows short names, without the module path

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal

import attrs

from todoplan.core.events.base import Base
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks, within_reach
from todoplan.core.plan.validation import short_repr
from todoplan.core.rules.policy import Policy, Severity
from todoplan.dialogue.guidance.conversation import Message, asks, is_final_answer, is_refusal
from todoplan.dialogue.guidance.memory import Memory
from todoplan.dialogue.guidance.reminders import ReminderKind, reminder, unfinished_error
from todoplan.dialogue.guidance.settings import Settings
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.errors import PlanError

__all__ = [
    "REMINDERS",
    "Advice",
    "Guidance",
    "Memory",
    "Settings",
    "Verdict",
    "before_partial",
    "unfinished_error",
]

Verdict = Literal["accept", "again", "raise"]

_TURNS_IN_SIGHT = 20  # an estimate: for how many turns a hidden context still contains the plan


# At the end of the request and not saved, so that the provider's cached prefix stays valid: a list
# in the system prompt raised the cost of a call from $0.05 to $0.42 (pydantic-ai-todo#41).
@attrs.frozen
class Advice:
    """
    A decision of guidance.

    The caller appends `text`, if not empty, to the next request without saving it, and stores
    `memory`. `kind` names the reminder, or is "" for none. `verdict` is about a final answer:
    "accept" it, ask the model "again", or "raise" (see `unfinished_error`).
    """

    memory: Memory
    kind: ReminderKind | Literal[""] = ""
    text: str = ""
    verdict: Verdict = "accept"

    @property
    def shows_plan(self) -> bool:
        """
        True if the text shows the present plan; the calls of the response are then based on it.
        """
        return self.kind in {"plan_lost", "changed", "changed_done"}

    def keeps(self, answer: Message) -> bool:
        """
        Return whether an answer that was sent back is kept as well.

        True if the model was only asked whether its answer is complete, and the answer has text.
        """
        return self.kind == "all_done" and bool(answer.text.strip())


@attrs.frozen
class _Moment:
    """The inputs of a decision. `message` is the final answer to judge, if there is one."""

    toolset: ToolSet
    settings: Settings
    plan: Plan
    memory: Memory
    messages: Sequence[Message] = ()
    message: Message | None = None
    base: Base | None = None
    claimed: Collection[str] = ()

    def within_reach(self) -> tuple[Task, ...]:
        return within_reach(self.plan, self.claimed)

    def in_progress(self) -> list[Task]:
        return [task for task in self.within_reach() if task.status is Status.IN_PROGRESS]

    def plan_is_lost(self) -> bool:
        # A failed call showed nothing, and a reminder of an earlier revision shows an old plan.
        # DeerFlow counts both as showing the plan, so the present plan stays hidden.
        return bool(self.plan.counts.open) and not any(
            message.shows == self.plan.revision
            or any(result.ok and self.toolset.find(result.name) for result in message.results)
            for message in reversed(self.messages)
        )

    def is_changed(self) -> bool:
        # A reminder is in one request only, so it is repeated until a reply reports the change. It
        # is given once if no task is open, because then no reply need follow, or if there is no
        # merge base, because then it is unknown what was reported.
        again = self.base is not None and bool(self.plan.counts.open)
        memory, now = self.memory, self.plan.revision
        return now != memory.revision and (again or now != memory.shown)

    def is_unconfirmed(self) -> bool:
        silent = self.message is None or not self.message.text.strip()
        done = bool(len(self.plan)) and not self.plan.counts.open
        is_new = done and self.memory.confirmed != self.plan.revision
        return is_new and (silent or self.settings.all_done == "always")


@attrs.frozen
class Reminder:
    """
    One reminder: when it is due, which tasks it lists, and how it updates the memory.

    `switch` is the field of `Settings` that enables it. If `sends_back` is true, it judges a final
    answer; otherwise it is added to the request that is about to be sent.
    """

    switch: str
    is_due: Callable[[_Moment], bool]
    remembered: Callable[[_Moment], Mapping[str, int]]
    sends_back: bool = False
    tasks: Callable[[_Moment], Iterable[Task]] = lambda now: open_tasks(now.plan)


def _plan_shown(moment: _Moment) -> Mapping[str, int]:
    # Changes in a merge base count as known only after a reply has reported them; then the base is
    # dropped. Until then the revision is only "shown".
    return {"revision" if moment.base is None else "shown": moment.plan.revision}


REMINDERS: dict[ReminderKind, Reminder] = {
    # First, since it shows the present plan, which includes every change.
    "plan_lost": Reminder("plan_lost", _Moment.plan_is_lost, _plan_shown),
    "changed": Reminder(
        "changed", lambda now: now.is_changed() and bool(now.plan.counts.open), _plan_shown
    ),
    "changed_done": Reminder(
        "changed", lambda now: now.is_changed() and not now.plan.counts.open, _plan_shown
    ),
    # Capped: claude-code#81700 counted 1,380 reminders of an empty list, 12.5 MB.
    "empty": Reminder(
        "empty",
        lambda now: not len(now.plan) and now.memory.empties < now.settings.empty,
        lambda now: {"empties": now.memory.empties + 1},
    ),
    # Counts as a touch, so the next one comes `stale` turns later, not with every request. Only for
    # a task in progress, as claude-code#62323 and #59213 ask for.
    "stale": Reminder(
        "stale",
        lambda now: (
            now.memory.turn - now.memory.touched >= now.settings.stale and now.in_progress() != []
        ),
        lambda now: {"touched": now.memory.turn},
        tasks=_Moment.in_progress,
    ),
    "unfinished": Reminder(
        "unfinished",
        # Not for waiting tasks: agents that waited for a person were reminded again and again
        # (oh-my-pi#3581).
        lambda now: now.memory.asked < now.settings.unfinished and bool(now.within_reach()),
        lambda now: {"asked": now.memory.asked + 1},
        sends_back=True,
        tasks=_Moment.within_reach,
    ),
    # Once per revision: a plan that is done and confirmed stays so until it changes.
    "all_done": Reminder(
        "all_done",
        _Moment.is_unconfirmed,
        lambda now: {"confirmed": now.plan.revision},
        sends_back=True,
    ),
}
"""All reminders, in order of precedence."""


@attrs.frozen
class Guidance:
    """
    Guidance for one tool set, without state of its own.

    `policy` is the toolbox's policy. It matters because it may forbid starting a task before a
    person has approved the plan.
    """

    toolset: ToolSet
    settings: Settings = Settings()
    policy: Policy = Policy()

    def __attrs_post_init__(self) -> None:
        for name, kind, remedy in (
            ("toolset", ToolSet, "Guidance(toolbox.toolset)"),
            ("settings", Settings, "Guidance(toolbox.toolset, Settings(unfinished=1))"),
            ("policy", Policy, "Guidance(toolbox.toolset, policy=toolbox.policy)"),
        ):
            seen = getattr(self, name)
            if not isinstance(seen, kind):
                msg = f"{short_repr(seen)} is no {kind.__name__}; write {remedy}, say"
                raise PlanError(msg, seen=seen)

    def before_model(
        self,
        plan: Plan,
        messages: Sequence[Message],
        memory: Memory,
        *,
        base: Base | None = None,
        claimed: Collection[str] = (),
    ) -> Advice:
        """
        Return the reminder for the request that is about to be sent, if one is due.

        `messages` are those of the request itself, after any summarising. `base` is the model's
        merge base, if others have changed the plan since; the reminder then reports their changes.
        `claimed` are the ids of tasks that others work on (`claimed_by_others`); the model is not
        reminded to finish these.
        """
        _check(plan, memory)
        memory = memory.next_turn(plan, base)
        moment = _Moment(
            self.toolset, self.settings, plan, memory, messages, base=base, claimed=claimed
        )
        return self._first_due(moment, "accept") or Advice(memory)

    def after_model(
        self,
        plan: Plan,
        message: Message,
        memory: Memory,
        *,
        structured: bool = False,
        claimed: Collection[str] = (),
    ) -> Advice:
        """
        Judge the model's message: a final answer is sent back while tasks are open.

        Always accepted are a refusal, a question, and an answer while all open tasks wait or the
        plan waits for approval. With `structured`, every answer is accepted: the framework asked
        for its form (`response_format`) and would not read a second one. `claimed` has the same
        meaning as in `before_model`.
        """
        _check(plan, memory)
        if structured or not is_final_answer(message) or is_refusal(message) or asks(message):
            return Advice(memory)
        if plan.counts.open and plan.approved is None and self._wants_approval():
            return Advice(memory)  # nothing may be started yet, so there is no work to continue
        counts = plan.counts
        # Closed, not resolved: marking a task as failed is progress too.
        if counts.open and counts.closed > memory.resolved:
            # Only above the previous maximum: reopening and closing a task again is no progress.
            memory = attrs.evolve(memory, asked=0, resolved=counts.closed)
        moment = _Moment(
            self.toolset, self.settings, plan, memory, message=message, claimed=claimed
        )
        if advice := self._first_due(moment, "again"):
            return advice
        used_up = self.settings.on_ignored == "raise" and self.settings.unfinished > 0
        ignored = used_up and bool(moment.within_reach())
        return Advice(memory, verdict="raise" if ignored else "accept")

    def _wants_approval(self) -> bool:
        return self.policy.severity("approval_required") is Severity.ERROR

    def _first_due(self, moment: _Moment, verdict: Verdict) -> Advice | None:
        for kind, row in REMINDERS.items():
            if row.sends_back is not (verdict == "again"):
                continue
            if getattr(self.settings, row.switch) in {False, "off"} or not row.is_due(moment):
                continue
            memory = attrs.evolve(moment.memory, **row.remembered(moment))
            text = reminder(kind, moment.plan, self.toolset, row.tasks(moment), moment.base)
            return Advice(memory, kind, text, verdict)
        return None


def before_partial(
    guidance: Guidance,
    plan: Plan,
    memory: Memory,
    *,
    base: Base | None = None,
    claimed: Collection[str] = (),
) -> Advice:
    """
    Return the reminder for a request that contains only new messages, if one is due.

    This is for providers that store the rest of the conversation, so it is unknown whether the
    model's context still contains the plan. The plan counts as lost if it was never shown, or
    neither shown nor changed by the model for 20 turns; then it is shown once.
    """
    _check(plan, memory)
    # With OpenAI's `previous_response_id`, a request has only new messages: judged by these alone,
    # the plan would look lost each time.
    in_sight = memory.revision >= 0 and memory.turn + 1 - memory.touched < _TURNS_IN_SIGHT
    messages = (Message("user", shows=plan.revision),) if in_sight else ()
    advice = guidance.before_model(plan, messages, memory, base=base, claimed=claimed)
    if advice.kind == "plan_lost":
        return attrs.evolve(advice, memory=advice.memory.saw(plan))
    # The provider stores this request with its reminder, so the plan in it stays known.
    known = plan.revision if advice.shows_plan else advice.memory.revision
    return attrs.evolve(advice, memory=attrs.evolve(advice.memory, revision=known))


def _check(plan: object, memory: object) -> None:
    for seen, kind, remedy in (
        (plan, Plan, "Plan(), or the plan of the last reply"),
        (memory, Memory, "Memory(), or Memory.of(...) what was kept"),
    ):
        if not isinstance(seen, kind):
            msg = f"{short_repr(seen)} is no {kind.__name__}; give {remedy}"
            raise PlanError(msg, seen=seen)
