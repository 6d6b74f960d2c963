"""Numbers with nouns."""

from todoplan.cli.output import percent, plural


def test_one_is_singular():
    """And nothing else is."""
    assert [plural(count, "plan") for count in (0, 1, 2)] == ["0 plans", "1 plan", "2 plans"]


def test_a_share_of_nothing_is_no_number():
    """Shares have one decimal."""
    assert (percent(1, 3), percent(3, 3), percent(0, 0)) == ("33.3 %", "100.0 %", "-")
