"""A traced toolbox in adapters that keep the plan in their framework's state: each call once."""

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from todoplan import TASKS, Toolbox
from todoplan.adapters.langgraph import PlanMiddleware
from todoplan.dialogue.guidance import Settings
from todoplan.telemetry import traced


class Scripted(BaseChatModel):
    """Says what stands in its script."""

    script: list

    @property
    def _llm_type(self):
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=self.script.pop(0))])

    def bind_tools(self, tools, **kwargs):
        """Know them."""
        return self


def calls(*subjects):
    """A turn that creates these tasks in parallel."""
    made = [
        {"name": "TaskCreate", "args": {"subject": subject, "description": "x"}, "id": subject}
        for subject in subjects
    ]
    return AIMessage("", tool_calls=made)


def test_parallel_calls_are_told_once_each(kept):
    """Though each is answered as if those before it had been; a reminder is told beside them."""
    script = [calls("Sow", "Reap", "Rest"), AIMessage("All is well."), AIMessage("Shall I go on?")]
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
