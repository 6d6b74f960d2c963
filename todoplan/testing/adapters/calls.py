"""
Calls that are well-formed: what the model is offered, one call after another, several in one turn.

Law 12: the same calls give the same plans, events and replies through every adapter. Law 13: the
calls of one model turn do what the same calls do in order.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hypothesis import given

from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import Definition, ToolSet
from todoplan.testing.adapters.capabilities import Capability, needs
from todoplan.testing.adapters.conversations import (
    TASKS,
    Run,
    conversation,
    conversations,
    each_toolset,
    says,
    turn,
    write,
)
from todoplan.testing.adapters.harness import Checks
from todoplan.testing.adapters.host import ModelTurn
from todoplan.testing.adapters.outcome import Outcome
from todoplan.testing.assertions import must, same, same_parts

__all__ = ["Offered", "SameRoad", "Turns"]

# strands' default executor lost six of eight parallel creates.
_MANY = 8


class Offered(Checks):
    """
    Tools and prompt; tools of the framework's own may stand beside.
    """

    def _offered(self, toolset: ToolSet) -> list[list[Definition]]:
        offered = self.harness(toolset).run(says()).offered
        must(offered, "the script was told of no tools: give them to reply, areply or offer")
        names = toolset.tool_names
        return [[tool for tool in tools if tool.name in names] for tools in offered]

    @needs(Capability.TOOLS)
    @each_toolset
    def test_the_tools_are_those_of_the_tool_set(self, toolset: ToolSet) -> None:
        """Each tool is offered once, under its shown name, and described in the set's words."""
        wanted = {tool.name: tool.description for tool in toolset.definitions()}
        for tools in self._offered(toolset):
            # A list, for a name twice: OpenAI Agents only logs it, LangChain takes the last.
            same(sorted(tool.name for tool in tools), sorted(wanted), "the names of the tools")
            found = {tool.name: tool.description for tool in tools}
            same_parts(found, wanted, "what the tools are said to do")

    @needs(Capability.TOOLS)
    @each_toolset
    def test_the_schemas_are_those_of_the_tool_set(self, toolset: ToolSet) -> None:
        """
        A tool's arguments are those of its definition, plain or as strict modes want them. The
        framework may say more of them, but add none.
        """
        for tools in self._offered(toolset):
            # Strict ones too: OpenAI Agents' default requires every property and allows no others.
            plain, strict = (_faults(tools, toolset, strict=each) for each in (False, True))
            must(not plain or not strict, "\n".join(plain))

    @needs(Capability.MODEL)
    def test_every_request_has_the_prompt(self) -> None:
        """What the tools are for is said in each request, and once."""
        # Until deer-flow#4714 an override of the model call dropped the base prompt silently.
        outcome, prompt = self.harness().run(turn(("TaskList", {})), says()), TASKS.system_prompt()
        for number, request in enumerate(outcome.requests):
            found = sum(seen.text.count(prompt) for seen in request)
            same(found, 1, f"how often request {number} holds the planning prompt")


def _faults(tools: Iterable[Definition], toolset: ToolSet, *, strict: bool) -> list[str]:
    schemas = {tool.name: tool.schema for tool in toolset.definitions(strict=strict)}
    return [each for tool in tools for each in _lacking(tool.schema, schemas[tool.name], tool.name)]


def _lacking(found: object, wanted: Any, path: str) -> Iterator[str]:
    """
    Yield what a schema lacks, and which arguments it has besides.
    """
    if not (isinstance(found, Mapping) and isinstance(wanted, dict)):
        if found != wanted:
            yield f"{path} is {found!r}, not {wanted!r}"
        return
    for key in wanted:
        yield from _lacking(found.get(key), wanted[key], f"{path}.{key}")
    if path.endswith(".properties"):
        yield from (f"{path} has {key!r}, which is none" for key in found if key not in wanted)


class SameRoad(Checks):
    """
    Conversations that are compared with the function-calling adapter, run by run.
    """

    def _outcomes(self, toolset: ToolSet) -> list[Outcome]:
        return self.harness(toolset).runs(*conversation(toolset))

    @each_toolset
    def test_the_plans_are_the_same(self, toolset: ToolSet) -> None:
        """After each run the plan is that of function calling: ids, order, edges, revision."""
        for outcome in self._outcomes(toolset):
            outcome.same_plan()

    @each_toolset
    def test_the_replies_are_the_same(self, toolset: ToolSet) -> None:
        """Every call is answered once, in the words that function calling answers with."""
        # LangChain's tool answers with a Python repr of the whole list, at every update again: what
        # a framework makes of an answer on its way to the model is part of the answer.
        for outcome in self._outcomes(toolset):
            outcome.same_replies()

    @needs(Capability.ERROR_FLAG)
    @each_toolset
    def test_exactly_the_errors_are_marked(self, toolset: ToolSet) -> None:
        """An answer is marked as an error if and only if the reply is one."""
        for outcome in self._outcomes(toolset):
            outcome.same_marks()

    @needs(Capability.EVENTS)
    @each_toolset
    def test_the_events_are_the_same(self, toolset: ToolSet) -> None:
        """The application is told of the events of each run, all and in order."""
        for outcome in self._outcomes(toolset):
            outcome.same_events()

    @needs(Capability.CLOCK)
    def test_the_times_are_those_of_the_clock(self) -> None:
        """A task's times are the given clock's, of the run in which it was changed."""
        harness = self.harness()
        for outcome in harness.runs(*conversation(harness.setup.toolbox.toolset)):
            outcome.same_times()

    @each_toolset
    def test_drawn_conversations_are_the_same(self, toolset: ToolSet) -> None:
        """Whatever calls are drawn: plans, replies, marks and events are the same."""

        # Within the test: `drawing` is the subclass's, and Hypothesis objects to one `@given`
        # method that several classes inherit (differing_executors).
        @self.drawing
        @given(conversations(toolset))
        def check(runs: tuple[Run, ...]) -> None:
            for outcome in self.harness(toolset).runs(*runs):
                self._compare(outcome)

        check()

    def _compare(self, outcome: Outcome) -> None:
        outcome.agrees()
        if Capability.ERROR_FLAG in self.capabilities:
            outcome.same_marks()
        if Capability.EVENTS in self.capabilities:
            outcome.same_events()


def _creates(count: int) -> ModelTurn:
    return turn(*(("TaskCreate", {"subject": f"Row {n}"}) for n in range(count)))


class Turns(Checks):
    """
    Several calls at once.
    """

    def test_parallel_calls_lose_nothing(self) -> None:
        """Each of many calls of one turn is answered, and each task is there, with its own id."""
        # Frameworks run the calls of a turn side by side on one and the same state: the last one
        # to be written wins, or the channel takes one value only and the run dies.
        outcome = self.harness().at_once(_creates(_MANY), says())
        same({t.subject for t in outcome.plan}, {f"Row {n}" for n in range(_MANY)}, "the tasks")
        ids = [task.id for task in outcome.plan]
        must(len({*ids}) == _MANY, f"ids are shared: {ids}")
        for call_id in outcome.wanted.replies:
            must(outcome.answer(call_id).text, f"the answer to {call_id} is empty")

    @needs(Capability.TURNS)
    def test_parallel_calls_are_in_order(self) -> None:
        """Calls of one turn build on each other: a later one may name what an earlier one made."""
        outcome = self.harness().at_once(
            turn(
                ("TaskCreate", {"subject": "Dig"}),
                ("TaskCreate", {"subject": "Lay", "blockedBy": ["1"]}),
                ("TaskUpdate", {"taskId": "1", "status": "completed"}),
                ("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
                ("TaskList", {}),
            ),
            says(),
        )
        outcome.agrees()

    @needs(Capability.TURNS)
    def test_two_whole_list_writes_are_refused(self) -> None:
        """Of two whole-list writes in one turn neither is carried out; calls beside them are."""
        # Whichever was carried out would undo the other without a word. A model that is told so
        # writes one list; both calls have to be answered, or providers refuse the next request.
        first, second = write(("Dig", "pending")), write(("Lay", "pending"))
        outcome = self.harness(TODOS).at_once(
            turn(("write_todos", write(("Rake", "in_progress")))),
            turn(("write_todos", first), ("read_todos", {}), ("write_todos", second)),
            says(),
        )
        same([task.subject for task in outcome.plan], ["Rake"], "the tasks")
        outcome.same_replies()
