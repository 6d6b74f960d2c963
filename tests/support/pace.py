"""The time that work takes, and how it grows: as a ratio, which a busy machine leaves alone."""

import asyncio
import gc
import time


def seconds(work):
    """Return the processor time of some work, the better of two."""

    def once():
        start = time.process_time()
        work()
        return time.process_time() - start

    gc.disable()  # a collection looks at all that the test run has made by now
    try:
        return min(once(), once())
    finally:
        gc.enable()


def is_linear(taking, length):
    """
    Say whether the seconds that `taking` returns for a length grow about as the length does: four
    times of it take sixteen times as long where time grows with the square. What takes next to
    nothing is linear: its time is not of the length.
    """
    large = taking(length)
    return large < 0.2 or large < 8 * taking(length // 4)


async def until(holds, patience=60):
    """Wait until something holds, or fail after some seconds."""
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, "it never held"
        await asyncio.sleep(0.005)
