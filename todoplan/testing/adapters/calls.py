"""
Well-formed calls: the offered tools, one call after another, several calls in one turn.

Law 12: the same calls give the same plans, events and replies through every adapter. Law 13: the
calls of one model turn have the same effect as the same calls made in order.
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

# strands' default executor lost six of eight parallel creations.
_MANY = 8


class Offered(Checks):
    """The offered tools and the prompt. The framework may offer tools of its own as well."""

    def _offered(self, toolset: ToolSet) -> list[list[Definition]]:
        offered = self.harness(toolset).run(says()).offered
        must(offered, "the script was told of no tools: give them to reply, areply or offer")
        names = toolset.tool_names
        return [[tool for tool in tools if tool.name in names] for tools in offered]

    @needs(Capability.TOOLS)
    @each_toolset
    def test_the_tools_are_those_of_the_tool_set(self, toolset: ToolSet) -> None:
        """Each tool is offered once, under its shown name and with the set's description."""
        wanted = {tool.name: tool.description for tool in toolset.definitions()}
        for tools in self._offered(toolset):
            # A list, because a name may occur twice: OpenAI Agents only logs it, LangChain takes
            # the last.
            same(sorted(tool.name for tool in tools), sorted(wanted), "the names of the tools")
            found = {tool.name: tool.description for tool in tools}
            same_parts(found, wanted, "what the tools are said to do")

    @needs(Capability.TOOLS)
    @each_toolset
    def test_the_schemas_are_those_of_the_tool_set(self, toolset: ToolSet) -> None:
        """
        A tool's arguments are those of its definition, in plain or strict form. The framework may
        describe them further, but not add any.
        """
        for tools in self._offered(toolset):
            # Strict schemas too: OpenAI Agents by default requires every property and allows no
            # others.
            plain, strict = (_faults(tools, toolset, strict=each) for each in (False, True))
            must(not plain or not strict, "\n".join(plain))

    @needs(Capability.MODEL)
    def test_every_request_has_the_prompt(self) -> None:
        """Each request contains the planning prompt exactly once."""
        # Until deer-flow#4714 an override of the model call silently dropped the base prompt.
        outcome, prompt = self.harness().run(turn(("TaskList", {})), says()), TASKS.system_prompt()
        for number, request in enumerate(outcome.requests):
            found = sum(seen.text.count(prompt) for seen in request)
            same(found, 1, f"how often request {number} holds the planning prompt")


def _faults(tools: Iterable[Definition], toolset: ToolSet, *, strict: bool) -> list[str]:
    schemas = {tool.name: tool.schema for tool in toolset.definitions(strict=strict)}
    return [each for tool in tools for each in _lacking(tool.schema, schemas[tool.name], tool.name)]


def _lacking(found: object, wanted: Any, path: str) -> Iterator[str]:
    """Yield what a schema lacks, and the arguments that it has in addition."""
    if not (isinstance(found, Mapping) and isinstance(wanted, dict)):
        if found != wanted:
            yield f"{path} is {found!r}, not {wanted!r}"
        return
    for key in wanted:
        yield from _lacking(found.get(key), wanted[key], f"{path}.{key}")
    if path.endswith(".properties"):
        yield from (f"{path} has {key!r}, which is none" for key in found if key not in wanted)


class SameRoad(Checks):
    """Conversations compared with the function-calling adapter, run by run."""

    def _outcomes(self, toolset: ToolSet) -> list[Outcome]:
        return self.harness(toolset).runs(*conversation(toolset))

    @each_toolset
    def test_the_plans_are_the_same(self, toolset: ToolSet) -> None:
        """After each run the plan equals that of function calling: ids, order, edges, revision."""
        for outcome in self._outcomes(toolset):
            outcome.same_plan()

    @each_toolset
    def test_the_replies_are_the_same(self, toolset: ToolSet) -> None:
        """Every call is answered once, with the text of the function-calling adapter."""
        # LangChain's tool answers every update with a Python repr of the whole list. What a
        # framework makes of an answer on its way to the model is part of the answer.
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
        """The application receives all events of each run, in order."""
        for outcome in self._outcomes(toolset):
            outcome.same_events()

    @needs(Capability.CLOCK)
    def test_the_times_are_those_of_the_clock(self) -> None:
        """The times of a task come from the given clock, at the run that changed it."""
        harness = self.harness()
        for outcome in harness.runs(*conversation(harness.setup.toolbox.toolset)):
            outcome.same_times()

    @each_toolset
    def test_drawn_conversations_are_the_same(self, toolset: ToolSet) -> None:
        """For drawn calls too, plans, replies, error marks and events are the same."""

        # Defined inside the test: `drawing` belongs to the subclass, and Hypothesis objects to one
        # `@given` method that several classes inherit (differing_executors).
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
    """Several calls in one turn."""

    def test_parallel_calls_lose_nothing(self) -> None:
        """Of many calls in one turn, each is answered and each creates a task with its own id."""
        # Frameworks run the calls of a turn in parallel on the same state: the last write wins, or
        # the channel takes one value only and the run fails.
        outcome = self.harness().at_once(_creates(_MANY), says())
        same({t.subject for t in outcome.plan}, {f"Row {n}" for n in range(_MANY)}, "the tasks")
        ids = [task.id for task in outcome.plan]
        must(len({*ids}) == _MANY, f"ids are shared: {ids}")
        for call_id in outcome.wanted.replies:
            must(outcome.answer(call_id).text, f"the answer to {call_id} is empty")

    @needs(Capability.TURNS)
    def test_parallel_calls_are_in_order(self) -> None:
        """
        Calls of one turn run in order: a later one may refer to a task that an earlier one created.
        """
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
        """
        Of two whole-list writes in one turn, neither is executed; other calls of the turn are.
        """
        # The second would silently undo the first. The reply tells the model to write one list.
        # Both calls must be answered, or providers refuse the next request.
        first, second = write(("Dig", "pending")), write(("Lay", "pending"))
        outcome = self.harness(TODOS).at_once(
            turn(("write_todos", write(("Rake", "in_progress")))),
            turn(("write_todos", first), ("read_todos", {}), ("write_todos", second)),
            says(),
        )
        same([task.subject for task in outcome.plan], ["Rake"], "the tasks")
        outcome.same_replies()
