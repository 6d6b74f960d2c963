"""
Plain function calling, without a framework: one module for each provider, all with the same
functions.

    from todoplan.adapters.functions.openai_chat import answer, make_tools

- `make_tools` returns the tool definitions for a request.
- `answer` carries out the planning calls of a response, and returns the new plan and the messages
  to append. If others may change the plan between two answers, store the merge base (`base`: what
  the model has last seen of the plan) beside the plan.
- With a `Planner`, use `results_of(planner.turn(calls_in(planner.toolbox, response)))` in place of
  `answer`.
- `read_messages` converts messages or a response to the form that guidance reads.
- `with_reminder` appends a text to one request.
- `start_run` begins a `Run`, which does all of this for one run of an agent's loop, with guidance
  (reminders to the model). `Run.to_data` returns the data to save.

No SDK is imported: everything sent is a plain dict, and a response may be an SDK's object or a
dict.

The module `wire` has all the code; the providers' modules only name their functions.
"""

from todoplan.adapters.functions.wire import Answered, Run
from todoplan.lazy import listing

__all__ = ["Answered", "Run"]
__dir__ = listing(__all__)
