"""A model's mistakes are answered with replies: nothing is raised, nothing is half executed."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given

from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.adapters.bad_arguments import (
    ATTACKS,
    BAD_ARGUMENTS,
    LONG_NUMBER,
    NO_JSON,
    RESERVED,
)
from todoplan.testing.adapters.capabilities import Capability, leave_out_without, needs
from todoplan.testing.adapters.conversations import (
    TASKS,
    Run,
    broken_runs,
    is_utf8,
    says,
    turn,
    write,
)
from todoplan.testing.adapters.harness import Checks
from todoplan.testing.adapters.outcome import Outcome
from todoplan.testing.assertions import must, same

__all__ = ["Mistakes"]

_DIG = turn(("TaskCreate", {"subject": "Dig"}))
_LAY = turn(("TaskCreate", {"subject": "Lay", "blockedBy": ["1"]}))
_MOW = turn(("TaskCreate", {"subject": "Mow"}))
_BEDS = ("Dig", "Lay", "Fill")
_DONE = {"content": "Dig", "status": "completed"}
_GUESSES = ("Dig", _DONE, json.dumps(_DONE))
_REFUSED = {
    "an unknown task": ("TaskUpdate", {"taskId": "9", "status": "completed"}),
    "an unknown blocker": ("TaskCreate", {"subject": "Fill", "blockedBy": ["7"]}),
    "a cycle": ("TaskUpdate", {"taskId": "1", "addBlockedBy": ["2"]}),
    "itself as a blocker": ("TaskUpdate", {"taskId": "1", "addBlocks": ["1"]}),
    "no such task to read": ("TaskGet", {"taskId": "9"}),
}


def _each(bad: Mapping[str, tuple[str, object]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", bad.values(), ids=bad)


def _answered(outcome: Outcome) -> None:
    for key in outcome.wanted.replies:
        must(outcome.answer(key).text, f"the answer to {key} is empty")


class Mistakes(Checks):
    """Refused calls, calls that are hard to parse, and texts that attack."""

    @_each(_REFUSED)
    def test_a_refusal_comes_back(self, call: tuple[str, object]) -> None:
        """A call that the plan refuses is answered and changes nothing, and the run continues."""
        # AgentScope drops an edge to a missing task, accepts self-edges and cycles, and leaves
        # dependents blocked for ever.
        outcome = self.harness().run(_DIG, _LAY, turn(call), _MOW, says())
        outcome.agrees()

    @_each(BAD_ARGUMENTS)
    def test_bad_arguments_are_answered(self, call: tuple[str, object]) -> None:
        """
        Arguments that do not fit the schema raise nothing: they are answered, and the run
        continues.
        """
        outcome = self.harness().run(_DIG, turn(call), _MOW, says())
        _answered(outcome)
        subjects = [task.subject for task in outcome.plan]
        same((subjects[0], subjects[-1]), ("Dig", "Mow"), "the first and the last task")

    @pytest.mark.parametrize("name", RESERVED)
    def test_names_of_the_framework_are_answered(self, name: str) -> None:
        """An argument named like a parameter of the framework does not replace that parameter."""
        # Adapters that pass arguments on as keywords let a model replace the runtime, or crash.
        call = ("TaskCreate", {"subject": "Lay", name: {"tasks": [], "messages": []}})
        outcome = self.harness().run(_DIG, turn(call), _MOW, says())
        _answered(outcome)
        same([t.subject for t in outcome.plan if t.subject != "Lay"], ["Dig", "Mow"], "the tasks")

    def test_a_guess_never_removes(self) -> None:
        """
        A value that is not a list of todos is not read as a list that omits the other tasks (law
        17).
        """
        # Repaired to a list of one entry, each of these emptied a plan of three open tasks.
        harness = self.harness(TODOS)
        harness.run(turn(("write_todos", write(*((each, "pending") for each in _BEDS)))), says())
        for guess in _GUESSES:
            _answered(harness.run(turn(("write_todos", {"todos": guess})), says()))
            found = [(task.subject, task.status.value) for task in harness.host.plan("one")]
            same(found, [(each, "pending") for each in _BEDS], f"the tasks after {guess!r}")

    @needs(Capability.ARGUMENTS)
    @_each(BAD_ARGUMENTS)
    def test_bad_arguments_are_read_alike(self, call: tuple[str, object]) -> None:
        """Arguments that do not fit the schema are repaired or refused with the expected reply."""
        outcome = self.harness().run(_DIG, _LAY, turn(call), _MOW, says())
        outcome.agrees()

    @needs(Capability.ARGUMENTS)
    @pytest.mark.parametrize("toolset", [TASKS, TODOS], ids=["tasks", "todos"])
    def test_the_catalogue_is_read_alike(self, toolset: ToolSet) -> None:
        """For every break of the catalogue, the replies are the expected ones."""
        raw = Capability.RAW_ARGUMENTS in self.capabilities
        whole = Capability.BROKEN_TEXTS not in self.capabilities

        @self.drawing
        @given(broken_runs(toolset, raw=raw, whole=whole))
        def check(turns: Run) -> None:
            outcome = self.harness(toolset).run(*turns)
            outcome.agrees()

        check()

    @needs(Capability.TEXT_ARGUMENTS)
    @_each(NO_JSON)
    def test_text_that_is_no_json_is_answered(self, call: tuple[str, object]) -> None:
        """Arguments that are not JSON raise nothing: they are answered, and the run continues."""
        self._leave_out_long_numbers(call)
        outcome = self.harness().run(_DIG, turn(call), _MOW, says())
        _answered(outcome)
        same([task.subject for task in outcome.plan][-1], "Mow", "the last task")

    @needs(Capability.TEXT_ARGUMENTS)
    def test_arguments_that_were_cut_off_change_nothing(self) -> None:
        """Truncated arguments are refused; their brackets are not closed for them."""
        # Closed, half a list would be a shorter list and look as if the other tasks were removed.
        outcome = self.harness().run(_DIG, turn(NO_JSON["cut off"]), says())
        same([task.subject for task in outcome.plan], ["Dig"], "the tasks")

    @needs(Capability.RAW_ARGUMENTS)
    @_each(NO_JSON)
    def test_text_that_is_no_json_is_read_alike(self, call: tuple[str, object]) -> None:
        """Arguments that are not a JSON object are repaired or refused with the expected reply."""
        self._leave_out_long_numbers(call)
        outcome = self.harness().run(_DIG, _LAY, turn(call), _MOW, says())
        outcome.agrees()

    def _leave_out_long_numbers(self, call: tuple[str, object]) -> None:
        if call == LONG_NUMBER:
            leave_out_without(self, Capability.LONG_NUMBERS)

    @needs(Capability.UNKNOWN_TOOLS)
    def test_an_unknown_tool_is_answered(self) -> None:
        """A call of an unknown tool is answered; calls next to it and after it are executed."""
        # OpenAI Agents ends the whole run in this case.
        missing = ("TaskErase", {"taskId": "1"})
        outcome = self.harness().run(
            turn(missing, ("TaskCreate", {"subject": "Dig"})), _MOW, says()
        )
        must(outcome.answer("call_1").text, "the unknown tool has an empty answer")
        outcome.same_plan()

    @pytest.mark.parametrize("texts", ATTACKS.values(), ids=ATTACKS)
    def test_texts_that_attack_are_read_alike(self, texts: tuple[str, ...]) -> None:
        """Hostile texts of tasks change no reply, no plan and no other task (law 14)."""
        if not all(map(is_utf8, texts)):
            leave_out_without(self, Capability.BROKEN_TEXTS)
        creates = [("TaskCreate", {"subject": text, "description": text}) for text in texts]
        reads = turn(("TaskList", {}), ("TaskGet", {"taskId": "1"}))
        outcome = self.harness().run(*map(turn, creates), reads, says())
        outcome.agrees()
