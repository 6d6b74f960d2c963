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


def meant(old, new):
    command, begins = meaning(plan_of(*old), todos(*new))
    return [todo.id for todo in command.todos], begins


def test_a_line_in_other_words_is_the_same_task():
    """By a likely text, also where it was moved; a text of its own is a new task."""
    old = (
        "Set up TodoMVC in container as test target",
        "Run the tests",
        "Build the layer in Docker",
    )
    new = ("Build the layer", "Run tests", "Set up TodoMVC in the container", "Tidy up")
    assert meant(old, new) == (["3", "2", "1", None], False)


def test_between_the_same_neighbours_less_likeness_is_enough():
    """The same two texts at another place are two tasks."""
    old, new = "Evaluate frameworks for agents", "Choose agent library"
    assert meant(("a", old, "b"), ("a", new, "b"))[0] == ["1", "2", "3"]
    assert meant(("a", "b", old), (new, "a", "b"))[0] == [None, "1", "2"]


def test_of_two_that_sound_alike_the_one_that_stood_there_is_meant():
    """
    What is implemented with some tools is not the tools, which stood lines above and are gone.
    """
    tools, parser = "Connect the fast parser tools", "Implement parser that runs unattended"
    line = "Implement fast parser that uses parser tools"
    assert likeness(tools, line) > likeness(parser, line)
    old = ("Plan", tools, "Buy a box", "Paint it", "Label it", parser, "Ship")
    new = ("Plan", "Sand the lid", "Buy a box", "Paint it", "Label it", line, "Ship")
    assert meant(old, new)[0] == ["1", None, "3", "4", "5", "6", "7"]


def test_a_choice_that_was_made_is_the_choice_that_was_to_be_made():
    """Between the same neighbours two words of seven in common are enough."""
    old = ("Plan", "Choose web framework (small, fast, async)", "Ship")
    new = ("Plan", "Decision: take Falcon 4 with Python today as web framework", "Ship")
    assert meant(old, new)[0] == ["1", "2", "3"]


def test_what_is_done_is_not_reworded_into_something_to_do():
    """A completed task stays completed: an open line that sounds like it is a new task."""
    old = ("a", "Run the tests of the parser|completed")
    assert meant(old, ("a", "Run the tests of the parser again"))[0] == ["1", None]
    assert meant(old, ("a", "Run all tests of the parser|completed"))[0] == ["1", "2"]


@pytest.mark.parametrize(
    ("old", "new", "begins"),
    [
        (("Sow", "Reap"), ("Eat", "Drink"), True),
        (("Sow", "Reap"), ("Sow", "Drink"), False),
        (("Sow|completed", "Run tests|completed"), ("Eat", "Drink", "Run tests"), False),
        (
            ("Sow|completed", "Reap|completed", "Run tests|completed"),
            ("Eat", "Run tests", "x"),
            True,
        ),
        (("Sow", "Run pnpm compile"), ("Run pnpm compile again", "Eat", "Drink"), False),
        (("Sow", "x", "Run pnpm compile"), ("Run pnpm compile again", "Eat", "Drink"), True),
        ((), ("Eat",), False),
        (("Sow",), (), False),
    ],
)
def test_a_list_of_which_little_stays_is_a_new_plan(old, new, begins):
    """One line in common does not make it the old plan: finished or not, half must stay."""
    assert meant(old, new)[1] is begins


def test_an_id_of_the_list_does_not_make_two_texts_one_task():
    """Models number the lines of each list from 1: such an id says which line, not which task."""
    write = WriteTodos((Todo("Sow", id="1"), Todo("Eat", id="2")))
    command, _ = meaning(plan_of("Reap", "Sow"), write)
    assert [todo.id for todo in command.todos] == ["2", None]


def test_a_merge_names_tasks_by_id_or_by_text():
    """What it names changes, the rest stays, what is new is appended."""
    merge = WriteTodos((Todo("Reap", "completed", id="2"), Todo("Eat"), Todo("Sow", id="9")))
    written = merged(plan_of("Sow", "Mow"), merge).todos
    expected = [("1", "Sow"), ("2", "Reap"), (None, "Eat")]
    assert [(todo.id, todo.content) for todo in written] == expected


def test_texts_without_spaces_are_compared_too():
    """Chinese, by pairs of characters; the small words of English do not count."""
    assert likeness("编写解析器测试", "编写解析器的测试") > 0.5
    assert likeness("编写解析器测试", "整理文档") == 0
    assert likeness("the of and", "the of and") == 0
    assert likeness("測", "測") == 1


def test_two_very_long_lists_are_compared_by_exact_texts_alone():
    """Each with each would take too long: 40,000 pairs are the most."""
    old, new = [f"Sow {n} a" for n in range(201)], [f"Sow {n} b" for n in range(201)]
    assert meant(("same", *old), ("same", *new))[0] == ["1", *[None] * 201]


def test_of_two_lines_like_one_task_only_one_is_it():
    """The surer one; the other is a new task."""
    new = ("Write the parser well", "Write the parser")
    assert meant(("Write the parser now",), new) in [(["1", None], False), ([None, "1"], False)]
