import copy
import pickle

import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.frozen import EMPTY, FrozenDict, freeze, thaw


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
