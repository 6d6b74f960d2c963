"""What a hand last saw, kept in a framework's state."""

import json

import pytest

from todoplan import Plan, Task, plan_of
from todoplan.codec import plan_to_data
from todoplan.codec.bases import base_from_data, base_to_data
from todoplan.core.events.base import Base
from todoplan.errors import CodecError

PLAN = plan_of([Task("1", "Draft")])


@pytest.mark.parametrize("base", [Base(PLAN, {"1": "ann"}), Base(Plan())])
def test_a_base_comes_back_as_it_was(base):
    """Through JSON, actors and all."""
    assert base_from_data(json.loads(json.dumps(base_to_data(base)))) == base


def test_actors_may_be_left_out():
    """Then nobody is known."""
    data = base_to_data(Base(PLAN))
    del data["actors"]
    assert base_from_data(data) == Base(PLAN)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        5,
        {},
        {"plan": None},
        {"plan": plan_to_data(PLAN), "actors": [1]},
        {"plan": plan_to_data(PLAN), "actors": {"1": 5}},
    ],
)
def test_what_is_no_base_is_an_error(wrong):
    """A damaged one is never an empty plan: everything would seem new."""
    with pytest.raises(CodecError):
        base_from_data(wrong)
