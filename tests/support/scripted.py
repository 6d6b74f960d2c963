"""A chat model of LangChain that follows a script and records the requests."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr


class Scripted(BaseChatModel):
    """Answers with the script's messages in order; a function is called with the request."""

    script: list[Any]
    profile_name: str = "scripted"
    _requests: list[list[Any]] = PrivateAttr(default_factory=list)
    _bound: list[list[Any]] = PrivateAttr(default_factory=list)

    @property
    def requests(self):
        """All requests so far, each a list of messages."""
        return self._requests

    @property
    def tool_names(self):
        """The names of the tools of the last binding."""
        return [tool.name for tool in self._bound[-1]]

    @property
    def bound(self):
        """The tools of the last binding."""
        return self._bound[-1]

    @property
    def _llm_type(self):
        return self.profile_name

    def bind_tools(self, tools, **kwargs):
        self._bound.append(list(tools))
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self._requests.append(list(messages))
        step = self.script[len(self._requests) - 1]
        said = step(messages) if callable(step) else step
        if isinstance(said, Exception):
            raise said
        return ChatResult(generations=[ChatGeneration(message=said)])


def calls(*made, text="", **fields):
    """Return a message that makes calls: (name, arguments) or (name, arguments, id) each."""
    listed = [
        {"name": one[0], "args": one[1], "id": one[2] if len(one) > 2 else f"{one[0]}-{n}"}
        for n, one in enumerate(made)
    ]
    return AIMessage(text, tool_calls=listed, **fields)


def wrote(*todos, name="write_todos", call_id="w", **fields):
    """Return a message that writes a list of (content, status) or ready-made entries."""
    entries = [
        t if isinstance(t, dict) else dict(zip(("content", "status"), t, strict=True))
        for t in todos
    ]
    return calls((name, {"todos": entries}, call_id), **fields)


def says(text, **fields):
    """Return a plain answer."""
    return AIMessage(text, response_metadata={"finish_reason": "stop"}, **fields)
