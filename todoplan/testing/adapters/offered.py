"""What the model is given before it says a word: tools as the tool set has them, and the prompt."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from todoplan.dialogue.tools.toolset import Definition, ToolSet
from todoplan.testing.adapters.bench import Checks
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.talks import TASKS, each_toolset, says, turn
from todoplan.testing.assertions import must, same, same_parts

__all__ = ["Offered"]


class Offered(Checks):
    """
    Tools and prompt; tools of the framework's own may stand beside.
    """

    def _offered(self, toolset: ToolSet) -> list[list[Definition]]:
        offered = self.bench(toolset).run(says()).offered
        must(offered, "the script was told of no tools: give them to reply, areply or offer")
        names = toolset.tool_names
        return [[tool for tool in tools if tool.name in names] for tools in offered]

    @needs(Capability.TOOLS)
    @each_toolset
    def test_the_tools_are_those_of_the_tool_set(self, toolset: ToolSet) -> None:
        """Each tool is offered once, under its shown name, and described in the set's words."""
        wanted = {tool.name: tool.description for tool in toolset.definitions()}
        for tools in self._offered(toolset):
            same(sorted(tool.name for tool in tools), sorted(wanted), "the names of the tools")
            found = {tool.name: tool.description for tool in tools}
            same_parts(found, wanted, "what is told of the tools")

    @needs(Capability.TOOLS)
    @each_toolset
    def test_the_schemas_are_those_of_the_tool_set(self, toolset: ToolSet) -> None:
        """
        A tool's arguments are those of its definition, plain or as strict modes want them. The
        framework may say more of them, but add none.
        """
        for tools in self._offered(toolset):
            plain, strict = (_faults(tools, toolset, strict=each) for each in (False, True))
            must(not plain or not strict, "\n".join(plain))

    @needs(Capability.MODEL)
    def test_every_request_has_the_prompt(self) -> None:
        """What the tools are for is said in each request, and once."""
        done, prompt = self.bench().run(turn(("TaskList", {})), says()), TASKS.system_prompt()
        for number, request in enumerate(done.requests):
            found = sum(seen.text.count(prompt) for seen in request)
            same(found, 1, f"how often request {number} holds the planning prompt")


def _faults(tools: Iterable[Definition], toolset: ToolSet, *, strict: bool) -> list[str]:
    schemas = {tool.name: tool.schema for tool in toolset.definitions(strict=strict)}
    return [each for tool in tools for each in _lacking(tool.schema, schemas[tool.name], tool.name)]


def _lacking(found: object, wanted: Any, path: str) -> Iterator[str]:
    """
    Yield what of a schema is not told, and which arguments are there besides.
    """
    if not (isinstance(found, Mapping) and isinstance(wanted, dict)):
        if found != wanted:
            yield f"{path} is {found!r}, not {wanted!r}"
        return
    for key in wanted:
        yield from _lacking(found.get(key), wanted[key], f"{path}.{key}")
    if path.endswith(".properties"):
        yield from (f"{path} has {key!r}, which is none" for key in found if key not in wanted)
