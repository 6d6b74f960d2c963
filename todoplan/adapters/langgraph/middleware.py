"""
`PlanMiddleware` for `create_agent`: LangChain's `TodoListMiddleware`, and more on request.

The plan is read before each request to the model. What guidance remembers is saved in the state; a
run's mark is not, so that caps begin anew with each run. Reminders and answers that are sent back
are in one request only: they are neither in the state nor in a checkpoint (what was streamed has
been seen, though), and a reminder changes nothing of what the session knows.

LangChain marks no run's end, and its `after_agent` jumps fight other middleware, so a final answer
is judged where it arrives: in `wrap_model_call`, by asking the model again within the same step.
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
    """Reduce two writes to the later one."""
    return update


class PlanAgentState(AgentState[Any]):
    """
    What the middleware adds to the agent's state: the plan, the list that others read, and what
    guidance remembers of the thread. Caps belong to a run, and `todoplan_run` marks its requests.
    """

    # The reducer must come last: LangGraph does not look for it elsewhere, and says nothing.
    # Not in the input, since deepagents hands a subagent its caller's state, plan and all.
    todoplan: Annotated[NotRequired[dict[str, Any]], OmitFromInput, merge_agent_plans]
    # LangChain's own has no reducer, and two branches that write in one step end its run
    # (InvalidUpdateError). Nor is this left out of the input: a list from outside is taken over.
    todos: Annotated[NotRequired[list[dict[str, Any]] | None], later]
    # In the thread, not in the process: DeerFlow's counters there have a default key, by which one
    # user's reminders use up another's. Private keys never cross deepagents' `task`.
    todoplan_memory: Annotated[NotRequired[dict[str, int]], PrivateStateAttr]
    # Never saved, and so absent when a run begins: no hook is needed to know a new run.
    todoplan_run: Annotated[NotRequired[bool], UntrackedValue, PrivateStateAttr]


class PlanMiddleware(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Planning for an agent; holds no state of its own and may serve any number of agents and threads.

    `toolbox` is the tools and their policy, LangChain's `write_todos` under `DEFAULT` unless given;
    `settings` are those of guidance, `Settings(unfinished=0)` unless given: a final answer stands,
    as with LangChain's own; `clock` gives the aware time of every change; `verify` looks whether a
    task is done before a call completes it (see `Planner`).

    With a `store` the plan is kept there under `plan_id`, or else under the thread's id, and not in
    the state, and others may change it at any time. `actor` is this agent's name in the history:
    give each agent its own where several share a plan.

    As LangChain's own, it takes a `system_prompt`, which is appended to the agent's ("" for none),
    and a `tool_description` for the tool that writes. `emit_events` is that of `make_tools`;
    `reminder_names` names a kind's messages, so that interfaces can hide them.

    Raises:
        PlanError: what was given is no toolbox, no settings, no store, no clock, no verifier or no
            name.
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
        # A drop-in: an answer that was let stand before must not be sent back for a new import.
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
        """The name by which stacks know the planner: theirs is replaced in place, never doubled."""
        # LangChain and deepagents compare middleware by name; two tools of one name would pass.
        # On deepagents up to 0.6, which always brings its own, this name raises instead.
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
        # LangChain wants this hook sync and async, each by itself: these steps decide for both.
        state: Any = request.state
        session = yield from self.plans.session(state, awaits=awaits)
        if session.state.memory.revision < 0:
            plan, base = yield session.unseen
            # A list that another planner left it has seen; else what stands there is all new.
            if not len(base.plan):
                session.state = attrs.evolve(session.state, revision=None)
            elif base.has_news(plan):
                memory = attrs.evolve(session.state.memory, revision=base.plan.revision)
                session.state = attrs.evolve(session.state, memory=memory)
        # A middleware may have taken the planning tools out of this request.
        names = self.guidance.toolset.tool_names
        has_tools = any(_name(tool) in names for tool in request.tools)
        given = {"guidance": self.guidance, "silent": not has_tools}
        messages, is_new = Conversation(request.messages, neutral), not state.get(RUN)
        reminder = yield partial(session.before_model, messages, is_new=is_new, **given)
        # `asked` never holds a reminder, so that each request shows one at most: the latest.
        asked, stands = self._prompted(request) if has_tools else request, list[AnyMessage]()
        response: _Response = yield partial(handler, self._reminded(asked, reminder))
        # A structured answer is its own check; sent back, it would be asked for twice.
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
        Return the request with the planning prompt behind the agent's, the same in every request.
        """
        names = self.guidance.toolset.tool_names
        request = request.override(messages=protected(request.messages, names))
        if not self.system_prompt:
            return request
        # Behind the agent's own and never changed, so that the provider's cache keeps the prefix.
        old = request.system_message
        text = f"\n\n{self.system_prompt}" if old else self.system_prompt
        blocks: list[Any] = [*(old.content_blocks if old else ()), {"type": "text", "text": text}]
        return request.override(system_message=SystemMessage(content=blocks))

    def _reminded(self, request: _Request, reminder: Request) -> _Request:
        if not reminder.text:
            return request
        message = HumanMessage(reminder.text, name=self._names.get(reminder.kind))
        return request.override(messages=[*request.messages, message])


def _name(tool: Any) -> Any:
    # Providers' own tools are dicts, flat or as OpenAI's chat API nests them.
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

    A `ContextEditingMiddleware` nearer to the model then leaves it alone: it can take away what
    this middleware has seen, and cannot be seen from here.
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
# It is the person's to agree: no rule for a model's commands has a say in it.
_ANYTHING_GOES = Policy()


@attrs.frozen
class Answer:
    """
    What a person said of a plan: agreed or not, by what name, in what words, and of which revision.
    """

    approved: bool
    by: str | None = None
    message: str | None = None
    revision: int | None = None


def request_of(plan: Plan, problem: str = "") -> dict[str, Any]:
    """
    Return what the interrupt shows, as plain JSON values. `problem` is what was wrong in the answer
    before.
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

    `True` and `False` are answers too. Who names the `revision` that was shown agrees to no other.
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
    """The state of an agent, and the revision of the plan that the person last did not agree to."""

    todoplan_refused: Annotated[NotRequired[int], PrivateStateAttr]


class PlanApproval(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Stops before a request to the model while the plan has open tasks that nobody has agreed to.

    It goes beside the planner, in an agent with a checkpointer; the rule `approval_required` sees
    to it that nothing is started before.

        box = Toolbox(WRITE_TODOS, DEFAULT.but(approval_required="error"))
        planning = PlanMiddleware(box)
        agent = create_agent(model, middleware=[planning, PlanApproval(planning)], ...)
        shown = agent.invoke(request, config)["__interrupt__"][0].value
        edit_plan(agent, config, CreateTask("Ask Bo first"), actor="ann")
        agent.invoke(Command(resume={"approved": True, "by": "ann"}), config)

    An answer that does not agree, `{"approved": False, "message": "leave out the tests"}`, is told
    to the model, which changes the plan; then the run stops again.

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
        Stop until a person has answered, if the plan is to be agreed to; then say what was said.
        """
        return at_once(self._steps(state, awaits=False))

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """As `before_model`."""
        return await awaited(self._steps(state, awaits=True))

    def _steps(self, state: Any, *, awaits: bool) -> Steps[dict[str, Any] | None]:
        session = yield from self._plans.session(state, awaits=awaits)
        plan, _ = yield session.unseen
        # A plan that was not agreed to is asked about again once it has been changed.
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
    # A message that is kept: it is what the person has said, and the model may look back at it.
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
            named_make = make if actor is None else partial(make, actor=spec["name"])
            spec["middleware"] = _planned(spec.get("middleware", ()), named_make)
        chosen.append(spec)
    main_make = make if actor is None else partial(make, actor=actor)
    return {"middleware": _planned(middleware, main_make), "subagents": chosen}


def _planned(given: Sequence[Any], make: Callable[[], PlanMiddleware]) -> list[Any]:
    # Two of one name end in "Please remove duplicate middleware instances", LangChain's own words.
    has_one = any(isinstance(each, PlanMiddleware) for each in given)
    return [*given] if has_one else [*given, make()]
