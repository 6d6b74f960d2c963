"""Results put to their calls: in the order of the calls, with little held at any time."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b

import attrs

from todoplan.transcripts.calls import CallResult, Item, OtherCall, PlanningCall

__all__ = ["Answered", "Linker", "Seen", "Signal"]

WINDOW = 256
MEMORY = 65_536
TOLD = 5


@attrs.frozen
class Seen:
    """
    An item met in the recording.

    A call with a `key` waits for the answer with that key. Of the items with one `once`, only the
    first counts; the empty text says nothing.
    """

    item: Item
    key: str = ""
    once: str = ""


@attrs.frozen
class Answered:
    """
    A tool's answer to whatever waits under `key`; nothing, if nothing does.
    """

    key: str
    result: CallResult


Signal = Item | Seen | Answered


@attrs.define(eq=False)
class _Slot:
    item: Item
    key: str = ""


class Linker:
    """
    Takes what a reader met, one at a time, and lets go of items in their order.

    At most `window` items are held: a call whose answer is later than that is let go without it.
    At most `memory` of the latest `once` are remembered. Of other tools a few are let through.
    """

    def __init__(self, window: int = WINDOW, memory: int = MEMORY) -> None:
        self._window = window
        self._memory = memory
        self._queue: deque[_Slot] = deque()
        self._waiting: dict[str, list[_Slot]] = {}
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._others: set[str] = set()
        self._planned = False

    @property
    def curious(self) -> bool:
        """
        Whether calls of other tools are worth telling: a few, until there is a planning call.
        """
        return not self._planned and len(self._others) < TOLD

    def awaits(self, keys: Iterable[bytes]) -> bool:
        """
        Tell whether one of these is awaited; they are as in JSON, and an escaped one may be.
        """
        return any(b"\\" in key or key.decode(errors="replace") in self._waiting for key in keys)

    def link(self, signals: Iterable[Signal]) -> Iterator[Item]:
        """
        Give the items of these signals, each call with its result.
        """
        for signal in signals:
            self._take(signal)
            while self._queue and (not self._queue[0].key or len(self._queue) > self._window):
                yield self._let_go()
        while self._queue:
            yield self._let_go()

    def _take(self, signal: Signal) -> None:
        if isinstance(signal, Answered):
            self._answer(signal)
        elif isinstance(signal, OtherCall):
            self._mention(signal)
        elif not isinstance(signal, Seen):
            self._line_up(_Slot(signal))
        elif not (signal.once and self._is_repeated(signal.once)):
            self._enqueue(signal)

    def _mention(self, call: OtherCall) -> None:
        if self.curious and call.tool and call.tool not in self._others:
            self._others.add(call.tool)
            self._line_up(_Slot(call))

    def _line_up(self, slot: _Slot) -> None:
        self._planned |= isinstance(slot.item, PlanningCall)
        self._queue.append(slot)

    def _answer(self, answer: Answered) -> None:
        for slot in self._waiting.pop(answer.key, ()):
            if isinstance(slot.item, PlanningCall):
                slot.item = attrs.evolve(slot.item, result=answer.result)
            slot.key = ""

    def _enqueue(self, seen: Seen) -> None:
        slot = _Slot(seen.item, seen.key)
        self._line_up(slot)
        if seen.key:
            same = self._waiting.setdefault(seen.key, [])
            if same and same[0].item.line != seen.item.line:
                self._close(seen.key)
                same = self._waiting.setdefault(seen.key, [])
            same.append(slot)

    def _close(self, key: str) -> None:
        for slot in self._waiting.pop(key):
            slot.key = ""

    def _let_go(self) -> Item:
        slot = self._queue.popleft()
        if slot.key:
            self._close(slot.key)
        return slot.item

    def _is_repeated(self, once: str) -> bool:
        digest = blake2b(once.encode(errors="surrogatepass"), digest_size=16).digest()
        known = digest in self._seen
        self._seen[digest] = None
        self._seen.move_to_end(digest)
        if len(self._seen) > self._memory:
            self._seen.popitem(last=False)
        return known
