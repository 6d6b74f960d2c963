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
and what a run returns, if it holds the plan, `Ran(plan=...)`. `edit` is a person's hand.

How to write the adapter itself: make the framework's tools of `toolset.definitions()`. Answer a
call with `toolbox.call(plan, name, arguments, at=...)`, or all calls of a turn with `toolbox.turn`,
keep `reply.plan` in the framework's own per-session state, send `reply.text`, mark it as an error
if `reply.is_error`, and raise nothing. A person's edit leaves a base beside the plan
(`todoplan.dialogue.application.unseen_by_model`), which the next calls are given, until one of them
is no error; what a reminder showed counts for the response to it alone (`Base.shown`). Where the
framework lets you look at a request before it is sent, ask `Guidance.before_model` and put what it
says at the tail, unsaved; where a final answer can be sent back, ask `Guidance.after_model`. Keep
the `Memory` beside the plan. With a verifier, answer by
`Verifying.of(toolbox, verify).answer(attempt)` of `todoplan.planner.verifying.looking`, where an
attempt is a function that answers with the toolbox it is given and writes nothing; and keep
`reply.plan` where there are `reply.events`, also of an error: they are what was found.

`pytest -rs` says which checks were left out, and why; with `-p todoplan.testing.adapters.report` it
also prints which capabilities every tested adapter has, and with `-vv` the whole conversation of a
check that failed; its error has that as `conversation`.

Inside, read `host` (what an author writes and is given), then `harness` (a run of it, beside what
must come of it, which is `outcome`), then the checks: `calls`, `states`, `mistakes`, `sessions`,
`hands`, `evidence`, `guidance`. `conversations` and `bad_arguments` are what the scripted models
say.
"""

from todoplan.dialogue.tools.toolset import Definition
from todoplan.lazy import listing
from todoplan.testing.adapters.calls import Offered, SameRoad, Turns
from todoplan.testing.adapters.capabilities import ALL, Capability, needs
from todoplan.testing.adapters.evidence import Evidence
from todoplan.testing.adapters.guidance import FurtherTurns, Reminders
from todoplan.testing.adapters.hands import Hands
from todoplan.testing.adapters.host import Clock, Host, ModelTurn, Ran, Script, Seen, Setup
from todoplan.testing.adapters.mistakes import Mistakes
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
    SameRoad, States, Mistakes, Turns, Sessions, Hands, Evidence, Offered, Reminders, FurtherTurns
):
    """
    Every check of an adapter: subclass it as `Test...`, declare what the framework can have, and
    make a host.
    """
