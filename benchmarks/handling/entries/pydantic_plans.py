"""What the plans for Pydantic AI have in common: an agent, and a model that is scripted."""

import asyncio
import json
from typing import Any, ClassVar

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel

from benchmarks.handling.entry import Answer, Entry


class PydanticPlan(Entry):
    """`words` are the names of tools and arguments."""

    words: ClassVar[dict[str, str]]

    def begin(self, capability: Any) -> None:
        """Make the agent."""
        self.says: list[Any] = []
        self.asked: Any = None
        self.agent: Any = Agent(FunctionModel(self._say), capabilities=[capability], retries=3)

    def _say(self, messages: Any, info: Any) -> ModelResponse:
        self.asked = messages, info
        return ModelResponse(self.says.pop(0) if self.says else [TextPart("Done.")])

    def turn(self, calls: list[tuple[str, str]]) -> list[Answer]:
        """Run the agent on one prompt."""
        self.says = [[ToolCallPart(name, text) for name, text in calls]]
        found = asyncio.run(self.agent.run("Go on."))
        parts = [part for message in found.new_messages() for part in message.parts]
        kinds = ToolReturnPart | RetryPromptPart
        told = [p for p in parts if isinstance(p, kinds) and p.tool_name]
        return [
            Answer(p.model_response_str(), is_error=False)
            if isinstance(p, ToolReturnPart)
            else Answer(p.model_response(), is_error=True)
            for p in told
        ]

    def request(self) -> str:
        """Return the instructions, and the text after the user's prompt."""
        asyncio.run(self.agent.run("Go on."))
        messages, info = self.asked
        parts = [p for p in messages[-1].parts if isinstance(p, UserPromptPart)]
        return "\n".join([info.instructions or "", *(str(p.content) for p in parts[1:])])

    def tools(self) -> str:
        """Return the definitions in OpenAI's form."""
        asyncio.run(self.agent.run("Go on."))
        keys = ("name", "description")
        return json.dumps(
            [
                {**{k: getattr(t, k) for k in keys}, "parameters": t.parameters_json_schema}
                for t in self.asked[1].function_tools
            ]
        )
