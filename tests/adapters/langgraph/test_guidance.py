"""Guidance in an agent: reminders at the tail, never stored; further turns, finite; no leaks."""

import pytest
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
from pydantic import BaseModel
from support.langgraph_threads import EDIT, HELLO, THREAD, agent, contents, create, subjects
from support.scripted import Scripted, calls, says, wrote

from todoplan import DEFAULT, Toolbox
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    claude_like,
    deerflow_like,
    edit_plan,
)
from todoplan.dialogue import Settings, tasks
from todoplan.dialogue.guidance import is_reminder

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
    model = Scripted(script=[OPEN, *map(says, answers)])
    done = agent(model, planner=planner).invoke(HELLO, THREAD)
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
