"""Items of the Responses API as guidance reads them."""

from agents.testing import assistant_message, function_call
from openai.types.responses import ResponseFunctionWebSearch
from openai.types.responses.response_output_item import McpApprovalRequest
from support.openai_agents_runs import refuse

from todoplan.adapters.openai_agents import (
    answers_in,
    calls_in,
    conversation,
    neutral,
    with_reminder,
)
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import is_final_answer, is_refusal

CALL = {"type": "function_call", "name": "write_todos", "call_id": "1", "arguments": "{}"}
SEARCH = ResponseFunctionWebSearch.model_construct(id="ws", type="web_search_call")


def answer(output, call_id="1"):
    """
    Return a tool's answer.
    """
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def results(*items):
    """
    Return what the tools' answers in a request are read as.
    """
    return [(r.name, r.ok, r.call_id) for m in conversation([*items]) for r in m.results]


def test_answers_have_the_names_of_their_calls():
    """Messages and calls are no answers; an answer whose call is gone has no name."""
    user = {"role": "user", "content": "go"}
    assert results(user, CALL, answer("0/1: #1 created")) == [("write_todos", True, "1")]
    assert results(answer("fine")) == [("", True, "1")]
    assert conversation("go") == []


def test_errors_and_previews_do_not_show_the_plan():
    """An error is known by its words, a preview by the trimmer's; other shapes are no error."""
    for output in ("Nothing was changed. Why.", "[Trimmed: write_todos output]", "[Trimmed]"):
        assert results(CALL, answer(output)) == [("write_todos", False, "1")]
    assert results(CALL, answer([{"type": "input_text", "text": "x"}]))[0][1]


def test_answered_calls_are_told():
    """Answers of every kind of tool, and nothing else."""
    shell = {"type": "local_shell_call_output", "call_id": "2", "output": ""}
    assert answers_in([CALL, answer(""), shell, {"role": "user", "content": ""}]) == ["1", "2"]
    assert answers_in("go") == []


def test_a_text_is_a_final_answer():
    """Also behind a search that the provider has made itself, and if it is empty."""
    assert neutral([SEARCH, assistant_message("a"), assistant_message("b")]).text == "ab"
    assert is_final_answer(neutral([SEARCH, assistant_message("Done.")]))
    assert is_final_answer(neutral([]))


def test_a_refusal_is_one():
    """A message with a part that refuses; its words are no answer."""
    assert is_refusal(neutral([refuse()]))
    assert neutral([refuse()]).text == ""
    assert not is_refusal(neutral([assistant_message("No.")]))


def test_what_is_to_be_carried_out_is_no_final_answer():
    """A call beside a text, and a question whether a tool may be used."""
    asks = McpApprovalRequest.model_construct(id="m", type="mcp_approval_request", name="x")
    for item in (function_call("search", "{}", call_id="1"), asks):
        assert not is_final_answer(neutral([assistant_message("Let me see."), item]))


def test_calls_are_read_in_order():
    """With their arguments as text; items without an id of a call are none."""
    custom = {"type": "custom_tool_call", "name": "sh", "call_id": "2", "input": "ls"}
    sent = [SEARCH, function_call("write_todos", "{", call_id="1"), custom]
    assert calls_in(sent) == [Call("write_todos", "{", "1"), Call("sh", "", "2")]


def test_a_reminder_is_a_message_at_the_tail():
    """Behind a text or items; without one the input is the same object."""
    user, told = {"role": "user", "content": "go"}, {"role": "user", "content": "Mind."}
    assert with_reminder("go", "Mind.") == [user, told]
    items = [user]
    assert with_reminder(items, "Mind.") == [user, told]
    assert with_reminder(items, "") is items
