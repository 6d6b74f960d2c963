"""Problems, warnings and repairs in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan import plan_of
from todoplan.core.plan.model import Task
from todoplan.core.problems import Problem, explain
from todoplan.dialogue.calls import Call
from todoplan.dialogue.intake import Repair
from todoplan.dialogue.replies import error_text, is_error_text, repairs_text, warnings_text
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, tasks


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem("unknown_task", seen="7", legal="1, 2"), "There is no task 7; the ids are: 1, 2."),
        (Problem("unknown_task", seen="7"), "There is no task 7; the ids are: nothing yet."),
        (Problem("missing_field", path="todos"), "todos: is missing. Give it."),
        (Problem("my_rule", seen="x", legal="y"), "my_rule: x; allowed: y"),
        (Problem("my_rule", note="costs $5"), "costs $5"),
        (Problem("completed_is_final", ("3", "4", "9"), seen="reworded"),
         ("A completed task should stay as it is (#3-#4, #9 reworded);"
          " for more work, add a new task.")),
        (Problem("self_edge", ("x\n",), seen="$ids"),
         "Task $ids cannot wait for itself; leave that edge out."),
        (Problem("priority_required", ("x\n", "1")),
         "#x\\n, #1: the priority is missing; use high, medium or low."),
    ],
)  # fmt: skip
def test_a_problem_is_a_explain(problem, words):
    """It says what was seen and what is allowed; values are never read as templates."""
    assert explain(problem) == words


def test_an_error_names_all_and_gives_an_example():
    """Ten problems in words, the others counted, then the example."""
    text = error_text([Problem("no_op_write")] * 12, "{}")
    assert text.startswith("Nothing was changed. The list is as it was")
    assert text.endswith("and 2 more like these. Correct, for example: {}")
    assert "example" not in error_text([Problem("no_op_write")])
    assert "more like these" not in error_text([Problem("no_op_write")] * 10)


def test_warnings_are_a_line_each_and_five_at_most():
    """The others are counted."""
    assert warnings_text([]) == ()
    lines = warnings_text([Problem("cycle")] * 7)
    assert len(lines) == 6
    assert lines[0].startswith("Note: ")
    assert len(warnings_text([Problem("cycle")] * 5)) == 5
    assert lines[-1] == "Note: and 2 more like these."


def test_repairs_are_one_line_and_three_at_most():
    """The others are counted; nothing repaired is nothing said."""
    assert repairs_text([]) == ""
    repairs = [
        Repair("wrapper"),
        Repair("ignored_key", "todos[0].x"),
        Repair("ignored_key", "y", used="z"),
    ]
    assert repairs_text(repairs).endswith("ignored y; did you mean z?")
    assert repairs_text([*repairs, *repairs]) == (
        "note: took the arguments out of a wrapper; ignored todos[0].x; "
        "ignored y; did you mean z?; and 3 more"
    )


PLAN = plan_of([Task("1", "Dig")])
NAMES = st.sampled_from(["write_todos", "read_todos", "TaskCreate", "TaskUpdate", "TaskList"])
VALUES = st.none() | st.text(max_size=9) | st.just("pending") | st.just("Nothing was changed.")
ENTRY = st.dictionaries(st.sampled_from(["content", "subject", "taskId", "status"]), VALUES)
ARGUMENTS = ENTRY | st.builds(lambda entry: {"todos": [entry]}, ENTRY)


@given(st.lists(st.builds(Call, NAMES, ARGUMENTS), max_size=4), st.sampled_from([TODOS, tasks()]))
def test_errors_are_known_by_their_words(calls, toolset):
    """An answer is taken for an error if and only if it is one."""
    for reply in Toolbox(toolset).turn(PLAN, calls).replies:
        assert is_error_text(reply.text) == reply.is_error


def test_an_answer_that_was_cut_is_known_by_its_beginning():
    """A few words of it are enough."""
    reply = Toolbox().call(PLAN, "write_todos", "{")
    assert is_error_text(reply.text[:21])
    assert not is_error_text("")
