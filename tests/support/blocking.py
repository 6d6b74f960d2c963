"""Asynchronous planners and stores that are used like the others, so that one test is for both."""

import asyncio
import threading
from inspect import isawaitable

from todoplan.planner import AsyncPlanner
from todoplan.planner.loops import result_of


class Blocking:
    """
    An object whose methods return what those of `made` give when they are awaited. `run` takes a
    coroutine and returns its result. `with` enters what `async with` would: a lock or a claim.
    """

    def __init__(self, made, run):
        vars(self).update(made=made, run=run)

    def __getattr__(self, name):
        value = getattr(self.made, name)
        if not callable(value):
            return value

        def call(*given, **named):
            found = value(*given, **named)
            found = self.run(result_of(found)) if isawaitable(found) else found
            return Blocking(found, self.run) if hasattr(found, "__aenter__") else found

        return call

    def __setattr__(self, name, value):
        setattr(self.made, name, value)

    def __enter__(self):
        entered = self.run(self.made.__aenter__())
        return self if entered is self.made else Blocking(entered, self.run)

    def __exit__(self, *error):
        return self.run(self.made.__aexit__(*error))


class BlockingPlanner(Blocking):
    """
    An `AsyncPlanner` that is used like a `Planner`. Its event loop runs in a thread, because claims
    are renewed in the background.
    """

    def __init__(self, *given, **named):
        loop = asyncio.new_event_loop()

        def run(work):
            return asyncio.run_coroutine_threadsafe(work, loop).result(60)

        super().__init__(AsyncPlanner(*given, **named), run)
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        vars(self).update(loop=loop, thread=thread)
        thread.start()

    @property
    def plan(self):
        """The current plan."""
        return self.run(self.made.plan())

    def close(self):
        """End the loop."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class BlockingStore(Blocking):
    """An `AsyncPostgresStore` that is used like a `PostgresStore`, in an event loop of its own."""

    def __init__(self, *given, **options):
        from todoplan.stores.postgres import AsyncPostgresStore  # noqa: PLC0415 - needs psycopg

        runner = asyncio.Runner()
        super().__init__(AsyncPostgresStore(*given, **options), runner.run)
        vars(self).update(runner=runner)

    def close(self):
        """Close its connections, and the loop."""
        self.run(self.made.close())
        self.runner.close()
