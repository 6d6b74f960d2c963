"""What a failed check of any suite adds to its error."""

import pytest

from todoplan.dialogue.calls import Call
from todoplan.testing.adapters import ModelTurn
from todoplan.testing.adapters.host import Script, Seen, Transcript, says, turn
from todoplan.testing.failures import TellsFailures


class FaultError(Exception):
    """Any error of a framework."""


class Silent(TellsFailures):
    def test_it(self):
        """It holds always."""
        error = FaultError("no")
        error.add_note("drawn " * 500)
        raise error

    def test_nothing(self):
        raise FaultError


class Talking(Silent):
    def exchanges(self):
        return ["one:\n  " + "a" * 500, "two:\n  b", "three:\n  c"]


def failure_of(check):
    with pytest.raises(FaultError) as caught:
        check()
    return caught.value


def test_a_suite_without_a_conversation_names_check_and_law():
    """Long notes of others are clipped; the error's attribute `conversation` has them in full."""
    error = failure_of(Silent().test_it)
    drawn, named = error.__notes__
    assert drawn.endswith("... (3000 characters)")
    assert error.conversation == "drawn " * 500
    assert named == "check: test_it\nlaw: It holds always."
    assert failure_of(Silent().test_nothing).__notes__ == ["check: test_nothing\nlaw: "]


def test_the_last_two_exchanges_are_told():
    """The error's attribute `conversation` has all exchanges."""
    error = failure_of(Talking().test_it)
    told = error.__notes__[-1].splitlines()
    assert told[:-1] == ["the last 2 of 3 exchanges:", "  two:", "    b", "  three:", "    c"]
    assert "conversation" in told[-1]
    assert error.conversation.startswith("one:\n  " + "a" * 500)


def test_what_is_right_says_nothing():
    """A check that passes returns its value and adds nothing."""

    class Right(Talking):
        def test_right(self):
            return 7

        test_text = "no check"

    assert Right().test_right() == 7


def test_without_a_model_each_turn_is_an_exchange():
    """A framework without a model gets no requests, so its calls and answers are shown."""
    call = Call("TaskList", {}, "c1")
    script = Script(ModelTurn((call, Call("TaskGet", {}, "c2"))), says())
    first, last = Transcript("one", script, [Seen("tool", "none", "c1", is_error=True)]).exchanges()
    assert first.splitlines() == [
        "session one, exchange 1:",
        "  model: TaskList({}) as c1",
        "  tool c1 (error): 'none'",
        "  model: TaskGet({}) as c2",
        "  no answer was found",
    ]
    assert last == "session one, exchange 2:\n  model: 'Done.'"


def test_with_a_model_each_request_is_one():
    """An exchange begins with the request's last message, unless that answers a call."""
    script = Script(turn(("TaskList", {})))
    for request in ([Seen("user", "go")], [Seen("tool", "none", "")], []):
        script.reply(request)
    told = Transcript("one", script).exchanges()
    assert [each.splitlines()[1] for each in told] == [
        "  user: 'go'",
        "  tool: 'none'",
        "  model: 'Done.'",
    ]
