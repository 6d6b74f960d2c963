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

from todoplan.adapters.functions._reading import Shape
from todoplan.adapters.functions._saved import WHAT, Asked, SentBack, revision
from todoplan.adapters.functions._wire import Wire, no_answer
from todoplan.codec import plan_from_data, plan_to_data
from todoplan.codec.states import base_from_data, base_to_data, entry_line, read_recent, with_lines
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.application import require, require_actor, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import is_final_answer
from todoplan.dialogue.guidance.guidance import Advice, Memory, Settings, unfinished_error
from todoplan.dialogue.observed import guidance_of
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, Planner
from todoplan.planner.arguments import HELD, holding, store_of_plans
from todoplan.planner.verifying.verifier import Verify

__all__ = ["Next", "OtherTools", "Run"]

Next = Literal["again", "answer", "stop"]
"""What a loop does with a response: ask once more, answer its calls, or end with it."""

OtherTools = Callable[[Call], "str | Reply"]
"""Carries out a call of a tool that is not the plan's, and returns its answer, or a `Reply`."""

_OWN = "plan"
_SEEN, _BASE, _PLAN, _JOURNAL, _MEMORY = "seen", "base", "plan", "journal", "memory"
_ID, _COUNT, _ASKED, _SENT_BACK = "id", "answered", "asked", "sent_back"


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
            save(messages, run.to_data(), response)
            messages += run.answer(response, other_tools)
            save(messages, run.to_data(), None)
            if what == "stop":
                break

    `toolbox` is the tools and their policy, `settings` are those of guidance, `clock` gives the
    aware time of every change, `verify` looks whether a task is done (see `Planner`), `actor` is
    this agent's name in the history. With a `store` the plan is kept there under `plan_id`, and
    others may change it at any time; without one it is part of `to_data()`. `planner` is what
    others change it by: `run.planner.apply(command, actor="ann")`.

    After a crash, begin with what was saved, and give a response that was saved to `after_model`
    first, without a request. In a store that keeps keys (SQLite, PostgreSQL) its calls are carried
    out once, however often they are answered: a response is known by its id and those of its calls,
    one without an id by its place in the thread.

    Raises:
        CodecError: what was saved is damaged.
        PlanError: the plan would have two owners, or none; what was given is no toolbox, no
            settings, no store, no clock or no verifier.
    """

    def __init__(  # noqa: PLR0913 - the settings of every adapter, and what was saved
        self,
        wire: Wire,
        toolbox: Toolbox | None = None,
        *,
        settings: Settings = Settings(),  # noqa: B008 - a frozen value
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        plan_id: str | None = None,
        saved: dict[str, Any] | None = None,
        actor: str | None = None,
    ) -> None:
        kept = {} if saved is None else require(saved, dict, WHAT)
        if store is not None and _PLAN in kept:
            msg = "a plan was saved here, and a store is given: leave store= out, or the saved plan"
            raise PlanError(msg)
        box = Toolbox() if toolbox is None else require(toolbox, Toolbox)
        self._wire = wire
        self._guidance = guidance_of(box, require(settings, Settings))
        # A journal that was saved is bounded, so the base stands beside it, with who did what.
        self._base = None if kept.get(_BASE) is None else base_from_data(kept[_BASE])
        self._own = None if store_of_plans(store, plan_id) else _held(kept, self._base)
        self._id = require(kept.get(_ID) or uuid4().hex, str, WHAT)
        self._answered = require(kept.get(_COUNT, 0), int, WHAT)
        self._actor = require_actor(actor)
        self._earlier = read_recent(kept.get(_JOURNAL))
        self._planner = Planner(
            cast("Any", store) if self._own is None else self._own,
            plan_id if self._own is None else _OWN,
            toolbox=box,
            clock=require_clock(clock),
            verify=verify,
        )
        # What the thread's model knows of the plan: not what this process remembers of anybody.
        self._known = self._base.plan.revision if self._base else revision(kept.get(_SEEN))
        self._shown: int | None = None  # by a reminder, in the request that is answered
        memory = Memory.of(kept.get(_MEMORY))
        # In the middle of a turn it is the same run, whose caps must not begin anew at each crash.
        is_new = _ASKED not in kept and _SENT_BACK not in kept
        self._memory = memory.new_run(self.planner.plan) if is_new else memory
        # The request whose response is to be judged; it is saved until that is answered.
        self._asked = Asked.of(kept.get(_ASKED))
        self._unanswered = self._asked
        self._next: Next | None = None
        self._is_blocked = False
        self._back = SentBack.of(kept.get(_SENT_BACK))

    @property
    def planner(self) -> Planner:
        """
        The plan for everyone else: `plan`, `apply`, `undo`, `history`, `subscribe`.
        """
        return self._planner

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
        unseen = base if base and base.has_news(plan) else None
        if self._back.reminder:  # the answer that was sent back and its reminder end the request
            advice = Advice(self._memory)
        else:
            memory = self._memory.at(plan, unseen, self._known)
            read = self._wire.read_messages(messages)
            advice = self._guidance.before_model(plan, read, memory, base=unseen)
        # The first request counts as a look: what comes while the model answers it has not seen.
        is_look = advice.shows_plan or self._known is None
        self._asked = self._unanswered = Asked(advice.memory, plan.revision if is_look else None)
        self._next = None
        text = self._back.reminder or advice.text
        return self._wire.with_reminder([*messages, *self._back.messages], text)

    def after_model(self, response: object, *, structured: bool = False) -> Next:
        """
        Say what to do with a response: "answer" its calls, "stop", or ask "again", since it was an
        answer that came too early, and is kept in no conversation. `structured` is that of
        `Guidance.after_model`.

        Raises:
            PlanError: no request was made before it; what was given is no answer of a model, such
                as an error of the provider's (ask again then, `before_model` need not be called
                anew); or the model goes on answering over open tasks, and the settings say to
                raise.
        """
        if self._asked is None:
            msg = "no request was made for this response: call before_model in front of each"
            raise PlanError(msg)
        message, now = self._wire.read_messages([response])[0], self.planner.plan
        self._is_blocked = self._wire.is_blocked(response)
        if message.role != "assistant" and not self._is_blocked:
            raise no_answer(response)
        asked, self._asked = self._asked, None
        self._known, self._shown = asked.shown if self._known is None else self._known, asked.shown
        if self._is_blocked:  # there is nothing to answer, and nothing to keep
            self._next, self._memory = "stop", asked.memory
            return self._next
        advice = self._guidance.after_model(now, message, asked.memory, structured=structured)
        self._memory = advice.memory
        if advice.verdict == "raise":
            raise unfinished_error(now)
        if advice.verdict == "again":
            kept = (*self._wire.kept(response),)
            stand = kept if advice.keeps(message) else ()
            self._back = SentBack((*self._back.messages, *kept), advice.text, stand)
            self._next, self._unanswered = "again", None
        else:
            self._next = "stop" if is_final_answer(message) else "answer"
            self._back = SentBack(stand=self._back.stand if self._next == "stop" else ())
        return self._next

    def answer(self, response: object, other_tools: OtherTools | None = None) -> list[Shape]:
        """
        Answer every call of a response, and return what to append to the messages: the response's
        own message, and the results, as the provider wants them.

        All planning calls are carried out in order as one, behind those of `other_tools`: if one of
        these raises, nothing was done to the plan. A response that is answered again, after a
        crash, calls `other_tools` again too.

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
            # Made again, after a crash, or a store that failed and did not say if it had kept it.
            # What was saved may be older than the response, or nothing: so its own id comes first.
            # Some servers give none; then its place tells, counted over all runs of a thread.
            named = self._wire.name_of(response) or (self._id, self._answered)
            keys = None if self._own else self.planner.keys_of(planning, named)
            turn = self.planner.turn(planning, actor=self._actor, base=base, key=keys)
            planned = iter(turn.replies)
            if turn.shows_all_to(self._known):
                self._saw(turn.plan)
        # In the order of the calls: without ids, which Gemini's need not have, nothing else tells.
        replies = [next(planned if call in planning else told) for call in calls]
        said = [] if self._is_blocked else self._wire.kept(response)
        messages = [*self._back.stand, *said, *self._wire.results_of(replies)]
        self._next, self._back, self._unanswered = None, SentBack(), None
        self._answered += 1
        return messages

    def _look(self) -> tuple[Plan, Base | None]:
        plan, base = self.planner.look(self._known, shown=self._shown, actor=self._actor)
        if base is not None and self._base is not None:
            base = attrs.evolve(base, actors={**self._base.actors, **base.actors})
        return plan, base

    def _saw(self, plan: Plan) -> None:
        self._known, self._base = max(self._known or 0, plan.revision), None
        self._shown = None

    def to_data(self) -> dict[str, Any]:
        """
        Return what is to be saved beside the messages, as plain JSON values; an answer that was
        sent back is in it as its provider's message.

        It is whole at any time: before a request, with a response that is not answered yet (to be
        saved too), and behind its answer.
        """
        kept: dict[str, Any] = {_MEMORY: self._memory.to_data(), _SEEN: self._known}
        if self._unanswered is not None:
            kept[_ASKED] = self._unanswered.to_data()
        if self._back != SentBack():
            kept[_SENT_BACK] = self._back.to_data()
        if self._own is None:
            return {**kept, _ID: self._id, _COUNT: self._answered}
        # Bounded: this is written at every save, and a plan's whole history would grow for ever.
        journal = with_lines(None, map(entry_line, self.history()))
        plan, base = self._look()
        if base is not None and base.has_news(plan):
            kept[_BASE] = base_to_data(base)
        return {_PLAN: plan_to_data(plan), _JOURNAL: journal, **kept}


def _held(kept: Mapping[str, Any], base: Base | None) -> Any:
    return holding(_OWN, plan_from_data(kept[_PLAN]) if _PLAN in kept else Plan(), base)


def _reply(plan: Plan, call: Call, other_tools: OtherTools | None) -> Reply:
    assert other_tools is not None  # noqa: S101 - asked for above
    said = other_tools(call)
    if isinstance(said, Reply):
        return said
    text = require(said, str, "what the tool answers, as a text, or a Reply")
    return Reply(plan, text, name=call.name, call_id=call.call_id)
