import pickle
from typing import get_args

import attrs
from hypothesis import given
from support import strategies as some

from todoplan.core.decide import Accepted, decide
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan


def test_every_event_but_creation_carries_its_time():
    """An event has all that `apply` needs: a new task holds its times, the others `at`."""
    timed = {kind.__name__ for kind in get_args(Event) if "at" in attrs.fields_dict(kind)}
    assert {kind.__name__ for kind in get_args(Event)} - timed == {"TaskCreated"}


@given(some.commands)
def test_events_are_values(command):
    """Events are hashable and survive pickling."""
    answer = decide(Plan(), command)
    for event in answer.events if isinstance(answer, Accepted) else ():
        assert pickle.loads(pickle.dumps(event)) == event  # noqa: S301 - our own bytes
        hash(event)
