"""A plan as a picture, and the plots of a page."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from support.hostile import CORPUS, plan_with, plans

from todoplan import Planner, Policy
from todoplan.core import commands
from todoplan.render.markup import style
from todoplan.render.pictures import MOST_TASKS, bars, plan_svg

TAGS = {"svg", "title", "style", "rect", "text", "tspan", "circle", "path"}


def drawn(plan, title="garden"):
    """The picture's root, read as XML."""
    return ET.fromstring(plan_svg(plan, title))  # noqa: S314 - our own


def names(root):
    """The names of all elements."""
    return {re.sub(r"\{.*\}", "", each.tag) for each in root.iter()}


def test_every_task_and_every_edge_is_drawn():
    """A line for each task, an arc for each blocker, subtasks further in."""
    planner = Planner()
    planner.apply(commands.CreateTask("Dig"))
    planner.apply(commands.CreateTask("Plant", blocked_by=("1",)))
    planner.apply(commands.CreateTask("Dig deeper", parent="1"))
    root = drawn(planner.plan)
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("}text")]
    assert texts[2:] == ["1 Dig", "3 Dig deeper", "2 Plant  waits for 1"]
    circles = [int(each.attrib["cx"]) for each in root.iter() if each.tag.endswith("}circle")]
    assert circles[1] > circles[0] == circles[2]
    assert sum(each.tag.endswith("}path") for each in root.iter()) == 1


def test_of_a_long_plan_the_beginning_is_drawn():
    """How many more there are is said; an arc that would lead out of the picture is left out."""
    planner = Planner()
    items = [commands.CreateTask(f"Task {n}") for n in range(MOST_TASKS + 5)]
    planner.apply(commands.CreateTasks(items), policy=Policy())
    planner.apply(commands.UpdateTask("1", add_blocked_by=(str(MOST_TASKS + 1),)), policy=Policy())
    root = drawn(planner.plan)
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("}text")]
    assert texts[-1] == "and 5 more"
    assert not [each for each in root.iter() if each.tag.endswith("}path")]


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_no_text_is_markup(text):
    """Whatever a task or a plan is called, the picture is well-formed and has its own elements."""
    assert names(drawn(plan_with(text, text, owner=text), text)) <= TAGS


@given(plan=plans())
def test_any_plan_is_a_picture(plan):
    """Law 14: it never raises."""
    assert names(drawn(plan)) <= TAGS


def test_a_bar_is_as_long_as_its_number():
    """The longest takes the room that there is; one of nothing can still be seen."""
    plot = bars("Findings", [("many", 40, "40 %"), ("few", 10, "10 %"), ("none", 0, "0 %")])
    many, few, none = map(int, re.findall(r'width="(\d+)" height="18"', plot))
    assert (many, few, none) == (350, 88, 1)
    assert 'aria-label="Findings: many 40 %; few 10 %; none 0 %"' in plot


def test_each_class_of_a_plot_is_one_of_the_pages_style():
    """Else its texts would be black on a dark page."""
    classes = re.findall(r'class="(\w+)"', bars("Findings", [("many", 40, "40 %")]))
    assert classes == ["wide", "plot", "label", "bar"]
    assert [name for name in classes if f".{name} " not in style()] == []


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_no_label_is_markup(text):
    """Codes of findings may be a user's own."""
    plot = bars(text, [(text, 1, text)])
    assert set(re.findall(r"<(\w+)", plot)) == {"h2", "div", "svg", "text", "rect"}
