"""An `AsyncPlanner` that is used like a `Planner`, so that one test is about both."""

import asyncio
import threading
from inspect import iscoroutinefunction

from todoplan.planner import AsyncPlanner


class Blocking:
    """An object whose coroutine methods run in a loop of another thread, and are waited for."""

    def __init__(self, made, loop):
        vars(self).update(made=made, loop=loop)

    def run(self, work):
        """Return the result of a coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def __getattr__(self, name):
        value = getattr(self.made, name)
        if not iscoroutinefunction(value):
            return value
        return lambda *given, **named: self.run(value(*given, **named))

    def __setattr__(self, name, value):
        setattr(self.made, name, value)

    def __enter__(self):
        self.run(self.made.__aenter__())
        return self

    def __exit__(self, *error):
        self.run(self.made.__aexit__(*error))


class BlockingPlanner(Blocking):
    """An `AsyncPlanner` that is used like a `Planner`."""

    def __init__(self, *given, **named):
        loop = asyncio.new_event_loop()
        super().__init__(AsyncPlanner(*given, **named), loop)
        vars(self)["thread"] = threading.Thread(target=loop.run_forever, daemon=True)
        self.thread.start()

    @property
    def plan(self):
        """The current plan."""
        return self.run(self.made.plan())

    def claim(self, owner):
        """Claim a task."""
        held = self.run(self.made.claim(owner))
        return held and Blocking(held, self.loop)

    def close(self):
        """End the loop."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
