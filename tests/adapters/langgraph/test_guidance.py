"""Guidance in an agent: reminders at the tail, never stored; further turns, finite; no leaks."""

import pytest
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
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel
from support.scripted import Scripted, calls, says, wrote

from todoplan import DEFAULT, Toolbox, commands
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    claude_like,
    deerflow_like,
    edit_plan,
    plan_of_state,
)
from todoplan.dialogue import Settings, tasks
from todoplan.dialogue.guidance import is_reminder

HELLO = {"messages": [("user", "hello")]}
OPEN = wrote(("a", "in_progress"), ("b", "pending"))
DONE = wrote(("a", "completed"), ("b", "completed"), call_id="d")


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query} " * 50


def searching(n):
    return calls(("search", {"query": f"q{n}"}, f"s{n}"))


def thread(name="1"):
    return {"configurable": {"thread_id": name}}


def agent(script, *middleware, settings=None, **kwargs):
    model = Scripted(script=script)
    stack = middleware or (PlanMiddleware(settings=settings or Settings()),)
    made = create_agent(
        model, tools=[search], middleware=stack, checkpointer=InMemorySaver(), **kwargs
    )
    return model, made


def reminders(request):
    return [m for m in request if m.type == "human" and is_reminder(m.text)]


def stored_reminders(done):
    return [m for m in done["messages"] if is_reminder(m.text)]


def test_earlier_requests_are_prefixes_of_later_ones():
    """Without its reminder each request starts as the one before it, so that a cache holds."""
    model, made = agent([OPEN, searching(1), says("early"), DONE, says("done")])
    made.invoke(HELLO, thread())
    plain = [[m.text for m in r if m not in reminders(r)] for r in model.requests]
    assert plain[1][: len(plain[0])] == plain[0]
    assert plain[2][: len(plain[1])] == plain[1]


def summarizing(model):
    return SummarizationMiddleware(model=model, trigger=("messages", 6), keep=("messages", 2))


@pytest.mark.parametrize("ours_first", [True, False])
def test_a_plan_that_was_summarised_away_is_shown_again(ours_first):
    """The real middleware rewrites the history; in either order the plan comes back at the tail."""
    stack = [PlanMiddleware(), summarizing(Scripted(script=[says("summary")] * 9))]
    script = [OPEN, *map(searching, range(4)), DONE, says("done")]
    model, made = agent(script, *(stack if ours_first else stack[::-1]))
    done = made.invoke(HELLO, thread())
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
    model, made = agent(script, *(stack if ours_first else stack[::-1]))
    made.invoke(HELLO, thread())
    request = model.requests[4]
    (answer,) = [m for m in request if isinstance(m, ToolMessage) and m.name == "write_todos"]
    assert any(isinstance(m, ToolMessage) and m.content == "[cleared]" for m in request)
    if ours_first:
        assert answer.content == "ok, 0/2 completed"
        assert request[2].tool_calls[0]["args"]["todos"]
    else:
        assert answer.content == "[cleared]"
        assert len(reminders(request)) == 1


def test_one_confirmation_can_be_asked_and_the_answer_stays():
    """All done: one more turn; the answer that was sent back stands before the confirmation."""
    model, made = agent(
        [DONE, says("the answer"), says("yes")], settings=Settings(all_done="always")
    )
    done = made.invoke(HELLO, thread())
    assert [m.text for m in done["messages"] if m.type == "ai"] == ["", "the answer", "yes"]
    assert "(2/2 completed)" in model.requests[2][-1].text
    assert stored_reminders(done) == []


def test_a_confirmation_that_turns_into_work_replaces_the_answer():
    """If the model goes on calling tools, the answer it took back is gone with the reminder."""
    settings = Settings(all_done="always")
    script = [DONE, says("the answer"), searching(1), says("better answer")]
    _, made = agent(script, settings=settings)
    done = made.invoke(HELLO, thread())
    assert [m.text for m in done["messages"] if m.type == "ai"] == ["", "", "better answer"]


def test_a_silent_end_is_asked_about():
    """An empty final message after the last task gets one more turn, and leaves no trace."""
    silent = AIMessage([], response_metadata={"finish_reason": "stop"})
    _, made = agent([DONE, silent, says("here")], settings=Settings(all_done="if_silent"))
    done = made.invoke(HELLO, thread())
    assert [m.text for m in done["messages"] if m.type == "ai"] == ["", "here"]


@pytest.mark.parametrize(
    "answer",
    [
        AIMessage([{"type": "text", "text": "early"}]),
        AIMessage(["ear", {"type": "text", "text": "ly"}, {"type": "reasoning", "x": 1}]),
        AIMessage("early", response_metadata={"stop_reason": "end_turn"}),
        AIMessage("early", response_metadata={"finish_reason": 1}),
    ],
)
def test_list_content_is_a_final_answer(answer):
    """Structured content is read as its text."""
    model, made = agent([OPEN, answer, DONE, says("done")])
    made.invoke(HELLO, thread())
    assert len(model.requests) == 4


@pytest.mark.parametrize(
    "answer",
    [
        AIMessage("", invalid_tool_calls=[{"name": "x", "args": "{", "id": "1", "error": "bad"}]),
        AIMessage("", response_metadata={"finish_reason": "tool_calls"}),
        AIMessage("", response_metadata={"stop_reason": "tool_use"}),
        AIMessage("", response_metadata={"finish_reason": "MALFORMED_FUNCTION_CALL"}),
    ],
)
def test_what_meant_to_call_a_tool_is_no_final_answer(answer):
    """Broken calls and finish reasons that say tools are not sent back as early answers."""
    model, made = agent([OPEN, answer])
    made.invoke(HELLO, thread())
    assert len(model.requests) == 2


class Verdict(BaseModel):
    """The result."""

    fine: bool


def test_a_structured_answer_is_not_sent_back():
    """With a `response_format` the answer belongs to the framework, plan or no plan."""
    answer = calls(("Verdict", {"fine": True}, "v"))
    for last, expected in ((says("early"), None), (answer, Verdict(fine=True))):
        model, made = agent([OPEN, last], response_format=ToolStrategy(Verdict))
        done = made.invoke(HELLO, thread())
        assert done.get("structured_response") == expected
        assert all(not reminders(request) for request in model.requests)


def test_without_a_checkpointer_runs_do_not_meet_either():
    """No thread, no default key: each run starts with nothing."""
    model = Scripted(script=[OPEN, says("1"), says("2"), says("3"), says("fine")])
    made = create_agent(model, middleware=[PlanMiddleware(settings=Settings())])
    made.invoke(HELLO)
    assert made.invoke(HELLO)["messages"][-1].text == "fine"
    assert len(model.requests) == 5
    assert not reminders(model.requests[-1])


def test_a_call_stopped_in_its_wrapper_is_not_carried_out_by_its_siblings():
    """What another middleware answers is in neither the plan nor the published list."""

    @wrap_tool_call
    def stopping(request, handler):
        if request.tool_call["id"] == "1":
            return ToolMessage("stopped", tool_call_id="1", name="TaskCreate", status="error")
        return handler(request)

    turn = calls(("TaskCreate", {"subject": "a"}, "1"), ("TaskCreate", {"subject": "b"}, "2"))
    settings = Settings(unfinished=0)
    model = Scripted(script=[turn, says("done")])
    planner = PlanMiddleware(Toolbox(tasks()), settings=settings)
    made = create_agent(model, middleware=[planner, stopping], checkpointer=InMemorySaver())
    done = made.invoke(HELLO, thread())
    assert [t.subject for t in plan_of_state(made.get_state(thread()))] == ["b"]
    assert [todo["content"] for todo in done["todos"]] == ["b"]


def requests_for(planner, *answers):
    model = Scripted(script=[OPEN, *map(says, answers)])
    made = create_agent(model, middleware=[planner], checkpointer=InMemorySaver())
    return made.invoke(HELLO, thread())["messages"][-1].text, len(model.requests)


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
    model, made = agent([says("1")], selector, PlanMiddleware(settings=Settings(empty=9)))
    edit_plan(made, thread(), commands.CreateTask("a"))
    done = made.invoke(HELLO, thread())
    assert model.tool_names == ["search"]
    assert [[m.type for m in request] for request in model.requests] == [["human"]]
    assert [t.subject for t in plan_of_state(made.get_state(thread()))] == ["a"]
    assert done["todos"] == [{"content": "a", "status": "pending"}]


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
    model, made = agent([OPEN, says("early"), DONE, says("done")], plain, planner, back)
    assert made.invoke(HELLO, thread())["messages"][-1].text == "done"
    assert is_reminder(model.requests[2][-1].text)


def test_a_retry_listed_before_ours_is_not_asked_for_more():
    """What it says for a model that failed is no early answer: each attempt is made once."""
    down = ConnectionError("down")
    retry = ModelRetryMiddleware(
        max_retries=1, initial_delay=0, jitter=False, on_failure="continue"
    )
    model, made = agent([OPEN, *[down] * 9], retry, PlanMiddleware(settings=Settings()))
    assert "down" in made.invoke(HELLO, thread())["messages"][-1].text
    assert len(model.requests) == 3
