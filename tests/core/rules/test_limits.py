from todoplan.core.rules.limits import Limits


def test_limits_are_generous_by_default():
    """The defaults bound a plan far above what one agent needs."""
    limits = Limits()
    assert limits.items >= limits.open_items >= 1_000
    assert limits.text >= limits.subject >= 200
    assert limits.edges >= 20
