"""Chat lists, Anthropic messages and LangChain messages."""

import json

import pytest
from support.pace import is_linear, seconds
from support.recorded import TODOS, answers, bad_lines, calls, document_file, lines_file

from todoplan.transcripts.calls import CallResult
from todoplan.transcripts.reading import detect


def _asks(*ids, name="TodoWrite", arguments=None):
    text = json.dumps(TODOS) if arguments is None else arguments
    listed = [
        {"id": i, "type": "function", "function": {"name": name, "arguments": text}} for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def _tells(call_id, content="ok", **fields):
    return {"role": "tool", "tool_call_id": call_id, "content": content} | fields


def _output(*texts):
    return [{"type": "tool_output", "text": text} for text in texts]


USER = {"role": "user", "content": "go"}
FUNCTION = {"role": "assistant", "function_call": {"name": "TodoWrite", "arguments": "{}"}}
TOLD = {"role": "function", "name": "TodoWrite", "content": "ok"}
REFUSALS = ("<tool_use_error>x", "Error: The `write_todos` tool", "ERROR: x", "Task not found")


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: {"messages": m, "meta": {}}])
def test_a_chat_list_is_read(tmp_path, wrap):
    """Calls, results, times and turns of a list of messages, bare or in an object."""
    asks = _asks("c1") | {"id": "msg_1", "_metadata": {"timestamp": "2026-03-26T11:51:50Z"}}
    path = document_file(tmp_path, wrap([USER, asks, _tells("c1")]))
    (call,) = calls(path)
    assert (call.tool, call.arguments, call.line, call.turn) == ("TodoWrite", TODOS, 2, "msg_1")
    assert (call.call_id, call.result, call.at.month) == ("c1", CallResult("ok"), 3)


def test_a_call_on_two_places_of_a_message_counts_once(tmp_path):
    """Content items repeat the listed calls; what only the content has counts too."""
    item = {"type": "tool_call", "tool_call_id": "c1", "name": "TodoWrite", "arguments": "{}"}
    extra = {"type": "tool_use", "id": "c2", "name": "TodoWrite", "input": TODOS}
    nameless = {"type": "tool_use", "name": "TodoWrite", "input": {}}
    both = _asks("c1", "c1") | {"content": [item, extra, extra, nameless, {"type": "text"}]}
    alone = {"role": "assistant", "content": [nameless, nameless]}
    path = document_file(tmp_path, [both, alone])
    expected = [(1, "c1"), (1, "c2"), (2, ""), (2, "")]
    assert [(call.line, call.call_id) for call in calls(path)] == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # One answer with a part for each silent call of the message gives each its part.
        (
            [_asks("c1", "c2", "c3"), _tells("c1", _output("one", "two", "<tool_use_error>x"))],
            ["one", "two", "!<tool_use_error>x"],
        ),
        # Without a part for each silent call, nothing is parted.
        (
            [_asks("c1", "c2"), _tells("c1", _output("a", "b")), _tells("c2")],
            ["a\nb", "ok"],
        ),
        ([_asks("c1", "c2"), _tells("c2", _output("a", "b")), USER], [None, "a\nb"]),
        ([_asks("c1", "c2"), _tells("c1", _output("a", "b", "c")), USER], ["a\nb\nc", None]),
        ([_asks("c1", "c2"), _tells("c1", _output("a")), USER], ["a", None]),
        ([_asks("c1", "c2"), USER], [None, None]),
        # Ids that are used again are calls of their own: some models count from zero.
        ([_asks("c0"), _tells("c0", "one"), _asks("c0"), _tells("c0", "two")], ["one", "two"]),
        # A result after another call finds its own; one without a call is passed over.
        (
            [_asks("c1"), _asks("c2"), _tells("c1", "one"), _tells("zz"), _tells(None)],
            ["one", None],
        ),
        # The oldest chat format has one call a message and no ids.
        ([FUNCTION, {**TOLD, "name": "other"}, TOLD], ["ok"]),
        # Chat lists have no flag for errors.
        *(([_asks("c1"), _tells("c1", text)], [f"!{text}"]) for text in REFUSALS),
        ([_asks("c1"), _tells("c1", "Updated task #9")], ["Updated task #9"]),
    ],
)
def test_answers_find_their_calls(tmp_path, messages, expected):
    """By id, else by name, in order; a refusal by its first words."""
    assert answers(document_file(tmp_path, messages)) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [("", {}), ("{oops", "{oops"), (None, TODOS), ("[]", "[]"), ({"a": 1}, {"a": 1}), ([1], "[1]")],
)
def test_arguments_are_an_object_or_the_text(tmp_path, arguments, expected):
    """No argument is lost, whatever it is."""
    assert calls(lines_file(tmp_path, _asks("c1", arguments=arguments)))[0].arguments == expected


def test_arguments_too_deep_to_handle_are_left_out(tmp_path):
    """A value nested beyond reason does not get through, as an object or in text."""
    deep = {"a": json.loads("[" * 200 + "]" * 200)}
    found = calls(lines_file(tmp_path, _asks("c1", arguments=deep), _asks("c2", arguments=[deep])))
    assert ["left out" in call.arguments for call in found] == [True, True]
    text = json.dumps(deep)
    assert calls(lines_file(tmp_path, _asks("c1", arguments=text)))[0].arguments == text


@pytest.mark.parametrize(
    ("call_id", "name", "kinds"),
    [
        ("toolCallId", "toolName", ("tool-call", "tool-result")),
        ("tool_call_id", "tool_name", ("tool_call", "tool_result")),
    ],
)
def test_other_names_for_the_same_parts_are_read(tmp_path, call_id, name, kinds):
    """Blocks with names in camel case or snake case, and results in blocks of their own."""
    asked, told = ({"type": kind, call_id: "c1", name: "TodoWrite"} for kind in kinds)
    told = {"role": "tool", "content": [told | {"result": {"text": "ok"}}]}
    path = document_file(
        tmp_path, [{"role": "assistant", "content": [asked | {"args": TODOS}]}, told]
    )
    (call,) = calls(path, "chat")
    assert (call.tool, call.arguments, call.result.text) == ("TodoWrite", TODOS, "ok")
    assert detect(path) == ("anthropic" if "tool_result" in kinds else "chat")


def test_anthropic_messages_are_read(tmp_path):
    """Bare messages, a line each: calls and results are content blocks."""
    use = {"type": "tool_use", "id": "t1", "name": "TodoWrite", "input": TODOS}
    told = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    path = lines_file(
        tmp_path,
        "oops",
        {"timestamp": "2026-01-01T00:00:00Z", "role": "assistant", "content": [use]},
        {"role": "user", "content": [told]},
    )
    assert detect(path) == "anthropic"
    (call,) = calls(path)
    assert (call.line, call.turn, call.result) == (2, "#2", CallResult("no", is_error=True))
    assert len(bad_lines(path)) == 1


def _ai(**fields):
    return {"type": "ai", "content": "", "id": "lc_run--1"} | fields


def _listed(call_id, arguments=TODOS):
    return {"name": "write_todos", "args": arguments, "id": call_id, "type": "tool_call"}


def _tool(call_id, **fields):
    named = {"name": "write_todos", "tool_call_id": call_id}
    return {"type": "tool", "content": "ok", **named, **fields}


MESSAGES = [
    _ai(tool_calls=[_listed("c1")], invalid_tool_calls=[_listed("c2", "{oops")]),
    _tool("c1", status="success"),
    _tool("c2", status="error", content="Error invoking tool"),
]


@pytest.mark.parametrize(
    "value",
    [
        MESSAGES,
        {"messages": MESSAGES},
        {"values": {"messages": MESSAGES, "todos": []}, "next": []},
        [{"type": one["type"], "data": one} for one in MESSAGES],
    ],
)
def test_langchain_messages_are_read_in_any_wrapping(tmp_path, value):
    """Thread states, lists and pairs of type and data; calls that LangChain refused count too."""
    path = document_file(tmp_path, value)
    assert detect(path) == "langchain"
    assert len(calls(lines_file(tmp_path, *MESSAGES))) == 2
    first, second = calls(path)
    assert (first.arguments, first.turn, first.result.is_error) == (TODOS, "lc_run--1", False)
    assert (second.arguments, second.result.is_error) == ("{oops", True)


def test_serialised_constructors_give_the_listed_arguments(tmp_path):
    """The content's copy of a call has its arguments cut to pieces; the list has them whole."""

    def made(*name, **kwargs):
        return {"lc": 1, "type": "constructor", "id": list(name), "kwargs": kwargs}

    block = {"type": "tool_use", "id": "c1", "name": "write_todos", "input": {}}
    block["partial_json"] = "{"
    asked = made("langchain", "AIMessage", content=[block], tool_calls=[_listed("c1")])
    told, other = made("ToolMessage", **_tool("c1", type="x")), made(content=[block | {"id": "c2"}])
    path = document_file(tmp_path, [asked, told, other])
    assert detect(path) == "langchain"
    first, second = calls(path)
    assert (first.arguments, second.arguments) == (TODOS, "{")


def test_tags_that_are_never_closed_take_linear_time(tmp_path):
    """Each is read up to the next, not to the end of the text. A list begins at a closed tag."""
    text = "In <update_todo_list> I say:\n<update_todo_list>- [ ] Dig</update_todo_list>"
    path = document_file(tmp_path, [USER, {"role": "assistant", "content": text}])
    assert [call.arguments for call in calls(path)] == [{"todos": "- [ ] Dig"}]

    def taking(times):
        said = {"role": "assistant", "content": f"{'<task_progress>' * times} and more"}
        path = document_file(tmp_path, [USER, _asks("c1"), said])
        assert [call.tool for call in calls(path)] == ["TodoWrite"]
        return seconds(lambda: calls(path))

    assert is_linear(taking, 8_000)
