"""A traced toolbox in adapters that keep the plan in their framework's state: each call once."""

from langchain.agents import create_agent
from support.scripted import Scripted, calls, says

from todoplan import TASKS, Toolbox
from todoplan.adapters.langgraph import PlanMiddleware
from todoplan.dialogue.guidance import Settings
from todoplan.telemetry import traced


def test_parallel_calls_are_told_once_each(kept):
    """Though each is answered as if those before it had been; a reminder is told beside them."""
    sent = [("TaskCreate", {"subject": name}, name) for name in ("Sow", "Reap", "Rest")]
    script = [calls(*sent), says("All is well."), says("Shall I go on?")]
    box = traced(Toolbox(TASKS), provider=kept.provider)
    agent = create_agent(
        Scripted(script=script), middleware=[PlanMiddleware(box, settings=Settings())]
    )
    with kept.tracer.start_as_current_span("agent"):
        agent.invoke({"messages": [("user", "Plan")]})
    told = [span.attributes["gen_ai.tool.call.id"] for span in kept.spans("plan")]
    assert sorted(told) == ["Reap", "Rest", "Sow"]
    (root,) = kept.spans("agent")
    assert {span.parent.span_id for span in kept.spans("plan")} == {root.context.span_id}
    reminders = [
        event.attributes["todoplan.reminder"]
        for span in kept.spans()
        for event in span.events
        if event.name == "todoplan.reminder"
    ] + [span.attributes["todoplan.reminder"] for span in kept.spans("todoplan.reminder")]
    assert "unfinished" in reminders
