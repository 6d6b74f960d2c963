"""
When to remind, and when a final answer may stand: pure decisions over a plan and a conversation.

What must be remembered between calls is `Memory`, a small frozen value that an adapter keeps in the
framework's own per-thread state. Every cap is finite; the same inputs give the same decision.
"""

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs

from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks
from todoplan.dialogue.guidance.conversation import Message, ToolResult, is_final_answer, is_refusal
from todoplan.dialogue.guidance.reminders import reminder
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.errors import CodecError, PlanError

__all__ = [
    "Advice",
    "Guidance",
    "Memory",
    "Settings",
    "Verdict",
    "ignored",
]

Verdict = Literal["accept", "again", "raise"]


@attrs.frozen
class Settings:
    """
    The switches. Numbers are caps or distances in model turns; 0 switches a reminder off.

    `unfinished` counts further turns asked for after a final answer, anew whenever more tasks are
    resolved; once it is used up the answer is let go, or `on_ignored="raise"` says to raise.
    `all_done`: "if_silent" asks only when the final answer has no text.
    """

    plan_lost: bool = True
    unfinished: int = 2
    on_ignored: Literal["let_go", "raise"] = "let_go"
    empty: int = 0
    stale: int = 0
    changed: bool = False
    all_done: Literal["off", "if_silent", "always"] = "off"


@attrs.frozen
class Memory:
    """
    What guidance remembers of one thread: plain numbers, so that any state can hold them.

    `revision` is the last one the model knew, `touched` the turn in which it last changed,
    `asked` the further turns asked for since `resolved` tasks were resolved.
    """

    turn: int = 0
    revision: int = -1
    touched: int = 0
    asked: int = 0
    resolved: int = 0
    empties: int = 0
    confirmed: int = -1

    @classmethod
    def of(cls, data: Mapping[str, Any] | None) -> "Memory":
        """
        Return the memory that `to_data` wrote, also by another version; a new one for `None`.

        Raises:
            CodecError: what stands there are no numbers.
        """
        known = {field.name for field in attrs.fields(cls)}
        return cls(**{name: _number(name, value) for name, value in _kept(data) if name in known})

    def to_data(self) -> dict[str, int]:
        """
        Return the memory as plain JSON values.
        """
        return attrs.asdict(self)

    def new_run(self, plan: Plan) -> "Memory":
        """
        Return the memory for a new request of the user: caps belong to a run, not to a plan.
        """
        return attrs.evolve(self, asked=0, resolved=plan.counts.resolved, empties=0, confirmed=-1)

    def saw(self, plan: Plan) -> "Memory":
        """
        Return the memory after the model's own call made the plan this one.
        """
        return attrs.evolve(self, revision=plan.revision, touched=self.turn)

    def saw_own(self, before: int, plan: Plan) -> "Memory":
        """
        Return the memory after the model's own calls brought a plan from a revision to this one.

        What others did to the plan before that stays to be told.
        """
        is_own = before == self.revision != plan.revision
        return self.saw(plan) if is_own else self


@attrs.frozen
class Advice:
    """
    What to do: put `text`, if any, at the tail of the next request, unsaved; keep `memory`.

    `kind` names the reminder, "" for none. `verdict` is about a final answer: take it, ask the
    model once more, or raise.
    """

    memory: Memory
    kind: str = ""
    text: str = ""
    verdict: Verdict = "accept"

    def keeps(self, answer: Message) -> bool:
        """
        Say whether an answer that is sent back stands all the same: the model was asked only
        whether it has said all, and it has said something.
        """
        return self.kind == "all_done" and bool(answer.text.strip())


@attrs.frozen
class Guidance:
    """
    Guidance for one tool set under chosen settings; holds no state of its own.
    """

    toolset: ToolSet
    settings: Settings = Settings()

    def before_model(self, plan: Plan, messages: Sequence[Message], memory: Memory) -> Advice:
        """
        Say what the model should be reminded of in the request that is about to be sent.

        `messages` are those of the request itself, after any summarising or trimming.
        """
        memory = attrs.evolve(memory, turn=memory.turn + 1)
        if memory.revision < 0:
            memory = attrs.evolve(memory, revision=plan.revision, touched=memory.turn)
        kind = next(self._due(plan, messages, memory), "")
        text = self._text(kind, plan) if kind else ""
        return Advice(_after(kind, plan, memory), kind, text)

    def _due(self, plan: Plan, messages: Sequence[Message], memory: Memory) -> Iterator[str]:
        settings = self.settings
        if settings.plan_lost and plan.counts.open and not self._visible(plan, messages):
            yield "plan_lost"
        if settings.changed and plan.revision != memory.revision:
            yield "changed" if plan.counts.open else "changed_done"
        if memory.empties < settings.empty and not len(plan):
            yield "empty"
        idle = memory.turn - memory.touched
        if plan.counts.in_progress and 0 < settings.stale <= idle:
            yield "stale"

    def _visible(self, plan: Plan, messages: Sequence[Message]) -> bool:
        return any(
            message.shows == plan.revision or any(map(self._shows, message.results))
            for message in reversed(messages)
        )

    def _shows(self, result: ToolResult) -> bool:
        return result.ok and self.toolset.find(result.name) is not None

    def _text(self, kind: str, plan: Plan) -> str:
        return reminder(kind, plan, self.toolset, plan.active() if kind == "stale" else None)

    def after_model(
        self, plan: Plan, message: Message, memory: Memory, *, structured: bool = False
    ) -> Advice:
        """
        Judge what the model has just sent: a final answer while tasks are open is sent back.

        `structured`: the framework asked for a structured answer (`response_format`), which is
        never sent back; nor is a refusal.
        """
        if structured or not is_final_answer(message) or is_refusal(message):
            return Advice(memory)
        if plan.counts.open:
            return self._unfinished(plan, memory)
        return self._all_done(plan, message, memory)

    def _unfinished(self, plan: Plan, memory: Memory) -> Advice:
        resolved = plan.counts.resolved
        if resolved > memory.resolved:
            memory = attrs.evolve(memory, asked=0, resolved=resolved)
        if memory.asked < self.settings.unfinished:
            memory = attrs.evolve(memory, asked=memory.asked + 1)
            return Advice(memory, "unfinished", self._text("unfinished", plan), "again")
        ignored = self.settings.on_ignored == "raise" and self.settings.unfinished > 0
        return Advice(memory, verdict="raise" if ignored else "accept")

    def _all_done(self, plan: Plan, message: Message, memory: Memory) -> Advice:
        when = self.settings.all_done
        due = when == "always" or (when == "if_silent" and not message.text.strip())
        if not due or not len(plan) or memory.confirmed == plan.revision:
            return Advice(memory)
        memory = attrs.evolve(memory, confirmed=plan.revision)
        return Advice(memory, "all_done", self._text("all_done", plan), "again")


def ignored(plan: Plan) -> PlanError:
    """
    Return what to raise on the verdict "raise".
    """
    ids = tuple(task.id for task in open_tasks(plan))
    msg = (
        f"the model went on answering while {len(ids)} of {len(plan)} tasks are open, however often"
        " it was asked; allow more turns by Settings(unfinished=...), or let it go"
    )
    return PlanError(msg, task_ids=ids)


def _kept(data: object) -> ItemsView[str, Any]:
    if data is None or isinstance(data, Mapping):
        return (data or {}).items()
    raise _damaged(data, "object")


def _number(name: str, value: Any) -> int:
    if type(value) is not int:
        raise _damaged(value, "whole number", name)
    return value


def _damaged(seen: object, wanted: str, name: str = "it") -> CodecError:
    msg = (
        f"what guidance remembers is damaged: {name} is {seen!r:.60}, which is no {wanted}; "
        "leave all of it out, and guidance starts anew"
    )
    return CodecError(msg, name=name)


def _after(kind: str, plan: Plan, memory: Memory) -> Memory:
    if kind == "empty":
        return attrs.evolve(memory, empties=memory.empties + 1)
    if kind == "stale":
        return attrs.evolve(memory, touched=memory.turn)
    if kind in {"plan_lost", "changed", "changed_done"}:
        return attrs.evolve(memory, revision=plan.revision)
    return memory
