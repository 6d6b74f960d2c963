import attrs

from todoplan.core.plan.model import fast_constructor, mutable_variant


@attrs.frozen(weakref_slot=False)
class Pair:
    left: int
    _right: int = 2


def test_a_mutable_variant_assigns_and_then_is_the_frozen_class():
    """It has the same fields and defaults, can be set, and becomes the real thing."""
    made = mutable_variant(Pair)(1)
    made.left = 7
    made.__class__ = Pair
    assert made == Pair(7, right=2)


def test_a_fast_constructor_makes_the_frozen_class():
    """Fields by their order or their name, defaults where none is given."""
    made = (
        fast_constructor(Pair)(1, 3),
        fast_constructor(Pair)(1),
        fast_constructor(Pair)(left=1, right=3),
    )
    assert made == (Pair(1, right=3), Pair(1), Pair(1, right=3))
    assert {*map(type, made)} == {Pair}
