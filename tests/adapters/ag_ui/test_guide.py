"""The guide's program answers a request as it is shown."""

import asyncio
import json

import jsonpatch
from ag_ui.core import RunAgentInput
from support.docs import defined

from todoplan.planner import AsyncPlanner


def test_the_response_of_the_guide_shows_the_plan():
    """Between the beginning and the end of the run; its deltas lead to the finished plan."""
    respond = defined("acp", "ag-ui")["respond"]
    request = RunAgentInput(thread_id="t", run_id="r", messages=[])

    async def run():
        return [json.loads(line[6:]) async for line in respond(request, AsyncPlanner())]

    first, snapshot, *deltas, last = asyncio.run(run())
    assert (first["type"], last["type"]) == ("RUN_STARTED", "RUN_FINISHED")
    state = snapshot["snapshot"]
    for event in deltas:
        state = jsonpatch.apply_patch(state, event["delta"])
    (task,) = state["plan"]["tasks"]
    assert (task["subject"], task["status"]) == ("Sow beans", "completed")
