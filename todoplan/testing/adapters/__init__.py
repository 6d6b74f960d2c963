"""
Test suite for adapters: subclass `AdapterSuite`, provide a host, run pytest.

An adapter connects a tool set to a framework. The suite runs the adapter through the real framework
with a scripted model, and compares it with the function-calling adapter: the same calls must give
the same plans, events and replies (laws 12 to 14 of the guide `architecture`). You write a `Host`,
which is the framework with the adapter, and a subclass:

    class TestMyAdapter(AdapterSuite):
        capabilities = ALL - {Capability.RAW_ARGUMENTS}

        def host(self, setup: Setup) -> Host:
            return MyHost(setup)

A host's `run` is a coroutine. It builds an agent from `setup.toolbox`, `setup.settings`,
`setup.clock` and `setup.verify`. The agent's model answers each request with
`script.reply(messages, tools)`, or awaits `areply`. `messages` is the request as `Seen(role, text,
call_id, is_error)`, where a tool's answer has the id of its call. `tools` has a `Definition(name,
description, schema)` for each offered tool (`Capability.TOOLS`). The reply is a `ModelTurn` of
`calls` (name, arguments, call_id), `text`, `finish` and `thoughts`. `run` returns the stored
conversation as `Ran(messages, events)`, with `plan=...` if the framework's own result holds the
plan. `edit` changes the plan as a person would. A run that takes longer than the suite's
`time_limit`, 30 seconds, fails.

How to write the adapter itself: create the framework's tools from `toolset.definitions()`. Open a
`Session` for each conversation (`todoplan.planner.session.opened`, or `opened_async` in an
asynchronous framework). The session's plan is in a slot (a mutable mapping in the framework's own
per-thread state) or in a store. Put the text of `session.before_model(messages)` at the end of the
request without saving it. Pass the model's message to `session.after_model(message)`; if `verdict`
of the result is "again", send `text` of the result in one more request. Answer the calls of a
message with `session.answer(calls, message_id)`, send `reply.text`, mark it as an error if
`reply.is_error`, and raise no error. Save `session.to_data()`. Apply a person's edit with
`session.edit(command, actor=...)`. The data of `to_data` contains the session's record: the tasks
that the session has listed, the changes reported to it, and the memory of guidance.

Some frameworks need more:

- Calls run in a thread pool: let each tool take a lock. The first tool answers all calls of the
  turn and stores the replies by call id. The other tools return their stored replies.
- There are threads or several event loops: threads may share a `Session`. Use an `AsyncSession` in
  only one loop at a time.
- A run ends with a tool call: leave this tool out of the calls of a message. Its argument is the
  text of the message, with `finish="stop"`. If the framework itself asks the model again after a
  plain text, that text has `finish="tool_calls"`.
- Results are joined: return a `ToolResult` and a `Seen` for each call. Texts are stripped: a reply
  must arrive unchanged, so return a subclass of `str` whose `strip` changes nothing.
- A hook yields chunks of an answer: send the request in a task, put the chunks into an
  `asyncio.Queue`, and let the hook yield them from there.

The test class may set `drawing`, the settings of Hypothesis. By default, ten conversations are
drawn for a check.

`pytest -rs` prints which checks were skipped, and why. With `-p todoplan.testing.adapters.report`,
pytest also prints the capabilities of every tested adapter, and with `-vv` the whole conversation
of a failed check, which is also the error's attribute `conversation`.

To read the code, start with `host` (what an author writes and receives, and the harness that runs a
host and compares the outcome), then `checks`.
"""

from todoplan.dialogue.tools import Definition
from todoplan.lazy import listing
from todoplan.testing.adapters.checks import AdapterSuite
from todoplan.testing.adapters.host import (
    ALL,
    Capability,
    Clock,
    Host,
    ModelTurn,
    Ran,
    Script,
    Seen,
    Setup,
    needs,
)

__all__ = [
    "ALL",
    "AdapterSuite",
    "Capability",
    "Clock",
    "Definition",
    "Host",
    "ModelTurn",
    "Ran",
    "Script",
    "Seen",
    "Setup",
    "needs",
]
__dir__ = listing(__all__)
