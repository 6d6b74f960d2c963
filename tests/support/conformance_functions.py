"""Hosts of the function-calling adapters: an application's own loop, for each provider."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import attrs
from support.conformance import as_text

from todoplan.adapters.functions import anthropic_messages, gemini, openai_chat, openai_responses
from todoplan.codec import plan_from_data, plan_to_data
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Reply
from todoplan.dialogue.guidance import Guidance, Memory, Message, ToolResult, unfinished_error
from todoplan.dialogue.toolbox import edited, unseen_by_model
from todoplan.planner.session import base_from_data, base_to_data
from todoplan.planner.verifying import Verifying
from todoplan.testing.adapters import Definition, Ran, Seen


class Shape(NamedTuple):
    """A provider: its module, the messages of a model's turn, and how the suite reads a message."""

    module: Any
    said: Callable[[Any], list[dict[str, Any]]]
    read: Callable[[dict[str, Any]], list[Seen]]


def _chat(turn):
    calls = [
        {"id": call.call_id, "function": {"name": call.name, "arguments": as_text(call.arguments)}}
        for call in turn.calls
    ]
    thoughts = {"reasoning_content": turn.thoughts} if turn.thoughts else {}
    return [{"role": "assistant", "content": turn.text, **thoughts, "tool_calls": calls}]


def _of_chat(message):
    return [Seen(message["role"], message["content"], message.get("tool_call_id", ""))]


def _items(turn):
    calls = [
        {
            "type": "function_call",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": as_text(call.arguments),
        }
        for call in turn.calls
    ]
    thoughts = [{"type": "reasoning", "summary": [turn.thoughts]}] if turn.thoughts else []
    return [*thoughts, {"role": "assistant", "content": turn.text}, *calls]


def _of_items(item):
    if item.get("type") == "function_call_output":
        return [Seen("tool", item["output"], item["call_id"])]
    return [Seen(item["role"], item["content"])] if "role" in item else []


def _blocks(turn):
    uses = [
        {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]
    thoughts = [{"type": "thinking", "thinking": turn.thoughts}] if turn.thoughts else []
    text = {"type": "text", "text": turn.text}
    return [{"role": "assistant", "content": [*thoughts, text, *uses]}]


def _of_blocks(message):
    content, role = message["content"], message["role"]
    if isinstance(content, str):
        return [Seen(role, content)]
    results = [block for block in content if block["type"] == "tool_result"]
    texts = [Seen(role, block["text"]) for block in content if block["type"] == "text"]
    answers = [Seen("tool", b["content"], b["tool_use_id"], b["is_error"]) for b in results]
    return [*answers, *texts]


def _parts(turn):
    calls = [
        {"function_call": {"name": call.name, "args": call.arguments, "id": call.call_id}}
        for call in turn.calls
    ]
    thoughts = [{"text": turn.thoughts, "thought": True}] if turn.thoughts else []
    return [{"role": "model", "parts": [*thoughts, {"text": turn.text}, *calls]}]


def _of_parts(content):
    role = "assistant" if content.get("role") == "model" else "user"
    if "parts" not in content:
        return [Seen(role, content["content"])]
    found = [part["function_response"] for part in content["parts"] if "function_response" in part]
    said = (part for part in content["parts"] if "text" in part and not part.get("thought"))
    texts = [Seen(role, part["text"]) for part in said]
    answers = [
        Seen("tool", *one["response"].values(), one["id"], "error" in one["response"])
        for one in found
    ]
    return [*answers, *texts]


_SCHEMAS = ("parameters", "input_schema", "parameters_json_schema")


def _flat(tools):
    for tool in tools:
        yield from tool.get("function_declarations") or [tool.get("function", tool)]


def _offered(tool):
    (schema,) = (tool[key] for key in _SCHEMAS if key in tool)
    return Definition(tool["name"], tool["description"], schema)


CHAT = Shape(openai_chat, _chat, _of_chat)
RESPONSES = Shape(openai_responses, _items, _of_items)
MESSAGES = Shape(anthropic_messages, _blocks, _of_blocks)
GEMINI = Shape(gemini, _parts, _of_parts)


@attrs.define
class Record:
    """
    What is saved of a session.

    `memory` is that of guidance, `talk` has the messages in the form that guidance reads, and
    `base` is what the model knows of the plan, or `None` if nobody else has changed the plan.
    """

    plan: Plan = Plan()
    memory: Memory = Memory()
    messages: list[dict[str, Any]] = attrs.field(factory=list)
    talk: list[Message] = attrs.field(factory=list)
    base: Base | None = None

    def dumped(self):
        talk = [attrs.asdict(message) for message in self.talk]
        memory, plan = self.memory.to_data(), plan_to_data(self.plan)
        base = self.base and base_to_data(self.base)
        kept = {"plan": plan, "memory": memory, "messages": self.messages, "talk": talk}
        return json.dumps({**kept, "base": base})

    @classmethod
    def loaded(cls, text):
        data = json.loads(text)
        memory, talk = Memory.of(data["memory"]), list(map(_message, data["talk"]))
        base = data["base"] and base_from_data(data["base"])
        return cls(plan_from_data(data["plan"]), memory, data["messages"], talk, base)


def _message(data):
    results = tuple(ToolResult(**result) for result in data["results"])
    return Message(**{**data, "calls": tuple(data["calls"]), "results": results})


def missing(plan, call):
    """Return the reply to a call of a tool that does not exist."""
    text = "There is no such tool."
    return Reply(plan, text, is_error=True, name=call.name, call_id=call.call_id)


class Kept:
    """An application that keeps each session as a JSON text; `live` has the runs that go on now."""

    def __init__(self, setup):
        self.setup, self.kept, self.live = setup, {}, {}

    def saved(self):
        return json.dumps(self.kept)

    def resume(self, saved):
        self.kept = json.loads(saved)


class Functions(Kept):
    """An application's own loop."""

    def __init__(self, shape, setup):
        super().__init__(setup)
        self.shape, toolbox = shape, setup.toolbox
        self.guidance = Guidance(toolbox.toolset, setup.settings, toolbox.policy)

    def load(self, session):
        return Record.loaded(self.kept[session]) if session in self.kept else Record()

    def save(self, session, record):
        self.kept[session] = record.dumped()

    def seed(self, session, plan):
        record = self.load(session)
        record.plan, record.base = plan, Base(plan, listed=frozenset())
        self.save(session, record)

    def edit(self, session, command, actor):
        # During a run, the plan is in the record of the run.
        record, setup = self.live.get(session) or self.load(session), self.setup
        before, at = record.plan, setup.clock()
        decision, entry = edited(before, command, setup.toolbox.policy, at=at, actor=actor)
        if entry:
            record.plan = decision.plan
            record.base = unseen_by_model(record.base, before, entry)
        self.save(session, record)
        return decision

    def plan(self, session):
        return self.load(session).plan

    async def run(self, session, script):
        record, events = self.load(session), []
        self.begin(record)
        self.live[session] = record
        try:
            await self.carry_on(record, script, events)
        finally:
            self.save(session, record)
            del self.live[session]
        return Ran(self.stored(record), events, record.plan)

    async def carry_on(self, record, script, events):
        again = ""
        while True:
            due = self.due(record)
            turn = await script.areply(self.request(record, again or due), self.offered())
            said = self.heard(record, turn)
            verdict, again = self.judged(record, said)
            events += self.answered(record, turn)
            if verdict == "raise":
                raise unfinished_error(record.plan)
            if verdict == "accept" and not turn.calls:
                break

    def begin(self, record):
        record.memory = record.memory.new_run(record.plan)
        self.add(record, [{"role": "user", "content": "go"}], Message("user", "go"))

    def due(self, record):
        plan, talk, memory = record.plan, record.talk, record.memory
        news = record.base if record.base and record.base.has_news(plan) else None
        advice = self.guidance.before_model(plan, talk, memory, base=news)
        record.memory = advice.memory
        return advice.text

    def system(self, record):
        return self.setup.toolbox.toolset.system_prompt()

    def request(self, record, text):
        sent = self.shape.module.with_reminder(record.messages, text)
        return [Seen("system", self.system(record)), *self.read(sent)]

    def offered(self):
        return list(map(_offered, _flat(self.shape.module.make_tools(self.setup.toolbox))))

    def read(self, messages):
        return [seen for message in messages for seen in self.shape.read(message)]

    def heard(self, record, turn):
        calls = tuple(call.name for call in turn.calls)
        said = Message("assistant", turn.text, calls, finish=turn.finish)
        self.add(record, self.shape.said(turn), said)
        return said

    def judged(self, record, said):
        advice = self.guidance.after_model(record.plan, said, record.memory)
        record.memory = advice.memory
        return advice.verdict, advice.text

    def answered(self, record, turn):
        base, answered = self.answered_upon(record, turn)
        others = [self.missing(answered.plan, call) for call in answered.others]
        replies = (*answered.replies, *others)
        results = tuple(self.result(each) for each in replies)
        self.add(record, self.shape.module.results_of(replies), Message("tool", results=results))
        record.base = answered.base
        told = record.base is None or record.base.plan == answered.plan
        if told and (answered.events or base):
            record.memory = self.saw(record.memory, answered.plan)
        record.plan = answered.plan
        return list(answered.events)

    def answered_upon(self, record, turn):
        while True:
            base, plan = record.base, record.plan
            answered = self.answer_from(base, plan, turn) if base else self.answer(plan, turn)
            if record.plan is plan:  # otherwise a person edited it while the verifier ran
                return base, answered

    def answer(self, plan, turn):
        return self.answer_from(None, plan, turn)

    def answer_from(self, base, plan, turn):
        said = self.shape.said(turn)
        response = said if self.shape is RESPONSES else said[0]
        setup, answer = self.setup, self.shape.module.answer

        def attempt(toolbox):
            return answer(toolbox, plan, response, at=setup.clock(), base=base)

        verifying = Verifying.of(setup.toolbox, setup.verify)
        return verifying.answer(attempt) if verifying else attempt(setup.toolbox)

    def missing(self, plan, call):
        return missing(plan, call)

    def result(self, reply):
        return ToolResult(reply.name, not reply.is_error, reply.call_id)

    def saw(self, memory, plan):
        return memory.saw(plan)

    def add(self, record, messages, neutral):
        record.messages += messages
        record.talk.append(neutral)

    def stored(self, record):
        return self.read(record.messages)


class Runs(Kept):
    """An application's loop with a `Run`, for chat completions."""

    def _begun(self, session):
        kept = json.loads(self.kept.get(session, "{}"))
        saved, given = kept.get("run"), self.setup
        more = {"clock": given.clock, "verify": given.verify, "saved": saved}
        run = openai_chat.start_run(given.toolbox, settings=given.settings, **more)
        return run, kept.get("messages", [])

    def _save(self, session, run, messages):
        self.kept[session] = json.dumps({"run": run.to_data(), "messages": messages})

    def seed(self, session, plan):
        run, messages = self._begun(session)
        run.planner.restore(plan)
        self._save(session, run, messages)

    def edit(self, session, command, actor):
        if session in self.live:  # the plan is in the run
            return self.live[session].planner.apply(command, actor=actor)
        run, messages = self._begun(session)
        decision = run.planner.apply(command, actor=actor)
        self._save(session, run, messages)
        return decision

    def plan(self, session):
        return self._begun(session)[0].planner.plan

    async def run(self, session, script):
        run, messages = self._begun(session)
        told, prompt = [], self.setup.toolbox.toolset.system_prompt()
        run.planner.subscribe(lambda entry, _: told.extend(entry.events))
        tools = list(map(_offered, _flat(openai_chat.make_tools(self.setup.toolbox))))
        messages.append({"role": "user", "content": "go"})
        what, self.live[session] = "", run
        while what != "stop":
            request = run.before_model(messages)
            seen = [one for message in request for one in _of_chat(message)]
            turn = await script.areply([Seen("system", prompt), *seen], tools)
            message, finish = _chat(turn)[0], "content_filter" if turn.finish else "stop"
            response = {"choices": [{"finish_reason": finish, "message": message}]}
            what = run.after_model(response)
            if what != "again":
                messages += run.answer(response, lambda call: missing(run.planner.plan, call))
        del self.live[session]
        self._save(session, run, messages)
        read = [one for message in messages for one in _of_chat(message)]
        return Ran(read, told, plan_from_data(run.to_data()["plan"]))
