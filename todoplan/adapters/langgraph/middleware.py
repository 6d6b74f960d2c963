"""
`PlanMiddleware` for `create_agent`: LangChain's `TodoListMiddleware`, and more on request.

The plan is read before each request to the model. The memory of guidance is saved in the state; the
mark of a run is not, so that caps begin anew with each run. Reminders and answers that were sent
back are in one request only: they are neither in the state nor in a checkpoint, but they may have
been streamed. A reminder does not change what the session knows.

LangChain does not mark the end of a run, and jumps from `after_agent` conflict with other
middleware. So a final answer is judged in `wrap_model_call`, and the model is asked again within
the same step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, cast

import attrs
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.channels import UntrackedValue
from langgraph.types import Command, interrupt

from todoplan.adapters.langgraph.plans import (
    MEMORY,
    RUN,
    PlanChannel,
    Steps,
    StoredPlans,
    at_once,
    awaited,
    command_update,
    merge_agent_plans,
    plans_for,
    todos_of,
    tools_of,
)
from todoplan.core.commands import ApprovePlan
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import CLAUDE, DEFAULT, LANGCHAIN, Policy
from todoplan.dialogue.calls import Clock, utc_now
from todoplan.dialogue.guidance import (
    Conversation,
    Message,
    Settings,
    ToolResult,
    is_final_answer,
    text_of,
)
from todoplan.dialogue.replies import list_text
from todoplan.dialogue.toolbox import Toolbox, guidance_of, require
from todoplan.dialogue.tools import WRITE_TODOS
from todoplan.errors import MissingExtraError
from todoplan.planner import AnyStore
from todoplan.planner.session import Request
from todoplan.planner.verifying import Verify
from todoplan.texts import say

# ContextEditingMiddleware skips what it has cleared already; the strategy tells ours from its own.
_SPARED = {"cleared": True, "strategy": "todoplan"}
_ROLES: dict[str, Any] = {"system": "system", "ai": "assistant", "tool": "tool"}

_Request = ModelRequest[Any]
_Response = ModelResponse[Any]


def later(_: Any, update: Any) -> Any:
    """Merge two writes: return the later one."""
    return update


class PlanAgentState(AgentState[Any]):
    """
    The keys that the middleware adds to the agent's state: the plan, the list for user interfaces,
    the memory of guidance, and `todoplan_run`, which is set after the first request of a run.
    """

    # Not in the input, since deepagents passes the caller's state, including the plan, to a
    # subagent.
    todoplan: Annotated[
        NotRequired[dict[str, Any]], OmitFromInput, PlanChannel(dict[str, Any], merge_agent_plans)
    ]
    # LangChain's own key has no reducer, so two branches that write it in one step are an error
    # (InvalidUpdateError). It is in the input: a list from outside becomes the first plan.
    todos: Annotated[NotRequired[list[dict[str, Any]] | None], later]
    # In the thread, not in the process: DeerFlow's counters in the process have a default key, so
    # that one user's reminders use up another's. deepagents' `task` passes no private keys on.
    todoplan_memory: Annotated[NotRequired[dict[str, int]], PrivateStateAttr]
    # Not saved, and so absent when a run begins.
    todoplan_run: Annotated[NotRequired[bool], UntrackedValue, PrivateStateAttr]


class PlanMiddleware(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Planning for an agent. It has no state of its own, and may serve any number of agents and
    threads.

    `toolbox` has the tools and their policy, by default LangChain's `write_todos` under `DEFAULT`.
    `settings` are those of guidance, by default `Settings(unfinished=0)`: a final answer is
    accepted, as by LangChain's own middleware. `clock` returns the aware time of a change, and
    `verify` checks whether a task is done (see `Planner`).

    With a `store` the plan is kept there under `plan_id`, by default the thread's id, and not in
    the state; others may change it at any time. `actor` is this agent's name in the history: if
    several agents share a plan, give each its own.

    As in LangChain's own, `system_prompt` is appended to the agent's ("" for none), and
    `tool_description` is that of the tool that writes. `emit_events` is as in `make_tools`;
    `reminder_names` maps a kind of reminder to the name of its messages, by which user interfaces
    can hide them.

    Raises:
        PlanError: an argument is no toolbox, settings, store, clock, verifier or name.
    """

    state_schema = PlanAgentState

    def __init__(  # noqa: PLR0913 - two names of LangChain's, and ours
        self,
        toolbox: Toolbox | None = None,
        *,
        settings: Settings | None = None,
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        system_prompt: str | None = None,
        plan_id: str | None = None,
        actor: str | None = None,
        tool_description: str | None = None,
        emit_events: bool = False,
        reminder_names: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        chosen = Toolbox(WRITE_TODOS) if toolbox is None else require(toolbox, Toolbox)
        toolset, writer = chosen.toolset, chosen.toolset.shown(chosen.toolset.writer)
        # A drop-in replacement: an answer that was accepted before is not sent back.
        wanted = Settings(unfinished=0) if settings is None else require(settings, Settings)
        self.guidance = guidance_of(chosen, wanted)
        self.system_prompt = toolset.system_prompt() if system_prompt is None else system_prompt
        self.plans = plans_for(chosen, clock, store, plan_id, verify, actor, is_agents=True)
        self.tools = tools_of(self.plans, emit_events=emit_events)
        for tool in self.tools:
            if tool.name == writer:
                tool.description = tool_description or tool.description
                self.tool_description = tool.description
        self._names = dict(reminder_names or {})

    @property
    def name(self) -> str:
        """LangChain's name for its planner, which is replaced instead of added a second time."""
        # LangChain and deepagents compare middleware by name, not by the names of their tools.
        # deepagents up to 0.6 always adds its own, and raises because of this name.
        return "TodoListMiddleware"

    def wrap_model_call(
        self, request: _Request, handler: Callable[[_Request], _Response]
    ) -> ExtendedModelResponse[Any]:
        """
        Call the model, with a reminder at the tail if one is due, and again if it stops too early.
        """
        return at_once(self._steps(request, handler, awaits=False))

    async def awrap_model_call(
        self, request: _Request, handler: Callable[[_Request], Awaitable[_Response]]
    ) -> ExtendedModelResponse[Any]:
        """As `wrap_model_call`."""
        return await awaited(self._steps(request, handler, awaits=True))

    def _steps(
        self, request: _Request, handler: Callable[[_Request], Any], *, awaits: bool
    ) -> Steps[ExtendedModelResponse[Any]]:
        state: Any = request.state
        session = yield from self.plans.session(state, awaits=awaits)
        if session.state.memory.revision < 0:
            plan, base = yield session.unseen
            # It has seen a list of another planner; any other plan is new to it as a whole.
            if not len(base.plan):
                session.state = attrs.evolve(session.state, revision=None)
            elif base.has_news(plan):
                memory = attrs.evolve(session.state.memory, revision=base.plan.revision)
                session.state = attrs.evolve(session.state, memory=memory)
        # Another middleware may have removed the planning tools from this request.
        names = self.guidance.toolset.tool_names
        has_tools = any(_name(tool) in names for tool in request.tools)
        given = {"guidance": self.guidance, "silent": not has_tools}
        messages, is_new = Conversation(request.messages, neutral), not state.get(RUN)
        reminder = yield partial(session.before_model, messages, is_new=is_new, **given)
        # `asked` never has a reminder, so each request has one at most.
        asked, stands = self._prompted(request) if has_tools else request, list[AnyMessage]()
        response: _Response = yield partial(handler, self._reminded(asked, reminder))
        # A structured answer is not sent back: LangChain would not read a second one.
        given["structured"] = request.response_format is not None
        while True:
            answer = cast("AnyMessage", response.result[-1])
            said = neutral(answer)
            advice = yield partial(session.after_model, said, request=reminder, **given)
            if advice.verdict != "again":
                break
            stands = [answer] if advice.keeps(said) else []
            asked = asked.override(messages=[*asked.messages, answer])
            reminder = attrs.evolve(
                reminder, memory=advice.memory, text=advice.text, kind=advice.kind
            )
            response = yield partial(handler, self._reminded(asked, reminder))
        if stands and is_final_answer(said):
            response = ModelResponse([*stands, *response.result], response.structured_response)
        kept = yield from self.plans.kept(state, session)
        update = {MEMORY: advice.memory.to_data(), RUN: True, **kept}
        return ExtendedModelResponse(response, Command(update=update))

    def _prompted(self, request: _Request) -> _Request:
        """
        Return the request with the planning prompt after the agent's.
        """
        names = self.guidance.toolset.tool_names
        changes: Any = {"messages": protected(request.messages, names)}
        if self.system_prompt:
            # At the end and always the same, so that the provider's cached prefix stays valid.
            old = request.system_message
            text = f"\n\n{self.system_prompt}" if old else self.system_prompt
            blocks = [*(old.content_blocks if old else ()), {"type": "text", "text": text}]
            changes["system_message"] = SystemMessage(content=blocks)
        return request.override(**changes)

    def _reminded(self, request: _Request, reminder: Request) -> _Request:
        if not reminder.text:
            return request
        message = HumanMessage(reminder.text, name=self._names.get(reminder.kind))
        return request.override(messages=[*request.messages, message])


def _name(tool: Any) -> Any:
    # Tools of a provider are dicts, flat or nested as in OpenAI's chat API.
    if isinstance(tool, Mapping):
        return tool.get("name") or tool.get("function", {}).get("name")
    return tool.name


def neutral(message: BaseMessage) -> Message:
    """Return one message of LangChain as guidance reads it."""
    role = _ROLES.get(message.type, "user")
    metadata = message.response_metadata
    if isinstance(message, ToolMessage):
        # ContextEditingMiddleware leaves the name and puts a placeholder in place of the content.
        edited = metadata.get("context_editing")
        was_cleared = edited and edited.get("cleared") and edited != _SPARED
        ok = message.status != "error" and not was_cleared
        return Message(role, results=(ToolResult(message.name or "", ok, message.tool_call_id),))
    if isinstance(message, AIMessage):
        # Anthropic says the second, others the first.
        finish = metadata.get("finish_reason") or metadata.get("stop_reason")
        return Message(
            role,
            text_of(message.content),
            tuple(call["name"] for call in message.tool_calls),
            invalid_calls=len(message.invalid_tool_calls),
            finish=finish if isinstance(finish, str) else "",
        )
    return Message(role, text_of(message.content))


def protected(messages: Sequence[AnyMessage], names: Sequence[str]) -> list[AnyMessage]:
    """
    Return the messages of a request with the latest good planning result marked as already edited.

    A `ContextEditingMiddleware` nearer to the model then keeps it. Without the mark it could remove
    the result after this middleware has seen it.
    """
    for place, message in reversed([*enumerate(messages)]):
        if not isinstance(message, ToolMessage) or message.name not in names:
            continue
        if neutral(message).results[0].ok:
            mark = {**message.response_metadata, "context_editing": _SPARED}
            kept = message.model_copy(update={"response_metadata": mark})
            return [*messages[:place], kept, *messages[place + 1 :]]
    return [*messages]


# -------- approval --------
# `PlanApproval`: the run stops before the next request, and goes on when a person has agreed.
#
# It stops by LangGraph's interrupt: the thread waits in its checkpoint, for days if need be, and in
# any process. Meanwhile the plan can be read and changed by `edit_plan` like any other: the person
# agrees to the plan as it is when the run is resumed. The node that stopped is then run again from
# its beginning, and so reads the plan anew.
#
# An answer that cannot be read is asked for again, with what is wrong in it, and not raised: a node
# that raises keeps the answer that it was given, and would raise again at every resume.

_LEGAL = '{"approved": True, "by": "ann"}, or {"approved": False, "message": "what to change"}'
_REFUSED = "todoplan_refused"
# A person's approval is not subject to the rules for a model's commands.
_ANYTHING_GOES = Policy()


@attrs.frozen
class Answer:
    """
    A person's answer: whether they agree, their name, their words, and the revision they mean.
    """

    approved: bool
    by: str | None = None
    message: str | None = None
    revision: int | None = None


def request_of(plan: Plan, problem: str = "") -> dict[str, Any]:
    """
    Return the value of the interrupt, as plain JSON values. `problem` is what was wrong in the
    previous answer.
    """
    shown = {
        "kind": "plan_approval",
        "plan": list_text(plan),
        "todos": todos_of(plan),
        "revision": plan.revision,
        "answer": _LEGAL,
    }
    return {**shown, "problem": problem} if problem else shown


def read_answer(given: object, plan: Plan) -> Answer | str:
    """
    Return the answer, or what is wrong in it.

    `True` and `False` are answers too. An answer with a `revision` agrees to that revision only.
    """
    if isinstance(given, bool):
        return Answer(given)
    kinds = {"approved": bool, "by": str, "message": str, "revision": int}
    if not isinstance(given, Mapping) or not isinstance(given.get("approved"), bool):
        return f"{short_repr(given)} is no answer; resume with {_LEGAL}"
    wrong = [
        key
        for key, value in given.items()
        if key not in kinds or not (value is None or type(value) is kinds[key])
    ]
    if wrong:
        return f"{short_repr(given)} has {', '.join(map(short_repr, wrong))}; resume with {_LEGAL}"
    answer = Answer(**given)
    if answer.approved and answer.revision not in {None, plan.revision}:
        return f"the plan is at revision {plan.revision} now, and {answer.revision} was agreed to"
    return answer


class ApprovalState(PlanAgentState):
    """The state of an agent, and the last revision of the plan that was not agreed to."""

    todoplan_refused: Annotated[NotRequired[int], PrivateStateAttr]


class PlanApproval(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Stops before a request to the model while the plan has open tasks that nobody has agreed to.

    The agent needs a checkpointer and the planner. The rule `approval_required` forbids starting a
    task before.

        box = Toolbox(WRITE_TODOS, DEFAULT.but(approval_required="error"))
        planning = PlanMiddleware(box)
        agent = create_agent(model, middleware=[planning, PlanApproval(planning)], ...)
        shown = agent.invoke(request, config)["__interrupt__"][0].value
        edit_plan(agent, config, CreateTask("Ask Bo first"), actor="ann")
        agent.invoke(Command(resume={"approved": True, "by": "ann"}), config)

    An answer that does not agree, `{"approved": False, "message": "leave out the tests"}`, is
    passed to the model, which changes the plan; then the run stops again.

    Raises:
        PlanError: this is no `PlanMiddleware`.
    """

    state_schema = ApprovalState

    def __init__(self, planning: PlanMiddleware) -> None:
        super().__init__()
        made = require(
            planning, PlanMiddleware, "the agent's PlanMiddleware: PlanApproval(planning)"
        )
        self._plans = made.plans

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """
        Stop until a person has answered, if approval is needed; then add the answer as a message.
        """
        return at_once(self._steps(state, awaits=False))

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """As `before_model`."""
        return await awaited(self._steps(state, awaits=True))

    def _steps(self, state: Any, *, awaits: bool) -> Steps[dict[str, Any] | None]:
        session = yield from self._plans.session(state, awaits=awaits)
        plan, _ = yield session.unseen
        # After an answer that does not agree, the person is asked again once the plan has changed.
        if not plan.counts.open or plan.approved or state.get(_REFUSED) == plan.revision:
            return None
        answer: Answer | str = ""
        while isinstance(answer, str):
            # LangGraph returns the answers in the order of the questions when the node runs again.
            answer = read_answer(interrupt(request_of(plan, answer)), plan)
        if not answer.approved:
            kind = "plan_not_agreed" if answer.message else "plan_not_agreed_to"
            return {_REFUSED: plan.revision, **_said(kind, message=answer.message)}
        command = ApprovePlan(answer.by)
        given: dict[str, Any] = {"actor": answer.by, "policy": _ANYTHING_GOES}
        update: dict[str, Any] = {}
        if isinstance(self._plans, StoredPlans):
            yield partial(session.edit, command, **given)
        else:
            _, update = command_update(state, command, **given)
        return {**update, **_said("plan_agreed")}


def _said(name: str, **values: object) -> dict[str, Any]:
    # This message stays in the conversation, since a person has said it.
    return {"messages": [HumanMessage(say("replies", name, **values))]}


# -------- presets --------
# Ready-made planners: like three that are in use, and one for each agent of `create_deep_agent`.

_OFTEN = 100
Subagent = Mapping[str, Any]  # as `create_deep_agent` takes them
Maker = Callable[..., PlanMiddleware]


def langchain_like(*, policy: Policy = LANGCHAIN, **changes: Any) -> PlanMiddleware:
    """
    As LangChain's `TodoListMiddleware`: whatever is written passes, the whole list is in the reply,
    nobody is reminded. `changes` are further arguments of `PlanMiddleware`.
    """
    toolbox = Toolbox(WRITE_TODOS, policy, show_list=True)
    silent = Settings(plan_lost=False, unfinished=0, changed=False)
    return PlanMiddleware(**{"toolbox": toolbox, "settings": silent, **changes})


def claude_like(
    tool: str = "TodoWrite",
    *,
    policy: Policy = CLAUDE,
    on_ignored: Literal["let_go", "raise"] = "let_go",
    confirm: bool = False,
    show_list: bool = False,
    **changes: Any,
) -> PlanMiddleware:
    """
    As Claude-style TodoWrite with a stop check: one task in progress, a reminder while the list is
    empty, further turns while tasks are open, a note when all is done.

    `policy`: `CLAUDE` wants an active form for each item, `CLAUDE_STRICT` a priority as well.
    `confirm` asks once whether the answer itself was given. `changes` are those of
    `langchain_like`.
    """
    toolset = WRITE_TODOS.renamed(write_todos=tool)
    toolbox = Toolbox(toolset, policy, show_list=show_list, say_done=True)
    asks = Settings(
        empty=_OFTEN, unfinished=3, on_ignored=on_ignored, all_done="always" if confirm else "off"
    )
    return PlanMiddleware(**{"toolbox": toolbox, "settings": asks, **changes})


def deerflow_like(*, policy: Policy = DEFAULT, **changes: Any) -> PlanMiddleware:
    """
    As DeerFlow's `TodoMiddleware`: reminded of a lost plan and, twice, of open tasks, by messages
    whose names an interface can hide. `changes` are those of `langchain_like`.
    """
    # DeerFlow's own names, by which its interface hides them; two is its own cap.
    names = {"plan_lost": "todo_reminder", "unfinished": "todo_completion_reminder"}
    wanted = {"settings": Settings(unfinished=2), "reminder_names": names}
    return PlanMiddleware(**{"toolbox": Toolbox(WRITE_TODOS, policy), **wanted, **changes})


def deep_planning(
    *,
    subagents: Sequence[Subagent] = (),
    middleware: Sequence[Any] = (),
    make: Maker = PlanMiddleware,
    general_purpose: bool | Subagent = True,
    actor: str | None = None,
) -> dict[str, Any]:
    """
    Return the arguments `middleware` and `subagents` of `create_deep_agent`: planning for the main
    agent and for each subagent, each its own.

        create_deep_agent(model=model, **deep_planning(subagents=[...]))

    Each gets what `make` returns, unless a `PlanMiddleware` of your own stands in its `middleware`:
    so one agent gets a policy, or a store, that the others have not. Subagents that are compiled or
    remote stay as they are. A `TodoListMiddleware` that a profile brings is replaced in place.

    `actor` is the main agent's name in the history; subagents have their own names there. `make` is
    given each then:

        make=lambda actor: PlanMiddleware(store=store, plan_id="release", actor=actor)

    The general-purpose subagent is declared, if it is not among yours, since deepagents gives its
    own none of the agent's middleware. A declared one is not given the agent's `skills`, nor what a
    profile says of it: a mapping as `general_purpose` adds to it or changes it, such as
    `{"skills": [...]}`. `False` leaves it to deepagents, without a planner, unless a profile brings
    one.

    Raises:
        MissingExtraError: deepagents is not installed.
    """
    named = [*subagents]
    if general_purpose is not False and not any(s["name"] == "general-purpose" for s in named):
        try:
            from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT  # noqa: PLC0415 - it may be missing
        except ModuleNotFoundError as error:
            msg = "deepagents is not installed; run: pip install 'todoplan[langgraph]' deepagents"
            raise MissingExtraError(msg, missing="deepagents") from error
        changes = general_purpose if isinstance(general_purpose, Mapping) else {}
        named.insert(0, {**GENERAL_PURPOSE_SUBAGENT, **changes})
    chosen = []
    for spec in map(dict, named):
        if "runnable" not in spec and "graph_id" not in spec:
            # deepagents gives no middleware of the main agent to those that are declared.
            name = None if actor is None else spec["name"]
            spec["middleware"] = _planned(spec.get("middleware", ()), make, name)
        chosen.append(spec)
    return {"middleware": _planned(middleware, make, actor), "subagents": chosen}


def _planned(given: Sequence[Any], make: Maker, actor: str | None) -> list[Any]:
    # LangChain refuses two of one name: "Please remove duplicate middleware instances".
    if any(isinstance(each, PlanMiddleware) for each in given):
        return [*given]
    return [*given, make() if actor is None else make(actor=actor)]
