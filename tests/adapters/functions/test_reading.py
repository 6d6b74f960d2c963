"""The messages of each wire shape as guidance reads them."""

import pytest
from support.wires import EVERY, Sent, chat_completion, numbered

from todoplan.adapters.functions import anthropic_messages, gemini, openai_chat, openai_responses
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance import Guidance, Memory, Message, ToolResult
from todoplan.dialogue.toolbox import Toolbox

WRITE = ("write_todos", {"todos": [{"content": "a", "status": "pending"}]})
BAD = ("write_todos", {"todos": [{"status": "pending"}]})


def kept(wire, kind, calls):
    """Return a turn as a caller keeps it, the calls and their results, and the plan after it."""
    sent = numbered(calls)
    response = wire.respond(sent) if kind == "sdk" else wire.plain(sent)
    answered = wire.module.answer(Toolbox(), Plan(), response)
    return [response, *answered.messages], answered.plan


@EVERY
@pytest.mark.parametrize("kind", ["sdk", "plain"])
@pytest.mark.parametrize(("call", "lost"), [(WRITE, False), (BAD, True)])
def test_a_plan_is_seen_in_the_results_of_good_calls_alone(wire, kind, call, lost):
    """A result names its tool by its call; a refused call shows nothing of the plan."""
    messages, plan = kept(wire, kind, [call])
    if lost:
        plan = Toolbox().call(plan, *WRITE).plan
    read = wire.module.read_messages(messages)
    assert read[0].calls == ("write_todos",)
    assert read[0].role == "assistant"
    assert [one for message in read for one in message.results] == [
        ToolResult("write_todos", not lost, "call_0")
    ]
    advice = Guidance(Toolbox().toolset).before_model(plan, read, Memory())
    assert advice.kind == ("plan_lost" if lost else "")


@EVERY
def test_a_result_without_its_call_is_that_of_no_tool(wire):
    """It is not taken for the plan's; Gemini's results have the name."""
    (_, *results), _ = kept(wire, "plain", [WRITE])
    names = [one.name for m in wire.module.read_messages(results) for one in m.results]
    assert names == (["write_todos"] if wire.module is gemini else [""])


@EVERY
def test_a_call_without_a_name_is_one_that_could_not_be_read(wire):
    """The answer that holds it is not final."""
    (read,) = wire.module.read_messages([wire.plain([Sent("", {}, "1")])])
    assert (read.calls, read.invalid_calls) == ((), 1)


READ = [
    (openai_chat, chat_completion([], "Hi."), Message("assistant", "Hi.", finish="stop")),
    (
        openai_chat,
        {"role": "assistant", "content": None, "refusal": "No."},
        Message("assistant", finish="refusal"),
    ),
    (openai_chat, {"role": "developer", "content": "Be kind."}, Message("system", "Be kind.")),
    (
        openai_chat,
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, "b"]},
        Message("user", "ab"),
    ),
    (openai_chat, {"role": 7, "content": 7}, Message("user")),
    (openai_responses, {"role": "user", "content": "Hi."}, Message("user", "Hi.")),
    (openai_responses, {"type": "reasoning", "summary": []}, Message("assistant")),
    (
        openai_responses,
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"},
        Message("assistant", calls=("f",)),
    ),
    (
        openai_responses,
        {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]},
        Message("assistant", finish="refusal"),
    ),
    (
        openai_responses,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "No."}],
        },
        Message("assistant", finish="refusal"),
    ),
    (
        openai_responses,
        {
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}],
            "incomplete_details": {"reason": "content_filter"},
        },
        Message("assistant", "Hi.", finish="content_filter"),
    ),
    (
        anthropic_messages,
        {"role": "assistant", "content": "Hi.", "stop_reason": "end_turn"},
        Message("assistant", "Hi.", finish="end_turn"),
    ),
    (
        gemini,
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": "Hm", "thought": True}, {"text": "Hi."}]},
                    "finishReason": "STOP",
                }
            ]
        },
        Message("assistant", "Hi.", finish="STOP"),
    ),
    (gemini, {"role": "user", "parts": [{"text": "Hi."}]}, Message("user", "Hi.")),
]


@pytest.mark.parametrize(("module", "entry", "read"), READ)
def test_texts_roles_and_finish_reasons(module, entry, read):
    """Thoughts and other kinds of content are no text; a refusal is known as one."""
    assert module.read_messages([entry]) == (read,)
