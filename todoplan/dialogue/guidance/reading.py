"""A framework's messages as a conversation; each is read only when a decision asks for it."""

from collections.abc import Callable, Sequence
from typing import Any, overload

import attrs

from todoplan.dialogue.guidance.conversation import Message

__all__ = ["Conversation"]


@attrs.frozen
class Conversation(Sequence[Message]):
    """
    The `messages` of a framework, and what reads one of them.
    """

    messages: Sequence[Any]
    read: Callable[[Any], Message]

    def __len__(self) -> int:
        return len(self.messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            return Conversation(self.messages[index], self.read)
        return self.read(self.messages[index])
