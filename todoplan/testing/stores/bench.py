"""A store under examination, and how a law is held to it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pytest
from hypothesis import HealthCheck, settings

from todoplan.errors import PlanError
from todoplan.planner import AsyncPlanner
from todoplan.stores.base import AsyncStore
from todoplan.testing.stores.ways import Way, Work

__all__ = ["Bench", "Checks"]

T = TypeVar("T")


class Checks:
    """
    What every check is made with.

    `drawing` are Hypothesis' settings for what is drawn. `folder` is the test's own, and pytest
    removes it.
    """

    drawing: settings = settings(
        max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    folder: Path
    way: Way

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def store(self) -> Any:
        """
        Return a new, empty store: of no earlier call, with no plan in it. Every suite has its own.

        Raises:
            PlanError: this one has none.
        """
        name = type(self).__name__
        msg = f"{name} has no store; write `def store(self): return MyStore()`, a new one each time"
        raise PlanError(msg, suite=name)

    def reopened(self, store: Any) -> Any:
        """
        Return another handle on the data of a store, as another process would have.

        Where there can be none, since the data go with the object, it is the same store.
        """
        return store

    def close(self, store: Any) -> Any:
        """
        Give back what a handle holds: called once for each, when its check is over.
        """

    def hold(self, law: Callable[["Bench"], Work[None]]) -> None:
        """
        Hold a law to a new store.
        """
        self.way.run(self._held(law))

    async def _held(self, law: Callable[["Bench"], Work[None]]) -> None:
        given_one = await self.way.given(self.store())
        handles = [given_one]
        try:
            await law(Bench(self, handles, self.way.awaited(given_one)))
        finally:
            for handle in {id(handle): handle for handle in handles}.values():
                await self.way.given(self.close(handle))


@attrs.define
class Bench:
    """
    A new store, and further handles on its data.
    """

    checks: Checks
    handles: list[Any]
    store: AsyncStore

    async def again(self) -> AsyncStore:
        """
        Return another handle on the store's data.
        """
        return self.checks.way.awaited(await self._reopened())

    async def planners(self, plan_id: str) -> tuple[AsyncPlanner, AsyncPlanner]:
        """
        Return two planners upon a plan, each with a handle of its own.
        """
        other = await self._reopened()
        return AsyncPlanner(self.handles[0], plan_id), AsyncPlanner(other, plan_id)

    async def together(self, *works: Work[T]) -> list[T]:
        """
        Run several at once, and return what each returned.
        """
        return await self.checks.way.together(*works)

    async def _reopened(self) -> Any:
        way, checks = self.checks.way, self.checks
        self.handles.append(await way.given(checks.reopened(self.handles[0])))
        return self.handles[-1]
