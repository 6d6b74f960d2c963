"""What a hand last saw of a plan, as plain data: for adapters whose framework keeps the state."""

from typing import Any

from todoplan.codec.faults import MisfitError, misfit, wrong_shape
from todoplan.codec.plans import plan_from_data, plan_to_data
from todoplan.codec.readers import FieldReader, read_object
from todoplan.codec.values import text
from todoplan.core.events.base import Base

__all__ = ["base_from_data", "base_to_data"]


def base_to_data(base: Base) -> dict[str, Any]:
    """
    Return a base as plain data: {"plan": a plan document, "actors": {task id: actor}}.

    Raises:
        CodecError: as of `plan_to_data`.
    """
    return {"plan": plan_to_data(base.plan), "actors": dict(base.actors)}


def base_from_data(data: object) -> Base:
    """
    Return the base that `base_to_data` wrote.

    Raises:
        CodecError: it is another shape, or holds no plan.
    """
    try:
        read = read_object(data, _FIELDS, ("plan",))
    except MisfitError as error:
        raise wrong_shape(error.found, "base") from None
    return Base(plan_from_data(read["plan"]), read.get("actors", {}))


def _actors(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise misfit(value, "no object")
    return {text(task_id): text(actor) for task_id, actor in value.items()}


def _plan(value: Any) -> Any:
    return value  # read by `plan_from_data`, which names the faults of its own document


_FIELDS: dict[str, FieldReader] = {"plan": _plan, "actors": _actors}
