"""
Answers are joined to their calls, in the order of the calls, with little held at any time.

A recording is a stream in which an answer comes after its call, with other calls between. So calls
wait in a queue until their answers are there, and leave it in their order: a call that waits holds
up those behind it. The queue is bounded, or one call without an answer (an interrupted session)
would hold the rest of the file in memory. Recordings repeat themselves (an HTTP log sends the
whole conversation with every request, a resumed session copies its lines): of calls with the same
id the first counts, as far back as a bounded memory of digests goes.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b

import attrs

from todoplan.transcripts.calls import CallResult, Item, OtherCall, PlanningCall

__all__ = ["Answered", "Joiner", "Seen", "Signal"]

# The most calls met in one message are 23 (Claude Code).
WINDOW = 256
# Digests: about 9 MB when full.
MEMORY = 65_536
# They are only named, where no planning tool was called: a few will do.
OTHER_TOOLS = 5


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


class Joiner:
    """
    Takes what a reader met, one at a time, and gives the items in their order.

    At most `window` items are held: a call whose answer comes later than that is given without it.
    At most `memory` of the latest `once` are remembered. Of other tools a few are given.
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
    def wants_other_tools(self) -> bool:
        """
        Whether calls of other tools are still of interest: a few, until there is a planning call.
        """
        return not self._planned and len(self._others) < OTHER_TOOLS

    def awaits(self, keys: Iterable[bytes]) -> bool:
        """
        Tell whether one of these is awaited; they are as in JSON, and an escaped one may be.
        """
        return any(b"\\" in key or key.decode(errors="replace") in self._waiting for key in keys)

    def join(self, signals: Iterable[Signal]) -> Iterator[Item]:
        """
        Give the items of these signals, each call with its result.
        """
        for signal in signals:
            match signal:
                case Answered(key, result):
                    self._close(key, result)
                case OtherCall(tool):
                    if self.wants_other_tools and tool and tool not in self._others:
                        self._others.add(tool)
                        self._append(_Slot(signal))
                case Seen(once=once):
                    if not (once and self._is_repeated(once)):
                        self._enqueue(signal)
                case _:
                    self._append(_Slot(signal))
            while self._queue and (not self._queue[0].key or len(self._queue) > self._window):
                yield self._release()
        while self._queue:
            yield self._release()

    def _append(self, slot: _Slot) -> None:
        self._planned |= isinstance(slot.item, PlanningCall)
        self._queue.append(slot)

    def _enqueue(self, seen: Seen) -> None:
        slot = _Slot(seen.item, seen.key)
        self._append(slot)
        if seen.key:
            # Entire masks call ids, so one id may stand on many lines; parallel calls from one
            # script of Codex stand on one line and share its answer.
            same = self._waiting.setdefault(seen.key, [])
            if same and same[0].item.line != seen.item.line:
                self._close(seen.key)
                same = self._waiting.setdefault(seen.key, [])
            same.append(slot)

    def _close(self, key: str, result: CallResult | None = None) -> None:
        for slot in self._waiting.pop(key, ()):
            if result is not None and isinstance(slot.item, PlanningCall):
                slot.item = attrs.evolve(slot.item, result=result)
            slot.key = ""

    def _release(self) -> Item:
        slot = self._queue.popleft()
        if slot.key:
            # Given up. One answer was for all calls of a script: none of them gets it any more.
            self._close(slot.key)
        return slot.item

    def _is_repeated(self, once: str) -> bool:
        # Digests: ids may be of any length, and the memory is bounded in bytes too.
        digest = blake2b(once.encode(errors="surrogatepass"), digest_size=16).digest()
        known = digest in self._seen
        self._seen[digest] = None
        # An HTTP log repeats its oldest calls in every request: these must not be forgotten first.
        self._seen.move_to_end(digest)
        if len(self._seen) > self._memory:
            self._seen.popitem(last=False)
        return known
