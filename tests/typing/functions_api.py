"""Typical typed use of the function-calling adapters. Never run: the type checkers read it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from anthropic import Anthropic
from google.genai import Client
from google.genai.types import GenerateContentConfig
from openai import OpenAI

from todoplan import Plan, Planner
from todoplan.adapters.functions import (
    Answered,
    anthropic_messages,
    gemini,
    openai_chat,
    openai_responses,
)
from todoplan.core.events.types import Event
from todoplan.dialogue.calls import Call, Reply
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN

NOW = datetime.now(UTC)


def chat_turn(client: OpenAI, toolbox: Toolbox, plan: Plan, messages: list[Any]) -> Answered:
    """
    One turn of OpenAI chat, with strict arguments and a reminder.
    """
    completion = client.chat.completions.create(
        model="m",
        messages=openai_chat.with_reminder(messages, "go on"),
        tools=openai_chat.make_tools(toolbox, strict=True),
    )
    messages.append(completion.choices[0].message.to_dict())
    answered = openai_chat.answer(toolbox, plan, completion, at=NOW)
    messages.extend(answered.messages)
    return answered


def responses_turn(client: OpenAI, toolbox: Toolbox, plan: Plan, items: list[Any]) -> Plan:
    """
    One turn of OpenAI's Responses API.
    """
    response = client.responses.create(
        model="m", input=items, tools=openai_responses.make_tools(toolbox)
    )
    answered = openai_responses.answer(toolbox, plan, response)
    items += [*response.output, *answered.messages]
    return answered.plan


def messages_turn(client: Anthropic, toolbox: Toolbox, plan: Plan, messages: list[Any]) -> Plan:
    """
    One turn of Anthropic's Messages API.
    """
    message = client.messages.create(
        model="m",
        max_tokens=1000,
        system=toolbox.toolset.system_prompt(),
        messages=anthropic_messages.with_reminder(messages, "go on"),
        tools=anthropic_messages.make_tools(toolbox),
    )
    answered = anthropic_messages.answer(toolbox, plan, message)
    messages += [{"role": "assistant", "content": message.content}, *answered.messages]
    return answered.plan


def gemini_turn(client: Client, toolbox: Toolbox, plan: Plan, contents: list[Any]) -> Plan:
    """
    One turn of Gemini.
    """
    response = client.models.generate_content(
        model="m",
        contents=contents,
        config=GenerateContentConfig(tools=gemini.make_tools(LEAN)),
    )
    answered = gemini.answer(toolbox, plan, response)
    contents += answered.messages
    return answered.plan


def planner_turn(planner: Planner, response: object) -> list[Any]:
    """
    Have a planner keep the plan, with the two halves of `answer` around it.
    """
    calls: tuple[Call, ...] = openai_chat.calls_in(planner.toolbox, response)
    return openai_chat.results_of(planner.turn(calls))


def joined(answered: Answered, texts: Sequence[str]) -> list[Any]:
    """
    Put the replies of the caller's own tools in one message with those of the plan.
    """
    events: tuple[Event, ...] = answered.events
    own = [
        Reply(answered.plan, text, name=call.name, call_id=call.call_id)
        for call, text in zip(answered.others, texts, strict=True)
    ]
    return anthropic_messages.results_of([*answered.replies, *own] if events else own)
