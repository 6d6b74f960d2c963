"""Numbers with nouns."""

from todoplan.transcripts.output import percent, plural, sizes


def test_one_is_singular():
    """And nothing else is."""
    assert [plural(count, "plan") for count in (0, 1, 2)] == ["0 plans", "1 plan", "2 plans"]


def test_a_share_of_nothing_is_no_number():
    """Shares have one decimal."""
    assert (percent(1, 3), percent(3, 3), percent(0, 0)) == ("33.3 %", "100.0 %", "-")


def test_plans_are_counted_by_their_length():
    """From the shortest on, up to the longest that there was."""
    assert sizes([]) == []
    assert sizes([0, 1, 3, 4, 12]) == [
        ("at most 1 task", 2, "2"),
        ("2 to 4 tasks", 2, "2"),
        ("5 to 9 tasks", 0, "0"),
        ("10 to 19 tasks", 1, "1"),
    ]
    assert sizes([5_000])[-1][0] == "100 or more tasks"
