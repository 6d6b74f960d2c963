"""The guide's whole loop, through OpenAI's client: it survives a crash, and keeps no reminder."""

import json

import pytest
from openai import DefaultHttpxClient, OpenAI
from support.docs import defined
from support.wires import Sent, chat_completion
from test_agent_loop import MY_TOOLS, scripted_server, writes

from todoplan import FileStore, Planner, commands


def run_my_tool(call):
    return f"{call.name}: nothing"


WORK_ON = defined("own-loop", "guided loop", MY_TOOLS=MY_TOOLS, run_my_tool=run_my_tool)["work_on"]


def run(script, request, folder):
    """
    Return what the loop came to, and the requests that it sent.
    """
    with scripted_server(script) as server, DefaultHttpxClient(trust_env=False) as http:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        client = OpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)
        return WORK_ON(client, "scripted", request, folder), server.requests


def person(folder):
    return Planner(FileStore(folder / "plans.json"), "thread-7")


def tails(requests):
    return [str(request["messages"][-1]["content"]) for request in requests]


def test_a_second_process_goes_on_with_a_persons_edit_and_is_sent_back_once(tmp_path):
    """
    The provider fails in the middle of the first process; a person adds a task; the second process
    is told, answers too early, is reminded, and finishes.
    """

    def first():
        yield chat_completion([Sent("write_todos", writes("in_progress", "pending"), "c1")])
        yield chat_completion([Sent("search", {"q": "plans"}, "c2")])
        yield {"error": "down"}

    with pytest.raises(TypeError):  # the answer has no choices
        run(first(), "Find out about plans.", tmp_path)
    assert person(tmp_path).plan.counts.open == 2
    person(tmp_path).apply(commands.CreateTask("Tell Ann"), actor="ann")
    done = writes("completed", "completed")
    done["todos"].append({"content": "Tell Ann", "status": "completed"})
    second = [
        chat_completion([], "Almost done."),
        chat_completion([Sent("write_todos", done, "c3")]),
        chat_completion([], "Done."),
    ]
    answer, requests = run(second, "Go on.", tmp_path)
    assert answer == "Done."
    told, reminded, last = tails(requests)
    assert "#3 Tell Ann created by ann" in told
    assert requests[1]["messages"][-2]["content"] == "Almost done."
    assert "while tasks of your plan are open" in reminded
    assert last == "since you last looked: #3 Tell Ann created by ann\nok, 3/3 completed"
    kept = (tmp_path / "thread.json").read_text("utf-8")
    assert "Almost done." not in kept
    assert "<todoplan-reminder>" not in kept
    assert person(tmp_path).plan.counts.completed == 3
    assert [entry.actor for entry in person(tmp_path).history()] == [None, "ann", None]


def test_an_edit_while_the_model_answers_is_kept_and_told(tmp_path):
    """The list was written without having seen it."""

    def script():
        yield chat_completion([Sent("write_todos", writes("in_progress", "pending"), "c1")])
        person(tmp_path).apply(commands.CreateTask("Tell Ann"), actor="ann")
        yield chat_completion([Sent("write_todos", writes("completed", "in_progress"), "c2")])
        yield chat_completion([], "Shall I go on?")

    answer, requests = run(script(), "Find out about plans.", tmp_path)
    assert answer == "Shall I go on?"
    assert "#3 Tell Ann created by ann" in tails(requests)[-1]
    assert [task.status.value for task in person(tmp_path).plan] == [
        "completed",
        "in_progress",
        "pending",
    ]


def test_a_plan_out_of_sight_is_shown_again(tmp_path):
    """Whoever cuts the messages need not think of the plan."""
    script = [
        chat_completion([Sent("write_todos", writes("in_progress", "pending"), "c1")]),
        chat_completion([], "Which source do you trust?"),
    ]
    run(script, "Find out about plans.", tmp_path)
    file = tmp_path / "thread.json"
    kept = json.loads(file.read_text("utf-8"))
    kept["messages"] = kept["messages"][:1]
    file.write_text(json.dumps(kept), "utf-8")
    _, requests = run([chat_completion([], "Which one then?")], "Any.", tmp_path)
    assert "Your plan is not shown" in tails(requests)[0]
