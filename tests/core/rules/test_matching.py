import tracemalloc

import pytest

from todoplan.core.plan.model import Task, Todo
from todoplan.core.rules import match, normalised


def ids(tasks, todos):
    """Return which task each todo means, by id."""
    tasks = [Task(task_id, text) for task_id, text in tasks]
    return [task.id if task else None for task in match(tasks, todos)]


@pytest.mark.parametrize(
    "text", ["Write the  tests!", "WRITE THE TESTS", "- write_the tests", "\uff37rite the tests"]
)
def test_normalised_forgets_case_width_and_marks(text):
    """Texts that differ in these only are one text."""
    assert normalised(text) == "write the tests"


def test_a_text_of_marks_alone_stays():
    """There is always something to compare."""
    assert normalised("!?") == "!?"
    assert normalised("!?") != normalised("...")


def test_id_goes_before_exact_text_before_normalised():
    """Each step takes what the one before has left."""
    tasks = [("1", "a"), ("2", "b"), ("3", "C!")]
    todos = [Todo("b", id="1"), Todo("c"), Todo("b")]
    assert ids(tasks, todos) == ["1", "3", "2"]
    assert ids([("1", "a!"), ("2", "a")], [Todo("a"), Todo("A")]) == ["2", "1"]


def test_alike_are_taken_in_order_and_once():
    """Of several alike the first is meant first; a line too many is new."""
    tasks = [("1", "a"), ("2", "a")]
    assert ids(tasks, [Todo("a"), Todo("a"), Todo("a")]) == ["1", "2", None]
    assert ids(tasks, [Todo("x", id="2"), Todo("x", id="2"), Todo("a")]) == ["2", None, "1"]


@pytest.mark.parametrize("task_id", ["9", "01", "x", ""])
def test_unknown_id_is_no_match_and_no_fault(task_id):
    """A line with an id of the model's own is matched by its text."""
    assert ids([("1", "a")], [Todo("a", id=task_id)]) == ["1"]
    assert ids([("1", "a")], [Todo("b", id=task_id)]) == [None]


@pytest.mark.parametrize("title", ["{} " + "x" * 1_000_000, "{} " + "\U0001f600" * 300, "{} Short"])
def test_nothing_large_stays_behind(title):
    """Neither 10 titles of 1 MB nor thousands of short ones are kept: less than 1 MB."""
    many = 10 if len(title) > 1_000 else 5_000
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(many):
            normalised(title.format(number))
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert left < 1_000_000


def test_a_list_with_the_same_lines_means_the_same_tasks():
    """Line by line, unless an id says otherwise."""
    tasks = [("1", "a"), ("2", "a"), ("3", "b")]
    lines = ["a", "a", "b"]
    assert ids(tasks, [Todo(line) for line in lines]) == ["1", "2", "3"]
    by_id = [Todo(line, id=str(n)) for n, line in enumerate(lines, 1)]
    assert ids(tasks, by_id) == ["1", "2", "3"]
    assert ids(tasks, [Todo("a", id="2"), Todo("a", id="1"), Todo("b")]) == ["2", "1", "3"]
