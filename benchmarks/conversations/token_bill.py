"""
The token cost of a plan's life: what is written, what is read, and what every request repeats.

A request sends the tools, the system prompt and all earlier messages. The content of the work is
left out, since it would be the same for every tool set.
"""

from collections.abc import Iterator
from itertools import pairwise

import attrs
from support.tokens import compact, tokens

from benchmarks.conversations.scripts import Script
from benchmarks.conversations.tool_host import ToolHost

__all__ = ["FRAMING", "Bill", "bill"]

FRAMING = 7
"""The number of tokens around each message."""
WORK = 3
"""The number of requests for the work on an item."""
OUTPUT, CACHED, CACHE_WRITE = 5.0, 0.1, 1.25
"""Prices, with plain input as 1."""

_Prompt = tuple[tuple[str, int], ...]


@attrs.frozen
class Bill:
    """
    The tokens of a plan's life. `prefix` is the share of each prompt that starts the next one
    unchanged.
    """

    fixed: int
    requests: int
    written: int
    read: int
    again: int
    plain: float
    cached: float
    prefix: float


def bill(host: ToolHost, script: Script) -> Bill:
    """Run a script against a host, and count the tokens."""
    conversation = _Conversation(host)
    replies: list[str] | None = None
    planning = 0
    while True:
        try:
            turn = next(script) if replies is None else script.send(replies)
        except StopIteration:
            return conversation.counted(planning)
        planning += 1
        conversation.ask()
        replies = [conversation.call(name, arguments) for name, arguments in turn.calls]
        conversation.close()
        for _ in range(WORK if turn.works else 0):
            conversation.ask()


@attrs.define
class _Conversation:
    host: ToolHost
    messages: list[tuple[str, int]] = attrs.Factory(list)
    prompts: list[_Prompt] = attrs.Factory(list)
    written: int = 0
    read: int = 0
    opened: bool = False

    def ask(self) -> None:
        head = tuple((text, tokens(text)) for text in (self.host.tools, self.host.system()))
        self.prompts.append((*head, *self.messages))

    def call(self, name: str, arguments: dict[str, object]) -> str:
        text = compact(arguments)
        call = tokens(name) + tokens(text)
        answer = self.host.answer(name, arguments)
        self.written += call
        self.read += tokens(answer)
        framing = 0 if self.opened else FRAMING
        self.opened = True
        self.messages.append((f"call {name} {text}", call + framing))
        self.messages.append((f"answer {answer}", tokens(answer) + FRAMING))
        return answer

    def close(self) -> None:
        self.opened = False

    def counted(self, planning: int) -> Bill:
        sent = [sum(count for _, count in prompt) for prompt in self.prompts]
        kept = list(_kept(self.prompts))
        again, cached = sum(sent), sum(kept)
        new = again - cached
        return Bill(
            fixed=sum(count for _, count in self.prompts[0][:2]),
            requests=planning,
            written=self.written,
            read=self.read,
            again=again,
            plain=OUTPUT * self.written + again,
            cached=OUTPUT * self.written + CACHED * cached + CACHE_WRITE * new,
            prefix=cached / sum(sent[:-1]),
        )


def _kept(prompts: list[_Prompt]) -> Iterator[int]:
    """Yield, for each prompt, how many of its leading tokens the next prompt begins with."""
    for before, after in pairwise(prompts):
        same = 0
        for (one, count), (other, _) in zip(before, after, strict=False):
            if one != other:
                same += tokens(_begun(one, other))
                break
            same += count
        yield same


def _begun(one: str, other: str) -> str:
    """Return the common beginning of both texts."""
    pairs = enumerate(zip(one, other, strict=False))
    length = next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
    return one[:length]
