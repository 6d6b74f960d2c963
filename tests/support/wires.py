"""The four wire formats: responses of a model, and results of calls read back."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from anthropic.types import Message
from google.genai.types import GenerateContentResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from todoplan.adapters.functions import anthropic_messages, gemini, openai_chat, openai_responses


class Sent(NamedTuple):
    """A call as a model sends it."""

    name: str
    arguments: dict[str, Any]
    call_id: str = ""


class Wire(NamedTuple):
    """
    One format: its module, a function that makes a response with calls, the SDK's class of
    responses, and a function that returns (call id, text) of results.
    """

    name: str
    module: Any
    plain: Callable[[Sequence[Sent]], dict[str, Any]]
    model: Any
    read: Callable[[Sequence[Any]], list[tuple[str, str]]]

    def respond(self, sent: Sequence[Sent]) -> Any:
        """Return the response as the SDK's own object."""
        return self.model.model_validate(self.plain(sent))


def numbered(calls):
    """Give each (name, arguments) an id by its place."""
    return [Sent(name, arguments, f"call_{n}") for n, (name, arguments) in enumerate(calls)]


def chat_completion(sent, content=None):
    """Return a chat completion that makes these calls, or answers with a text."""
    calls = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in sent
    ]
    message = {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
    head = {"id": "x", "object": "chat.completion", "created": 1, "model": "scripted"}
    return {**head, "choices": [{**choice, "logprobs": None}]}


def response(sent):
    """Return a response of the Responses API that makes these calls, after some thinking."""
    calls = [
        {
            "type": "function_call",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": json.dumps(call.arguments),
        }
        for call in sent
    ]
    return {
        "id": "x",
        "object": "response",
        "created_at": 1,
        "model": "scripted",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [{"type": "reasoning", "id": "r", "summary": []}, *calls],
    }


def message(sent):
    """Return a message of the Messages API that makes these calls, after a text."""
    uses = [
        {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.arguments}
        for call in sent
    ]
    return {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [{"type": "text", "text": "Let me see."}, *uses],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def generated(sent):
    """Return a Gemini response that makes these calls, after a text; an id "" is left out."""
    parts = [
        {
            "function_call": {
                "name": call.name,
                "args": call.arguments,
                **({"id": call.call_id} if call.call_id else {}),
            }
        }
        for call in sent
    ]
    content = {"role": "model", "parts": [{"text": "Let me see."}, *parts]}
    return {"candidates": [{"index": 0, "content": content}]}


def _of_chat(messages):
    return [(one["tool_call_id"], one["content"]) for one in messages]


def _of_responses(items):
    return [(item["call_id"], item["output"]) for item in items]


def _of_messages(messages):
    blocks = [block for one in messages for block in one["content"]]
    return [(block["tool_use_id"], block["content"]) for block in blocks]


def _of_gemini(contents):
    found = [part["function_response"] for one in contents for part in one["parts"]]
    return [(one.get("id", ""), *one["response"].values()) for one in found]


CHAT = Wire("openai_chat", openai_chat, chat_completion, ChatCompletion, _of_chat)
RESPONSES = Wire("openai_responses", openai_responses, response, Response, _of_responses)
MESSAGES = Wire("anthropic_messages", anthropic_messages, message, Message, _of_messages)
GEMINI = Wire("gemini", gemini, generated, GenerateContentResponse, _of_gemini)
WIRES = (CHAT, RESPONSES, MESSAGES, GEMINI)
EVERY = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)


def says(wire, text):
    """Return a response without calls."""
    if wire is CHAT:
        message = {"role": "assistant", "content": text}
        return {"choices": [{"finish_reason": "stop", "message": message}]}
    if wire is RESPONSES:
        parts = [{"type": "output_text", "text": text}]
        return {"output": [{"type": "message", "role": "assistant", "content": parts}]}
    if wire is MESSAGES:
        content = [{"type": "text", "text": text}]
        return {"role": "assistant", "content": content, "stop_reason": "end_turn"}
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content, "finish_reason": "STOP"}]}


def user(wire, text):
    """Return a user's message."""
    if wire is GEMINI:
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": text}
