"""An `AsyncPostgresStore` as a store that is called: so that one test holds for both."""

import asyncio
from contextlib import contextmanager
from inspect import isawaitable

from todoplan.planner.loops import result_of
from todoplan.stores.postgres import AsyncPostgresStore


class Awaited:
    """An object whose methods are awaited here, one after the other, in one event loop."""

    def __init__(self, awaited, runner):
        self.awaited, self.runner = awaited, runner

    def __getattr__(self, name):
        value = getattr(self.awaited, name)
        if not callable(value):
            return value
        return lambda *given, **named: self._result(value(*given, **named))

    def _result(self, value):
        return self.runner.run(result_of(value)) if isawaitable(value) else value

    @contextmanager
    def hold(self, plan_id):
        """Hold a plan for the length of a `with`."""
        context = self.awaited.hold(plan_id)
        held = self.runner.run(context.__aenter__())
        try:
            yield Awaited(held, self.runner)
        except BaseException as error:
            if not self.runner.run(context.__aexit__(type(error), error, error.__traceback__)):
                raise
        else:
            self.runner.run(context.__aexit__(None, None, None))


class AwaitedStore(Awaited):
    """A store with a loop of its own."""

    def __init__(self, *given, **options):
        super().__init__(AsyncPostgresStore(*given, **options), asyncio.Runner())

    def close(self):
        """Close its connections, and the loop."""
        self.runner.run(self.awaited.close())
        self.runner.close()
