"""What the conformance suite says of the tools that a model is offered."""

import attrs
import pytest
from support.conformance_sound import Sound

from todoplan.testing.adapters import AdapterSuite
from todoplan.testing.adapters.host import TOOLSETS

TASKS = TOOLSETS["tasks"]


def suite_of(change):
    """Return the suite over a sound host that offers other tools."""

    class Offering(Sound):
        def offered(self):
            return change(super().offered(), self.setup.toolbox.toolset)

    class Suite(AdapterSuite):
        def host(self, setup):
            return Offering(setup)

    return Suite()


def arguing(**arguments):
    """Return a change: some arguments of every tool are others."""

    def change(tools, toolset):
        return [attrs.evolve(tool, schema=_with(tool.schema, arguments)) for tool in tools]

    return change


def _with(schema, arguments):
    return {**schema, "properties": {**schema["properties"], **arguments}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tools, _: tools[1:], r"the names of the tools:\n  found  \['TaskGet'"),
        (lambda tools, _: [*tools, tools[0]], r"found  \['TaskCreate', 'TaskCreate'"),
        (lambda tools, _: None, "the script got no tools: pass them to reply"),
        (
            lambda tools, _: [attrs.evolve(tool, description="x") for tool in tools],
            "TaskGet: found 'x', wanted '",
        ),
    ],
)
def test_tools_that_are_others_are_told(change, said):
    """One left out, one offered twice, none told of, and other words for one."""
    with pytest.raises(AssertionError, match=said):
        suite_of(change).test_the_tools_are_those_of_the_tool_set(TASKS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (arguing(owner=None), r"TaskCreate\.properties\.owner is None, not {"),
        (arguing(owner={"type": "integer"}), "owner.type is 'integer', not 'string'"),
        (arguing(me={}), r"TaskList\.properties has 'me' in addition"),
    ],
)
def test_arguments_that_are_others_are_told(change, said):
    """One that is missing, one of another type, and one that the tool set does not have."""
    with pytest.raises(AssertionError, match=said):
        suite_of(change).test_the_schemas_are_those_of_the_tool_set(TASKS)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("toolset", TOOLSETS.values(), ids=TOOLSETS)
def test_a_framework_may_say_more(toolset, strict):
    """Strictly or not, with titles where there were none; and offer tools of its own beside."""

    def more(_, toolset):
        tools = toolset.definitions(strict=strict)
        own = attrs.evolve(tools[0], name="shell", schema={})
        return [own, *(attrs.evolve(t, schema={**t.schema, "title": "A"}) for t in tools)]

    suite = suite_of(more)
    suite.test_the_tools_are_those_of_the_tool_set(toolset)
    suite.test_the_schemas_are_those_of_the_tool_set(toolset)
