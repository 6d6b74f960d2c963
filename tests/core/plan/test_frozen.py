import copy
import pickle

import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.plan.model import EMPTY, LEVELS, FrozenDict, freeze, thaw
from todoplan.errors import PlanError


@given(some.metadata)
def test_freeze_and_thaw_are_inverse(value):
    """Plain JSON comes back as it went in; frozen, it is hashable and equal to its copies."""
    frozen = freeze(value)
    assert thaw(frozen) == value
    assert freeze(frozen) is frozen
    for twin in (freeze(value), pickle.loads(pickle.dumps(frozen)), copy.deepcopy(frozen)):  # noqa: S301 - our own bytes
        assert twin == frozen
        assert hash(twin) == hash(frozen)


@given(some.json_values)
def test_any_json_value_freezes_to_something_hashable(value):
    """No list and no dict is left inside."""
    hash(freeze(value))
    assert thaw(freeze(value)) == value


def test_frozen_dict_is_a_mapping_equal_to_one_with_the_same_items():
    """It reads like a dict, and equals one, in any order of keys."""
    frozen = FrozenDict({"a": 1, "b": [2]})
    assert frozen == {"b": (2,), "a": 1}
    assert (frozen["a"], len(frozen), list(frozen)) == (1, 2, ["a", "b"])
    assert hash(frozen) == hash(FrozenDict({"b": [2], "a": 1}))
    assert repr(frozen) == "FrozenDict({'a': 1, 'b': (2,)})"
    assert FrozenDict() == EMPTY == {}


def test_frozen_dict_cannot_change():
    """Neither an item nor an attribute can be set, nor does the source shine through."""
    source = {"a": {"b": 1}}
    frozen = FrozenDict(source)
    source["a"]["b"] = 2
    assert frozen["a"]["b"] == 1
    with pytest.raises(TypeError):
        frozen["a"] = 1
    with pytest.raises(AttributeError, match="cannot change"):
        frozen._items = {}


def nested(levels, wrap):
    """Return a value in so many wrappings."""
    value = 1
    for _ in range(levels):
        value = wrap(value)
    return value


WRAPS = [
    lambda value: {"a": value},
    lambda value: [value],
    lambda value: (value,),
    lambda value: [{"a": value}][0],
    lambda value: FrozenDict({"a": value}),
]


@pytest.mark.parametrize("wrap", WRAPS)
def test_values_are_frozen_so_deep_and_no_deeper(wrap):
    """The limit counts objects and arrays alike, also frozen ones that are wrapped again."""
    assert thaw(freeze(nested(LEVELS, wrap))) == thaw(nested(LEVELS, wrap))
    with pytest.raises(
        PlanError, match=f"more than {LEVELS} levels deep; give a flatter value"
    ) as caught:
        freeze({"more": [nested(LEVELS, wrap)]})
    assert caught.value.data == {"limit": LEVELS}


@pytest.mark.parametrize("wrap", WRAPS)
def test_no_depth_ends_in_the_interpreters_stack(wrap):
    """Neither plain values nor frozen ones, made step by step."""
    with pytest.raises(PlanError, match="give a flatter value"):
        freeze(nested(100_000, wrap))


def test_a_frozen_dict_holds_values_as_deep_as_can_be_frozen():
    """The changes of an event hold any metadata that a task can have."""
    deepest = freeze(nested(LEVELS, lambda value: {"a": value}))
    assert FrozenDict({"metadata": deepest})["metadata"] is deepest
