import attrs

from todoplan.core.twin import maker, mutable_twin, named_maker


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


def test_a_maker_makes_the_frozen_class():
    """Fields by their order or their name, defaults where none is given."""
    made = (maker(Pair)(1, 3), maker(Pair)(1), named_maker(Pair)(left=1, right=3))
    assert made == (Pair(1, right=3), Pair(1), Pair(1, right=3))
    assert {*map(type, made)} == {Pair}
