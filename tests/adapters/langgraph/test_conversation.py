"""LangChain messages as guidance reads them."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from todoplan.adapters.langgraph import neutral, protected
from todoplan.dialogue.guidance import Message, ToolResult

CALL = {"name": "f", "args": {}, "id": "1", "type": "tool_call"}
BROKEN = {"name": "g", "args": "{", "id": "2", "error": "bad", "type": "invalid_tool_call"}


def test_each_kind_of_message():
    """
    Role, text, calls, results and the finish reason are what guidance needs.
    """
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
    """
    Failed, foreign and older results stay as they are, and nothing is changed in place.
    """
    good, newer = (ToolMessage("ok", tool_call_id=n, name="f") for n in "12")
    bad = ToolMessage("no", tool_call_id="3", name="f", status="error")
    other = ToolMessage("x", tool_call_id="4", name="g")
    kept = protected([good, newer, bad, other], ["f"])
    assert [bool(m.response_metadata) for m in kept] == [False, True, False, False]
    assert not newer.response_metadata
    assert protected([bad, other], ["f"]) == [bad, other]
