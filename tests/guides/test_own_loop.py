"""The guide's whole loop: it survives a crash at any point, and keeps no reminder."""

import json
import sys
from itertools import count
from types import SimpleNamespace

import pytest
from openai import DefaultHttpxClient, OpenAI
from openai.types.chat import ChatCompletion
from support.docs import defined
from support.wires import Sent, chat_completion
from test_agent_loop import MY_TOOLS, scripted_server, writes

from todoplan import TASKS, Planner, Toolbox
from todoplan.adapters.functions import Run
from todoplan.core import commands
from todoplan.errors import PlanError
from todoplan.stores import SqliteStore


def run_my_tool(call):
    return f"{call.name}: nothing"


WORK_ON = defined("own-loop", "guided loop", MY_TOOLS=MY_TOOLS, run_my_tool=run_my_tool)["work_on"]


def run(script, request, folder):
    """Return what the loop came to, and the requests that it sent."""
    with scripted_server(script) as server, DefaultHttpxClient(trust_env=False) as http:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        client = OpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)
        return WORK_ON(client, "scripted", folder, request, request), server.requests


def person(folder):
    return Planner(SqliteStore(folder / "plans.db"), "thread-7")


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

    with pytest.raises(PlanError, match=r"down.*is no answer of a model"):
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
    assert [entry.actor for entry in person(tmp_path).history()] == ["model", "ann", "model"]


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


class Killed(BaseException):
    """The process ends here: nobody catches that."""


class Model:
    """
    A model behind a client: it says what comes next, seeing the messages. No two of its responses
    and no two of its calls have the same id.
    """

    def __init__(self):
        self.chat = SimpleNamespace(completions=self)
        self.ids, self.requests = count(1), []

    def create(self, *, messages, **_):
        self.requests.append(json.dumps(messages))
        results = sum(message["role"] == "tool" for message in messages)
        is_sent_back = any(message["content"] == "Early." for message in messages)
        steps = {0: FIRST, 2: SECOND, 4: LAST if is_sent_back else "Early.", 6: "Released."}
        said, number = steps[results], next(self.ids)
        calls = [] if isinstance(said, str) else said
        sent = [Sent(*call, f"call_{number}_{place}") for place, call in enumerate(calls)]
        plain = chat_completion(sent, None if sent else said)
        return ChatCompletion.model_validate({**plain, "id": f"chatcmpl-{number}"})


FIRST = [
    ("search", {"q": "releases"}),
    ("TaskCreate", {"tasks": [{"subject": "Changelog"}, {"subject": "Tag", "blockedBy": ["#0"]}]}),
]
SECOND = [
    ("TaskUpdate", {"taskId": "1", "status": "completed"}),
    ("TaskCreate", {"subject": "Announce"}),
]
LAST = [("TaskUpdate", {"taskId": each, "status": "completed"}) for each in ("2", "3")]
REQUEST = "Release version 2."
# The steps of the guide, and within the one that changes the plan.
STEPS = {WORK_ON.__code__, WORK_ON.__globals__["save"].__code__, Run.answer.__code__}


def killed_at(step, client, folder):
    """
    Run the loop and end its process in front of a line, of the guide or of `Run.answer`, by its
    number; return the answer, or `None`.
    """
    steps, before, last = count(1), sys.gettrace(), None

    def traced(frame, event, _):
        if frame.f_code not in STEPS:
            return None
        nonlocal last
        here = frame.f_code, frame.f_lineno
        # A line that has a loop in it is one step.
        if event == "line" and here != last and next(steps) == step:
            raise Killed
        last = here
        return traced

    sys.settrace(traced)
    try:
        return WORK_ON(client, "scripted", folder, "request-1", REQUEST)
    except Killed:
        return None
    finally:
        sys.settrace(before)


@pytest.mark.slow
def test_a_loop_that_is_killed_between_any_two_steps_does_nothing_twice(tmp_path, monkeypatch):
    """
    A process is killed in front of a line, and another one finishes: for every line. The plan, its
    history and the messages are those of one process that was never killed; no model is told of its
    own work as of somebody else's.
    """
    monkeypatch.setitem(WORK_ON.__globals__, "Toolbox", lambda: Toolbox(TASKS))
    called = []
    tool = lambda call: called.append(call.call_id) or "nothing"  # noqa: E731
    monkeypatch.setitem(WORK_ON.__globals__, "run_my_tool", tool)
    died = 0
    for step in count(1):
        client, folder = Model(), tmp_path / str(step)
        folder.mkdir()
        called.clear()
        first = killed_at(step, client, folder)
        died += first is None
        assert WORK_ON(client, "scripted", folder, "request-1", REQUEST) == "Released.", step
        planner = person(folder)
        assert [(task.subject, task.status.value) for task in planner.plan] == [
            ("Changelog", "completed"),
            ("Tag", "completed"),
            ("Announce", "completed"),
        ], step
        assert [(entry.actor, entry.cause) for entry in planner.history()] == [
            ("model", name) for name, _ in (*FIRST[1:], *SECOND, *LAST)
        ], step
        kept = json.loads((folder / "thread.json").read_text("utf-8"))["messages"]
        roles = ["system", "user", *["assistant", "tool", "tool"] * 3, "assistant"]
        assert [message["role"] for message in kept] == roles, step
        asked = [call["id"] for message in kept for call in message.get("tool_calls", ())]
        assert [m["tool_call_id"] for m in kept if m["role"] == "tool"] == asked, step
        assert {*called} == {asked[0]}, step
        assert not any("by somebody else" in request for request in client.requests), step
        if first is not None:
            break
    assert died > 50
