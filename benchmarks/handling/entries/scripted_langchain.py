"""A scripted chat model of LangChain."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


class Scripted(BaseChatModel):
    """Answers with the messages that it was given, and keeps the requests."""

    says: list[AIMessage] = Field(default_factory=list)
    asked: list[Any] = Field(default_factory=list)
    tools: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Keep the tools."""
        self.tools = [*tools]
        return self

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        self.asked = messages
        said = self.says.pop(0) if self.says else AIMessage("Done.")
        return ChatResult(generations=[ChatGeneration(message=said)])
