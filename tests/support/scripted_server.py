"""A planning agent whose model follows a script: what servers in tests serve."""

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from todoplan import TASKS, Toolbox
from todoplan.adapters.langgraph import PlanMiddleware

TURNS = [
    [
        ("TaskCreate", {"subject": "Sow", "description": "x", "owner": "ann"}),
        ("TaskCreate", {"subject": "Reap", "description": "x"}),
    ],
    [("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"]})],
    [("TaskUpdate", {"taskId": "1", "status": "in_progress"})],
]


class Scripted(BaseChatModel):
    """Makes the calls of the next turn; after the last turn it asks a question."""

    @property
    def _llm_type(self):
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        said = sum(message.type == "ai" for message in messages)
        message = AIMessage("Shall I go on?")
        if said < len(TURNS):
            calls = [
                {"name": name, "args": arguments, "id": f"call-{said}-{place}"}
                for place, (name, arguments) in enumerate(TURNS[said])
            ]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(self, tools, **kwargs):
        """Return the model unchanged."""
        return self


def middleware():
    """Return ours, with the task tools."""
    return PlanMiddleware(Toolbox(TASKS))


agent = create_agent(Scripted(), middleware=[middleware()])
