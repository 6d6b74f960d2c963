"""The agent loop of the README: run with a scripted client, and with OpenAI's own over HTTP."""

import inspect
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest
from openai import DefaultHttpxClient, OpenAI
from openai.types.chat import ChatCompletion
from support.wires import Sent, chat_completion

from todoplan import Plan
from todoplan.adapters.functions.openai_chat import (
    answer,
    make_tools,
    read_messages,
    with_reminder,
)
from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide
from todoplan.core.events.base import Base
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Guidance, Memory
from todoplan.dialogue.toolbox import Toolbox

MY_TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {"name": "search", "description": "Search.", "parameters": {"type": "object"}},
    }
]


def my_tool_message(call: Call) -> Any:
    """Answer a call of a tool that is not the plan's."""
    return {"role": "tool", "tool_call_id": call.call_id, "content": f"{call.name}: nothing"}


def work(client: OpenAI, model: str, request: str) -> tuple[str | None, Plan]:
    toolbox, plan = Toolbox(), Plan()
    system = {"role": "system", "content": toolbox.toolset.system_prompt()}
    messages: list[Any] = [system, {"role": "user", "content": request}]
    tools = [*make_tools(toolbox), *MY_TOOLS]
    while True:
        completion = client.chat.completions.create(model=model, messages=messages, tools=tools)
        message = completion.choices[0].message
        messages.append(message.to_dict())
        if not message.tool_calls:
            return message.content, plan
        answered = answer(toolbox, plan, message)
        plan = answered.plan
        messages += [*answered.messages, *map(my_tool_message, answered.others)]


def writes(first: str, second: str) -> dict[str, Any]:
    """Return the arguments of a whole-list write of two steps with these statuses."""
    steps = (("Look it up", first), ("Write it down", second))
    return {"todos": [{"content": content, "status": status} for content, status in steps]}


SCRIPT: list[dict[str, Any]] = [
    chat_completion([Sent("write_todos", writes("in_progress", "pending"), "c1")]),
    chat_completion(
        [
            Sent("search", {"q": "plans"}, "c2"),
            Sent("write_todos", writes("completed", "in_progress"), "c3"),
        ]
    ),
    chat_completion([Sent("write_todos", writes("completed", "completed"), "c4")]),
    chat_completion([], "Done."),
]


class Completions:
    """What the loop asks of a client: completions from a script; requests are kept as JSON."""

    def __init__(self, script: Sequence[dict[str, Any]]) -> None:
        self.script = iter(script)
        self.requests: list[dict[str, Any]] = []

    def create(self, **request: Any) -> ChatCompletion:
        self.requests.append(json.loads(json.dumps(request)))
        return ChatCompletion.model_validate(next(self.script))


class Script(HTTPServer):
    """A server on loopback that answers from a script and keeps the requests."""

    script: Iterator[dict[str, Any]]
    requests: list[dict[str, Any]]


class Handler(BaseHTTPRequestHandler):
    """One scripted answer for each POST."""

    def do_POST(self) -> None:
        server = cast("Script", self.server)
        length = int(self.headers["Content-Length"])
        server.requests.append(json.loads(self.rfile.read(length)))
        body = json.dumps(next(server.script)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Say nothing."""


@contextmanager
def scripted_server(script: Sequence[dict[str, Any]]) -> Iterator[Script]:
    """Run a scripted server in a thread."""
    with Script(("127.0.0.1", 0), Handler) as server:
        server.script, server.requests = iter(script), []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def over_http() -> tuple[tuple[str | None, Plan], list[dict[str, Any]]]:
    """Run the loop with OpenAI's own client against a scripted server."""
    with scripted_server(SCRIPT) as server, DefaultHttpxClient(trust_env=False) as http:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        client = OpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)
        return work(client, "scripted", "Find out about plans."), server.requests


def in_process() -> tuple[tuple[str | None, Plan], list[dict[str, Any]]]:
    """Run the loop with a scripted client."""
    completions = Completions(SCRIPT)
    client = SimpleNamespace(chat=SimpleNamespace(completions=completions))
    return work(cast("OpenAI", client), "scripted", "Find out about plans."), completions.requests


@pytest.mark.parametrize("run", [in_process, over_http], ids=["scripted", "http"])
def test_the_loop_works_a_plan_off(run: Any) -> None:
    """The loop ends with the answer and a plan that is done, and each call has had its result."""
    (text, plan), requests = run()
    assert text == "Done."
    assert [(task.subject, task.status.value) for task in plan] == [
        ("Look it up", "completed"),
        ("Write it down", "completed"),
    ]
    assert len(requests) == len(SCRIPT)
    names = [tool["function"]["name"] for tool in requests[0]["tools"]]
    assert names == ["write_todos", "read_todos", "search"]
    told = [one for one in requests[-1]["messages"] if one["role"] == "tool"]
    assert sorted(one["tool_call_id"] for one in told) == ["c1", "c2", "c3", "c4"]
    assert "search: nothing" in [one["content"] for one in told]


def test_both_roads_send_the_same_requests() -> None:
    """What the scripted client is asked in process, OpenAI's own client sends."""
    assert in_process() == over_http()


def test_a_turn_only_appends() -> None:
    """Every request begins with the one before it, so that the provider's cache holds."""
    _, requests = in_process()
    for earlier, later in pairwise(requests):
        sent = len(earlier["messages"])
        assert later["messages"][:sent] == earlier["messages"]
        assert later["tools"] == earlier["tools"]


def test_the_loop_is_short() -> None:
    """What stands in the README stays at fifteen lines."""
    assert len(inspect.getsource(work).splitlines()) <= 15


def guided(client: OpenAI, toolbox: Toolbox, plan: Plan, base: Base | None) -> tuple[str, Plan]:
    """
    Run a loop with guidance on a plan that others may have changed, by public functions alone.
    """
    guidance, memory = Guidance(toolbox.toolset), Memory().new_run(plan)
    messages: list[Any] = [{"role": "user", "content": "Go on."}]
    text = ""
    while True:
        if not text:
            advice = guidance.before_model(plan, read_messages(messages), memory, base=base)
            text, memory = advice.text, advice.memory
            base = None if advice.shows_plan else base
        asked = with_reminder(messages, text)
        completion = client.chat.completions.create(model="m", messages=asked)
        message = completion.choices[0].message
        advice = guidance.after_model(plan, read_messages([completion])[0], memory)
        text, memory = advice.text, advice.memory
        if advice.verdict == "accept" and not message.tool_calls:
            return message.content or "", plan
        messages.append(message.to_dict())
        answered = answer(toolbox, plan, message, base=base)
        plan, base = answered.plan, answered.base
        memory = memory.saw(plan) if answered.events else memory
        messages += answered.messages


def test_a_guided_loop_over_http_tells_what_a_person_did_and_sends_an_early_answer_back() -> None:
    """
    Through OpenAI's own client: the request shows the plan with what Ann added, the early answer is
    sent back once, and the plan that is shown by a result does not count as lost.
    """
    toolbox = Toolbox()
    before = toolbox.call(Plan(), "write_todos", writes("in_progress", "pending")).plan
    decision = decide(before, CreateTask("Tell Ann"))
    base = Base(before).after(decision.events, "ann")
    todos = writes("completed", "completed")
    todos["todos"].append({"content": "Tell Ann", "status": "completed"})
    script = [
        chat_completion([Sent("read_todos", {}, "c1")]),
        chat_completion([], "Early."),
        chat_completion([Sent("write_todos", todos, "c2")]),
        chat_completion([], "Done."),
    ]
    with scripted_server(script) as server, DefaultHttpxClient(trust_env=False) as http:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        client = OpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)
        text, plan = guided(client, toolbox, decision.plan, base)
    assert (text, plan.counts.open) == ("Done.", 0)
    tails = [str(request["messages"][-1]["content"]) for request in server.requests]
    assert "#3 Tell Ann created by ann" in tails[0]
    reminded = ["<todoplan-reminder>" in tail for tail in tails]
    assert reminded == [True, False, True, False]
