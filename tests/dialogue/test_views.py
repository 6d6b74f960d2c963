"""The plan as a model reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import full_plans

from todoplan.core.assembly import plan_of
from todoplan.core.model import Task
from todoplan.core.plan import Plan
from todoplan.dialogue.views import ids_text, list_text, one_line


@given(st.text(st.characters(exclude_categories=()), max_size=80), st.integers(8, 40))
def test_a_line_is_one_line(text, most):
    """Clipped, single, without control characters; a short plain line is left alone."""
    line = one_line(text, most)
    assert len(line) <= most
    assert len(line.splitlines()) <= 1
    assert not any(ord(letter) < 0x20 or 0x7F <= ord(letter) < 0xA0 for letter in line)
    assert one_line(line, most) == line


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([], ""),
        (["3"], "#3"),
        (["10", "2", "1"], "#1-#2, #10"),
        (map(str, range(1, 40, 2)), "#1, #3, #5, #7, #9, #11, #13, #15, #17, #19 and 10 more"),
    ],
)
def test_ids_are_ranges(ids, text):
    """In the order of their numbers, at most ten ranges."""
    assert ids_text(ids) == text


@given(full_plans)
def test_a_list_has_a_line_for_each_task(plan):
    """Whatever the texts hold; an empty plan says so."""
    text = list_text(plan)
    assert len(text.splitlines()) == max(1, len(plan))
    for line, task in zip(text.splitlines(), plan, strict=False):
        assert line.startswith(f"#{task.id} [{task.status.value}] ")


def test_owner_and_blockers_stand_on_the_line():
    """Only unresolved blockers are shown."""
    tasks = (
        Task("1", "a", status="completed", blocks=("3",)),
        Task("2", "b", blocks=("3",), owner="ann\nlee"),
        Task("3", "c", blocked_by=("1", "2")),
    )
    assert list_text(plan_of(tasks)).splitlines() == [
        "#1 [completed] a",
        "#2 [pending] b (ann lee)",
        "#3 [pending] c [blocked by #2]",
    ]
    assert list_text(Plan()) == "The plan is empty."
