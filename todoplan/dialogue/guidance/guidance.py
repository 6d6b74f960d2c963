"""
When to remind, and when a final answer may stand: pure decisions over a plan and a conversation.

A reminder costs a model's attention and, sent back, a whole request; a wrong one makes users switch
all of them off. Hence the rules: each has a switch; each is due by a condition that it ends itself
(by what is remembered of it), so that every cap is finite; of several that are due only the first
is given. All of that stands in one table, `REMINDERS`, in the order of precedence.

What must be remembered between calls is `Memory`, a small frozen value that an adapter keeps in the
framework's own per-thread state. The same inputs give the same decision.
"""

from __future__ import annotations  # help() shows short names, not the path before each

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

_TURNS_IN_SIGHT = 20  # a guess at how long a plan stays in a context that cannot be seen


# At the tail and unsaved, so that the prefix stays as the provider has it cached: a list in the
# system prompt brought a call from $0.05 to $0.42 (pydantic-ai-todo#41).
@attrs.frozen
class Advice:
    """
    What to do: put `text`, if any, at the tail of the next request, unsaved; keep `memory`.

    `kind` names the reminder, "" for none. `verdict` is about a final answer: "accept" it, ask the
    model "again", or "raise" (see `unfinished_error`).
    """

    memory: Memory
    kind: ReminderKind | Literal[""] = ""
    text: str = ""
    verdict: Verdict = "accept"

    @property
    def shows_plan(self) -> bool:
        """
        True if the text shows the plan as it is: the calls of the response to it are upon that.
        """
        return self.kind in {"plan_lost", "changed", "changed_done"}

    def keeps(self, answer: Message) -> bool:
        """
        Say whether an answer that is sent back stands all the same: the model was asked only
        whether it has said all, and it has said something.
        """
        return self.kind == "all_done" and bool(answer.text.strip())


@attrs.frozen
class _Moment:
    """
    All that a decision may look at. `message` is the answer to judge, if there is one.
    """

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
        # A failed call showed nothing, and a reminder of an earlier revision shows another plan.
        # DeerFlow takes both for a sight of it, so that the plan as it is stays hidden.
        return bool(self.plan.counts.open) and not any(
            message.shows == self.plan.revision
            or any(result.ok and self.toolset.find(result.name) for result in message.results)
            for message in reversed(self.messages)
        )

    def is_changed(self) -> bool:
        # With every request until an answer has told of it: a reminder is in one request alone.
        # Once, where nothing is open and nothing need be answered, or no base says what was told.
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
    When one reminder is due, which tasks it lists, and what is remembered once it was given.

    `switch` is its field of `Settings`. One that `sends_back` judges a final answer; the others are
    for the request that is about to be sent.
    """

    switch: str
    is_due: Callable[[_Moment], bool]
    remembered: Callable[[_Moment], Mapping[str, int]]
    sends_back: bool = False
    tasks: Callable[[_Moment], Iterable[Task]] = lambda now: open_tasks(now.plan)


def _plan_shown(moment: _Moment) -> Mapping[str, int]:
    # What a base holds is known once an answer has told of it, and then the base is gone.
    return {"revision" if moment.base is None else "shown": moment.plan.revision}


REMINDERS: dict[ReminderKind, Reminder] = {
    # First, since it shows the plan as it is: whatever happened to it is then known as well.
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
    # Remembered as a touch: the next one comes as many turns later, not with every request.
    # Only for a task in progress, as claude-code#62323 and #59213 ask for it.
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
        # Not for what waits: agents that waited for a person were nagged on (oh-my-pi#3581).
        lambda now: now.memory.asked < now.settings.unfinished and bool(now.within_reach()),
        lambda now: {"asked": now.memory.asked + 1},
        sends_back=True,
        tasks=_Moment.within_reach,
    ),
    # Once for a revision: a plan that is done and answered for stays so until it changes.
    "all_done": Reminder(
        "all_done",
        _Moment.is_unconfirmed,
        lambda now: {"confirmed": now.plan.revision},
        sends_back=True,
    ),
}
"""Every reminder, in the order of precedence."""


@attrs.frozen
class Guidance:
    """
    Guidance for one tool set under chosen settings; holds no state of its own. `policy` is that of
    the toolbox: it may say that nothing is started before a person has approved the plan.
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
        Say what the model should be reminded of in the request that is about to be sent.

        `messages` are those of the request itself, after any summarising. `base` is the plan as the
        model last saw it, if others have changed it since: the reminder says what they did.
        `claimed` are the ids of tasks that others work on (`claimed_by_others`): of these the model
        is not reminded as its own.
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
        Judge what the model has just sent: a final answer while tasks are open is sent back.

        Let through at once are a refusal, a question, an answer while all open tasks wait or the
        plan waits for its approval, and with `structured` every answer: the framework asked for its
        form (`response_format`), and a second one would not be read. `claimed` is as of
        `before_model`.
        """
        _check(plan, memory)
        if structured or not is_final_answer(message) or is_refusal(message) or asks(message):
            return Advice(memory)
        if plan.counts.open and plan.approved is None and self._wants_approval():
            return Advice(memory)  # nothing may be started: there is nothing to go on with
        counts = plan.counts
        # Closed, not resolved: who finds that a task fails, and says so, has gone on with the plan.
        if counts.open and counts.closed > memory.resolved:
            # Only more than ever before: reopening and closing one task again is no progress.
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
    Say what the model should be reminded of in a request that shows only what is new, because the
    provider keeps the rest of the conversation.

    Whether the model still has the plan before it cannot be seen. The plan counts as lost if it was
    never shown, or neither shown nor changed by the model for 20 turns; then it is shown once.
    """
    _check(plan, memory)
    # With OpenAI's `previous_response_id` only what is new is sent: all would look lost each time.
    in_sight = memory.revision >= 0 and memory.turn + 1 - memory.touched < _TURNS_IN_SIGHT
    messages = (Message("user", shows=plan.revision),) if in_sight else ()
    advice = guidance.before_model(plan, messages, memory, base=base, claimed=claimed)
    if advice.kind == "plan_lost":
        return attrs.evolve(advice, memory=advice.memory.saw(plan))
    # The provider keeps this request, reminder and all: what it shows has been seen for good.
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
