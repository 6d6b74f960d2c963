"""A scripted model of Agno."""

from typing import Any

from agno.models.base import Model
from agno.models.response import ModelResponse


class Scripted(Model):
    """Responds with the calls that it was given, and then says that it is done."""

    def __init__(self) -> None:
        super().__init__(id="scripted")
        self.calls, self.asked = list[Any](), (list[Any](), list[Any]())

    def invoke(self, *_: Any, messages: Any = (), tools: Any = (), **__: Any) -> ModelResponse:
        """Answer one request."""
        self.asked, said, self.calls = ([*messages], [*(tools or ())]), self.calls, []
        if not said:
            return ModelResponse(role="assistant", content="Done.")
        calls = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": text}}
            for n, (name, text) in enumerate(said)
        ]
        return ModelResponse(role="assistant", tool_calls=calls)

    ainvoke = invoke_stream = ainvoke_stream = invoke  # type: ignore[assignment]
    _parse_provider_response = _parse_provider_response_delta = invoke  # type: ignore[assignment]
