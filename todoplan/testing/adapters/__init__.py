"""
Prove an adapter: subclass `AdapterSuite`, give it a factory, run pytest.

An adapter puts a tool set into a framework. Whether it does so rightly is asked here, through the
real framework with a scripted model, and measured by the function-calling adapter: the same calls
must give the same plans, events and replies (laws 12 to 14). What the author writes is a `Host`,
the framework with the adapter in it, and a subclass:

    class TestMyAdapter(AdapterSuite):
        capabilities = ALL - {Capability.RAW_ARGUMENTS}

        def host(self, setup: Setup) -> Host:
            return MyHost(setup)

A host's `run` is a coroutine: it makes an agent of `setup.toolbox`, `setup.settings`, `setup.clock`
and `setup.verify`, whose model answers each request with `script.reply(messages, tools)`, or awaits
`areply`: `messages` is the request as `Seen(role, text, call_id, is_error)`, a tool's answer with
the id of its call, and `tools` a `Definition(name, description, schema)` of each tool that it is
offered (`Capability.TOOLS`). The reply is a `ModelTurn` of `calls` (name, arguments, call_id),
`text`, `finish` and `thoughts`. What is kept of the conversation then is `Ran(messages, events)`,
and what a run returns, if it holds the plan, `Ran(plan=...)`. `edit` is what a person does.

How to write the adapter itself: make the framework's tools of `toolset.definitions()`. Open a
`Session` for each conversation (`todoplan.planner.session.opened`, or `opened_async` where the
framework awaits): its plan is in a slot, a mutable mapping in the framework's own per-thread state,
or in a store. Put the text of `session.before_model(messages)` at the tail of the request, unsaved;
give the model's message to `session.after_model(message)`, and ask once more with its text where it
says "again". Answer the calls of a message with `session.answer(calls, message_id)`, send
`reply.text`, mark it as an error if `reply.is_error`, and raise nothing. Save `session.to_data()`.
A person's edit is `session.edit(command, actor=...)`. Which tasks a session has listed, what it was
told and what guidance remembers is all in its record.

`pytest -rs` says which checks were left out, and why; with `-p todoplan.testing.adapters.report` it
also prints which capabilities every tested adapter has, and with `-vv` the whole conversation of a
check that failed; its error has that as `conversation`.

Inside, read `host` (what an author writes and is given), then `harness` (a run of it, beside what
must come of it, which is `outcome`), then the checks: `calls`, `states`, `mistakes`, `sessions`,
`others`, `evidence`, `guidance`. `conversations` and `bad_arguments` are what the scripted models
say.
"""

from todoplan.dialogue.tools.toolset import Definition
from todoplan.lazy import listing
from todoplan.testing.adapters.calls import Offered, SameRoad, Turns
from todoplan.testing.adapters.capabilities import ALL, Capability, needs
from todoplan.testing.adapters.evidence import Evidence
from todoplan.testing.adapters.guidance import FurtherTurns, Reminders
from todoplan.testing.adapters.host import Clock, Host, ModelTurn, Ran, Script, Seen, Setup
from todoplan.testing.adapters.mistakes import Mistakes
from todoplan.testing.adapters.others import Others
from todoplan.testing.adapters.sessions import Sessions
from todoplan.testing.adapters.states import States

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


class AdapterSuite(
    SameRoad, States, Mistakes, Turns, Sessions, Others, Evidence, Offered, Reminders, FurtherTurns
):
    """
    Every check of an adapter: subclass it as `Test...`, declare what the framework can have, and
    make a host.
    """
