"""
`Run`: guidance through one request of a user, in a loop of one's own.

A loop asks the model and answers its calls, and keeps its messages only. All else that has to be
kept, the session with the plan and answers that are sent back, is in `Run.to_data`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import attrs

from todoplan.adapters.functions.wire import Shape, Wire, as_text, field, no_answer
from todoplan.core.events.journal import Entry
from todoplan.dialogue.application import require
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import is_final_answer
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, Planner
from todoplan.planner.session import opened
from todoplan.planner.verifying.verifier import Verify

Next = Literal["again", "answer", "stop"]
"""What a loop does with a response: ask once more, answer its calls, or end with it."""

OtherTools = Callable[[Call], "str | Reply"]
"""Carries out a call of a tool that is not the plan's, and returns its answer, or a `Reply`."""

_WHAT = "what run.to_data() returned"
_SENT_BACK = "sent_back"


@attrs.frozen
class _SentBack:
    """
    Answers that came too early: the `messages` and the `reminder` that end the next request alone,
    and those of them that `stand` in the conversation, should the model add nothing to them.
    """

    messages: list[Shape] = attrs.field(factory=list)
    reminder: str = ""
    stand: list[Shape] = attrs.field(factory=list)

    @classmethod
    def of(cls, kept: object) -> _SentBack:
        """Return what was saved of it. Raises PlanError where that is damaged."""
        given = require(kept, dict, _WHAT)
        messages, stand = (require(given.get(name), list, _WHAT) for name in ("messages", "stand"))
        return cls(messages, require(given.get("reminder"), str, _WHAT), stand)


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
    aware time of every change, `verify` checks whether a task is done (see `Planner`), `actor` is
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
        kept = {} if saved is None else dict(require(saved, dict, _WHAT))
        back = kept.pop(_SENT_BACK, None)
        self._back = _SentBack() if back is None else _SentBack.of(back)
        self._wire = wire
        self._session = opened(
            kept,
            toolbox=toolbox,
            settings=settings,
            store=store,
            clock=clock,
            verify=verify,
            plan_id=plan_id,
            actor=actor,
        )
        # In the middle of a turn it is the same run, whose caps must not begin anew at each crash.
        self._is_new = self._session.request is None and back is None
        self._next: Next | None = None
        self._is_blocked = False

    @property
    def planner(self) -> Planner:
        """
        The plan for everyone else: `plan`, `apply`, `undo`, `history`, `subscribe`.
        """
        return self._session.planner

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
        return self._session.history()

    def before_model(self, messages: Sequence[Shape]) -> list[Shape]:
        """
        Return the messages of the next request: these, and what stands in this request alone.

        Give all that the model is to see, after any cutting or summarising. A request that failed
        may be asked for again.
        """
        # An answer that was sent back, and its reminder, end the request: no other one is given.
        silent = bool(self._back.reminder)
        read = () if silent else self._wire.read_messages(messages)
        request = self._session.before_model(read, silent=silent, is_new=self._is_new)
        self._next = None
        text = self._back.reminder or request.text
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
        (message,) = self._wire.read_messages([response])
        self._is_blocked = self._wire.is_blocked(response)
        if message.role != "assistant" and not self._is_blocked:
            raise no_answer(response)
        # Where the provider lets the model say nothing, there is nothing to judge, nor to keep.
        advice = self._session.after_model(message, structured=structured, silent=self._is_blocked)
        self._is_new = False
        if advice.verdict == "again":
            self._next, kept = "again", self._wire.kept(response)
            stand = kept if advice.keeps(message) else []
            self._back = _SentBack([*self._back.messages, *kept], advice.text, stand)
        else:
            self._next = "stop" if self._is_blocked or is_final_answer(message) else "answer"
            self._back = _SentBack(stand=self._back.stand if self._next == "stop" else [])
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
        planning, others = self._wire.split(self.toolbox, response)
        results = iter([self._answer_of(call, other_tools, others) for call in others])
        # What was saved may be older than the response, or nothing: so its own id comes first.
        name = as_text(field(response, *self._wire.name))
        planned = iter(self._session.answer(planning, name).replies)
        # In the order of the calls: without ids, which Gemini's need not have, nothing else tells.
        calls = self._wire.calls(response)
        replies = [next(planned if call in planning else results) for call in calls]
        own = [] if self._is_blocked else self._wire.kept(response)
        messages = [*self._back.stand, *own, *self._wire.results_of(replies)]
        self._next, self._back = None, _SentBack()
        return messages

    def _answer_of(
        self, call: Call, other_tools: OtherTools | None, others: Sequence[Call]
    ) -> Reply:
        if other_tools is None:
            names = ", ".join(sorted({call.name for call in others}))
            msg = f"the model calls {names}: give answer(response, other_tools) a function for them"
            raise PlanError(msg, names=names)
        answer = other_tools(call)
        if isinstance(answer, Reply):
            return answer
        text = require(answer, str, "what the tool answers, as a text, or a Reply")
        return Reply(self.planner.plan, text, name=call.name, call_id=call.call_id)

    def to_data(self) -> dict[str, Any]:
        """
        Return what is to be saved beside the messages, as plain JSON values; an answer that was
        sent back is in it as its provider's message.

        It is whole at any time: before a request, with a response that is not answered yet (to be
        saved too), and behind its answer.
        """
        back = {} if self._back == _SentBack() else {_SENT_BACK: attrs.asdict(self._back)}
        return {**self._session.to_data(), **back}
