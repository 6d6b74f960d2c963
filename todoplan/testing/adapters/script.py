"""What a scripted model says, turn by turn, and what it was asked."""

from asyncio import Barrier as TaskBarrier
from asyncio import BrokenBarrierError as TaskBarrierBroken
from asyncio import timeout
from collections.abc import Iterable
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Literal

import attrs

from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.toolset import Definition
from todoplan.testing.assertions import must

__all__ = ["ModelTurn", "Script", "Seen"]

_MORE = 30
_PATIENCE = 1.0


@attrs.frozen
class Seen:
    """
    One message, in a framework's own words no longer: who says it, and what.

    A tool's answer has the `call_id` of its call, and `is_error` where the framework marks errors.
    Calls themselves are left out.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    call_id: str = ""
    is_error: bool = False


@attrs.frozen
class ModelTurn:
    """
    What the model sends in one turn: calls, a text, or both. Without calls it is a final answer.

    The arguments of a call are a dict, or a text that is to be sent as it is.
    """

    calls: tuple[Call, ...] = ()
    text: str = ""


class Script:
    """
    The turns of one run, the `requests` that the model was sent, and the tools it was `offered`.

    A model of the framework's own kind answers each request with `reply` or `areply`, and names the
    tools of the request where it can tell (`Capability.TOOLS`). Behind the last turn it says that
    it is done, again and again, and fails the run if it is asked too often.
    """

    def __init__(
        self, *turns: ModelTurn, meet: Barrier | None = None, ameet: TaskBarrier | None = None
    ) -> None:
        self.turns = turns
        self.requests: list[tuple[Seen, ...]] = []
        self.offered: list[tuple[Definition, ...]] = []
        self._meet, self._ameet = meet, ameet

    def reply(
        self, request: Iterable[Seen], tools: Iterable[Definition] | None = None
    ) -> ModelTurn:
        """
        Return what the model says to a request, which is kept, with the tools offered in it.

        Raises:
            AssertionError: the model is asked without end.
        """
        self._keep(request)
        if tools is not None:
            self.offer(tools)
        if self._meet is not None and self._scripted:
            with suppress(BrokenBarrierError):
                self._meet.wait(_PATIENCE)
        return self._turn()

    async def areply(
        self, request: Iterable[Seen], tools: Iterable[Definition] | None = None
    ) -> ModelTurn:
        """
        As `reply`; other tasks run in between.
        """
        if self._ameet is None or len(self.requests) >= len(self.turns):
            return self.reply(request, tools)
        with suppress(TaskBarrierBroken, TimeoutError):
            async with timeout(_PATIENCE):
                await self._ameet.wait()
        return self.reply(request, tools)

    def offer(self, tools: Iterable[Definition]) -> None:
        """
        Note which tools are offered: for a framework without a model, once in a run.
        """
        self.offered.append(tuple(tools))

    @property
    def _scripted(self) -> bool:
        return len(self.requests) <= len(self.turns)

    def _keep(self, request: Iterable[Seen]) -> None:
        self.requests.append(tuple(request))

    def _turn(self) -> ModelTurn:
        extra = len(self.requests) - len(self.turns)
        must(extra <= _MORE, f"the model was asked {extra} times more than its script has turns")
        return ModelTurn(text="Done.") if extra > 0 else self.turns[len(self.requests) - 1]
