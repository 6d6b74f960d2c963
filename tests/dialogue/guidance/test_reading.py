"""A framework's messages as a conversation."""

from todoplan.dialogue.guidance.conversation import Message
from todoplan.dialogue.guidance.reading import Conversation


def test_a_conversation_is_read_message_by_message():
    """It is a sequence over the messages, and reads none that nobody asks for."""
    seen = []

    def read(text):
        seen.append(text)
        return Message("user", text)

    told = Conversation(["a", "b", "c"], read)
    assert (len(told), told[-1].text) == (3, "c")
    assert list(told[:2]) == [Message("user", "a"), Message("user", "b")]
    assert next(reversed(told)).text == "c"
    assert seen == ["c", "a", "b", "c"]
