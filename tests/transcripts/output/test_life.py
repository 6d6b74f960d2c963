"""The life of a plan for the slider of a report."""

import json
import re

from todoplan import MemoryStore, Planner, Task, plan_of
from todoplan.core import commands
from todoplan.transcripts.output import Life


def plans(*subjects):
    """The plan after each creation."""
    planner = Planner(MemoryStore(), "garden")
    return [planner.apply(commands.CreateTask(subject)).unwrap() for subject in subjects]


def test_each_step_is_what_it_made_of_the_plan():
    """With what is said of it, and the element that tells of it."""
    life = Life("life-1")
    for number, plan in enumerate(plans("Dig", "</script><b>")):
        life.add(plan, f"step {number}", (), f"call-{number}")
    text = life.markup()
    assert "<b>" not in text
    (block,) = re.findall(r'<script type="application/json"[^>]*>(.*)</script>', text)
    data = json.loads(block)
    assert [step["item"] for step in data["steps"]] == ["call-0", "call-1"]
    assert [task["subject"] for task in data["steps"][1]["change"]["tasks"]] == ["</script><b>"]
    assert data["start"]["tasks"] == []


def test_without_steps_there_is_no_slider():
    """Nothing happened, or something that JSON cannot hold: then the rest of the page is enough."""
    assert Life("life-1").markup() == ""
    life = Life("life-1")
    life.add(plans("Dig")[0], "", (), "")
    life.add(plan_of([Task("1", "Dig", metadata={"beds": {1, 2}})]), "", (), "")
    assert life.markup() == ""
