"""
`Run`: planning and guidance for one user request, in an agent loop of your own.

The loop sends requests, answers calls and stores its messages. All other state is in `Run.to_data`:
the session with the plan, and final answers that were sent back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import attrs

from todoplan.adapters.functions.wire import Shape, Wire, as_text, field, no_answer
from todoplan.core.events.apply import Entry
from todoplan.dialogue.calls import Call, Clock, Reply, utc_now
from todoplan.dialogue.guidance import Settings, is_final_answer
from todoplan.dialogue.toolbox import Toolbox, require
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, Planner
from todoplan.planner.session import opened
from todoplan.planner.verifying import Verify

Next = Literal["again", "answer", "stop"]
"""The loop's next step after a response: ask the model again, answer its calls, or stop."""

OtherTools = Callable[[Call], "str | Reply"]
"""Carries out a call of a tool other than the planning tools; returns a text or a `Reply`."""

_WHAT = "what run.to_data() returned"
_SENT_BACK = "sent_back"


@attrs.frozen
class _SentBack:
    """
    Final answers that came too early and were sent back.

    `messages` and `reminder` are appended to the next request only. `stand` are the messages that
    are kept in the conversation if the model stops without a further request.
    """

    messages: list[Shape] = attrs.field(factory=list)
    reminder: str = ""
    stand: list[Shape] = attrs.field(factory=list)

    @classmethod
    def of(cls, kept: object) -> _SentBack:
        """Return the object from saved data. Raises PlanError if the data is damaged."""
        given = require(kept, dict, _WHAT)
        messages, stand = (require(given.get(name), list, _WHAT) for name in ("messages", "stand"))
        return cls(messages, require(given.get("reminder"), str, _WHAT), stand)


class Run:
    """
    One run of an agent's loop, from a user's request to the final answer.

    It is made by `start_run` of a provider's module. The next user request is a new run, which
    starts with the data that this run saved.

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

    `toolbox` has the tools and their policy, `settings` are those of guidance, `clock` returns the
    aware time of a change, `verify` checks whether a task is done (see `Planner`), and `actor` is
    this agent's name in the history. With a `store`, the plan is kept there under `plan_id`, and
    others may change it at any time; without one, it is part of `to_data()`. Others change the plan
    through `planner`: `run.planner.apply(command, actor="ann")`.

    After a crash, start with the saved data, and pass a saved response to `after_model` first,
    without a request. In a store with idempotency keys (SQLite, PostgreSQL), its calls are carried
    out once, however often they are answered: a response is identified by its id and the ids of its
    calls, or, without an id, by its place in the thread.

    Raises:
        CodecError: the saved data is damaged.
        PlanError: the plan would be both in the store and in the saved data, or in neither; or an
            argument has the wrong type.
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
        # In the middle of a turn it is still the same run: a crash must not reset its caps.
        self._is_new = self._session.request is None and back is None
        self._next: Next | None = None
        self._is_blocked = False

    @property
    def planner(self) -> Planner:
        """The planner through which others use the plan: `plan`, `apply`, `undo`, `subscribe`."""
        return self._session.planner

    @property
    def toolbox(self) -> Toolbox:
        """The tool set and the policy."""
        return self.planner.toolbox

    def history(self) -> tuple[Entry, ...]:
        """
        Return the journal of the plan, oldest entry first.

        A store has the whole journal. Saved data has at most the latest 50 entries, fewer if they
        are long.
        """
        return self._session.history()

    def before_model(self, messages: Sequence[Shape]) -> list[Shape]:
        """
        Return the messages of the next request: `messages`, and a reminder for this request only.

        Pass all messages that the model will see, after any truncation or summarising. If a request
        fails, this may be called again.
        """
        # A request that ends with an answer sent back and its reminder gets no other reminder.
        silent = bool(self._back.reminder)
        read = () if silent else self._wire.read_messages(messages)
        request = self._session.before_model(read, silent=silent, is_new=self._is_new)
        self._next = None
        text = self._back.reminder or request.text
        return self._wire.with_reminder([*messages, *self._back.messages], text)

    def after_model(self, response: object, *, structured: bool = False) -> Next:
        """
        Return the next step for a response: "answer" its calls, "stop", or ask "again".

        "again" means that the final answer came too early; it is not added to the conversation.
        `structured` has the same meaning as in `Guidance.after_model`.

        Raises:
            PlanError: no request was made before; or the response does not come from a model, such
                as a provider's error (send the request again then; `before_model` need not be
                called again); or the model gives final answers again and again while tasks are
                open, and the settings say to raise.
        """
        (message,) = self._wire.read_messages([response])
        self._is_blocked = self._wire.is_blocked(response)
        if message.role != "assistant" and not self._is_blocked:
            raise no_answer(response)
        # If the provider blocked the answer, there is nothing to judge and nothing to keep.
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
        Answer every call of a response, and return the messages to append to the conversation.

        These are the response's own message and the results, in the provider's format. The calls
        of `other_tools` run first; then all planning calls are carried out in order, as one turn.
        So if `other_tools` raises, the plan is unchanged. If a response is answered again after a
        crash, `other_tools` is called again too.

        Raises:
            PlanError: `after_model` did not return "answer" or "stop" for the response; or it calls
                another tool, and `other_tools` is `None`.
        """
        if self._next not in {"answer", "stop"}:
            msg = "nothing to answer: call after_model first, and again after before_model"
            raise PlanError(msg, said=self._next)
        planning, others = self._wire.split(self.toolbox, response)
        results = iter([self._answer_of(call, other_tools, others) for call in others])
        # The saved data may be older than the response, or missing, so the response's own id is
        # preferred.
        name = as_text(field(response, *self._wire.name))
        planned = iter(self._session.answer(planning, name).replies)
        # In the order of the calls: Gemini's calls may lack ids, and are matched by order then.
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
        Return the data to save beside the messages, as plain JSON values.

        An answer that was sent back is included as the provider's message. The data is complete at
        any time: before a request, with an unanswered response (which must be saved too), and after
        the response was answered.
        """
        back = {} if self._back == _SentBack() else {_SENT_BACK: attrs.asdict(self._back)}
        return {**self._session.to_data(), **back}
