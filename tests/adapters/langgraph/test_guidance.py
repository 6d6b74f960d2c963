"""Guidance in an agent: `PlanMiddleware`, beside other middleware, in presets and deep agents."""

# pyright: reportArgumentType=false, reportIncompatibleMethodOverride=false
import sys

import pytest
from deepagents import HarnessProfile, create_deep_agent, register_harness_profile
from deepagents.backends import FilesystemBackend
from deepagents.profiles import GeneralPurposeSubagentProfile
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    LLMToolSelectorMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    wrap_model_call,
    wrap_tool_call,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel
from support.langgraph_threads import (
    EDIT,
    HELLO,
    THREAD,
    agent,
    answers,
    contents,
    create,
    entries,
    lines,
    subjects,
)
from support.law_15 import TOLD
from support.scripted import Scripted, calls, says, wrote

from todoplan import CLAUDE_STRICT, DEFAULT, LEAN, STRICT, TODOS, MemoryStore, Toolbox
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    claude_like,
    deep_planning,
    deerflow_like,
    edit_plan,
    langchain_like,
    neutral,
    plan_of_state,
    protected,
)
from todoplan.dialogue import Message, Settings, ToolResult, ToolSet, tasks
from todoplan.dialogue.guidance import is_reminder
from todoplan.errors import MissingExtraError, PlanError

# -------- guidance --------


OPEN = wrote(("a", "in_progress"), ("b", "pending"))
DONE = wrote(("a", "completed"), ("b", "completed"), call_id="d")


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query} " * 50


def searching(n):
    return calls(("search", {"query": f"q{n}"}, f"s{n}"))


def reminders(request):
    return [m for m in request if m.type == "human" and is_reminder(m.text)]


def stored_reminders(done):
    return [m for m in done["messages"] if is_reminder(m.text)]


def ai_texts(done):
    return [m.text for m in done["messages"] if m.type == "ai"]


def guided(script, *stack, settings=None, **options):
    """Return a model, and an agent with a search tool and the middleware of a stack."""
    model = Scripted(script=script)
    stack = stack or (PlanMiddleware(settings=settings or Settings()),)
    return model, agent(model, middleware=[*stack], tools=[search], **options)


@pytest.mark.parametrize("ours_first", [True, False])
def test_a_plan_that_was_summarised_away_is_shown_again(ours_first):
    """The real middleware rewrites the history; in either order the plan comes back at the tail."""
    summaries = Scripted(script=[says("summary")] * 9)
    shortens = SummarizationMiddleware(summaries, trigger=("messages", 6), keep=("messages", 2))
    stack = [PlanMiddleware(), shortens]
    script = [OPEN, *map(searching, range(4)), DONE, says("done")]
    model, made = guided(script, *(stack if ours_first else stack[::-1]))
    done = made.invoke(HELLO, THREAD)
    lost = [request for request in model.requests if reminders(request)]
    assert lost
    for request in lost:
        assert request[-1].text.count("[in_progress] a") == 1
        assert not any(isinstance(m, ToolMessage) and m.name == "write_todos" for m in request)
    assert stored_reminders(done) == []


@pytest.mark.parametrize("ours_first", [True, False])
@pytest.mark.parametrize("inputs", [True, False])
def test_a_plan_that_was_edited_out_is_not_lost(ours_first, inputs):
    """Context editing nearer to the model spares the last write; farther out, it is noticed."""
    edit = ClearToolUsesEdit(trigger=100, keep=1, clear_tool_inputs=inputs)
    stack = [PlanMiddleware(), ContextEditingMiddleware(edits=[edit])]
    script = [OPEN, *map(searching, range(4)), DONE, says("done")]
    model, made = guided(script, *(stack if ours_first else stack[::-1]))
    made.invoke(HELLO, THREAD)
    request = model.requests[4]
    (answer,) = [m for m in request if isinstance(m, ToolMessage) and m.name == "write_todos"]
    assert any(isinstance(m, ToolMessage) and m.content == "[cleared]" for m in request)
    if ours_first:
        assert answer.content == "ok, 0/2 completed"
        assert request[2].tool_calls[0]["args"]["todos"]
    else:
        assert answer.content == "[cleared]"
        assert len(reminders(request)) == 1


SILENT_END = AIMessage([], response_metadata={"finish_reason": "stop"})


@pytest.mark.parametrize(
    ("all_done", "script", "said"),
    [
        # The answer that was sent back stands before the confirmation.
        ("always", [says("the answer"), says("yes")], ["", "the answer", "yes"]),
        # If the model goes on calling tools, the answer it took back is gone.
        ("always", [says("the answer"), searching(1), says("better")], ["", "", "better"]),
        # An empty final message leaves no trace.
        ("if_silent", [SILENT_END, says("here")], ["", "here"]),
    ],
)
def test_one_confirmation_can_be_asked_when_all_is_done(all_done, script, said):
    """One more turn, whose reminder is not stored."""
    model, made = guided([DONE, *script], settings=Settings(all_done=all_done))
    done = made.invoke(HELLO, THREAD)
    assert ai_texts(done) == said
    assert "(2/2 completed)" in model.requests[2][-1].text
    assert stored_reminders(done) == []


def said_by(content="", *, broken=False, **metadata):
    calls = [{"name": "x", "args": "{", "id": "1", "error": "bad"}] if broken else []
    return AIMessage(content, invalid_tool_calls=calls, response_metadata=metadata)


@pytest.mark.parametrize(
    ("answer", "is_final"),
    [
        (said_by([{"type": "text", "text": "early"}]), True),
        (said_by(["ear", {"type": "text", "text": "ly"}, {"type": "reasoning", "x": 1}]), True),
        (said_by("early", stop_reason="end_turn"), True),
        (said_by("early", finish_reason=1), True),
        (said_by(broken=True), False),
        (said_by(finish_reason="tool_calls"), False),
        (said_by(stop_reason="tool_use"), False),
        (said_by(finish_reason="MALFORMED_FUNCTION_CALL"), False),
    ],
)
def test_what_is_a_final_answer(answer, is_final):
    """Structured content is read as its text; what meant to call a tool is not sent back."""
    model, made = guided([OPEN, answer, DONE, says("done")])
    made.invoke(HELLO, THREAD)
    assert len(model.requests) == (4 if is_final else 2)


class Verdict(BaseModel):
    """The result."""

    fine: bool


def test_a_structured_answer_is_not_sent_back():
    """With a `response_format` the answer belongs to the framework, plan or no plan."""
    answer = calls(("Verdict", {"fine": True}, "v"))
    for last, expected in ((says("early"), None), (answer, Verdict(fine=True))):
        model, made = guided([OPEN, last], response_format=ToolStrategy(Verdict))
        done = made.invoke(HELLO, THREAD)
        assert done.get("structured_response") == expected
        assert all(not reminders(request) for request in model.requests)


def test_without_a_checkpointer_runs_do_not_meet_either():
    """No thread, no default key: each run starts with nothing."""
    model = Scripted(script=[OPEN, *map(says, "123"), says("fine")])
    made = agent(model, settings=Settings(), checkpointer=None)
    made.invoke(HELLO)
    assert made.invoke(HELLO)["messages"][-1].text == "fine"
    assert len(model.requests) == 5
    assert not reminders(model.requests[-1])


def test_a_call_stopped_in_its_wrapper_is_not_carried_out_by_its_siblings():
    """What another middleware answers is in neither the plan nor the published list."""

    @wrap_tool_call
    def stopping(request, handler):
        if request.tool_call["id"] == "a":
            return ToolMessage("stopped", tool_call_id="a", name="TaskCreate", status="error")
        return handler(request)

    made = agent(create("a", "b"), says("done"), toolbox=Toolbox(tasks()), more=[stopping])
    assert contents(made.invoke(HELLO, THREAD)) == subjects(made) == ["b"]


def requests_for(planner, *answers):
    model, done = ran([OPEN, *map(says, answers)], planner)
    return done["messages"][-1].text, len(model.requests)


@pytest.mark.parametrize(
    "answer", ["Which database should I migrate to?", "I need your approval first.", "Early."]
)
def test_a_drop_in_asks_the_model_as_often_as_langchains_own(answer):
    """Changing an import adds no request; planners like Claude's or DeerFlow's do."""
    theirs = requests_for(TodoListMiddleware(), answer)
    assert requests_for(PlanMiddleware(), answer) == theirs == (answer, 2)
    if answer == "Early.":
        claude = claude_like("write_todos", policy=DEFAULT)
        for planner, further in ((deerflow_like(), 2), (claude, 3)):
            given = [answer] * further
            assert requests_for(planner, *given, "Last.") == ("Last.", 2 + further)


class Selecting(Scripted):
    """Selects one tool, whatever there is."""

    def with_structured_output(self, schema, **kwargs):
        return RunnableLambda(lambda _: {"tools": ["search"]})


def test_a_request_without_a_planning_tool_is_left_alone():
    """A selector took it out: no prompt, no reminder, no further turn; the plan stays."""
    selector = LLMToolSelectorMiddleware(model=Selecting(script=[]))
    model, made = guided([says("1")], selector, PlanMiddleware(settings=Settings(empty=9)))
    edit_plan(made, THREAD, EDIT)
    assert contents(made.invoke(HELLO, THREAD)) == subjects(made) == ["Tell Ann"]
    assert model.tool_names == ["search"]
    assert [[m.type for m in request] for request in model.requests] == [["human"]]


@pytest.mark.parametrize("shape", [lambda tool: tool, lambda tool: tool["function"]])
def test_a_planning_tool_is_known_in_any_shape(shape):
    """Other middleware may have made a provider's dict of it."""

    @wrap_model_call
    def plain(request, handler):
        tools = [shape(convert_to_openai_tool(tool)) for tool in request.tools]
        return handler(request.override(tools=tools))

    @wrap_model_call
    def back(request, handler):
        return handler(request.override(tools=made_tools))

    planner = PlanMiddleware(settings=Settings())
    made_tools = [*planner.tools, search]
    model, made = guided([OPEN, says("early"), DONE, says("done")], plain, planner, back)
    assert made.invoke(HELLO, THREAD)["messages"][-1].text == "done"
    assert is_reminder(model.requests[2][-1].text)


def test_a_retry_listed_before_ours_is_not_asked_for_more():
    """What it says for a model that failed is no early answer: each attempt is made once."""
    down = ConnectionError("down")
    retry = ModelRetryMiddleware(
        max_retries=1, initial_delay=0, jitter=False, on_failure="continue"
    )
    model, made = guided([OPEN, *[down] * 9], retry, PlanMiddleware(settings=Settings()))
    assert "down" in made.invoke(HELLO, THREAD)["messages"][-1].text
    assert len(model.requests) == 3


# -------- middleware --------


def ran(script, planner=None, **options):
    """Run an agent of a script and a planner; return its model, and what came of it."""
    model = Scripted(script=script)
    return model, agent(model, planner=planner, **options).invoke(HELLO, THREAD)


PLANNED = [wrote(("a", "in_progress"), ("b", "pending")), says("done")]


def same_with(middleware, prompt=None):
    """What user code sees of an agent: the result's keys, the list, the conversation, the tool."""
    model, done = ran(PLANNED, middleware, system_prompt=prompt, tools=[search])
    (bound,) = [t for t in model.bound if t.name != "search"]
    return {
        "keys": sorted(done),
        "todos": done["todos"],
        "messages": [(m.type, getattr(m, "tool_call_id", None)) for m in done["messages"]],
        "tool": (bound.name, bound.description),
        "system": model.requests[0][0].content,
    }


@pytest.mark.parametrize(
    "prompt", [None, "Be kind.", SystemMessage([{"type": "text", "text": "B"}])]
)
def test_in_the_place_of_the_original(prompt):
    """With the same arguments an agent looks the same from outside, but for the plan's key."""
    words = {"system_prompt": "Plan well.", "tool_description": "Write todos."}
    ours = same_with(PlanMiddleware(**words, settings=TOLD), prompt)
    assert ours == same_with(langchain_like(**words), prompt)
    ours["keys"].remove("todoplan")
    assert ours == same_with(TodoListMiddleware(**words), prompt)


def test_the_texts_are_the_tool_sets_own_unless_given():
    """By default the compact texts; an empty prompt leaves the agent's as it is."""
    model, _ = ran(PLANNED)
    assert model.requests[0][0].content[-1]["text"] == TODOS.system_prompt()
    model, _ = ran(PLANNED, PlanMiddleware(system_prompt="", settings=TOLD), system_prompt="Me.")
    assert model.requests[0][0].content == "Me."


def test_todos_in_the_input_are_the_plan_of_a_thread_that_has_none(caplog):
    """
    Later ones are overwritten with a warning, but without one if others write them in the run; a
    plan in the input is dropped.
    """

    @tool
    def meddle() -> Command:
        """Write the list, as another planner does."""
        said = ToolMessage("done", tool_call_id="m")
        return Command(update={"todos": entries(("z", "pending")), "messages": [said]})

    script = says("1"), calls(("meddle", {}, "m")), says("2"), says("3")
    listed, made = entries(("x", "pending")), agent(*script, tools=[meddle])
    given = {**HELLO, "todos": listed, "todoplan": {"head": "", "plan": {}}}
    done = made.invoke(given, THREAD)
    assert lines(made) == [("1", "x", "pending")]
    assert made.invoke({**HELLO, "todos": done["todos"]}, THREAD)["todos"] == listed
    assert not caplog.records
    done = made.invoke({**HELLO, "todos": entries(("y", "pending"))}, THREAD)
    assert (done["todos"], subjects(made)) == (listed, ["x"])
    assert "edit_plan(agent, config, command)" in caplog.text


def test_two_planners_in_one_agent_are_refused():
    """LangChain itself says that there are two of the same name, ours or theirs."""
    for second in (TodoListMiddleware(), PlanMiddleware()):
        with pytest.raises(AssertionError, match="duplicate"):
            create_agent(Scripted(script=[]), middleware=[PlanMiddleware(), second])


def test_any_tool_set_under_any_name_and_policy():
    """Tools, prompt and refusals follow the tool set, its names and the policy."""
    renamed = tasks().renamed(TaskCreate="new_task")
    script = [calls(("new_task", {"subject": "a"}, "1")), says("done")]
    model, done = ran(script, toolbox=Toolbox(renamed, STRICT), tools=[search])
    assert model.tool_names == ["new_task", "TaskGet", "TaskList", "TaskUpdate", "search"]
    assert "`new_task`" in model.requests[0][0].content[0]["text"]
    assert "active form" in answers(done)[0]


CALL = {"name": "f", "args": {}, "id": "1", "type": "tool_call"}
BROKEN = {"name": "g", "args": "{", "id": "2", "error": "bad", "type": "invalid_tool_call"}


def test_each_kind_of_message():
    """Role, text, calls, results and the finish reason are what guidance needs."""
    said = AIMessage(
        "x", tool_calls=[CALL], invalid_tool_calls=[BROKEN], response_metadata={"stop_reason": "s"}
    )
    assert neutral(said) == Message("assistant", "x", ("f",), invalid_calls=1, finish="s")
    assert neutral(HumanMessage("x")) == Message("user", "x")
    assert neutral(SystemMessage([{"type": "text", "text": "x"}])) == Message("system", "x")
    failed = ToolMessage("no", tool_call_id="1", name="f", status="error")
    assert neutral(failed) == Message("tool", results=(ToolResult("f", ok=False, call_id="1"),))
    assert neutral(ToolMessage("x", tool_call_id="1")).results == (ToolResult("", call_id="1"),)


def test_only_the_latest_good_result_of_ours_is_protected():
    """Failed, foreign and older results stay as they are, and nothing is changed in place."""
    good, newer = (ToolMessage("ok", tool_call_id=n, name="f") for n in "12")
    bad = ToolMessage("no", tool_call_id="3", name="f", status="error")
    other = ToolMessage("x", tool_call_id="4", name="g")
    kept = protected([good, newer, bad, other], ["f"])
    assert [bool(m.response_metadata) for m in kept] == [False, True, False, False]
    assert not newer.response_metadata
    assert protected([bad, other], ["f"]) == [bad, other]


# -------- presets --------


def statuses(done):
    return [m.status for m in done["messages"] if isinstance(m, ToolMessage)]


def item(content, status, active="Doing", **more):
    return {"content": content, "status": status, "activeForm": active, **more}


def todo_write(*items, call_id="w", name="TodoWrite"):
    return wrote(*items, name=name, call_id=call_id)


def told(model):
    """The reminder of each request, or ""."""
    return [r[-1].text if is_reminder(r[-1].text) else "" for r in model.requests]


def test_langchain_like():
    """What LangChain accepts is accepted; each reply has the list, and nobody is reminded."""
    script = [
        wrote(("a", "in_progress"), ("b", "in_progress"), call_id="1"),
        wrote(("a", "completed"), ("b", "pending"), call_id="2"),
        wrote(("a", "pending"), ("b", "pending"), call_id="3"),
        wrote(call_id="4"),
        wrote(("c", "pending"), call_id="5"),
        says("early"),
    ]
    model, done = ran(script, langchain_like())
    assert statuses(done) == ["success"] * 5
    assert "[in_progress] a" in answers(done)[0]
    assert told(model) == [""] * 6
    assert subjects(done) == ["c"]
    assert done["messages"][-1].text == "early"
    # Any argument of the middleware can be given beside.
    script = [wrote(("a", "pending")), wrote(call_id="2"), says("x")]
    assert statuses(ran(script, langchain_like(policy=DEFAULT))[1]) == ["success", "error"]


def test_claude_like_from_creation_to_the_end():
    """Two tasks in progress are refused, early answers sent back, and the end is noted."""
    lists = [
        [item("a", "in_progress"), item("b", "in_progress")],
        [item("a", "in_progress"), item("b", "pending")],
        [item("a", "completed"), item("b", "in_progress")],
        [item("a", "completed"), item("b", "completed")],
        [],
    ]
    script = [todo_write(*each, name="Plan", call_id=str(n)) for n, each in enumerate(lists)]
    script.insert(2, AIMessage([{"type": "text", "text": "early"}]))
    model, done = ran([*script, says("done")], claude_like("Plan"))
    replies = answers(done)
    assert statuses(done) == ["error", *["success"] * 4]
    assert "2 tasks are in progress" in replies[0]
    assert "set the others to pending" in replies[0]
    assert "All tasks are resolved" in replies[3]
    assert "Nothing is left" in replies[4]
    reminders = told(model)
    assert ["no plan yet" in text for text in reminders[:3]] == [True, True, False]
    assert [n for n, text in enumerate(reminders) if "answer while tasks" in text] == [3]
    assert (subjects(done), done["todos"], done["messages"][-1].text) == ([], [], "done")
    sent = str([message for request in model.requests for message in request])
    assert "write_todos" not in sent
    assert "TodoWrite" not in sent


ACTIVE, HIGH = {"activeForm": "Doing"}, {"priority": "high"}


@pytest.mark.parametrize(
    ("fields", "policy", "fine"),
    [
        (ACTIVE, None, True),
        ({}, None, False),
        ({**ACTIVE, "priority": "low"}, None, True),
        (ACTIVE, CLAUDE_STRICT, False),
        ({**ACTIVE, **HIGH}, CLAUDE_STRICT, True),
        ({}, DEFAULT, True),
        ({**ACTIVE, **HIGH}, DEFAULT, True),
    ],
)
def test_claude_like_fields(fields, policy, fine):
    """The active form is wanted, the priority by policy; what is missing is named."""
    entry = {"content": "a", "status": "completed", **fields}
    chosen = claude_like(policy=policy) if policy else claude_like()
    _, done = ran([todo_write(entry), says("done")], chosen)
    assert statuses(done) == ["success" if fine else "error"]
    assert subjects(done) == (["a"] if fine else [])
    assert done["todos"] == [entry] if fine else "#1" in answers(done)[0]


def test_claude_like_options():
    """The list in each reply, and one confirmation at the end, are options: they cost tokens."""
    for show in (True, False):
        script = [todo_write(item("a", "completed")), says("x")]
        _, done = ran(script, claude_like(show_list=show))
        assert ("[completed] a" in answers(done)[0]) is show
    finished = todo_write(item("a", "completed"), call_id="2")
    model, done = ran([finished, says("answer"), says("yes")], claude_like(confirm=True))
    assert [m.text for m in done["messages"] if m.type == "ai"] == ["", "answer", "yes"]
    assert len(model.requests) == 3


def test_claude_like_stop_check():
    """Ignored to the cap it lets go, or raises; in the next turn it asks for no new list."""
    both = item("a", "completed"), item("b", "completed")
    script = [todo_write(item("a", "in_progress"), item("b", "pending")), *map(says, "1234")]
    model = Scripted(script=[*script, todo_write(*both, call_id="2"), says("done")])
    made = agent(model, planner=claude_like())
    assert made.invoke(HELLO, THREAD)["messages"][-1].text == "4"
    done = made.invoke(HELLO, THREAD)
    assert [t["status"] for t in done["todos"]] == ["completed", "completed"]
    assert told(model)[5] == ""
    with pytest.raises(PlanError, match="2 of 2 tasks"):
        ran(script, claude_like(on_ignored="raise"))


def test_deerflow_like():
    """
    Two reminders with the name that its interface hides; then the answer is accepted. A plan that
    the conversation does not show comes back under its own name.
    """
    finished = wrote(("a", "completed"), call_id="2")
    model = Scripted(
        script=[wrote(("a", "in_progress")), *map(says, "123"), finished, says("done")]
    )
    made = agent(model, planner=deerflow_like())
    done = made.invoke(HELLO, THREAD)
    assert done["messages"][-1].text == "3"
    hidden = "todo_completion_reminder"
    assert [r[-1].name for r in model.requests] == [None, "write_todos", hidden, hidden]
    assert not any(is_reminder(m.text) for m in done["messages"])
    made.update_state(THREAD, {"messages": [RemoveMessage(m.id) for m in done["messages"]]})
    made.invoke(HELLO, THREAD)
    assert model.requests[4][-1].name == "todo_reminder"
    assert "[in_progress] a" in model.requests[4][-1].text


RESEARCHER = {"name": "researcher", "description": "Finds out.", "system_prompt": "Find out."}


def delegated(name, call_id="t"):
    return calls(("task", {"description": "find out", "subagent_type": name}, call_id))


def script(name):
    """The main agent plans and delegates; the subagent plans, finishes its own plan and answers."""
    return [
        wrote(("main", "in_progress"), call_id="1"),
        delegated(name),
        wrote(("child one", "in_progress"), ("child two", "pending"), call_id="1"),
        wrote(("child one", "completed"), ("child two", "completed"), call_id="2"),
        says("found it"),
        wrote(("main", "completed"), call_id="3"),
        says("done"),
    ]


class Profiled(Scripted):
    """A model for which deepagents has the profile of this provider."""

    provider: str

    def _get_ls_params(self, stop=None, **kwargs):
        return {**super()._get_ls_params(stop, **kwargs), "ls_provider": self.provider}


def deep(script, provider="scripted", **options):
    """Return a model, and a deep agent with these options and the checkpointer of a thread."""
    model = Profiled(script=script, provider=provider)
    return model, create_deep_agent(model=model, checkpointer=InMemorySaver(), **options)


def names_of(model):
    return [[getattr(tool, "name", "") for tool in bound] for bound in model._bound]


@pytest.mark.parametrize("name", ["general-purpose", "researcher"])
def test_parent_and_child_plan_apart(name):
    """The child sees nothing of its parent's plan, and does not change it."""
    model, agent = deep(script(name), **deep_planning(subagents=[RESEARCHER]))
    done = agent.invoke(HELLO, THREAD)
    assert done["todos"] == [{"content": "main", "status": "completed"}]
    assert [t.subject for t in plan_of_state(agent.get_state(THREAD))] == ["main"]
    assert all("write_todos" in bound for bound in names_of(model))
    child = model.requests[2]
    assert not any("main" in message.text for message in child)
    assert len(model.requests) == 7


def test_agents_that_share_a_plan_go_by_their_names():
    """The main agent by the one that is given, each subagent by its own."""
    store = MemoryStore()

    def make(actor):
        return PlanMiddleware(Toolbox(tasks()), store=store, plan_id="release", actor=actor)

    script = [
        calls(("TaskCreate", {"subject": "a"}, "1")),
        delegated("researcher"),
        calls(("TaskCreate", {"subject": "b"}, "2")),
        says("found it"),
        delegated("general-purpose", "u"),
        calls(("TaskCreate", {"subject": "c"}, "3")),
        says("found it"),
        says("done"),
    ]
    planned = deep_planning(subagents=[RESEARCHER], make=make, actor="lead")
    model, agent = deep(script, **planned)
    agent.invoke(HELLO, THREAD)
    actors = [entry.actor for entry in store.entries("release")]
    assert actors == ["lead", "researcher", "general-purpose"]
    assert "created by researcher" in str(model.requests[-1])


def test_an_open_plan_of_the_parent_does_not_keep_the_child():
    """The child answers without a plan; only the parent, whose task is open, is asked to go on."""
    script = [
        wrote(("main", "in_progress"), call_id="1"),
        delegated("general-purpose"),
        says("found it"),
        says("early"),
        wrote(("main", "completed"), call_id="3"),
        says("done"),
    ]
    _, agent = deep(script, **deep_planning(make=lambda: PlanMiddleware(settings=Settings())))
    assert agent.invoke(HELLO, THREAD)["messages"][-1].text == "done"


def test_a_profiles_planner_is_replaced_in_place():
    """Where a profile brings `TodoListMiddleware`, one planner is left in each agent: ours."""
    profile = HarnessProfile(extra_middleware=lambda: [TodoListMiddleware()])
    register_harness_profile("profiled", profile)
    for name in ("general-purpose", "researcher"):
        model, agent = deep(script(name), "profiled", **deep_planning(subagents=[RESEARCHER]))
        assert agent.invoke(HELLO, THREAD)["messages"][-1].text == "done"
        assert all(bound.count("write_todos") == 1 for bound in names_of(model))
        texts = [block["text"] for r in model.requests for block in r[0].content if "text" in block]
        assert not any("## `write_todos`" in text for text in texts)
        answers = [m.text for m in model.requests[-1] if m.type == "tool"]
        assert answers[0] == "ok, 0/1 completed"


def test_a_planner_of_your_own_and_other_middleware():
    """Any tool set; your middleware stays, and so do agents that are not declared."""
    compiled = {
        "name": "ready",
        "description": "Compiled.",
        "runnable": create_agent(Scripted(script=[]), middleware=[]),
    }
    own = {**RESEARCHER, "name": "general-purpose"}
    chosen = deep_planning(
        subagents=[own, compiled],
        middleware=["mine"],
        make=lambda: PlanMiddleware(Toolbox(tasks())),
    )
    assert chosen["middleware"][0] == "mine"
    assert [spec["name"] for spec in chosen["subagents"]] == ["general-purpose", "ready"]
    assert chosen["subagents"][1] == compiled
    (planner,) = chosen["subagents"][0]["middleware"]
    assert isinstance(planner.plans.toolbox.toolset, ToolSet)
    assert planner.tools[0].name == "TaskCreate"
    assert "middleware" not in own


@pytest.mark.parametrize(("chosen", "offered"), [(True, True), (False, False)])
def test_the_general_purpose_subagent_can_be_left_to_deepagents(chosen, offered):
    """With `False` nothing is declared, and a profile that disables it has its way."""
    disabled = GeneralPurposeSubagentProfile(enabled=False)
    register_harness_profile("without", HarnessProfile(general_purpose_subagent=disabled))
    model, agent = deep([says("done")], "without", **deep_planning(general_purpose=chosen))
    agent.invoke(HELLO, THREAD)
    assert ("task" in names_of(model)[0]) is offered
    assert "write_todos" in names_of(model)[0]


def test_an_agents_own_planner_is_the_one_it_has():
    """LangChain refuses two of one name, and a rule would be on the wrong agent."""
    own = [PlanMiddleware(Toolbox(LEAN)) for _ in range(3)]
    options = deep_planning(
        middleware=[own[0]],
        subagents=[{**RESEARCHER, "middleware": [own[1]]}, {**RESEARCHER, "name": "other"}],
        general_purpose={"middleware": [own[2]]},
    )
    assert options["middleware"] == [own[0]]
    general, researcher, other = (each["middleware"] for each in options["subagents"])
    assert (general, researcher) == ([own[2]], [own[1]])
    assert [type(each) for each in other] == [PlanMiddleware]
    deep([], **options)


def test_the_general_purpose_subagent_left_to_deepagents_works_without_a_plan():
    """It is deepagents' own, with its tools, its words and no planner."""
    script = [delegated("general-purpose"), says("found it"), says("done")]
    model, agent = deep(script, **deep_planning(general_purpose=False))
    assert agent.invoke(HELLO, THREAD)["messages"][-1].text == "done"
    assert ["write_todos" in bound for bound in names_of(model)] == [True, False, True]


def test_the_general_purpose_subagent_takes_skills_and_words(tmp_path):
    """What a mapping says is added to what is declared, and it plans all the same."""
    skill = tmp_path / "skills" / "zebra"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: zebra\ndescription: stripes\n---\nbody")
    script = [delegated("general-purpose"), says("found it"), says("done")]
    words = {"skills": ["/skills/"], "description": "Does anything."}
    files = FilesystemBackend(root_dir=str(tmp_path), virtual_mode=True)
    model, agent = deep(script, backend=files, **deep_planning(general_purpose=words))
    agent.invoke(HELLO, THREAD)
    assert "stripes" in str(model.requests[1][0].content)
    assert all("write_todos" in bound for bound in names_of(model))
    (task,) = [tool for tool in model._bound[0] if tool.name == "task"]
    assert "Does anything." in task.description


def test_without_deepagents_the_message_says_what_to_install(monkeypatch):
    """It is no part of the extra."""
    monkeypatch.setitem(sys.modules, "deepagents.middleware.subagents", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        deep_planning()
