"""Problems, warnings and mends in words."""

import pytest

from todoplan.core.problems import Problem
from todoplan.dialogue.intake.repairs import Repair
from todoplan.dialogue.replies.error_texts import error_text, repairs_text, sentence, warnings_text


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem("unknown_task", seen="7", legal="1, 2"), "There is no task 7; the ids are: 1, 2."),
        (Problem("unknown_task", seen="7"), "There is no task 7; the ids are: nothing yet."),
        (Problem("missing_field", path="todos"), "todos: is missing. Give it."),
        (Problem("my_rule", seen="x", legal="y"), "my_rule: x; allowed: y"),
        (Problem("my_rule", note="costs $5"), "costs $5"),
        (Problem("completed_is_final", ("3", "4", "9"), seen="reworded"),
         "A completed task is final (#3-#4, #9 reworded); add a new task instead."),
        (Problem("self_edge", ("x\n",), seen="$ids"),
         "Task $ids cannot wait for itself; leave that edge out."),
        (Problem("priority_required", ("x\n", "1")),
         "#x\\n, #1: the priority is missing; use high, medium or low."),
    ],
)  # fmt: skip
def test_a_problem_is_a_sentence(problem, words):
    """It says what was seen and what is allowed; values are never read as templates."""
    assert sentence(problem) == words


def test_a_long_problem_is_clipped_in_the_middle():
    """What was seen is told by its beginning and its end."""
    told = sentence(Problem("cycle", seen="a" * 500 + "b" * 30))
    assert "aaa ... bbb" in told
    assert len(told) < 400


def test_an_error_names_all_and_gives_an_example():
    """Ten problems in words, the others counted, then the example."""
    text = error_text([Problem("no_op_write")] * 12, "{}")
    assert text.startswith("Nothing was changed. The list is as it was")
    assert text.endswith("and 2 more like these. Correct, for example: {}")
    assert "example" not in error_text([Problem("no_op_write")])


def test_warnings_are_a_line_each_and_five_at_most():
    """The others are counted."""
    assert warnings_text([]) == ()
    lines = warnings_text([Problem("no_op_write")] * 7)
    assert len(lines) == 6
    assert lines[0].startswith("Note: ")
    assert lines[-1] == "Note: and 2 more like these."


def test_mends_are_one_line_and_three_at_most():
    """The others are counted; nothing mended is nothing said."""
    assert repairs_text([]) == ""
    mends = [
        Repair("wrapper"),
        Repair("ignored_key", "todos[0].x"),
        Repair("ignored_key", "y", used="z"),
    ]
    assert repairs_text([*mends, *mends]) == (
        "note: took the arguments out of a wrapper; ignored todos[0].x; "
        "ignored y; did you mean z?; and 3 more"
    )
