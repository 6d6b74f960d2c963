"""The guide's loop with reminders: it goes on after a crash, and keeps no reminder."""

import json
from types import SimpleNamespace

import pytest
from support.docs import defined
from support.wires import Sent, chat_completion
from test_agent_loop import MY_TOOLS, Completions, run_my_tool, writes

from todoplan.codec import plan_from_data

WORK_ON = defined("own-loop", "guided loop", MY_TOOLS=MY_TOOLS, run_my_tool=run_my_tool)["work_on"]


def run(script, request, file):
    """
    Return what the loop came to, and the requests that it sent.
    """
    completions = Completions(script)
    client = SimpleNamespace(chat=SimpleNamespace(completions=completions))
    return WORK_ON(client, "scripted", request, file), completions.requests


def test_a_second_process_goes_on_and_is_sent_back_once(tmp_path):
    """The first dies in the middle; the second answers too early, is reminded, and finishes."""
    file = tmp_path / "thread.json"
    first = [
        chat_completion([Sent("write_todos", writes("in_progress", "pending"), "c1")]),
        chat_completion([Sent("search", {"q": "plans"}, "c2")]),
    ]
    with pytest.raises(StopIteration):  # the script ends: the provider is gone
        run(first, "Find out about plans.", file)
    kept = json.loads(file.read_text("utf-8"))
    assert plan_from_data(kept["plan"]).counts.open == 2

    second = [
        chat_completion([], "Almost done."),
        chat_completion([Sent("write_todos", writes("completed", "completed"), "c3")]),
        chat_completion([], "Done."),
    ]
    answer, requests = run(second, "Go on.", file)
    assert answer == "Done."
    assert "<todoplan-reminder>" not in json.dumps(requests[0])
    reminded = requests[1]["messages"]
    assert reminded[-2]["content"] == "Almost done."
    assert "while tasks of your plan are open" in reminded[-1]["content"]
    kept = file.read_text("utf-8")
    assert "Almost done." not in kept
    assert "<todoplan-reminder>" not in kept
    assert plan_from_data(json.loads(kept)["plan"]).counts.completed == 2


def test_a_plan_out_of_sight_is_shown_again(tmp_path):
    """Whoever cuts the messages need not think of the plan."""
    file = tmp_path / "thread.json"
    script = [
        chat_completion([Sent("write_todos", writes("in_progress", "pending"), "c1")]),
        chat_completion([], "Which source do you trust?"),
    ]
    run(script, "Find out about plans.", file)
    kept = json.loads(file.read_text("utf-8"))
    kept["messages"] = kept["messages"][:1]
    file.write_text(json.dumps(kept), "utf-8")
    _, requests = run([chat_completion([], "Which one then?")], "Any.", file)
    assert "Your plan is not shown" in requests[0]["messages"][-1]["content"]
