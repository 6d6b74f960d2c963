"""Events of Google ADK."""

from support.recorded import TODOS, calls, compactions, lines_file


def event(author="root", **parts):
    """An event with one part."""
    return {"author": author, "invocationId": "i", "content": {"parts": [parts]}}


def called(call_id="c1", **more):
    """A function call."""
    return {"name": "write_todos", "id": call_id, "args": TODOS, **more}


def answered(call_id="c1", **response):
    """A function response."""
    return {"name": "write_todos", "id": call_id, "response": response}


def test_both_spellings_are_read(tmp_path):
    """JSON has camel case, `model_dump` of Python has not."""
    snake = {"author": "root", "invocation_id": "i"}
    snake["content"] = {"parts": [{"function_call": called()}]}
    told = {"author": "root", "invocation_id": "i"}
    told["content"] = {"parts": [{"function_response": answered(result="ok")}]}
    for records in ((snake, told), (event(functionCall=called()), told)):
        (call,) = calls(lines_file(tmp_path, *records))
        assert (call.arguments, call.result.text, call.result.is_error) == (TODOS, "ok", False)


def test_agents_of_a_session_share_the_plan(tmp_path):
    """The agent that calls first is the main one, another is named; the lane is one."""
    path = lines_file(
        tmp_path,
        event("user", text="go"),
        event("root", functionCall=called("a")),
        event("helper", functionCall=called("b")),
    )
    found = calls(path)
    assert [(call.actor, call.lane) for call in found] == [("main", "main"), ("helper", "main")]


def test_answers_tell_errors_and_data(tmp_path):
    """An object is kept as data; an error is one by its key, unless that is null."""
    path = lines_file(
        tmp_path,
        event(functionCall=called("a")),
        event(functionCall=called("b")),
        event(functionCall=called("c")),
        event(functionResponse=answered("a", todos=[], error=None)),
        event(functionResponse=answered("b", error="no")),
        event(functionResponse=answered("c", result="Error: no")),
    )
    first, second, third = calls(path)
    assert (first.result.data, first.result.is_error) == ({"todos": [], "error": None}, False)
    assert (second.result.text, second.result.is_error) == ("no", True)
    assert third.result.is_error


def test_a_compaction_is_met(tmp_path):
    """The session says where it summarised."""
    summary = {"author": "user", "invocationId": "i", "actions": {"compaction": {"x": 1}}}
    assert len(compactions(lines_file(tmp_path, summary))) == 1
