import attrs

from todoplan.core.twin import mutable_twin


@attrs.frozen(weakref_slot=False)
class Pair:
    left: int
    _right: int = 2


def test_a_twin_assigns_and_then_is_the_frozen_class():
    """A twin has the same fields and defaults, can be set, and becomes the real thing."""
    twin = mutable_twin(Pair)(1)
    twin.left = 7
    twin.__class__ = Pair
    assert twin == Pair(7, right=2)
