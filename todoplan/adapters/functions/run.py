"""
`Run`: guidance through one request of a user, in a loop of one's own.

A loop asks the model and answers its calls, and each of the two leaves something to be kept: what
guidance remembers, what the model has seen of the plan (law 15), answers that are sent back and
stand in the next request alone. Kept by hand, one of them is soon written over by another. So all
of it is kept here, and the loop keeps its messages only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast
from uuid import uuid4

import attrs

from todoplan.adapters.functions._wire import Shape, Wire
from todoplan.codec import plan_from_data, plan_to_data
from todoplan.codec.states import base_from_data, base_to_data, entry_line, read_recent, with_lines
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.dialogue.application import require, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import is_final_answer
from todoplan.dialogue.guidance.guidance import Advice, Guidance, Memory, Settings, unfinished_error
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import CodecError, PlanError
from todoplan.planner import AnyStore, Planner
from todoplan.planner.arguments import store_of_plans
from todoplan.planner.holding import HELD, holding

__all__ = ["Next", "OtherTools", "Run"]

Next = Literal["again", "answer", "stop"]
"""What a loop does with a response: ask once more, answer its calls, or end with it."""

OtherTools = Callable[[Call], "str | Reply"]
"""Carries out a call of a tool that is not the plan's, and returns its answer, or a `Reply`."""

_OWN = "plan"
_SEEN, _BASE, _PLAN, _JOURNAL, _MEMORY = "seen", "base", "plan", "journal", "memory"
_ID = "id"


class Run:
    """
    One run of an agent's loop: from what a user asks to the final answer. Made by `start_run` of
    a provider's module; the next request of the user is a new run, begun with what this one saved.

        run = start_run(toolbox, store=store, plan_id="thread-7", saved=kept)
        while True:
            response = ask(run.before_model(messages))
            what = run.after_model(response)
            if what == "again":
                continue
            messages += run.answer(response, other_tools)
            kept = run.to_data()
            if what == "stop":
                break

    `toolbox` is the tools and their policy, `settings` are those of guidance, `clock` gives the
    aware time of every change. With a `store` the plan is kept there under `plan_id`, and others
    may change it at any time; without one it is part of `to_data()`. `planner` is what others
    change it by: `run.planner.apply(command, actor="ann")`.

    Raises:
        CodecError: what was saved is damaged.
        PlanError: the plan would have two owners, or none; what was given is no toolbox, no
            settings, no store or no clock.
    """

    def __init__(  # noqa: PLR0913 - the settings of every adapter, and what was saved
        self,
        wire: Wire,
        toolbox: Toolbox | None = None,
        *,
        settings: Settings = Settings(),  # noqa: B008 - a frozen value
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        plan_id: str | None = None,
        saved: dict[str, Any] | None = None,
    ) -> None:
        kept = {} if saved is None else require(saved, dict, "what run.to_data() returned")
        if store is not None and _PLAN in kept:
            msg = "a plan was saved here, and a store is given: leave store= out, or the saved plan"
            raise PlanError(msg)
        box = Toolbox() if toolbox is None else require(toolbox, Toolbox)
        self._wire, self._guidance = wire, Guidance(box.toolset, require(settings, Settings))
        # A journal that was saved is bounded, so the base stands beside it, with who did what.
        self._base = None if kept.get(_BASE) is None else base_from_data(kept[_BASE])
        self._own = None if store_of_plans(store, plan_id) else _held(kept, self._base)
        self._id = require(kept.get(_ID) or uuid4().hex, str, "what run.to_data() returned")
        self._earlier = read_recent(kept.get(_JOURNAL))
        self.planner = Planner(
            cast("Any", store) if self._own is None else self._own,
            plan_id if self._own is None else _OWN,
            toolbox=box,
            clock=require_clock(clock),
        )
        # What the thread's model knows of the plan: not what this process remembers of anybody.
        self._known = _revision(kept.get(_SEEN))
        self._shown: int | None = None  # by a reminder, in the request that is answered
        self._memory = Memory.of(kept.get(_MEMORY)).new_run(self.planner.plan)
        self._asked: tuple[Advice, Plan] | None = None
        self._next: Next | None = None
        self._is_empty = False
        self._reminder = ""
        self._sent_back: list[Shape] = []
        self._stands: list[Shape] = []

    @property
    def toolbox(self) -> Toolbox:
        """
        The tool set and the policy.
        """
        return self.planner.toolbox

    def history(self) -> tuple[Entry, ...]:
        """
        Return what happened to the plan, oldest first. A store has all of it; what was saved has
        the latest 50 entries, fewer if long.
        """
        return (*self._earlier, *(one for one in self.planner.history() if one.cause != HELD))

    def before_model(self, messages: Sequence[Shape]) -> list[Shape]:
        """
        Return the messages of the next request: these, and what stands in this request alone.

        Give all that the model is to see, after any cutting or summarising. A request that failed
        may be asked for again.
        """
        plan, base = self._look()
        unseen = base if base and base.unseen(plan) else None
        if self._reminder:  # the answer that was sent back and its reminder end the request
            advice = Advice(self._memory)
        else:
            memory = self._memory.at(plan, unseen, self._known)
            read = self._wire.read_messages(messages)
            advice = self._guidance.before_model(plan, read, memory, base=unseen)
        self._asked, self._next = (advice, plan), None
        text = self._reminder or advice.text
        return self._wire.with_reminder([*messages, *self._sent_back], text)

    def after_model(self, response: object, *, structured: bool = False) -> Next:
        """
        Say what to do with a response: "answer" its calls, "stop", or ask "again", since it was an
        answer that came too early, and is kept in no conversation. `structured` is that of
        `Guidance.after_model`.

        Raises:
            PlanError: no request was made before it; or the model goes on answering over open
                tasks, and the settings say to raise.
        """
        if self._asked is None:
            msg = "no request was made for this response: call before_model in front of each"
            raise PlanError(msg)
        (advice, plan), self._asked = self._asked, None
        # The first request counts as a look: what comes while the model answers it has not seen.
        if self._known is None:
            self._saw(plan)
        self._shown = plan.revision if advice.shows_plan else None
        message, now = self._wire.read_messages([response])[0], self.planner.plan
        self._is_empty = message.role != "assistant"
        if self._is_empty:  # a prompt that was blocked, an error: there is nothing to answer
            self._next, self._memory = "stop", advice.memory
            return self._next
        advice = self._guidance.after_model(now, message, advice.memory, structured=structured)
        self._memory = advice.memory
        if advice.verdict == "raise":
            raise unfinished_error(now)
        if advice.verdict == "again":
            kept = self._wire.kept(response)
            self._sent_back += kept
            self._stands = kept if advice.keeps(message) else []
            self._reminder, self._next = advice.text, "again"
        else:
            self._next = "stop" if is_final_answer(message) else "answer"
            if self._next == "answer":
                self._stands = []
            self._sent_back, self._reminder = [], ""
        return self._next

    def answer(self, response: object, other_tools: OtherTools | None = None) -> list[Shape]:
        """
        Answer every call of a response, and return what to append to the messages: the response's
        own message, and the results, as the provider wants them.

        All planning calls are carried out in order as one, behind those of `other_tools`: if one of
        these raises, nothing was done to the plan.

        Raises:
            PlanError: `after_model` has not said that it may be answered; or it calls a tool that
                is not the plan's, and there is no function for it.
        """
        if self._next not in {"answer", "stop"}:
            msg = "nothing to answer: call after_model first, and again after before_model"
            raise PlanError(msg, said=self._next)
        calls = tuple(self._wire.calls(response))
        planning, others = self._wire.split(self.toolbox, response)
        if others and other_tools is None:
            names = ", ".join(sorted({call.name for call in others}))
            msg = f"the model calls {names}: give answer(response, other_tools) a function for them"
            raise PlanError(msg, names=names)
        plan = self.planner.plan
        told = iter([_reply(plan, call, other_tools) for call in others])
        planned: Iterator[Reply] = iter(())
        if planning:
            _, base = self._look()
            # Made again, after a store that failed without saying whether it had kept it.
            keys = None if self._own else self.planner.keys_of(planning, self._id, self._known)
            turn = self.planner.turn(planning, base=base, key=keys)
            planned = iter(turn.replies)
            if not all(reply.is_error for reply in turn.replies):
                self._saw(turn.plan)
        # In the order of the calls: without ids, which Gemini's need not have, nothing else tells.
        replies = [next(planned if call in planning else told) for call in calls]
        said = [] if self._is_empty else self._wire.kept(response)
        messages = [*self._stands, *said, *self._wire.results_of(replies)]
        self._next, self._stands = None, []
        return messages

    def _look(self) -> tuple[Plan, Base | None]:
        plan, base = self.planner.look(self._known, shown=self._shown)
        if base is not None and self._base is not None:
            base = attrs.evolve(base, actors={**self._base.actors, **base.actors})
        return plan, base

    def _saw(self, plan: Plan) -> None:
        self._known, self._base = max(self._known or 0, plan.revision), None
        self._shown = None

    def to_data(self) -> dict[str, Any]:
        """
        Return what is to be saved beside the messages, as plain JSON values.
        """
        kept: dict[str, Any] = {_MEMORY: self._memory.to_data(), _SEEN: self._known}
        if self._own is None:
            return {**kept, _ID: self._id}
        # Bounded: this is written at every save, and a plan's whole history would grow for ever.
        journal = with_lines(None, map(entry_line, self.history()))
        plan, base = self._look()
        if base is not None and base.unseen(plan):
            kept[_BASE] = base_to_data(base)
        return {_PLAN: plan_to_data(plan), _JOURNAL: journal, **kept}


def _held(kept: Mapping[str, Any], base: Base | None) -> Any:
    return holding(_OWN, plan_from_data(kept[_PLAN]) if _PLAN in kept else Plan(), base)


def _revision(seen: object) -> int | None:
    if seen is None or type(seen) is int:
        return seen
    msg = f"the revision that the model saw is damaged: {short_repr(seen)}; leave it out"
    raise CodecError(msg)


def _reply(plan: Plan, call: Call, other_tools: OtherTools | None) -> Reply:
    assert other_tools is not None  # noqa: S101 - asked for above
    said = other_tools(call)
    if isinstance(said, Reply):
        return said
    text = require(said, str, "what the tool answers, as a text, or a Reply")
    return Reply(plan, text, name=call.name, call_id=call.call_id)
