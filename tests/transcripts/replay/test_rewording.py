"""What a line of a recorded list means, where its text or its id alone would mislead."""

import pytest

from todoplan.core.commands import WriteTodos
from todoplan.core.decide import decide
from todoplan.core.plan.model import Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.transcripts.replay import likeness, meaning, merged


def todos(*texts, **more):
    rows = [text.rpartition("|") if "|" in text else (text, "", "pending") for text in texts]
    return WriteTodos(tuple(Todo(text, status, **more) for text, _, status in rows))


def plan_of(*texts):
    return decide(Plan(), todos(*texts), Policy()).plan


TEST_BED = "Set up TodoMVC in container as test target"
TOOLS, PARSER = "Connect the fast parser tools", "Implement parser that runs unattended"
WITH_TOOLS = "Implement fast parser that uses parser tools"
BOX = ("Buy a box", "Paint it", "Label it")


@pytest.mark.parametrize(
    ("old", "new", "ids"),
    [
        # A line in other words is the same task, also where it was moved.
        (
            (TEST_BED, "Run the tests", "Build the layer in Docker"),
            ("Build the layer", "Run tests", "Set up TodoMVC in the container", "Tidy up"),
            ["3", "2", "1", None],
        ),
        # Between the same neighbours less likeness is enough. At another place these are two tasks.
        (
            ("a", "Evaluate frameworks for agents", "b"),
            ("a", "Choose agent library", "b"),
            ["1", "2", "3"],
        ),
        (
            ("a", "b", "Evaluate frameworks for agents"),
            ("Choose agent library", "a", "b"),
            [None, "1", "2"],
        ),
        # A choice that was made is the choice that was to be made.
        (
            ("Plan", "Choose web framework (small, fast, async)", "Ship"),
            ("Plan", "Decision: take Falcon 4 with Python today as web framework", "Ship"),
            ["1", "2", "3"],
        ),
        # Of two that sound alike the one that stood there is meant, although the tools are more
        # like the line. They stood lines above and are gone.
        (
            ("Plan", TOOLS, *BOX, PARSER, "Ship"),
            ("Plan", "Sand the lid", *BOX, WITH_TOOLS, "Ship"),
            ["1", None, "3", "4", "5", "6", "7"],
        ),
        # What is done is not reworded into something to do.
        (("a", "Run the parser tests|completed"), ("a", "Run the parser tests again"), ["1", None]),
        (
            ("a", "Run the parser tests|completed"),
            ("a", "Run all parser tests|completed"),
            ["1", "2"],
        ),
        # Of two lines like one task, the surer one is it, and the other is a new task.
        (("Write a parser now",), ("Write a parser very well", "Write a parser"), [None, "1"]),
        # Each line is compared with each task, up to 40,000 pairs. Then exact texts alone count.
        (
            ("same", *(f"Sow {n} a" for n in range(201))),
            ("same", *(f"Sow {n} b" for n in range(201))),
            ["1", *[None] * 201],
        ),
    ],
)
def test_a_line_is_the_task_that_it_rewords(old, new, ids):
    """By likely texts, and by the place among the lines that stay."""
    command, _ = meaning(plan_of(*old), todos(*new))
    assert [todo.id for todo in command.todos] == ids


DONE = ("Sow|completed", "Run tests|completed")


@pytest.mark.parametrize(
    ("old", "new", "begins"),
    [
        (("Sow", "Reap"), ("Eat", "Drink"), True),
        (("Sow", "Reap"), ("Sow", "Drink"), False),
        (DONE, ("Eat", "Drink", "Run tests"), False),
        ((*DONE, "Reap|completed"), ("Eat", "Run tests", "x"), True),
        (("Sow", "Run pnpm compile"), ("Run pnpm compile again", "Eat", "Drink"), False),
        (("Sow", "x", "Run pnpm compile"), ("Run pnpm compile again", "Eat", "Drink"), True),
        ((), ("Eat",), False),
        (("Sow",), (), False),
    ],
)
def test_a_list_of_which_little_stays_is_a_new_plan(old, new, begins):
    """One line in common does not make it the old plan: finished or not, half must stay."""
    assert meaning(plan_of(*old), todos(*new))[1] is begins


def test_ids_name_tasks_in_a_merge_and_lines_in_a_list():
    """
    Models number the lines of each list from 1. What a merge names by id or text changes, the rest
    stays, what is new is appended.
    """
    command, _ = meaning(
        plan_of("Reap", "Sow"), WriteTodos((Todo("Sow", id="1"), Todo("Eat", id="2")))
    )
    assert [todo.id for todo in command.todos] == ["2", None]
    merge = WriteTodos((Todo("Reap", "completed", id="2"), Todo("Eat"), Todo("Sow", id="9")))
    written = merged(plan_of("Sow", "Mow"), merge).todos
    expected = [("1", "Sow"), ("2", "Reap"), (None, "Eat")]
    assert [(todo.id, todo.content) for todo in written] == expected


def test_likeness_is_of_words_that_matter():
    """Texts without spaces are compared by pairs of characters; small words do not count."""
    assert likeness("编写解析器测试", "编写解析器的测试") > 0.5
    assert likeness("编写解析器测试", "整理文档") == 0
    assert likeness("the of and", "the of and") == 0
    assert likeness("測", "測") == 1
    assert likeness(TOOLS, WITH_TOOLS) > likeness(PARSER, WITH_TOOLS)
