"""Tool sets: names belong to the user, every text follows, and every example works."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples import sample_calls
from support.talk import BOXES, TOOLSETS, planned

from todoplan import DEFAULT, Plan, Policy, Rejected, Rule, decide
from todoplan.core.commands import CreateTask
from todoplan.core.rules import CLAUDE_STRICT, RULES
from todoplan.dialogue import LEAN, TASKS, TODOS, WRITE_TODOS, tasks, tools
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import BASIC_TOOLSETS, ToolSet, unmet_rules
from todoplan.dialogue.tools import TOOLSETS as ALL_TOOLSETS

_SAID = re.compile(r"[A-Za-z_]+")
names = st.from_regex(r"\A[q-z]{6}_[a-zA-Z0-9_]{1,20}\Z")


def all_texts(toolset):
    """Return all texts of a tool set, with the errors and replies of some calls."""
    box, plan = Toolbox(toolset), planned("Write it", "Test it")
    calls = [
        None,
        {},
        {"taskId": "9"},
        {"taskId": "1", "status": "x"},
        "[",
        {"todos": []},
        {"done": ["x"]},
    ]
    said = [box.call(plan, name, call).text for name in toolset.tool_names for call in calls]
    said += [box.call(Plan(), name, call).text for name in toolset.tool_names for call in calls]
    said += [box.call(plan, "nobody").text, *map(toolset.system_prompt, ("compact", "guided"))]
    for strict in (False, True):
        for d in toolset.definitions(strict=strict):
            said += [d.name, d.description, json.dumps(d.schema)]
    return said


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_every_text_follows_the_names(toolset):
    """If all tools are renamed, no text contains an original name."""

    @given(st.lists(names, min_size=len(toolset.tools), max_size=len(toolset.tools), unique=True))
    def renamed(new):
        shown = toolset.renamed(
            **{tool.key: name for tool, name in zip(toolset.tools, new, strict=True)}
        )
        assert shown.tool_names == tuple(new)
        said = all_texts(shown)
        words = set(_SAID.findall(" ".join(text.replace("plan", "") for text in said)))
        assert not words & {tool.key for tool in toolset.tools}
        assert all(f"`{name}`" not in text for text in said for name in ("plan", "TaskList"))
        assert any(
            new[toolset.tools.index(toolset.find(toolset.writer) or toolset.tools[0])] in text
            for text in said
        )
        assert shown.find(toolset.tools[0].key) is None
        reply = Toolbox(shown).call(Plan(), new[0], {})
        assert reply.name == new[0]

    renamed()


def test_snake_keys_are_shown_in_snake_case():
    """With AgentScope's keys no camelCase key is left in what the model is told."""
    said = " ".join(text.partition("note: ")[0] for text in all_texts(tasks("snake")))
    assert not re.findall(r"\b(?:taskId|activeForm|\w+Blocked\w*|\w+Blocks)\b", said)
    assert "task_id" in said


def test_names_are_added_to_names():
    """A set may be renamed again."""
    twice = TODOS.renamed(write_todos="a").renamed(read_todos="b")
    assert twice.tool_names == ("a", "b")


@pytest.mark.parametrize("box", BOXES)
def test_every_example_is_accepted(box):
    """The example of each tool works, on an empty plan or on one with a task."""
    for tool in box.toolset.tools:
        for name in ("example", "example.later"):
            example = box.toolset.text(f"{tool.key}.{name}")
            if example:
                replies = [box.call(plan, tool.key, example) for plan in (Plan(), planned("a"))]
                assert not all(reply.is_error for reply in replies), replies
                assert not any(reply.repairs for reply in replies)
    assert isinstance(box.toolset, ToolSet)


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_read_only_tools_are_marked(toolset):
    """Exactly the tools that change no plan are marked; frameworks ask no permission for them."""
    box, plan, writers = Toolbox(toolset), Plan(), set()
    for call in sample_calls(toolset.name):
        reply = box.call(plan, call.name, call.arguments)
        plan = reply.plan
        writers |= {reply.name} if reply.events else set()
    marked = {d.name for d in toolset.definitions() if d.read_only}
    assert marked == {*toolset.tool_names} - writers


FORMS = {"active_form_required": "active_form", "priority_required": "priority"}


@pytest.mark.parametrize(
    ("toolset", "found"), [(LEAN, FORMS), (TASKS, {}), (TODOS, {})], ids=["lean", "tasks", "todos"]
)
def test_a_demand_is_unmet_where_no_tool_takes_the_field(toolset, found):
    """Only rules at severity "error" count, not those that warn or are off."""
    assert unmet_rules(toolset, CLAUDE_STRICT) == found
    assert unmet_rules(toolset, DEFAULT) == {}


def test_a_rule_that_refuses_every_bare_task_says_what_it_needs():
    """Otherwise a tool set without the field would be accepted, and all its tasks refused."""
    bare = CreateTask("a")
    answers = {name: decide(Plan(), bare, Policy().but(**{name: "error"})) for name in RULES}
    refusing = {name for name, answer in answers.items() if isinstance(answer, Rejected)}
    assert refusing == {name for name, rule in RULES.items() if rule.new_tasks_need}


def test_every_tool_set_takes_a_title():
    """The title has another name in each tool set, and every set has it."""
    titled = Policy().adding(Rule("titled", lambda change: (), new_tasks_need="subject"))
    assert unmet_rules(TODOS, titled) == {}


def test_a_tool_set_shows_how_it_is_written():
    """Its repr is the constant, or the call, that returns the set."""
    for toolset in (*ALL_TOOLSETS.values(), WRITE_TODOS):
        assert eval(repr(toolset), vars(tools)) is toolset  # noqa: S307 - our own names
    assert repr(tasks("snake")) == "tasks('snake')"
    assert repr(LEAN.renamed(plan="steps")) == "LEAN.renamed(plan='steps')"
    assert repr(ToolSet("mine", LEAN.tools, "plan")) == "ToolSet('mine')"


def test_every_tool_set_is_registered():
    """A set without variants is registered under the name of its texts."""
    made = {each.name for each in vars(tools).values() if isinstance(each, ToolSet)}
    assert made == {each.name for each in ALL_TOOLSETS.values()} == set(BASIC_TOOLSETS)


def test_a_set_of_ones_own_needs_no_texts():
    """Its prompt is empty, and its error texts have no example."""
    mine = ToolSet("mine", LEAN.tools, "plan")
    assert mine.system_prompt() == ""
    reply = Toolbox(mine).call(Plan(), "plan", "{")
    assert reply.is_error
    assert "example" not in reply.text
