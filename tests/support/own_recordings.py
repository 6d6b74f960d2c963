"""Recordings of our own loop over a scripted model, saved as the conversation."""

import json

from support.wires import CHAT, GEMINI, MESSAGES, RESPONSES, numbered

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Reply

SAID = {
    CHAT.name: lambda response: [response["choices"][0]["message"]],
    RESPONSES.name: lambda response: response["output"],
    MESSAGES.name: lambda response: [{"role": "assistant", "content": response["content"]}],
    GEMINI.name: lambda response: [response["candidates"][0]["content"]],
}
"""Returns what an application saves of a response, by wire format."""

DIALECTS = {
    CHAT.name: "chat",
    RESPONSES.name: "codex",
    MESSAGES.name: "anthropic",
    GEMINI.name: "gemini",
}
"""The dialect in which a conversation is read, by wire format."""


def own_recording(folder, wire, toolbox, *turns):
    """
    Record turns of a scripted model, whose calls are (name, arguments); return file and plan.
    """
    plan = Plan()
    kept = [] if wire is RESPONSES else [{"role": "user", "content": "Ship it"}]
    for number, calls in enumerate(turns):
        sent = [one._replace(call_id=f"{one.call_id}_{number}") for one in numbered(calls)]
        response = wire.plain(sent)
        answered = wire.module.answer(toolbox, plan, response)
        others = [
            Reply(answered.plan, "nothing", name=call.name, call_id=call.call_id)
            for call in answered.others
        ]
        kept += [*SAID[wire.name](response), *wire.module.results_of([*answered.replies, *others])]
        plan = answered.plan
    path = folder / f"{wire.name}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in kept), encoding="utf-8")
    return path, plan
