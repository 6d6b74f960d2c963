"""A scripted chat client of the Agent Framework."""

from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Responds with the calls that it was given, and then says that it is done."""

    calls: list[Any] = []  # noqa: RUF012 - replaced, never changed
    asked: Any = None

    async def _inner_get_response(self, *, messages: Any, options: Any, **_: Any) -> ChatResponse:
        self.asked, said, self.calls = (messages, options), self.calls, []
        made = [
            Content.from_function_call(f"c{place}", name, arguments=text)
            for place, (name, text) in enumerate(said)
        ]
        contents = made or [Content.from_text("Done.")]
        return ChatResponse(messages=[Message(role="assistant", contents=contents)])
