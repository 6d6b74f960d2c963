"""How the time of work grows. Ratios are compared, because a busy machine hardly changes them."""

import asyncio
import gc
import time


def seconds(work):
    """Return the processor time of some work, the better of two."""

    def once():
        start = time.process_time()
        work()
        return time.process_time() - start

    gc.disable()  # a collection would visit all objects of the test run
    try:
        return min(once(), once())
    finally:
        gc.enable()


def is_linear(taking, length):
    """
    Return whether the seconds that `taking` returns for a length grow about as the length does.

    If time grew with the square, four times the length would take sixteen times as long. Very short
    times count as linear, because they do not depend on the length.
    """
    large = taking(length)
    return large < 0.2 or large < 8 * taking(length // 4)


async def until(holds):
    """Wait until something holds, or fail after a minute."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it never held"
        await asyncio.sleep(0.005)
