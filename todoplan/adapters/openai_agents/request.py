"""What the SDK hands to a model, and what of it tells how guidance may see and say things."""

from typing import Any

import attrs
from agents import Tool
from agents.items import TResponseInputItem

__all__ = ["Input", "Request"]

Input = str | list[TResponseInputItem]


@attrs.frozen
class Request:
    """
    The arguments of a model, by the names and in the order of `agents.Model`.
    """

    system_instructions: str | None
    input: Input
    model_settings: Any
    tools: list[Tool]
    output_schema: Any
    handoffs: list[Any]
    tracing: Any
    previous_response_id: str | None = attrs.field(kw_only=True)
    conversation_id: str | None = attrs.field(kw_only=True)
    prompt: Any = attrs.field(kw_only=True)

    def arguments(self) -> dict[str, Any]:
        """
        Return them by name.
        """
        return attrs.asdict(self, recurse=False)

    @property
    def is_partial(self) -> bool:
        """
        Say whether the provider keeps the conversation, and the input is only what is new.
        """
        return bool(self.previous_response_id or self.conversation_id)

    @property
    def is_structured(self) -> bool:
        """
        Say whether the answer is to be of a given shape.
        """
        return self.output_schema is not None and not self.output_schema.is_plain_text()
