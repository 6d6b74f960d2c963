"""How a check of the suite is made of a law: a coroutine function over a bench."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from hypothesis import given
from hypothesis.strategies import SearchStrategy

from todoplan.testing.stores.bench import Bench, Checks
from todoplan.testing.stores.ways import Work

__all__ = ["drawn", "law"]

T = TypeVar("T")


def law(check: Callable[[Any, Bench], Work[None]]) -> Callable[[Any], None]:
    """
    Make a check of a law: it is held to one new store.
    """

    def test(self: Checks) -> None:
        self.hold(lambda bench: check(self, bench))

    return _named(test, check)


def drawn(
    examples: SearchStrategy[T],
) -> Callable[[Callable[[Any, Bench, T], Work[None]]], Callable[[Any], None]]:
    """
    Make a check of a law: it is held to a new store for each example.
    """

    def decorate(check: Callable[[Any, Bench, T], Work[None]]) -> Callable[[Any], None]:
        def test(self: Checks) -> None:
            @self.drawing
            @given(examples)
            def every(example: T) -> None:
                self.hold(lambda bench: check(self, bench, example))

            every()

        return _named(test, check)

    return decorate


def _named(test: Callable[[Any], None], check: Any) -> Callable[[Any], None]:
    """
    Return the test under the name of the law, which a failure is noted with.
    """

    def noting(self: Checks) -> None:
        try:
            test(self)
        except Exception as failure:
            failure.add_note(f"the law: {check.__doc__}")
            raise

    update_wrapper(noting, check)
    del vars(noting)["__wrapped__"]  # pytest would ask the law for its fixtures
    return noting
