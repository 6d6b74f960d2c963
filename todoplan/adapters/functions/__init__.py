"""
Plain function calling: one module for each provider's shapes, the same functions in every one.

    from todoplan.adapters.functions.openai_chat import answer, make_tools

`make_tools` goes into the request; `answer` reads a response and returns the new plan and the
messages to append. Who keeps the plan in a `Planner` takes the two halves of `answer` instead:
`results_of(planner.turn(calls_in(planner.toolbox, response)))`. Who lets others change the plan
between two answers keeps a `base` beside it: what the model has listed, and the plan as its last
answer left it. `with_reminder` puts a text at the tail of one request, and `read_messages` reads
the messages of a request, or a response, as guidance wants them. `start_run` begins a `Run`, which
does all of this through one run of a loop, with guidance, and returns what is to be saved. No SDK
is imported: everything sent is a plain dict, and what is received may be an SDK's own object or the
dict of it.

Read `run` first, then `wire`, which answers the calls, and one of the providers' modules.
"""

from todoplan.adapters.functions.run import Run
from todoplan.adapters.functions.wire import Answered
from todoplan.lazy import listing

__all__ = ["Answered", "Run"]
__dir__ = listing(__all__)
